/* SPDX-License-Identifier: MIT */
/* Asks each supervisor of this user for its status. */
#include "tools/counting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/message.h"
#include "tools/record_output.h"

#define PATIENCE_SECONDS 10

struct search {
	struct tap_countings *found;
	const char *wanted;
	char *real; /* what tap_output_resolve() makes of it */
};

static bool is_wanted(const struct search *search, const struct tap_answer *answer)
{
	return !search->wanted || tap_link_is_named(answer, search->wanted, search->real);
}

static void look_at(const char *place, void *data)
{
	struct search *search = data;
	struct tap_counting counting = {0};
	struct tap_answer answer;
	int ret;

	ret = tap_link_request(place, TAP_LINK_STATUS, PATIENCE_SECONDS, &answer, NULL);
	search->found->silent += ret == -ETIMEDOUT;
	if (ret || !*answer.metrics || !*answer.recorder || !is_wanted(search, &answer))
		return;
	snprintf(counting.place, sizeof(counting.place), "%s", place);
	snprintf(counting.session, sizeof(counting.session), "%s", answer.session);
	snprintf(counting.recorder, sizeof(counting.recorder), "%s", answer.recorder);
	snprintf(counting.job, sizeof(counting.job), "%s", answer.job);
	snprintf(counting.lttng_home, sizeof(counting.lttng_home), "%s",
		 answer.lttng_home);
	if (tap_vec_add(&search->found->of, counting))
		search->found->error = ENOMEM;
}

void tap_countings_find(struct tap_countings *found, const char *wanted)
{
	struct search search = {.found = found, .wanted = wanted};

	if (wanted)
		search.real = tap_output_resolve(wanted);
	tap_link_each(look_at, &search);
	free(search.real);
	if (found->silent && !(wanted && found->of.count))
		tap_message_write("supervisors of recordings that do not answer within "
				  "%d s: %u; one may be stopped, or wait for a disk",
				  PATIENCE_SECONDS, found->silent);
}

int tap_countings_check(const struct tap_countings *found, const char *wanted,
			const char *how)
{
	if (found->error) {
		tap_message_write("%s", strerror(found->error));
		return TAP_EXIT_FAILURE;
	}
	if (found->of.count == 1)
		return 0;
	/* The user knows. */
	if (!found->of.count && found->silent)
		return TAP_EXIT_FAILURE;
	if (found->of.count) {
		tap_message_write("%zu recordings have metrics: say which, as \"ccltap "
				  "status\" calls it, %s",
				  found->of.count, how);
		return TAP_EXIT_USAGE;
	}
	if (wanted)
		tap_message_write(
			"no recording \"%s\" with metrics is running for this user "
			"on this host: \"ccltap status\" lists those that do",
			wanted);
	else
		tap_message_write(
			"no recording with metrics is running for this user on this "
			"host: begin with \"ccltap record --metrics --layers none\"");
	return TAP_EXIT_FAILURE;
}
