/* SPDX-License-Identifier: MIT */
/*
 * A queue orders its requests by number; all requests are in order of their posts, and
 * the oldest is given up when too many are open.
 */
#include "join/rdma/request.h"

#include "join/model/link.h"
#include "join/rdma/flow.h"
#include "join/rdma/memory.h"
#include "join/rdma/qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lists ---- */

struct tap_request *tap_request_make(struct tap_requests *requests, struct tap_span *span)
{
	struct tap_request *request = tap_list_take_first(&requests->unused, of_all);

	if (!request)
		request = malloc(sizeof(*request));
	if (!request)
		return NULL;
	memset(request, 0, sizeof(*request));
	request->span = span;
	tap_list_append(&requests->all, request, of_all);
	requests->open++;
	return request;
}

void tap_request_release(struct tap_requests *requests, struct tap_request *request)
{
	tap_pairs_put(&requests->context->pairs, request->span);
	tap_list_remove(&requests->all, request, of_all);
	requests->open--;
	tap_list_prepend(&requests->unused, request, of_all);
}

/* Inserts by seq: the events of concurrent posts may be out of order. */
static void queue_request(struct tap_work_queue *queue, struct tap_request *request)
{
	struct tap_request *before = queue->requests.last;

	while (before && before->span->work.request.seq > request->span->work.request.seq)
		before = before->of_queue.before;
	request->queue = queue;
	tap_list_insert(&queue->requests, before, request, of_queue);
}

static struct tap_srq *srq_of(const struct tap_requests *requests,
			      const struct tap_request *request)
{
	const struct tap_span *span = request->span;
	const uint64_t id = span->work.request.srq_id;

	return id ? tap_srq_find(requests->qps, span->process, id) : NULL;
}

struct tap_request *tap_request_find_shared(const struct tap_requests *requests,
					    const struct tap_srq *srq, uint64_t wr_id)
{
	return tap_table_find(&requests->by_wr_id, srq->number, wr_id);
}

int tap_request_share(struct tap_requests *requests, struct tap_srq *srq,
		      struct tap_request *request)
{
	struct tap_request *first =
		tap_request_find_shared(requests, srq, request->wr_id);

	if (!first) {
		request->same_earlier = request;
		return tap_table_set(&requests->by_wr_id, srq->number, request->wr_id,
				     request);
	}
	srq->has_same = true;
	request->same_earlier = first->same_earlier;
	first->same_earlier->same_later = request;
	first->same_earlier = request;
	return 0;
}

static void forget_same(struct tap_requests *requests, struct tap_request *request)
{
	struct tap_srq *srq = srq_of(requests, request);
	struct tap_request *first, *later = request->same_later;

	if (!srq)
		return;
	first = tap_request_find_shared(requests, srq, request->wr_id);
	if (first == request) {
		tap_table_remove(&requests->by_wr_id, srq->number, request->wr_id);
		/* This takes the slot just freed, so it cannot fail. */
		if (later) {
			tap_table_set(&requests->by_wr_id, srq->number, request->wr_id,
				      later);
			later->is_doubtful |= request->is_doubtful;
		}
	} else {
		request->same_earlier->same_later = later;
	}
	if (later || first != request)
		(later ? later : first)->same_earlier = request->same_earlier;
}

static void unqueue_request(struct tap_requests *requests, struct tap_request *request)
{
	forget_same(requests, request);
	tap_list_remove(&request->queue->requests, request, of_queue);
}

/* ---- Ends ---- */

/* Passes the request's message to its flow, whatever the completion said. */
static int send_message(struct tap_requests *requests, const struct tap_request *request,
			enum tap_why failure)
{
	const struct tap_span *span = request->span;
	struct tap_endpoint endpoint = {.process = span->process,
					.work = span->work,
					.name = span->name,
					.ordinal = request->ordinal,
					.length = request->length,
					.imm_data = (uint32_t) request->imm_data,
					.has_length = true,
					.has_imm = request->has_imm,
					.failure = failure,
					.is_open = span->state == TAP_SPAN_OPEN,
					.why = request->is_concurrent ? TAP_WHY_CONCURRENT
								      : TAP_WHY_NONE};

	return request->flow ? tap_flow_take(requests->flows, request->flow, &endpoint,
					     span->begin_ns)
			     : 0;
}

void tap_request_find_memory(struct tap_requests *requests, struct tap_request *request,
			     const struct tap_generation *generation,
			     struct tap_fields *fields)
{
	const struct tap_generation *peer = generation ? generation->peer : NULL;
	const struct tap_mr *mr;
	bool is_sure;

