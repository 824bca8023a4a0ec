/* SPDX-License-Identifier: MIT */
/* One function for each kind of thing that the join gives. */
#include "join/report/forward.h"

#define FORWARD(name, function, type) \
	int tap_forward_##name(void *data, type value) \
	{ \
		const struct tap_finding_view *view = data; \
\
		return tap_findings_consumer.function(view->findings, value); \
	}
FORWARD(process, process, const struct tap_process *)
FORWARD(problem, problem, const struct tap_problem *)
FORWARD(sample, sample, const struct tap_sampled *)
FORWARD(thread, thread, const struct tap_thread_state *)
FORWARD(communicator, communicator, const struct tap_member *)
FORWARD(begun, span_begun, struct tap_span *)
FORWARD(ended, span_ended, struct tap_span *)
FORWARD(link, link, const struct tap_link *)
FORWARD(defect, defect, const struct tap_link *)
FORWARD(end_state, end_state, const struct tap_end_state *)

void tap_forward_add_json(struct tap_finding_view *view)
{
	size_t i;

	tap_json_open(&view->json, "findings", '[');
	for (i = 0; i < tap_findings_count(view->findings); i++)
		tap_finding_add_json(&view->json, tap_findings_at(view->findings, i));
	tap_json_close(&view->json);
}

void tap_forward_free(struct tap_finding_view *view)
{
	tap_findings_destroy(view->findings);
	tap_json_free(&view->json);
	tap_buffer_free(&view->view.line);
}
