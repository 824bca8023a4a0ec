/* SPDX-License-Identifier: MIT */
/* A flow gets a received message even where the receive's post is missing. */
#include "join/rdma/outcome.h"

#include "join/model/link.h"
#include "join/model/work.h"
#include "join/rdma/flow.h"
#include "join/rdma/qp.h"

#include <errno.h>

#define WITH_IMM 2 /* of ibv_wc_flags */
#define UNREAD 128 /* the tracer's: src/tracepoints/verbs_events.h */
#define FLUSHED 5  /* of ibv_wc_status */

static int emit_link(const struct tap_outcomes *outcomes, const struct tap_span *span,
		     enum tap_known known, enum tap_why why)
{
	struct tap_link_end end = {.process = span->process,
				   .name = span->name,
				   .work = span->work,
				   .rank = -1};
	const struct tap_link link = {.kind = TAP_LINK_POST_COMPLETION,
				      .known = known,
				      .why = why,
				      .is_complete = true,
				      .nranks = -1,
				      .operation = span->name,
				      .ends = &end,
				      .count = 1,
				      .begin_ns = span->begin_ns,
				      .end_ns = span->end_ns,
				      .is_end_bound = span->is_end_bound};

	return tap_emit_link(outcomes->context, &link);
}

static int receive_message(const struct tap_outcomes *outcomes,
			   const struct tap_completion *wc, const struct tap_span *span,
			   enum tap_why why)
{
	struct tap_generation *generation = wc->generation;
	const struct tap_rdma_observer *observer = outcomes->observer;
	struct tap_flow_side *side = &generation->in;
	struct tap_endpoint endpoint = {.process = wc->process,
					.ordinal = wc->seq,
					.length = wc->byte_len,
					.imm_data = (uint32_t) wc->imm_data,
					.has_length = wc->opcode == TAP_WC_RECEIVED,
					.has_imm = wc->wc_flags & WITH_IMM,
					.is_unread = wc->wc_flags & UNREAD,
					.is_receive = true,
					.why = wc->is_concurrent ? TAP_WHY_CONCURRENT
								 : why};
	int ret;

	if (wc->is_of_either)
		return 0;
	tap_generation_count_receive(generation, wc->seq);
	if (wc->status)
		return 0;
	if (span) {
		endpoint.work = span->work;
		endpoint.name = span->name;
	}
	if (generation->qp->type == TAP_QP_UD) {
		side = tap_flow_datagram(outcomes->flows, NULL, generation, wc->src_qp);
		if (!side)
			return -ENOMEM;
		endpoint.ordinal = tap_flow_side_next(side);
		/* The global routing header comes first. */
		endpoint.length -= 40;
		tap_flow_side_doubt(side, false, generation->has_missed_receive);
	}
	if (!endpoint.ordinal) {
		tap_count_unmatched(outcomes->context, TAP_MATCH_SEND_RECEIVE,
				    TAP_WHY_AMBIGUOUS);
		return 0;
	}
	ret = tap_flow_take(outcomes->flows, side, &endpoint, wc->time_ns);
	if (ret || !observer)
		return ret;
	return observer->received(observer->data, generation, wc->seq, wc->time_ns,
				  endpoint.imm_data);
}

static enum tap_why failure_of(const struct tap_completion *wc)
{
	if (!wc->status)
		return TAP_WHY_NONE;
	return wc->status == FLUSHED ? TAP_WHY_FLUSHED : TAP_WHY_FAILED;
}

static void add_outcome(struct tap_span *span, const struct tap_completion *wc,
			enum tap_why why)
{
	struct tap_fields *exit = &span->exit;

	span->end_ns = wc->time_ns;
	span->work.request.qp = wc->generation->qp;
	tap_work_add_status(exit, wc->status);
	if (wc->is_receive && !wc->status && !(wc->wc_flags & UNREAD)) {
		tap_fields_add_unsigned(exit, "byte_len", wc->byte_len);
		if (wc->wc_flags & WITH_IMM)
			tap_fields_add_hex(exit, "imm_data", wc->imm_data);
		if (wc->generation->qp->type == TAP_QP_UD)
			tap_fields_add_unsigned(exit, "src_qp", wc->src_qp);
	}
	if (wc->is_receive && span->work.request.srq_id)
		tap_fields_add_unsigned(exit, "qp_id", wc->generation->qp->id);
	if (wc->vendor_err)
		tap_fields_add_hex(exit, "vendor_err", wc->vendor_err);
	tap_fields_add_unsigned(exit, "cq_id", wc->cq_id);
	if (why)
		tap_fields_add_text(exit, "why", tap_why_name(why));
}

