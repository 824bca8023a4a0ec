/* SPDX-License-Identifier: MIT */
/* Passes each event to the part that handles it. */
#include "join/rdma/verbs.h"

#include "join/rdma/column.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define DETAIL_MAX 512

static int emit_unobserved(struct tap_verbs *verbs, const struct tap_process *process,
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

	return emit_unobserved(verbs, process, event, what ? what : "verbs",
			       tap_fields_get_string(&event->fields, "why"));
}

/* The device tells the program of it: that a queue pair carries out nothing any more. */
static int take_async(struct tap_verbs *verbs, const struct tap_process *process,
		      const struct tap_event *event)
{
	const struct tap_qp *qp = tap_table_find(&verbs->qps.by_id, process->number,
						 tap_event_number(event, "qp_id"));
	char detail[DETAIL_MAX] = "";
	const struct tap_problem problem = {.process = process,
					    .time_ns = event->time_ns,
					    .what = tap_async_error_name(
						    tap_event_number(event, "event")),
					    .detail = detail,
					    .count = 1,
					    .is_device_error = true,
					    .qp = qp};

	if (!problem.what)
		return 0;
	if (qp)
		snprintf(detail, sizeof(detail), "queue pair %" PRIu64, qp->qp_num);
	return tap_emit_problem(verbs->context, &problem);
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
	return emit_unobserved(verbs, process, event, what, "its table is not patched");
}

/* Earlier posts to the queue are not in the trace, and may still complete. */
static int take_srq_statedump(struct tap_verbs *verbs, const struct tap_process *process,
			      const struct tap_event *event)
{
	const uint64_t id = tap_event_number(event, "srq_id");
	const bool is_new = !tap_srq_find(&verbs->qps, process, id);
	struct tap_srq *srq = tap_srq_get(&verbs->qps, process, id);

	if (!srq)
		return -ENOMEM;
	if (is_new)
		srq->receives.posted_before = UINT64_MAX;
	return 0;
}

static int take_region(struct tap_verbs *verbs, const struct tap_process *process,
		       const struct tap_event *event)
{
	const struct tap_rdma_observer *observer = verbs->observer;
	const struct tap_mr *added;
	int ret = tap_qps_add_process(&verbs->qps, process);

	if (!ret)
		ret = tap_memory_registered(&verbs->memory, process, event, &added);
	if (!ret && added && observer)
		observer->registered(observer->data, process, added->length);
	return ret;
}

static int take_freed(struct tap_verbs *verbs, const struct tap_process *process,
		      const struct tap_event *event)
{
	tap_memory_freed(&verbs->memory, process, event);
	return tap_qps_add_process(&verbs->qps, process);
}

/* ---- Changes of queue pairs ---- */

static int end_queues(struct tap_verbs *verbs, struct tap_generation *generation)
{
	const int ret = tap_completions_end(&verbs->completions, &generation->sends);

	return ret ? ret
		   : tap_completions_end(&verbs->completions, &generation->receives);
}

static int meet(struct tap_verbs *verbs, struct tap_generation *sender,
		struct tap_generation *receiver)
{
	const struct tap_rdma_observer *observer = verbs->observer;
	const int ret = tap_flow_meet(&verbs->flows, &sender->out, &receiver->in);

	return ret || !observer ? ret : observer->met(observer->data, sender, receiver);
}

static int take_change(struct tap_verbs *verbs, const struct tap_qp_change *change)
{
	const struct tap_rdma_observer *observer = verbs->observer;
	struct tap_generation *met = change->met;
	int ret = 0;

	if (change->destroyed && observer)
		observer->destroyed(observer->data, change->destroyed);
	if (change->ended)
		ret = end_queues(verbs, change->ended);
	if (ret || !met)
		return ret;
	ret = meet(verbs, met, met->peer);
	/* A queue pair may be connected to itself. */
	return ret || met == met->peer ? ret : meet(verbs, met->peer, met);
}

static int take_qp(struct tap_verbs *verbs, const struct tap_process *process,
		   const struct tap_event *event)
{
	struct tap_qp_change change = {.met = NULL};
	int ret = 0;

	if (event->verbs == TAP_VERBS_QP_DESTROY)
		tap_qp_destroyed(&verbs->qps, process, event, &change);
	else if (event->verbs == TAP_VERBS_QP_MODIFY)
		ret = tap_qp_modified(&verbs->qps, process, event, &change);
	else
		ret = tap_qp_made(&verbs->qps, process, event,
				  event->verbs == TAP_VERBS_QP_STATEDUMP, &change);
	return ret ? ret : take_change(verbs, &change);
}

/* ---- The layer ---- */

