/* SPDX-License-Identifier: MIT */
/*
 * Requests wait in the order of their queue until the reader has their completion.
 *
 * A completion whose request is missing waits as long as the post may still come: the
 * tracer writes the event of a post after the call, when another thread may have polled
 * the completion already.  The reader never matches it to the next request instead.
 */
#include "join/rdma/completion.h"

#include "join/rdma/column.h"
#include "join/rdma/qp.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Threads that poll one queue may write its completions out of order: a request is given
 * up when this many completions after its own have been read.
 */
#define OVERDUE 256

/* Completions of one queue that wait for their posts. */
#define EARLY_MAX 1024

enum match { MATCH_DONE, MATCH_WAITS };

/* Gives up requests whose completions are overdue. */
static int lose_overdue(struct tap_completions *completions, struct tap_work_queue *queue,
			uint64_t completed)
{
	int ret = 0;

	/* After an error unsignalled requests complete too: due does not hold. */
	while (!ret && queue->requests.first && !queue->has_error &&
	       queue->requests.first->due + OVERDUE < completed)
		ret = tap_request_lose(completions->requests, queue->requests.first,
				       TAP_WHY_COMPLETION_LOST);
	return ret;
}

/*
 * Counts a send's completion without its request; the requests before it end all the
 * same.
 */
static int lose_sent(struct tap_completions *completions, struct tap_work_queue *queue,
		     const struct tap_completion *wc, enum tap_why why)
{
	enum tap_why doubt = TAP_WHY_NONE;
	int ret = tap_outcome_lose(completions->outcomes, wc, why);

	if (ret || wc->status)
		return ret;
	if (queue->has_races || wc->is_concurrent)
		doubt = TAP_WHY_CONCURRENT;
	else if (!wc->generation->qp->is_known)
		doubt = TAP_WHY_SETUP;
	return tap_outcome_complete_before(completions->outcomes, queue, NULL, wc->seq,
					   wc, doubt);
}

static enum tap_why why_no_post(const struct tap_work_queue *queue, uint64_t ordinal)
{
	return ordinal <= queue->posted_before ? TAP_WHY_BEFORE : TAP_WHY_POST_LOST;
}

static bool may_come(const struct tap_work_queue *queue, uint64_t ordinal)
{
	return !queue->is_over && ordinal > queue->posted_before &&
	       (queue->last_posted < ordinal || queue->has_races);
}

static enum tap_why doubt(const struct tap_request *request,
			  const struct tap_completion *wc)
{
	if (request->is_concurrent || wc->is_concurrent)
		return TAP_WHY_CONCURRENT;
	return wc->generation->qp->is_known ? TAP_WHY_NONE : TAP_WHY_SETUP;
}

static int take_found(struct tap_completions *completions, struct tap_request *request,
		      const struct tap_completion *wc, enum tap_why why)
{
	struct tap_work_queue *queue = request->queue;
	const uint64_t seq = request->span->work.request.seq;
	const bool is_flushed = queue->has_error && wc->seq > queue->error_ordinal;
	int ret = 0;

	if (request->wr_id != wc->wr_id) {
		/* The request or the completion is wrong, unknown which. */
		tap_count_unmatched(completions->context, TAP_MATCH_POST_COMPLETION,
				    why ? why : TAP_WHY_CONTRADICTED);
		return tap_request_lose(completions->requests, request,
					why ? why : TAP_WHY_CONTRADICTED);
	}
	if (!wc->is_receive && !is_flushed)
		ret = tap_outcome_complete_before(completions->outcomes, queue, request,
						  request->due, wc, why);
	if (!ret)
		ret = tap_outcome_complete(completions->outcomes, request, wc, why);
	if (wc->seq > queue->last_completed) {
		queue->has_done = !why && !queue->has_hole;
		queue->last_completed = wc->seq;
		queue->done_seq = seq;
	}
	return ret ? ret : lose_overdue(completions, queue, wc->seq);
}

/*
 * Takes the first error.  An unsignalled request that fails completes too, so the failed
 * one may be any after the last that completed, up to the next signalled one; wr_id
 * decides.
 */
static int take_first_error(struct tap_completions *completions,
			    struct tap_work_queue *queue, const struct tap_completion *wc,
			    enum match *match)
{
	const uint64_t next = wc->seq;
	struct tap_request *request, *found = NULL;
	uint64_t expected = queue->done_seq + 1;
	bool is_whole = queue->has_done && queue->last_completed + 1 == wc->seq &&
			!queue->has_races;
	size_t count = 0;
	enum tap_why why;

