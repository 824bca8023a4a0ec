/* SPDX-License-Identifier: MIT */
/* The view that shows how far a trace can be trusted: checked.h alone, of a whole trace.
 */
#include "join/report/checked.h"

#include <errno.h>
#include <stdlib.h>

struct check {
	struct tap_view view;
	struct tap_json json;
	struct tap_checked checked;
	struct tap_findings *findings;
};

/* FORWARD makes functions that pass on to the findings what the view itself has no use
 * for. */
#define FORWARD(function, type) \
	static int function##_to_findings(void *data, type value) \
	{ \
		const struct check *check = data; \
\
		return tap_findings_consumer.function(check->findings, value); \
	}
FORWARD(process, const struct tap_process *)
FORWARD(thread, const struct tap_thread_state *)
FORWARD(communicator, const struct tap_member *)
FORWARD(span_ended, struct tap_span *)
FORWARD(end_state, const struct tap_end_state *)

static int note_problem(void *data, const struct tap_problem *problem)
{
	struct check *check = data;
	int ret = tap_findings_consumer.problem(check->findings, problem);

	return ret ? ret : tap_checked_problem(&check->checked, problem);
}

static int count_connection(void *data, const struct tap_nccl_connection *connection)
{
	struct check *check = data;

	tap_checked_connection(&check->checked, connection);
	return tap_findings_consumer.connection(check->findings, connection);
}

static int count_link(void *data, const struct tap_link *link)
{
	struct check *check = data;

	tap_checked_link(&check->checked, link);
	return tap_findings_consumer.link(check->findings, link);
}

static int note_defect(void *data, const struct tap_link *link)
{
	struct check *check = data;

	tap_checked_defect(&check->checked, &check->view.context->loss, link);
	return tap_findings_consumer.defect(check->findings, link);
}

static void write_json(struct check *check, const struct tap_loss *loss)
{
	struct tap_json *json = &check->json;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "type", "check");
	tap_json_unsigned(json, "schema", TAP_VIEW_SCHEMA);
	tap_checked_add_json(json, &check->checked, &check->view, check->findings, loss,
			     true);
	tap_json_end_line(json, &check->view.line);
}

static int finish(void *data, const struct tap_loss *loss)
{
	struct check *check = data;

	if (tap_findings_conclude(check->findings, loss))
		return -ENOMEM;
	if (check->view.settings.is_json)
		write_json(check, loss);
	else
		tap_checked_add_text(&check->view.line, &check->checked, &check->view,
				     check->findings, loss);
	return tap_outfile_finish(check->view.output, &check->view.line);
}

static void destroy(struct tap_view *view)
{
	struct check *check = (struct check *) view;

	tap_checked_free(&check->checked);
	tap_findings_destroy(check->findings);
	tap_json_free(&check->json);
	tap_buffer_free(&view->line);
	free(check);
}

static const struct tap_consumer consumer = {
	.process = process_to_findings,
	.problem = note_problem,
	.thread = thread_to_findings,
	.communicator = communicator_to_findings,
	.connection = count_connection,
	.span_ended = span_ended_to_findings,
	.link = count_link,
	.defect = note_defect,
	.end_state = end_state_to_findings,
	.finish = finish,
};

struct tap_view *tap_check_create(void)
{
	struct check *check = calloc(1, sizeof(*check));

	if (!check)
		return NULL;
	check->view.consumer = &consumer;
	check->view.destroy = destroy;
	check->findings = tap_findings_create(&check->view);
	if (check->findings)
		return &check->view;
	free(check);
	return NULL;
}
