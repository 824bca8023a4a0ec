/* SPDX-License-Identifier: MIT */
/* Each event goes to the part that it concerns. */
#include "join/rdma/verbs.h"

#include "join/model/process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DETAIL_MAX 512

uint64_t tap_verbs_number(const struct tap_event *event, const char *name)
{
	const struct tap_field *field = tap_fields_find(&event->fields, name);

	return field && (field->kind == TAP_FIELD_UNSIGNED ||
			 field->kind == TAP_FIELD_SIGNED)
		       ? field->value.u
		       : 0;
}

void tap_verbs_unmatched(struct tap_verbs *verbs, enum tap_match_kind kind,
			 enum tap_why why)
{
	verbs->context->matches[kind].unmatched++;
	verbs->context->matches[kind].why[why]++;
}

void tap_verbs_count(struct tap_verbs *verbs, enum tap_match_kind kind,
		     enum tap_known known, enum tap_why why)
{
	struct tap_matches *matches = &verbs->context->matches[kind];

	if (known == TAP_KNOWN_EXACT) {
		matches->exact++;
		return;
	}
	if (known == TAP_KNOWN_DECODED) {
		matches->decoded++;
		return;
	}
	matches->inferred++;
	matches->why[why]++;
}

static int tell_unobserved(struct tap_verbs *verbs, const struct tap_process *process,
			   const struct tap_event *event, const char *what,
			   const char *why)
{
	const struct tap_problem problem = {.process = process,
					    .time_ns = event->time_ns,
					    .what = what,
					    .detail = why ? why : "",
					    .is_unobserved = true,
					    .count = 1};

	return tap_emit_problem(verbs->context, &problem);
}

static int take_unobserved(struct tap_verbs *verbs, const struct tap_process *process,
			   const struct tap_event *event)
{
	const char *what = tap_fields_get_string(&event->fields, "what");

	return tell_unobserved(verbs, process, event, what ? what : "verbs",
			       tap_fields_get_string(&event->fields, "why"));
}

static int take_context(struct tap_verbs *verbs, const struct tap_process *process,
			const struct tap_event *event)
{
	const char *device = tap_fields_get_string(&event->fields, "device");
	char what[DETAIL_MAX];
	uint64_t is_observed;

	if (tap_fields_get_unsigned(&event->fields, "observed", &is_observed) ||
	    is_observed)
		return 0;
	snprintf(what, sizeof(what), "context of %s", device ? device : "?");
	return tell_unobserved(verbs, process, event, what, "its table is not patched");
}

/* What was posted to it before is not in the trace, and may complete. */
static int take_srq_state(struct tap_verbs *verbs, const struct tap_process *process,
			  const struct tap_event *event)
{
	const uint64_t id = tap_verbs_number(event, "srq_id");
	const bool is_new = !tap_table_find(&verbs->srqs, process->number, id);
	struct tap_srq *srq = tap_srq_get(verbs, process, id);

	if (!srq)
		return -ENOMEM;
	if (is_new)
		srq->receives.posted_before = UINT64_MAX;
	return 0;
}

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct tap_verbs *verbs = state;

	switch (event->verbs) {
	case TAP_VERBS_CONTEXT:
		return take_context(verbs, process, event);
	case TAP_VERBS_UNOBSERVED:
		return take_unobserved(verbs, process, event);
	case TAP_VERBS_PORT:
	case TAP_VERBS_GID:
		return tap_qp_port(verbs, process, event);
	case TAP_VERBS_MR:
	case TAP_VERBS_MR_FREE:
		return tap_qp_memory(verbs, process, event, event->verbs == TAP_VERBS_MR);
	case TAP_VERBS_QP:
	case TAP_VERBS_QP_STATE:
		return tap_qp_made(verbs, process, event,
				   event->verbs == TAP_VERBS_QP_STATE);
	case TAP_VERBS_SRQ_STATE:
		return take_srq_state(verbs, process, event);
	case TAP_VERBS_QP_MODIFY:
		return tap_qp_modified(verbs, process, event);
	case TAP_VERBS_QP_DESTROY:
		return tap_qp_destroyed(verbs, process, event);
	case TAP_VERBS_AH:
	case TAP_VERBS_AH_DESTROY:
		return tap_qp_handle(verbs, process, event, event->verbs == TAP_VERBS_AH);
	case TAP_VERBS_POST_SEND:
	case TAP_VERBS_POST_SEND_LIST:
		return tap_wr_sends(verbs, process, event,
				    event->verbs == TAP_VERBS_POST_SEND_LIST);
	case TAP_VERBS_POST_RECV:
	case TAP_VERBS_POST_RECV_LIST:
		return tap_wr_receives(verbs, process, event,
				       event->verbs == TAP_VERBS_POST_RECV_LIST);
	case TAP_VERBS_POST_FAILED:
		return tap_wr_refused(verbs, process, event);
	case TAP_VERBS_POLL:
		return tap_wr_completions(verbs, process, event);
	case TAP_VERBS_NONE:
		break;
	}
	return 0;
}

static int finish(void *state)
{
	struct tap_verbs *verbs = state;
	struct tap_life *life;
	struct tap_srq *srq;
	struct tap_qp *qp;
	int ret = 0;

	for (qp = verbs->all_qps; qp && !ret; qp = qp->next) {
		for (life = qp->lives; life && !ret; life = life->older) {
			ret = tap_wr_end(verbs, &life->sends);
			if (!ret)
				ret = tap_wr_end(verbs, &life->receives);
		}
	}
	for (srq = verbs->all_srqs; srq && !ret; srq = srq->next)
		ret = tap_wr_end(verbs, &srq->receives);
	return ret ? ret : tap_flows_finish(verbs);
}

static void free_all(void *state)
{
	struct tap_verbs *verbs = state;
	struct tap_life *life;
	struct tap_srq *srq;
	struct tap_qp *qp;

	for (qp = verbs->all_qps; qp; qp = qp->next) {
		for (life = qp->lives; life; life = life->older) {
			tap_wr_forget(verbs, &life->sends);
			tap_wr_forget(verbs, &life->receives);
		}
	}
	for (srq = verbs->all_srqs; srq; srq = srq->next)
		tap_wr_forget(verbs, &srq->receives);
	tap_flows_free(verbs);
	tap_wrs_free(verbs);
	tap_qps_free(verbs);
}

const struct tap_layer tap_verbs_layer = {
	.name = "verbs",
	.size = sizeof(struct tap_verbs),
	.events = TAP_TAKES(TAP_EVENT_VERBS),
	.take = take,
	.finish = finish,
	.free = free_all,
};
