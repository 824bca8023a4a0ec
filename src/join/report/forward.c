/* SPDX-License-Identifier: MIT */
/* One function for each kind of thing that the join gives. */
#include "join/report/forward.h"

#define FORWARD(name, function, type) \
	static int give_##name(void *data, type value) \
	{ \
		const struct tap_finding_view *view = data; \
\
		return tap_findings_consumer.function(view->findings, value); \
	} \
	int tap_forward_##name(void *data, type value) \
	{ \
		const struct tap_finding_view *view = data; \
\
		return view->view.filtered ? 0 : give_##name(data, value); \
	}
FORWARD(process, process, const struct tap_process *)
FORWARD(problem, problem, const struct tap_problem *)
FORWARD(sample, sample, const struct tap_sampled *)
FORWARD(thread, thread, const struct tap_thread_state *)
FORWARD(communicator, communicator, const struct tap_member *)
FORWARD(nccl_thread, nccl_thread, const struct tap_nccl_thread *)
FORWARD(connection, connection, const struct tap_nccl_connection *)
FORWARD(ended, span_ended, struct tap_span *)
FORWARD(link, link, const struct tap_link *)
FORWARD(defect, defect, const struct tap_link *)
FORWARD(end_state, end_state, const struct tap_end_state *)

const struct tap_consumer tap_forward_all = {
	.process = give_process,
	.problem = give_problem,
	.sample = give_sample,
	.thread = give_thread,
	.communicator = give_communicator,
	.nccl_thread = give_nccl_thread,
	.connection = give_connection,
	.span_ended = give_ended,
	.link = give_link,
	.defect = give_defect,
	.end_state = give_end_state,
};

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
