/* SPDX-License-Identifier: MIT */
/*
 * A view that tells what is wrong with the program: it forwards what the join gives it to
 * the findings.
 *
 * Hides the functions between a view's consumer and that of the findings, which report
 * and why share.
 */
#ifndef TAP_JOIN_REPORT_FORWARD_H
#define TAP_JOIN_REPORT_FORWARD_H

#include "join/findings/findings.h"
#include "join/views/view.h"

/* The beginning of such a view. */
struct tap_finding_view {
	struct tap_view view;
	struct tap_json json;
	struct tap_findings *findings;
};

/*
 * For the consumer of such a view; a view with a function of its own calls these first.
 * Each returns what the findings do.  Where filters are given they do nothing: the findings
 * then get everything by tap_forward_all, and the view what passes.
 */
int tap_forward_process(void *data, const struct tap_process *process);
int tap_forward_problem(void *data, const struct tap_problem *problem);
int tap_forward_sample(void *data, const struct tap_sampled *sample);
int tap_forward_thread(void *data, const struct tap_thread_state *thread);
int tap_forward_communicator(void *data, const struct tap_member *member);
int tap_forward_nccl_thread(void *data, const struct tap_nccl_thread *thread);
int tap_forward_connection(void *data, const struct tap_nccl_connection *connection);
int tap_forward_ended(void *data, struct tap_span *span);
int tap_forward_link(void *data, const struct tap_link *link);
int tap_forward_defect(void *data, const struct tap_link *link);
int tap_forward_end_state(void *data, const struct tap_end_state *end_state);

/* The member `all` of such a view. */
extern const struct tap_consumer tap_forward_all;

/* Adds "findings":[...] */
void tap_forward_add_json(struct tap_finding_view *view);

/* Frees what the beginning of the view points to. */
void tap_forward_free(struct tap_finding_view *view);

#endif
