/* SPDX-License-Identifier: MIT */
/* The view of the findings alone. */
#include "join/findings/findings.h"
#include "join/views/view.h"

#include <stdlib.h>

struct why {
	struct tap_view view;
	struct tap_json json;
	struct tap_findings *findings;
};

static void write_text(struct why *why)
{
	size_t i;

	for (i = 0; i < tap_findings_count(why->findings); i++)
		tap_finding_add_text(&why->view.line, tap_findings_at(why->findings, i),
				     why->view.settings.has_colour);
}

static void write_json(struct why *why)
{
	static const char *const verdicts[] = {[TAP_VERDICT_CLEAR] = "clear",
					       [TAP_VERDICT_FOUND] = "found",
					       [TAP_VERDICT_UNKNOWN] = "unknown"};
	struct tap_json *json = &why->json;
	size_t i;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "type", "why");
	tap_json_unsigned(json, "schema", TAP_VIEW_SCHEMA);
	tap_json_string(json, "verdict", verdicts[tap_findings_verdict(why->findings)]);
	tap_json_open(json, "findings", '[');
	for (i = 0; i < tap_findings_count(why->findings); i++)
		tap_finding_add_json(json, tap_findings_at(why->findings, i));
	tap_json_close(json);
	tap_json_end_line(json, &why->view.line);
}

/*
 * The view's consumer is that of the findings, whose data is the view: FORWARD makes the
 * functions between them.
 */
#define FORWARD(function, type) \
	static int function##_to_findings(void *data, type value) \
	{ \
		const struct why *why = data; \
\
		return tap_findings_consumer.function(why->findings, value); \
	}
FORWARD(process, const struct tap_process *)
FORWARD(problem, const struct tap_problem *)
FORWARD(sample, const struct tap_sample *)
FORWARD(thread, const struct tap_thread_state *)
FORWARD(communicator, const struct tap_member *)
FORWARD(span_begun, struct tap_span *)
FORWARD(span_ended, struct tap_span *)
FORWARD(link, const struct tap_link *)
FORWARD(defect, const struct tap_link *)
FORWARD(end_state, const struct tap_end_state *)

static int finish(void *data, const struct tap_loss *loss)
{
	struct why *why = data;
	int ret = tap_findings_conclude(why->findings, loss);

	if (ret)
		return ret;
	if (why->view.settings.is_json)
		write_json(why);
	else
		write_text(why);
	return tap_outfile_finish(why->view.output, &why->view.line);
}

static void destroy(struct tap_view *view)
{
	struct why *why = (struct why *) view;

	tap_findings_destroy(why->findings);
	tap_json_free(&why->json);
	tap_buffer_free(&view->line);
	free(why);
}

static const struct tap_consumer consumer = {
	.process = process_to_findings,
	.problem = problem_to_findings,
	.sample = sample_to_findings,
	.thread = thread_to_findings,
	.communicator = communicator_to_findings,
	.span_begun = span_begun_to_findings,
	.span_ended = span_ended_to_findings,
	.link = link_to_findings,
	.defect = defect_to_findings,
	.end_state = end_state_to_findings,
	.finish = finish,
};

struct tap_view *tap_why_create(void)
{
	struct why *why = calloc(1, sizeof(*why));

	if (!why)
		return NULL;
	why->view.consumer = &consumer;
	why->view.destroy = destroy;
	why->findings = tap_findings_create(&why->view);
	if (why->findings)
		return &why->view;
	free(why);
	return NULL;
}
