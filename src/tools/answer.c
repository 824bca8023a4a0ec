/* SPDX-License-Identifier: MIT */
/* Text and the names of a recording. */
#include "tools/answer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/recording.h"

void tap_answer_say(struct tap_answer *answer, const char *format, ...)
{
	size_t used = strlen(answer->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(answer->text + used, sizeof(answer->text) - used, format, arguments);
	va_end(arguments);
}

void tap_answer_refuse(struct tap_answer *answer, const char *format, ...)
{
	va_list arguments;

	answer->error = TAP_LINK_FAILED;
	va_start(arguments, format);
	vsnprintf(answer->text, sizeof(answer->text), format, arguments);
	va_end(arguments);
}

void tap_answer_say_losses(struct tap_answer *answer, const struct tap_answer *outcome)
{
	if (outcome->discarded)
		tap_answer_say(answer,
			       ", %" PRIu64 " events discarded (the buffers were full: "
			       "give more with --buffer-size)",
			       outcome->discarded);
	if (outcome->unrecorded)
		tap_answer_say(answer,
			       "; %" PRIu64 " process%s could not be recorded: %s",
			       outcome->unrecorded, outcome->unrecorded == 1 ? "" : "es",
			       outcome->why_unrecorded);
	if (*outcome->lost)
		tap_answer_say(answer, "; not complete: %s", outcome->lost);
	else if (outcome->session_error)
		tap_answer_say(answer,
			       "; not complete: the LTTng session daemon failed (%s)",
			       tap_session_error(outcome->session_error));
	else if (outcome->has_hole)
		tap_answer_say(answer,
			       "; not complete: a process was killed while it wrote an "
			       "event, and what was recorded after that on the same "
			       "processor is lost");
}

void tap_answer_fill_joined(struct tap_answer *answer,
			    const struct tap_recording *recording)
{
	const char *home = getenv("LTTNG_HOME");
	char *folder;

	snprintf(answer->session, sizeof(answer->session), "%s",
		 recording->plan->session);
	snprintf(answer->job, sizeof(answer->job), "%s", recording->output.job_name);
	snprintf(answer->path, sizeof(answer->path), "%s", recording->output.absolute);
	if (recording->plan->relayd) {
		snprintf(answer->relay, sizeof(answer->relay), "%s",
			 recording->plan->relayd->shown);
		snprintf(answer->relay_folder, sizeof(answer->relay_folder), "%s/%s",
			 recording->output.host, recording->sending.folder);
	}
	if (recording->plan->metrics)
		snprintf(answer->metrics, sizeof(answer->metrics), "%s",
			 recording->plan->metrics);
	answer->is_metrics_alone = recording->plan->is_metrics_alone;
	if (answer->is_metrics_alone &&
	    (folder = tap_output_find(recording->plan->folder))) {
		snprintf(answer->folder, sizeof(answer->folder), "%s", folder);
		free(folder);
	}
	if (recording->notes.address)
		snprintf(answer->recorder, sizeof(answer->recorder), "%s",
			 recording->notes.address);
	snprintf(answer->lttng_home, sizeof(answer->lttng_home), "%s", home ? home : "");
}