	for (request = queue->requests.first; request;
	     request = request->of_queue.after) {
		if (request->span->work.request.seq != expected++)
			is_whole = false;
		if (request->wr_id == wc->wr_id && !count++)
			found = request;
		if (request->signaled >= next)
			break;
	}
	if (!request && may_come(queue, next)) {
		*match = MATCH_WAITS;
		return 0;
	}
	if (!found)
		return tap_outcome_lose(completions->outcomes, wc,
					why_no_post(queue, next));
	why = doubt(found, wc);
	if (!why && (!is_whole || count > 1))
		why = TAP_WHY_AMBIGUOUS;
	queue->has_error = true;
	queue->is_error_sure = !why;
	queue->error_ordinal = wc->seq;
	queue->error_seq = found->span->work.request.seq;
	return take_found(completions, found, wc, why);
}

static int take_send(struct tap_completions *completions, struct tap_work_queue *queue,
		     const struct tap_completion *wc, enum match *match)
{
	const bool is_flushed = queue->has_error && wc->seq > queue->error_ordinal;
	const uint64_t seq = queue->error_seq + (wc->seq - queue->error_ordinal);
	struct tap_request *request = queue->requests.first;
	enum tap_why why;

	if (wc->status && !queue->has_error)
		return take_first_error(completions, queue, wc, match);
	while (request && (is_flushed ? request->span->work.request.seq != seq
				      : request->signaled != wc->seq))
		request = request->of_queue.after;
	if (!request && is_flushed) {
		if (!queue->is_over && queue->last_seq < seq)
			*match = MATCH_WAITS;
		else
			return tap_outcome_lose(completions->outcomes, wc,
						TAP_WHY_POST_LOST);
		return 0;
	}
	if (!request && may_come(queue, wc->seq)) {
		*match = MATCH_WAITS;
		return 0;
	}
	if (!request)
		return lose_sent(completions, queue, wc, why_no_post(queue, wc->seq));
	why = doubt(request, wc);
	if (!why && is_flushed && !queue->is_error_sure)
		why = TAP_WHY_AMBIGUOUS;
	return take_found(completions, request, wc, why);
}

static int take_receive(struct tap_completions *completions, struct tap_work_queue *queue,
			const struct tap_completion *wc, enum match *match)
{
	struct tap_request *request = queue->requests.first;

	while (request && request->signaled != wc->seq)
		request = request->of_queue.after;
	if (request)
		return take_found(completions, request, wc,
				  request->is_concurrent || wc->is_concurrent
					  ? TAP_WHY_CONCURRENT
					  : TAP_WHY_NONE);
	if (!may_come(queue, wc->seq))
		return tap_outcome_lose(completions->outcomes, wc,
					why_no_post(queue, wc->seq));
	*match = MATCH_WAITS;
	return 0;
}

/* Gives up a request and a completion, of which either may be wrong. */
static int lose_both(struct tap_completions *completions, struct tap_request *request,
		     const struct tap_completion *wc, enum tap_why why)
{
	int ret = tap_request_lose(completions->requests, request, why);

	return ret ? ret : tap_outcome_lose(completions->outcomes, wc, why);
}

/*
 * Takes a receive where wr_ids are equal, on a shared queue that a single queue pair
 * uses: messages use up receives in the order of their posts, so the k-th completed
 * receive is the k-th post.
 */
static int take_in_order(struct tap_completions *completions,
			 const struct tap_completion *wc, enum match *match)
{
	struct tap_work_queue *queue = &wc->srq->receives;
	struct tap_request *request = queue->requests.first;

	while (request && request->signaled < wc->seq)
		request = request->of_queue.after;
	if (!request || request->signaled != wc->seq) {
		if (!may_come(queue, wc->seq))
			return tap_outcome_lose(completions->outcomes, wc,
						TAP_WHY_POST_LOST);
		*match = MATCH_WAITS;
		return 0;
	}
	if (request->wr_id != wc->wr_id ||
	    (!wc->status && wc->opcode == TAP_WC_RECEIVED &&
	     request->length < wc->byte_len))
		return lose_both(completions, request, wc, TAP_WHY_CONTRADICTED);
	return take_found(completions, request, wc,
			  request->is_concurrent || wc->is_concurrent ? TAP_WHY_CONCURRENT
								      : TAP_WHY_ORDER);
}

/*
 * Takes a receive of a shared queue.  These complete in any order; wr_id identifies the
 * request.  Where several requests have the wr_id and several queue pairs use the queue,
 * nothing does: a message takes its receive when it begins to arrive, and completes it
 * when it has arrived completely.
 */