static void begin(void *state)
{
	struct tap_verbs *verbs = state;

	verbs->flows.context = verbs->context;
	verbs->flows.qps = &verbs->qps;
	verbs->requests.context = verbs->context;
	verbs->requests.qps = &verbs->qps;
	verbs->requests.memory = &verbs->memory;
	verbs->requests.flows = &verbs->flows;
	verbs->outcomes.context = verbs->context;
	verbs->outcomes.flows = &verbs->flows;
	verbs->outcomes.requests = &verbs->requests;
	verbs->completions.context = verbs->context;
	verbs->completions.qps = &verbs->qps;
	verbs->completions.requests = &verbs->requests;
	verbs->completions.outcomes = &verbs->outcomes;
	verbs->posts.context = verbs->context;
	verbs->posts.qps = &verbs->qps;
	verbs->posts.flows = &verbs->flows;
	verbs->posts.requests = &verbs->requests;
	verbs->posts.completions = &verbs->completions;
}

void tap_verbs_observe(struct tap_verbs *verbs, const struct tap_rdma_observer *observer)
{
	verbs->observer = observer;
	verbs->requests.observer = observer;
	verbs->outcomes.observer = observer;
	verbs->posts.observer = observer;
}

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct tap_verbs *verbs = state;

	switch (event->verbs) {
	case TAP_VERBS_CONTEXT:
		return take_context(verbs, process, event);
	case TAP_VERBS_UNOBSERVED:
		return take_unobserved(verbs, process, event);
	case TAP_VERBS_ASYNC:
		return take_async(verbs, process, event);
	case TAP_VERBS_PORT:
	case TAP_VERBS_GID:
		return tap_qp_port(&verbs->qps, process, event);
	case TAP_VERBS_MR:
		return take_region(verbs, process, event);
	case TAP_VERBS_MR_FREE:
		return take_freed(verbs, process, event);
	case TAP_VERBS_QP:
	case TAP_VERBS_QP_STATEDUMP:
	case TAP_VERBS_QP_MODIFY:
	case TAP_VERBS_QP_DESTROY:
		return take_qp(verbs, process, event);
	case TAP_VERBS_SRQ_STATEDUMP:
		return take_srq_statedump(verbs, process, event);
	case TAP_VERBS_AH:
	case TAP_VERBS_AH_DESTROY:
		return tap_qp_handle(&verbs->qps, process, event,
				     event->verbs == TAP_VERBS_AH);
	case TAP_VERBS_POST_SEND:
	case TAP_VERBS_POST_SEND_LIST:
		return tap_posts_sends(&verbs->posts, process, event,
				       event->verbs == TAP_VERBS_POST_SEND_LIST);
	case TAP_VERBS_POST_RECV:
	case TAP_VERBS_POST_RECV_LIST:
		return tap_posts_receives(&verbs->posts, process, event,
					  event->verbs == TAP_VERBS_POST_RECV_LIST);
	case TAP_VERBS_POST_FAILED:
		return tap_posts_refused(&verbs->posts, process, event);
	case TAP_VERBS_POLL:
		return tap_completions_take(&verbs->completions, process, event);
	case TAP_VERBS_NONE:
		break;
	}
	return 0;
}

static int finish(void *state)
{
	struct tap_verbs *verbs = state;
	struct tap_generation *generation;
	struct tap_srq *srq;
	struct tap_qp *qp;
	int ret = 0;

	for (qp = verbs->qps.all; qp && !ret; qp = qp->next)
		for (generation = qp->generations; generation && !ret;
		     generation = generation->older)
			ret = end_queues(verbs, generation);
	for (srq = verbs->qps.all_srqs; srq && !ret; srq = srq->next)
		ret = tap_completions_end(&verbs->completions, &srq->receives);
	return ret ? ret : tap_flows_finish(&verbs->flows);
}

static void forget_queue(struct tap_verbs *verbs, struct tap_work_queue *queue)
{
	tap_requests_forget(&verbs->requests, queue);
	tap_completions_forget(&verbs->completions, queue);
}

static void free_all(void *state)
{
	struct tap_verbs *verbs = state;
	struct tap_generation *generation;
	struct tap_srq *srq;
	struct tap_qp *qp;

	for (qp = verbs->qps.all; qp; qp = qp->next) {
		for (generation = qp->generations; generation;
		     generation = generation->older) {
			forget_queue(verbs, &generation->sends);
			forget_queue(verbs, &generation->receives);
		}
	}
	for (srq = verbs->qps.all_srqs; srq; srq = srq->next)
		forget_queue(verbs, &srq->receives);
	tap_completions_free(&verbs->completions);
	tap_requests_free(&verbs->requests);
	tap_flows_free(&verbs->flows);
	tap_memory_free(&verbs->memory);
	tap_qps_free(&verbs->qps);
}

const struct tap_layer tap_verbs_layer = {
	.name = "verbs",
	.size = sizeof(struct tap_verbs),
	.events = TAP_TAKES(TAP_EVENT_VERBS),
	.begin = begin,
	.take = take,
	.finish = finish,
	.free = free_all,
};