/* Ends a request that a completion ends, and emits the link. */
static int finish(const struct tap_outcomes *outcomes, struct tap_request *request,
		  enum tap_why failure, enum tap_why why)
{
	const enum tap_known known = why ? TAP_KNOWN_INFERRED : TAP_KNOWN_EXACT;
	const int ret =
		tap_request_end(outcomes->requests, request, TAP_SPAN_COMPLETE, failure);

	tap_count_match(outcomes->context, TAP_MATCH_POST_COMPLETION, known, why);
	return ret ? ret : emit_link(outcomes, request->span, known, why);
}

int tap_outcome_complete(const struct tap_outcomes *outcomes, struct tap_request *request,
			 const struct tap_completion *wc, enum tap_why why)
{
	struct tap_span *span = request->span;
	int ret;

	add_outcome(span, wc, why);
	ret = finish(outcomes, request, failure_of(wc), why);
	if (!ret && wc->is_receive)
		ret = receive_message(outcomes, wc, span, why);
	if (!ret && request->note.owner && request->flow)
		ret = outcomes->observer->sent(outcomes->observer->data, wc->generation,
					       request->ordinal, wc->time_ns, wc->status);
	tap_request_release(outcomes->requests, request);
	return ret;
}

int tap_outcome_complete_before(const struct tap_outcomes *outcomes,
				const struct tap_work_queue *queue,
				const struct tap_request *last, uint64_t due,
				const struct tap_completion *wc, enum tap_why why)
{
	struct tap_request *request, *later;
	int ret = 0;

	for (request = queue->requests.first; request && request != last && !ret;
	     request = later) {
		struct tap_span *span = request->span;

		later = request->of_queue.after;
		if (request->signaled || request->due != due)
			continue;
		span->end_ns = wc->time_ns;
		span->is_end_bound = true;
		tap_work_add_status(&span->exit, 0);
		if (last)
			tap_fields_add_unsigned(&span->exit, "completed_by",
						last->span->work.request.seq);
		tap_fields_add_unsigned(&span->exit, "cq_id", wc->cq_id);
		ret = finish(outcomes, request, TAP_WHY_NONE, why);
		tap_request_release(outcomes->requests, request);
	}
	return ret;
}

/*
 * Emits a message that took an unknown receive of a shared queue, as a span without a
 * beginning: the queue pair's ordinal still identifies the message.
 */
static int emit_arrival(const struct tap_outcomes *outcomes,
			const struct tap_completion *wc, enum tap_why why)
{
	const struct tap_generation *generation = wc->generation;
	struct tap_span *span = tap_work_make_span(outcomes->context, wc->process,
						   "verbs", "RECV", wc->tid);
	struct tap_fields *entry;
	int ret;

	if (!span)
		return -ENOMEM;
	span->state = TAP_SPAN_BEGIN_LOST;
	span->work = tap_generation_work(generation, TAP_WORK_RECEIVE, wc->seq);
	entry = &span->entry;
	tap_fields_add_hex(entry, "wr_id", wc->wr_id);
	tap_fields_add_unsigned(entry, "qp_id", generation->qp->id);
	tap_fields_add_unsigned(entry, "qp_num", generation->qp->qp_num);
	tap_fields_add_unsigned(entry, "generation", generation->number);
	tap_fields_add_unsigned(entry, "seq", wc->seq);
	add_outcome(span, wc, why);
	ret = tap_emit_ended(outcomes->context, span);
	if (!ret)
		ret = receive_message(outcomes, wc, span, TAP_WHY_NONE);
	tap_pairs_put(&outcomes->context->pairs, span);
	return ret;
}

int tap_outcome_lose(const struct tap_outcomes *outcomes, const struct tap_completion *wc,
		     enum tap_why why)
{
	tap_count_unmatched(outcomes->context, TAP_MATCH_POST_COMPLETION, why);
	if (!wc->is_receive)
		return 0;
	/* The message is known all the same. */
	return wc->srq && wc->seq ? emit_arrival(outcomes, wc, why)
				  : receive_message(outcomes, wc, NULL, TAP_WHY_NONE);
}