static int take_shared(struct tap_completions *completions,
		       const struct tap_completion *wc, enum match *match)
{
	struct tap_work_queue *queue = &wc->srq->receives;
	const bool has_missed = queue->has_hole || queue->posted_before;
	struct tap_request *request =
		tap_request_find_shared(completions->requests, wc->srq, wc->wr_id);
	enum tap_why why = TAP_WHY_NONE;

	if (wc->srq->has_same && wc->seq && !queue->posted_before &&
	    tap_generation_is_alone(completions->qps, wc->generation))
		return take_in_order(completions, wc, match);
	if (!request && (queue->is_over || queue->posted_before)) {
		why = queue->posted_before ? TAP_WHY_BEFORE : TAP_WHY_POST_LOST;
		return tap_outcome_lose(completions->outcomes, wc, why);
	}
	if (!request) {
		*match = MATCH_WAITS;
		return 0;
	}
	/*
	 * One of these requests has completed.  A message took the first before the
	 * others, so the first has completed or will.
	 */
	if (request->same_later || request->is_doubtful ||
	    (wc->srq->has_same && has_missed)) {
		request->is_doubtful = true;
		return lose_both(completions, request, wc, TAP_WHY_AMBIGUOUS);
	}
	/* A missed post may have the same wr_id. */
	if (has_missed)
		why = TAP_WHY_AMBIGUOUS;
	return tap_outcome_complete(completions->outcomes, request, wc, why);
}

static struct tap_request *find_wr_id(const struct tap_work_queue *queue, uint64_t wr_id)
{
	struct tap_request *request = queue->requests.first;

	while (request && request->wr_id != wr_id)
		request = request->of_queue.after;
	return request;
}

/*
 * Takes the first request with this wr_id, of the send queue or else of the receives; the
 * unsignalled sends before it were sent.
 */
static int take_either(struct tap_completions *completions,
		       const struct tap_completion *wc, enum match *match)
{
	struct tap_work_queue *sends = &wc->generation->sends;
	struct tap_completion found = *wc;
	struct tap_request *request = find_wr_id(sends, wc->wr_id);
	int ret = 0;

	if (!request)
		request = wc->srq ? tap_request_find_shared(completions->requests,
							    wc->srq, wc->wr_id)
				  : find_wr_id(&wc->generation->receives, wc->wr_id);
	if (!request && !sends->is_over) {
		*match = MATCH_WAITS;
		return 0;
	}
	/* Another receive of the shared queue has the same wr_id. */
	if (!request || request->same_later)
		return tap_outcome_lose(completions->outcomes, wc, TAP_WHY_QUEUE);
	found.is_receive = request->span->work.kind == TAP_WORK_RECEIVE;
	if (!found.is_receive)
		ret = tap_outcome_complete_before(completions->outcomes, sends, request,
						  request->due, &found, TAP_WHY_QUEUE);
	return ret ? ret
		   : tap_outcome_complete(completions->outcomes, request, &found,
					  TAP_WHY_QUEUE);
}

static struct tap_work_queue *queue_of(const struct tap_completion *wc)
{
	if (wc->srq && !wc->is_of_either)
		return &wc->srq->receives;
	return wc->is_receive ? &wc->generation->receives : &wc->generation->sends;
}

static int take_completion(struct tap_completions *completions,
			   const struct tap_completion *wc, enum match *match)
{
	*match = MATCH_DONE;
	if (wc->is_of_either)
		return take_either(completions, wc, match);
	if (wc->srq)
		return take_shared(completions, wc, match);
	if (wc->is_receive)
		return take_receive(completions, queue_of(wc), wc, match);
	return take_send(completions, queue_of(wc), wc, match);
}

static void drop_early(struct tap_completions *completions, struct tap_work_queue *queue,
		       struct tap_completion *wc)
{
	tap_list_remove(&queue->early, wc, link);
	queue->early_count--;
	tap_list_prepend(&completions->unused, wc, link);
}