	if (!peer)
		return;
	mr = tap_memory_find(requests->memory, peer->qp, request->rkey,
			     request->remote_addr, request->length);
	if (!mr)
		return;
	request->is_one_sided = false;
	tap_fields_add_unsigned(fields, "remote_process", peer->qp->process->number);
	tap_fields_add_unsigned(fields, "remote_mr_id", mr->id);
	is_sure = tap_generation_is_sure(requests->qps, generation);
	tap_count_match(requests->context, TAP_MATCH_REQUEST_MEMORY,
			is_sure ? TAP_KNOWN_EXACT : TAP_KNOWN_INFERRED,
			is_sure ? TAP_WHY_NONE : TAP_WHY_LATE);
}

/* The generation of a request that is not on a shared queue. */
static const struct tap_generation *generation_of(const struct tap_request *request)
{
	const struct tap_work *work = &request->span->work;

	return tap_qp_find_generation(work->request.qp, work->request.generation);
}

/* Looks for the memory a last time: one host's events may come later than another's. */
static void settle_memory(struct tap_requests *requests, struct tap_request *request,
			  enum tap_why failure)
{
	struct tap_span *span = request->span;
	const struct tap_generation *generation;

	if (!request->is_one_sided)
		return;
	generation = generation_of(request);
	tap_request_find_memory(requests, request, generation, &span->exit);
	if (!request->is_one_sided)
		return;
	if (span->state == TAP_SPAN_OPEN)
		requests->context->matches[TAP_MATCH_REQUEST_MEMORY].outstanding++;
	else if (failure)
		tap_count_unmatched(requests->context, TAP_MATCH_REQUEST_MEMORY, failure);
	else
		tap_count_unmatched(requests->context, TAP_MATCH_REQUEST_MEMORY,
				    generation && generation->peer
					    ? TAP_WHY_PEER_MISSING
					    : TAP_WHY_PEER_UNKNOWN);
}

int tap_request_end(struct tap_requests *requests, struct tap_request *request,
		    enum tap_span_state state, enum tap_why failure)
{
	struct tap_span *span = request->span;
	int ret;

	unqueue_request(requests, request);
	span->state = state;
	if (request->note.owner)
		requests->observer->ended(requests->observer->data,
					  generation_of(request), &request->note,
					  &span->exit);
	settle_memory(requests, request, failure);
	ret = tap_emit_ended(requests->context, span);
	if (!ret)
		ret = send_message(requests, request, failure);
	return ret;
}

int tap_request_lose(struct tap_requests *requests, struct tap_request *request,
		     enum tap_why why)
{
	int ret;

	tap_count_unmatched(requests->context, TAP_MATCH_POST_COMPLETION, why);
	ret = tap_request_end(requests, request, TAP_SPAN_END_LOST, TAP_WHY_NONE);
	tap_request_release(requests, request);
	return ret;
}

int tap_request_leave_open(struct tap_requests *requests, struct tap_request *request)
{
	int ret;

	requests->context->matches[TAP_MATCH_POST_COMPLETION].outstanding++;
	ret = tap_request_end(requests, request, TAP_SPAN_OPEN, TAP_WHY_NONE);
	tap_request_release(requests, request);
	return ret;
}

int tap_request_begin(struct tap_requests *requests, struct tap_work_queue *queue,
		      struct tap_request *request)
{
	const uint64_t seq = request->span->work.request.seq;
	int ret = 0;

	if (seq != queue->last_seq + 1)
		queue->has_hole = true;
	if (seq > queue->last_seq)
		queue->last_seq = seq;
	if (request->signaled > queue->last_posted)
		queue->last_posted = request->signaled;
	queue->has_races |= request->is_concurrent;
	queue_request(queue, request);
	ret = tap_emit_begun(requests->context, request->span);
	while (!ret && requests->open > requests->context->bounds.open_calls)
		ret = tap_request_lose(requests, requests->all.first, TAP_WHY_GIVEN_UP);
	return ret;
}

void tap_requests_forget(struct tap_requests *requests, struct tap_work_queue *queue)
{
	struct tap_request *request;

	while ((request = queue->requests.first)) {
		unqueue_request(requests, request);
		tap_request_release(requests, request);
	}
}

void tap_requests_free(struct tap_requests *requests)
{
	struct tap_request *request;

	while ((request = tap_list_take_first(&requests->unused, of_all)))
		free(request);
	tap_table_free(&requests->by_wr_id);
}