static int keep_early(struct tap_completions *completions,
		      const struct tap_completion *wc)
{
	struct tap_work_queue *queue = queue_of(wc);
	struct tap_completion *kept;
	int ret = 0;

	if (queue->early_count >= EARLY_MAX) {
		ret = tap_outcome_lose(completions->outcomes, queue->early.first,
				       TAP_WHY_GIVEN_UP);
		drop_early(completions, queue, queue->early.first);
	}
	kept = tap_list_take_first(&completions->unused, link);
	if (!kept)
		kept = malloc(sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = *wc;
	tap_list_append(&queue->early, kept, link);
	queue->early_count++;
	return ret;
}

int tap_completions_retry(struct tap_completions *completions,
			  struct tap_work_queue *queue)
{
	struct tap_completion *wc, *next;
	enum match match;
	int ret = 0;

	for (wc = queue->early.first; wc && !ret; wc = next) {
		ret = take_completion(completions, wc, &match);
		next = wc->link.after;
		if (match != MATCH_WAITS)
			drop_early(completions, queue, wc);
	}
	return ret;
}

int tap_completions_take(struct tap_completions *completions,
			 const struct tap_process *process, const struct tap_event *event)
{
	struct tap_reader reader = {.fields = &event->fields};
	const uint64_t cq_id = tap_read_number(&reader, "cq_id");
	const bool is_concurrent = tap_read_number(&reader, "concurrent");
	const uint64_t count = tap_read_number(&reader, "num_wc");
	const struct tap_column wr_id = tap_read_column(&reader, "wr_id");
	const struct tap_column qp_id = tap_read_column(&reader, "qp_id");
	const struct tap_column generation = tap_read_column(&reader, "generation");
	const struct tap_column seq = tap_read_column(&reader, "seq");
	const struct tap_column status = tap_read_column(&reader, "status");
	const struct tap_column opcode = tap_read_column(&reader, "opcode");
	const struct tap_column is_recv = tap_read_column(&reader, "is_recv");
	const struct tap_column byte_len = tap_read_column(&reader, "byte_len");
	const struct tap_column imm_data = tap_read_column(&reader, "imm_data");
	const struct tap_column wc_flags = tap_read_column(&reader, "wc_flags");
	const struct tap_column src_qp = tap_read_column(&reader, "src_qp");
	const struct tap_column vendor_err = tap_read_column(&reader, "vendor_err");
	struct tap_completion wc;
	enum match match;
	size_t i;
	int ret = 0;

	for (i = 0; i < count && i < wr_id.count && !ret; i++) {
		struct tap_qp *qp =
			tap_qp_get(completions->qps, process, tap_column_at(&qp_id, i));

		wc = (struct tap_completion){
			.process = process,
			.generation =
				qp ? tap_qp_generation(qp, tap_column_at(&generation, i))
				   : NULL,
			.time_ns = event->time_ns,
			.tid = event->tid,
			.cq_id = cq_id,
			.wr_id = tap_column_at(&wr_id, i),
			/* Of completions that follow one another: that of the first; it
			 * has 32 bits, and begins anew. */
			.seq = seq.elements ? tap_column_at(&seq, i)
					    : (uint32_t) (seq.number + i),
			.status = tap_column_at(&status, i),
			.opcode = tap_column_at(&opcode, i),
			.byte_len = tap_column_at(&byte_len, i),
			.imm_data = tap_column_at(&imm_data, i),
			.wc_flags = tap_column_at(&wc_flags, i),
			.src_qp = tap_column_at(&src_qp, i),
			.vendor_err = tap_column_at(&vendor_err, i),
			.is_receive = tap_column_at(&is_recv, i) == 1,
			.is_concurrent = is_concurrent,
			.is_of_either = tap_column_at(&is_recv, i) == 2};
		if (!wc.generation)
			return -ENOMEM;
		if ((wc.is_receive || wc.is_of_either) && qp->srq_id) {
			wc.srq = tap_srq_get(completions->qps, process, qp->srq_id);
			if (!wc.srq)
				return -ENOMEM;
		}
		ret = take_completion(completions, &wc, &match);
		if (!ret && match == MATCH_WAITS)
			ret = keep_early(completions, &wc);
	}
	if (i < count)
		completions->context->loss.malformed_events++;
	return ret;
}

/* ---- The end of a queue ---- */

/* Whether a later request has completed. */
static bool is_passed(const struct tap_work_queue *queue,
		      const struct tap_request *request)
{
	const struct tap_work *work = &request->span->work;

	/* A shared queue counts only completions that were taken in order. */
	if (work->request.srq_id && !queue->last_completed)
		return false;
	return queue->has_error ? work->request.seq < queue->done_seq
				: request->due <= queue->last_completed;
}

int tap_completions_end(struct tap_completions *completions, struct tap_work_queue *queue)
{
	int ret;

	queue->is_over = true;
	ret = tap_completions_retry(completions, queue);
	while (!ret && queue->requests.first) {
		struct tap_request *request = queue->requests.first;

		if (queue->has_error && !queue->is_error_sure)
			ret = tap_request_lose(completions->requests, request,
					       TAP_WHY_AMBIGUOUS);
		else if (is_passed(queue, request))
			ret = tap_request_lose(completions->requests, request,
					       TAP_WHY_COMPLETION_LOST);
		else
			ret = tap_request_leave_open(completions->requests, request);
	}
	return ret;
}

void tap_completions_forget(struct tap_completions *completions,
			    struct tap_work_queue *queue)
{
	while (queue->early.first)
		drop_early(completions, queue, queue->early.first);
}

void tap_completions_free(struct tap_completions *completions)
{
	struct tap_completion *wc;

	while ((wc = tap_list_take_first(&completions->unused, link)))
		free(wc);
}
