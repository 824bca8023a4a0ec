/* SPDX-License-Identifier: MIT */
/*
 * Requests wait in the order of their queue until their completion is read.
 *
 * An ordinal that is not there is waited for, as long as its post may still come: the
 * event of a post is written after the call, when another thread may have polled the
 * completion already.  Nothing is ever matched to the next one instead.
 */
#include "join/rdma/wr.h"

#include "join/model/process.h"
#include "join/rdma/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIGNALED 2   /* of ibv_send_flags */
#define WITH_IMM 2   /* of ibv_wc_flags */
#define UNREAD 128   /* of ours: src/tracepoints/verbs_events.h */
#define FLUSHED 5    /* of ibv_wc_status */
#define RECEIVED 128 /* of ibv_wc_opcode: a SEND; one more, a write */

/* Threads that poll one queue may tell of its completions in another order: for so many
 * one that is overdue is waited for. */
#define OVERDUE 256

/* Completions of one queue that wait for their posts. */
#define EARLY_MAX 1024

struct tap_request {
	struct tap_span *span;
	struct tap_work_queue *queue;
	struct tap_request *earlier, *later; /* of the queue */
	struct tap_request *older, *newer;   /* of all */
	/* Of a shared queue, with equal wr_id; before the first is the last. */
	struct tap_request *same_earlier, *same_later;
	bool is_doubtful; /* of the first: others that are over may be among them */
	struct tap_flow_side *flow; /* that it is a message of, NULL none */
	uint64_t ordinal;	    /* of the message */
	uint64_t signaled;	    /* ordinal of the completion, 0 none */
	uint64_t due;		    /* ordinal of the one that it ends with */
	uint64_t wr_id;
	uint64_t length;
	uint64_t imm_data;
	struct tap_rdma_note note;
	uint64_t remote_addr, rkey;
	bool has_imm;
	bool is_raced;
	bool is_one_sided; /* and its memory is not known yet */
};

/* One completion that was read. */
struct tap_completion {
	struct tap_completion *next;
	const struct tap_process *process;
	struct tap_life *life;
	struct tap_srq *srq; /* NULL: none */
	int64_t time_ns;
	int64_t tid; /* who read it */
	uint64_t cq_id, wr_id, seq, status, opcode, byte_len, imm_data, wc_flags, src_qp,
		vendor_err;
	bool is_receive;
	bool is_raced;	   /* two threads polled at once */
	bool is_of_either; /* of an error nobody knows more */
};

enum match { MATCH_DONE, MATCH_WAITS };

/* ---- Fields, in the order in which they are asked for ---- */

struct reader {
	const struct tap_fields *fields;
	size_t next;
};

static const struct tap_field *read_field(struct reader *reader, const char *name)
{
	size_t i, at, count = reader->fields->count;

	for (i = 0; i < count; i++) {
		at = (reader->next + i) % count;
		if (!strcmp(reader->fields->list[at].name, name)) {
			reader->next = at + 1;
			return &reader->fields->list[at];
		}
	}
	return NULL;
}

static uint64_t read_number(struct reader *reader, const char *name)
{
	const struct tap_field *field = read_field(reader, name);

	return field && (field->kind == TAP_FIELD_UNSIGNED ||
			 field->kind == TAP_FIELD_SIGNED)
		       ? field->value.u
		       : 0;
}

/* Element of an array, or the plain number of an event without arrays. */
struct column {
	const uint64_t *elements;
	size_t count;
	uint64_t number;
};

static struct column read_column(struct reader *reader, const char *name)
{
	const struct tap_field *field = read_field(reader, name);
	struct column column = {0};

	if (field && field->kind == TAP_FIELD_ARRAY) {
		column.elements = tap_fields_array(reader->fields, field);
		column.count = field->value.data.length;
	} else if (field && (field->kind == TAP_FIELD_UNSIGNED ||
			     field->kind == TAP_FIELD_SIGNED)) {
		column.number = field->value.u;
	}
	return column;
}

static uint64_t at(const struct column *column, size_t i)
{
	if (!column->elements)
		return column->number;
	return i < column->count ? column->elements[i] : 0;
}

static void add_number(struct tap_fields *fields, const char *name, uint64_t value,
		       bool is_hex, const char *label)
{
	struct tap_field *field = tap_fields_add(fields, name, TAP_FIELD_UNSIGNED);

	if (!field)
		return;
	field->value.u = value;
	field->is_hex = is_hex;
	field->label = label;
}

static void add_text(struct tap_fields *fields, const char *name, const char *text)
{
	tap_fields_add_string(fields, name, text, strlen(text));
}

static struct tap_span *make_span(struct tap_verbs *verbs,
				  const struct tap_process *process, int64_t tid,
				  const char *name)
{
	const struct tap_name *kept =
		tap_names_get(&verbs->context->names, "verbs", 5, name, strlen(name));
	struct tap_span *span =
		kept ? tap_pairs_make(&verbs->context->pairs, process, kept, tid) : NULL;

	if (span)
		span->operation = (struct tap_operation){.not_counted = -1,
							 .peer = -1,
							 .datatype = -1};
	return span;
}

/* ---- Requests ---- */

static struct tap_request *make_request(struct tap_verbs *verbs)
{
	struct tap_request *request = verbs->free_requests;

	if (request)
		verbs->free_requests = request->newer;
	else
		request = malloc(sizeof(*request));
	if (!request)
		return NULL;
	memset(request, 0, sizeof(*request));
	request->older = verbs->newest;
	if (verbs->newest)
		verbs->newest->newer = request;
	else
		verbs->oldest = request;
	verbs->newest = request;
	verbs->open++;
	return request;
}

static void drop_request(struct tap_verbs *verbs, struct tap_request *request)
{
	if (request->older)
		request->older->newer = request->newer;
	else
		verbs->oldest = request->newer;
	if (request->newer)
		request->newer->older = request->older;
	else
		verbs->newest = request->older;
	verbs->open--;
	request->newer = verbs->free_requests;
	verbs->free_requests = request;
}

/* In order of seq: threads that race may tell in another one. */
static void queue_request(struct tap_work_queue *queue, struct tap_request *request)
{
	struct tap_request *before = queue->last;

	while (before && before->span->work.request.seq > request->span->work.request.seq)
		before = before->earlier;
	request->queue = queue;
	request->earlier = before;
	request->later = before ? before->later : queue->first;
	if (request->later)
		request->later->earlier = request;
	else
		queue->last = request;
	if (before)
		before->later = request;
	else
		queue->first = request;
	queue->count++;
}

static struct tap_srq *srq_of(struct tap_verbs *verbs, const struct tap_request *request)
{
	const struct tap_span *span = request->span;

	return span->work.request.srq_id
		       ? tap_table_find(&verbs->srqs, span->process->number,
					span->work.request.srq_id)
		       : NULL;
}

static void forget_same(struct tap_verbs *verbs, struct tap_request *request)
{
	struct tap_srq *srq = srq_of(verbs, request);
	struct tap_request *first, *later = request->same_later;

	if (!srq)
		return;
	first = tap_table_find(&verbs->by_wr_id, srq->number, request->wr_id);
	if (first == request) {
		tap_table_remove(&verbs->by_wr_id, srq->number, request->wr_id);
		/* In the room that has become free: that cannot fail. */
		if (later) {
			tap_table_set(&verbs->by_wr_id, srq->number, request->wr_id,
				      later);
			later->is_doubtful |= request->is_doubtful;
		}
	} else {
		request->same_earlier->same_later = later;
	}
	if (later || first != request)
		(later ? later : first)->same_earlier = request->same_earlier;
}

static void unqueue_request(struct tap_verbs *verbs, struct tap_request *request)
{
	struct tap_work_queue *queue = request->queue;

	forget_same(verbs, request);
	if (request->earlier)
		request->earlier->later = request->later;
	else
		queue->first = request->later;
	if (request->later)
		request->later->earlier = request->earlier;
	else
		queue->last = request->earlier;
	queue->count--;
}

static int tell_link(struct tap_verbs *verbs, const struct tap_span *span,
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

	return tap_emit_link(verbs->context, &link);
}

/* Its message is on its way, whatever its completion said. */
static int send_message(struct tap_verbs *verbs, const struct tap_request *request,
			enum tap_why failure, enum tap_why why)
{
	const struct tap_span *span = request->span;
	struct tap_half half = {.process = span->process,
				.work = span->work,
				.name = span->name,
				.ordinal = request->ordinal,
				.length = request->length,
				.imm_data = (uint32_t) request->imm_data,
				.has_length = true,
				.has_imm = request->has_imm,
				.failure = failure,
				.is_open = span->state == TAP_SPAN_OPEN,
				.why = request->is_raced ? TAP_WHY_RACED : why};

	return request->flow ? tap_flow_take(verbs, request->flow, &half, span->begin_ns)
			     : 0;
}

/* The memory of the peer that a request names, where its process is traced. */
static void find_memory(struct tap_verbs *verbs, struct tap_request *request,
			const struct tap_life *life, struct tap_fields *fields)
{
	const struct tap_life *peer = life ? life->peer : NULL;
	const struct tap_mr *mr;
	bool is_sure;

	if (!peer)
		return;
	mr = tap_qp_find_memory(verbs, peer->qp, request->rkey, request->remote_addr,
				request->length);
	if (!mr)
		return;
	request->is_one_sided = false;
	add_number(fields, "remote_process", peer->qp->process->number, false, NULL);
	add_number(fields, "remote_mr_id", mr->id, false, NULL);
	is_sure = tap_life_is_sure(verbs, life);
	tap_verbs_count(verbs, TAP_MATCH_REQUEST_MEMORY,
			is_sure ? TAP_KNOWN_EXACT : TAP_KNOWN_INFERRED,
			is_sure ? TAP_WHY_NONE : TAP_WHY_LATE);
}

/* Of a request that has a queue pair of its own. */
static const struct tap_life *life_of(const struct tap_request *request)
{
	const struct tap_work *work = &request->span->work;
	const struct tap_life *life = work->request.qp->lives;

	while (life && life->number != work->request.life)
		life = life->older;
	return life;
}

/* At the latest now: a host's events may come later than another's. */
static void settle_memory(struct tap_verbs *verbs, struct tap_request *request,
			  enum tap_why failure)
{
	struct tap_span *span = request->span;
	const struct tap_life *life;

	if (!request->is_one_sided)
		return;
	life = life_of(request);
	find_memory(verbs, request, life, &span->exit);
	if (!request->is_one_sided)
		return;
	if (span->state == TAP_SPAN_OPEN)
		verbs->context->matches[TAP_MATCH_REQUEST_MEMORY].outstanding++;
	else if (failure)
		tap_verbs_unmatched(verbs, TAP_MATCH_REQUEST_MEMORY, failure);
	else
		tap_verbs_unmatched(verbs, TAP_MATCH_REQUEST_MEMORY,
				    life && life->peer ? TAP_WHY_PEER_MISSING
						       : TAP_WHY_PEER_UNKNOWN);
}

/* The request is over: it goes to the consumer. */
static int end_request(struct tap_verbs *verbs, struct tap_request *request,
		       enum tap_span_state state, enum tap_why failure)
{
	struct tap_span *span = request->span;
	int ret = 0;

	unqueue_request(verbs, request);
	span->state = state;
	if (request->note.owner)
		verbs->observer->ended(verbs->observer->data, life_of(request),
				       &request->note, &span->exit);
	settle_memory(verbs, request, failure);
	ret = tap_emit_ended(verbs->context, span);
	if (!ret)
		ret = send_message(verbs, request, failure, TAP_WHY_NONE);
	return ret;
}

static void release_request(struct tap_verbs *verbs, struct tap_request *request)
{
	tap_pairs_put(&verbs->context->pairs, request->span);
	drop_request(verbs, request);
}

/* Its completion is not in the trace, or not to be told from others. */
static int lose_request(struct tap_verbs *verbs, struct tap_request *request,
			enum tap_why why)
{
	int ret;

	tap_verbs_unmatched(verbs, TAP_MATCH_POST_COMPLETION, why);
	ret = end_request(verbs, request, TAP_SPAN_END_LOST, TAP_WHY_NONE);
	release_request(verbs, request);
	return ret;
}

static int leave_open(struct tap_verbs *verbs, struct tap_request *request)
{
	int ret;

	verbs->context->matches[TAP_MATCH_POST_COMPLETION].outstanding++;
	ret = end_request(verbs, request, TAP_SPAN_OPEN, TAP_WHY_NONE);
	release_request(verbs, request);
	return ret;
}

/* ---- Completions ---- */

static int receive_message(struct tap_verbs *verbs, const struct tap_completion *wc,
			   const struct tap_span *span, enum tap_why why)
{
	struct tap_life *life = wc->life;
	const struct tap_rdma_observer *observer = verbs->observer;
	struct tap_flow_side *side = &life->in;
	struct tap_half half = {.process = wc->process,
				.ordinal = wc->seq,
				.length = wc->byte_len,
				.imm_data = (uint32_t) wc->imm_data,
				.has_length = wc->opcode == RECEIVED,
				.has_imm = wc->wc_flags & WITH_IMM,
				.is_unread = wc->wc_flags & UNREAD,
				.is_receive = true,
				.why = wc->is_raced ? TAP_WHY_RACED : why};
	int ret;

	if (wc->is_of_either)
		return 0;
	if (wc->seq != life->received + 1)
		life->has_missed_receive = true;
	life->received = wc->seq;
	if (wc->status)
		return 0;
	if (span) {
		half.work = span->work;
		half.name = span->name;
	}
	if (life->qp->type == TAP_QP_UD) {
		side = tap_flow_datagram(verbs, NULL, life, wc->src_qp);
		if (!side)
			return -ENOMEM;
		half.ordinal = side->count + 1;
		/* Its global routing header comes first. */
		half.length -= 40;
		if (life->has_missed_receive)
			side->is_broken = true;
	}
	if (!half.ordinal) {
		tap_verbs_unmatched(verbs, TAP_MATCH_SEND_RECEIVE, TAP_WHY_AMBIGUOUS);
		return 0;
	}
	ret = tap_flow_take(verbs, side, &half, wc->time_ns);
	if (ret || !observer)
		return ret;
	return observer->received(observer->data, life, wc->seq, wc->time_ns,
				  half.imm_data);
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
	span->work.request.qp = wc->life->qp;
	add_number(exit, "status", wc->status, false, tap_wc_status_name(wc->status));
	if (wc->is_receive && !wc->status && !(wc->wc_flags & UNREAD)) {
		add_number(exit, "byte_len", wc->byte_len, false, NULL);
		if (wc->wc_flags & WITH_IMM)
			add_number(exit, "imm_data", wc->imm_data, true, NULL);
		if (wc->life->qp->type == TAP_QP_UD)
			add_number(exit, "src_qp", wc->src_qp, false, NULL);
	}
	if (wc->is_receive && span->work.request.srq_id)
		add_number(exit, "qp_id", wc->life->qp->id, false, NULL);
	if (wc->vendor_err)
		add_number(exit, "vendor_err", wc->vendor_err, true, NULL);
	add_number(exit, "cq_id", wc->cq_id, false, NULL);
	if (why)
		add_text(exit, "why", tap_why_name(why));
}

/* The request completed with this. */
static int complete(struct tap_verbs *verbs, struct tap_request *request,
		    const struct tap_completion *wc, enum tap_why why)
{
	const enum tap_known known = why ? TAP_KNOWN_INFERRED : TAP_KNOWN_EXACT;
	struct tap_span *span = request->span;
	int ret;

	add_outcome(span, wc, why);
	ret = end_request(verbs, request, TAP_SPAN_COMPLETE, failure_of(wc));
	tap_verbs_count(verbs, TAP_MATCH_POST_COMPLETION, known, why);
	if (!ret)
		ret = tell_link(verbs, span, known, why);
	if (!ret && wc->is_receive)
		ret = receive_message(verbs, wc, span, why);
	if (!ret && request->note.owner && request->flow)
		ret = verbs->observer->sent(verbs->observer->data, wc->life,
					    request->ordinal, wc->time_ns, wc->status);
	release_request(verbs, request);
	return ret;
}

/*
 * What has no completion of its own is over with the next request that has, whose post
 * may be missing: last is NULL then, or one further on.
 */
static int complete_before(struct tap_verbs *verbs, struct tap_work_queue *queue,
			   const struct tap_request *last, uint64_t due,
			   const struct tap_completion *wc, enum tap_why why)
{
	struct tap_request *request, *later;
	int ret = 0;

	for (request = queue->first; request && request != last && !ret;
	     request = later) {
		struct tap_span *span = request->span;
		const enum tap_known known = why ? TAP_KNOWN_INFERRED : TAP_KNOWN_EXACT;

		later = request->later;
		if (request->signaled || request->due != due)
			continue;
		span->end_ns = wc->time_ns;
		span->is_end_bound = true;
		add_number(&span->exit, "status", 0, false, tap_wc_status_name(0));
		if (last)
			add_number(&span->exit, "completed_by",
				   last->span->work.request.seq, false, NULL);
		add_number(&span->exit, "cq_id", wc->cq_id, false, NULL);
		ret = end_request(verbs, request, TAP_SPAN_COMPLETE, TAP_WHY_NONE);
		tap_verbs_count(verbs, TAP_MATCH_POST_COMPLETION, known, why);
		if (!ret)
			ret = tell_link(verbs, span, known, why);
		release_request(verbs, request);
	}
	return ret;
}

/* Completions long after theirs were read. */
static int lose_overdue(struct tap_verbs *verbs, struct tap_work_queue *queue,
			uint64_t completed)
{
	int ret = 0;

	/* From an error on, the count is another. */
	while (!ret && queue->first && !queue->has_error &&
	       queue->first->due + OVERDUE < completed)
		ret = lose_request(verbs, queue->first, TAP_WHY_COMPLETION_LOST);
	return ret;
}

/*
 * Which receive of a shared queue a message took is not known.  Whose message it is the
 * queue pair's ordinal tells all the same, so that it is a span, without a beginning.
 */
static int tell_arrival(struct tap_verbs *verbs, const struct tap_completion *wc,
			enum tap_why why)
{
	const struct tap_life *life = wc->life;
	struct tap_span *span = make_span(verbs, wc->process, wc->tid, "RECV");
	struct tap_fields *entry;
	int ret = 0;

	if (!span)
		return -ENOMEM;
	span->state = TAP_SPAN_BEGIN_LOST;
	span->work = tap_life_work(life, TAP_WORK_RECEIVE, wc->seq);
	entry = &span->entry;
	add_number(entry, "wr_id", wc->wr_id, true, NULL);
	add_number(entry, "qp_id", life->qp->id, false, NULL);
	add_number(entry, "qp_num", life->qp->qp_num, false, NULL);
	add_number(entry, "life", life->number, false, NULL);
	add_number(entry, "seq", wc->seq, false, NULL);
	add_outcome(span, wc, why);
	ret = tap_emit_ended(verbs->context, span);
	if (!ret)
		ret = receive_message(verbs, wc, span, TAP_WHY_NONE);
	tap_pairs_put(&verbs->context->pairs, span);
	return ret;
}

/* A completion without its post. */
static int lose_completion(struct tap_verbs *verbs, const struct tap_completion *wc,
			   enum tap_why why)
{
	tap_verbs_unmatched(verbs, TAP_MATCH_POST_COMPLETION, why);
	if (!wc->is_receive)
		return 0;
	/* It is a message all the same. */
	return wc->srq && wc->seq ? tell_arrival(verbs, wc, why)
				  : receive_message(verbs, wc, NULL, TAP_WHY_NONE);
}

/* Of a send, whose request is not there; those before it are over all the same. */
static int lose_sent(struct tap_verbs *verbs, struct tap_work_queue *queue,
		     const struct tap_completion *wc, enum tap_why why)
{
	enum tap_why doubt = TAP_WHY_NONE;
	int ret = lose_completion(verbs, wc, why);

	if (ret || wc->status)
		return ret;
	if (queue->has_races || wc->is_raced)
		doubt = TAP_WHY_RACED;
	else if (!wc->life->qp->is_known)
		doubt = TAP_WHY_SETUP;
	return complete_before(verbs, queue, NULL, wc->seq, wc, doubt);
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
	if (request->is_raced || wc->is_raced)
		return TAP_WHY_RACED;
	return wc->life->qp->is_known ? TAP_WHY_NONE : TAP_WHY_SETUP;
}

static int take_found(struct tap_verbs *verbs, struct tap_request *request,
		      const struct tap_completion *wc, enum tap_why why)
{
	struct tap_work_queue *queue = request->queue;
	const uint64_t seq = request->span->work.request.seq;
	const bool is_flushed = queue->has_error && wc->seq > queue->error_ordinal;
	int ret = 0;

	if (request->wr_id != wc->wr_id) {
		/* Which of the two is wrong nobody knows. */
		tap_verbs_unmatched(verbs, TAP_MATCH_POST_COMPLETION,
				    why ? why : TAP_WHY_CONTRADICTED);
		return lose_request(verbs, request, why ? why : TAP_WHY_CONTRADICTED);
	}
	if (!wc->is_receive && !is_flushed)
		ret = complete_before(verbs, queue, request, request->due, wc, why);
	if (!ret)
		ret = complete(verbs, request, wc, why);
	if (wc->seq > queue->last_completed) {
		queue->has_done = !why && !queue->has_hole;
		queue->last_completed = wc->seq;
		queue->done_seq = seq;
	}
	return ret ? ret : lose_overdue(verbs, queue, wc->seq);
}

/*
 * The first error: an unsignalled request completes with one too.  So it may be any
 * after the one that completed before, up to the next signalled one; wr_id tells.
 */
static int take_first_error(struct tap_verbs *verbs, struct tap_work_queue *queue,
			    const struct tap_completion *wc, enum match *match)
{
	const uint64_t next = wc->seq;
	struct tap_request *request, *found = NULL;
	uint64_t expected = queue->done_seq + 1;
	bool is_whole = queue->has_done && queue->last_completed + 1 == wc->seq &&
			!queue->has_races;
	size_t count = 0;
	enum tap_why why;

	for (request = queue->first; request; request = request->later) {
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
		return lose_completion(verbs, wc, why_no_post(queue, next));
	why = doubt(found, wc);
	if (!why && (!is_whole || count > 1))
		why = TAP_WHY_AMBIGUOUS;
	queue->has_error = true;
	queue->is_error_sure = !why;
	queue->error_ordinal = wc->seq;
	queue->error_seq = found->span->work.request.seq;
	return take_found(verbs, found, wc, why);
}

static int take_send(struct tap_verbs *verbs, struct tap_work_queue *queue,
		     const struct tap_completion *wc, enum match *match)
{
	const bool is_flushed = queue->has_error && wc->seq > queue->error_ordinal;
	const uint64_t seq = queue->error_seq + (wc->seq - queue->error_ordinal);
	struct tap_request *request = queue->first;
	enum tap_why why;

	if (wc->status && !queue->has_error)
		return take_first_error(verbs, queue, wc, match);
	while (request && (is_flushed ? request->span->work.request.seq != seq
				      : request->signaled != wc->seq))
		request = request->later;
	if (!request && is_flushed) {
		if (!queue->is_over && queue->last_seq < seq)
			*match = MATCH_WAITS;
		else
			return lose_completion(verbs, wc, TAP_WHY_POST_LOST);
		return 0;
	}
	if (!request && may_come(queue, wc->seq)) {
		*match = MATCH_WAITS;
		return 0;
	}
	if (!request)
		return lose_sent(verbs, queue, wc, why_no_post(queue, wc->seq));
	why = doubt(request, wc);
	if (!why && is_flushed && !queue->is_error_sure)
		why = TAP_WHY_AMBIGUOUS;
	return take_found(verbs, request, wc, why);
}

static int take_receive(struct tap_verbs *verbs, struct tap_work_queue *queue,
			const struct tap_completion *wc, enum match *match)
{
	struct tap_request *request = queue->first;

	while (request && request->signaled != wc->seq)
		request = request->later;
	if (request)
		return take_found(verbs, request, wc,
				  request->is_raced || wc->is_raced ? TAP_WHY_RACED
								    : TAP_WHY_NONE);
	if (!may_come(queue, wc->seq))
		return lose_completion(verbs, wc, why_no_post(queue, wc->seq));
	*match = MATCH_WAITS;
	return 0;
}

/* Which of two is wrong nobody knows. */
static int lose_both(struct tap_verbs *verbs, struct tap_request *request,
		     const struct tap_completion *wc, enum tap_why why)
{
	int ret = lose_request(verbs, request, why);

	return ret ? ret : lose_completion(verbs, wc, why);
}

/*
 * Equal wr_ids on a shared queue that one queue pair alone uses: receives are used up in
 * the order in which they were posted, so the k-th receive of the pair is the k-th post.
 */
static int take_in_order(struct tap_verbs *verbs, const struct tap_completion *wc,
			 enum match *match)
{
	struct tap_work_queue *queue = &wc->srq->receives;
	struct tap_request *request = queue->first;

	while (request && request->signaled < wc->seq)
		request = request->later;
	if (!request || request->signaled != wc->seq) {
		if (!may_come(queue, wc->seq))
			return lose_completion(verbs, wc, TAP_WHY_POST_LOST);
		*match = MATCH_WAITS;
		return 0;
	}
	if (request->wr_id != wc->wr_id ||
	    (!wc->status && wc->opcode == RECEIVED && request->length < wc->byte_len))
		return lose_both(verbs, request, wc, TAP_WHY_CONTRADICTED);
	return take_found(verbs, request, wc,
			  request->is_raced || wc->is_raced ? TAP_WHY_RACED
							    : TAP_WHY_ORDER);
}

/*
 * Receives of a shared queue complete in any order: wr_id tells which it was.  Where
 * several have one, and several queue pairs take them, nothing does: a message takes its
 * receive when it begins to arrive, and completes it when it is whole.
 */
static int take_shared(struct tap_verbs *verbs, const struct tap_completion *wc,
		       enum match *match)
{
	struct tap_work_queue *queue = &wc->srq->receives;
	const bool has_missed = queue->has_hole || queue->posted_before;
	struct tap_request *request =
		tap_table_find(&verbs->by_wr_id, wc->srq->number, wc->wr_id);
	enum tap_why why = TAP_WHY_NONE;

	if (wc->srq->has_same && wc->seq && !queue->posted_before &&
	    tap_life_is_alone(verbs, wc->life))
		return take_in_order(verbs, wc, match);
	if (!request && (queue->is_over || queue->posted_before)) {
		why = queue->posted_before ? TAP_WHY_BEFORE : TAP_WHY_POST_LOST;
		return lose_completion(verbs, wc, why);
	}
	if (!request) {
		*match = MATCH_WAITS;
		return 0;
	}
	/* One of them is over.  The first was taken before the others: it will be. */
	if (request->same_later || request->is_doubtful ||
	    (wc->srq->has_same && has_missed)) {
		request->is_doubtful = true;
		return lose_both(verbs, request, wc, TAP_WHY_AMBIGUOUS);
	}
	/* One that was missed may have the same. */
	if (has_missed)
		why = TAP_WHY_AMBIGUOUS;
	return complete(verbs, request, wc, why);
}

static struct tap_request *find_wr_id(const struct tap_work_queue *queue, uint64_t wr_id)
{
	struct tap_request *request = queue->first;

	while (request && request->wr_id != wr_id)
		request = request->later;
	return request;
}

/* The request of either queue that comes first; what was not flushed was sent. */
static int take_either(struct tap_verbs *verbs, const struct tap_completion *wc,
		       enum match *match)
{
	struct tap_work_queue *sends = &wc->life->sends;
	struct tap_completion found = *wc;
	struct tap_request *request = find_wr_id(sends, wc->wr_id);
	int ret = 0;

	if (!request)
		request = wc->srq ? tap_table_find(&verbs->by_wr_id, wc->srq->number,
						   wc->wr_id)
				  : find_wr_id(&wc->life->receives, wc->wr_id);
	if (!request && !sends->is_over) {
		*match = MATCH_WAITS;
		return 0;
	}
	/* Of a shared queue others may have the same. */
	if (!request || request->same_later)
		return lose_completion(verbs, wc, TAP_WHY_QUEUE);
	found.is_receive = request->span->work.kind == TAP_WORK_RECEIVE;
	if (!found.is_receive)
		ret = complete_before(verbs, sends, request, request->due, &found,
				      TAP_WHY_QUEUE);
	return ret ? ret : complete(verbs, request, &found, TAP_WHY_QUEUE);
}

static struct tap_work_queue *queue_of(const struct tap_completion *wc)
{
	if (wc->srq && !wc->is_of_either)
		return &wc->srq->receives;
	return wc->is_receive ? &wc->life->receives : &wc->life->sends;
}

static int take_completion(struct tap_verbs *verbs, const struct tap_completion *wc,
			   enum match *match)
{
	*match = MATCH_DONE;
	if (wc->is_of_either)
		return take_either(verbs, wc, match);
	if (wc->srq)
		return take_shared(verbs, wc, match);
	if (wc->is_receive)
		return take_receive(verbs, queue_of(wc), wc, match);
	return take_send(verbs, queue_of(wc), wc, match);
}

static void drop_early(struct tap_verbs *verbs, struct tap_work_queue *queue,
		       struct tap_completion **link)
{
	struct tap_completion *wc = *link;

	*link = wc->next;
	if (!*link)
		queue->early_end = link;
	queue->early_count--;
	wc->next = verbs->free_completions;
	verbs->free_completions = wc;
}

static int keep_early(struct tap_verbs *verbs, const struct tap_completion *wc)
{
	struct tap_work_queue *queue = queue_of(wc);
	struct tap_completion *kept;
	int ret = 0;

	if (queue->early_count >= EARLY_MAX) {
		ret = lose_completion(verbs, queue->early, TAP_WHY_GIVEN_UP);
		drop_early(verbs, queue, &queue->early);
	}
	kept = verbs->free_completions;
	if (kept)
		verbs->free_completions = kept->next;
	else
		kept = malloc(sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = *wc;
	kept->next = NULL;
	*(queue->early ? queue->early_end : &queue->early) = kept;
	queue->early_end = &kept->next;
	queue->early_count++;
	return ret;
}

/* A post has come, or none comes any more. */
static int retry(struct tap_verbs *verbs, struct tap_work_queue *queue)
{
	struct tap_completion **link = &queue->early;
	enum match match;
	int ret = 0;

	while (!ret && *link) {
		ret = take_completion(verbs, *link, &match);
		if (match == MATCH_WAITS)
			link = &(*link)->next;
		else
			drop_early(verbs, queue, link);
	}
	return ret;
}

int tap_wr_completions(struct tap_verbs *verbs, const struct tap_process *process,
		       struct tap_event *event)
{
	struct reader reader = {.fields = &event->fields};
	const uint64_t cq_id = read_number(&reader, "cq_id");
	const bool is_raced = read_number(&reader, "raced");
	const uint64_t count = read_number(&reader, "num_wc");
	const struct column wr_id = read_column(&reader, "wr_id");
	const struct column qp_id = read_column(&reader, "qp_id");
	const struct column life = read_column(&reader, "life");
	const struct column seq = read_column(&reader, "seq");
	const struct column status = read_column(&reader, "status");
	const struct column opcode = read_column(&reader, "opcode");
	const struct column is_recv = read_column(&reader, "is_recv");
	const struct column byte_len = read_column(&reader, "byte_len");
	const struct column imm_data = read_column(&reader, "imm_data");
	const struct column wc_flags = read_column(&reader, "wc_flags");
	const struct column src_qp = read_column(&reader, "src_qp");
	const struct column vendor_err = read_column(&reader, "vendor_err");
	struct tap_completion wc;
	enum match match;
	size_t i;
	int ret = 0;

	for (i = 0; i < count && i < wr_id.count && !ret; i++) {
		struct tap_qp *qp = tap_qp_get(verbs, process, at(&qp_id, i));

		wc = (struct tap_completion){.process = process,
					     .life = qp ? tap_qp_life(verbs, qp,
								      at(&life, i))
							: NULL,
					     .time_ns = event->time_ns,
					     .tid = event->tid,
					     .cq_id = cq_id,
					     .wr_id = at(&wr_id, i),
					     .seq = at(&seq, i),
					     .status = at(&status, i),
					     .opcode = at(&opcode, i),
					     .byte_len = at(&byte_len, i),
					     .imm_data = at(&imm_data, i),
					     .wc_flags = at(&wc_flags, i),
					     .src_qp = at(&src_qp, i),
					     .vendor_err = at(&vendor_err, i),
					     .is_receive = at(&is_recv, i) == 1,
					     .is_raced = is_raced,
					     .is_of_either = at(&is_recv, i) == 2};
		if (!wc.life)
			return -ENOMEM;
		if ((wc.is_receive || wc.is_of_either) && qp->srq_id) {
			wc.srq = tap_srq_get(verbs, process, qp->srq_id);
			if (!wc.srq)
				return -ENOMEM;
		}
		ret = take_completion(verbs, &wc, &match);
		if (!ret && match == MATCH_WAITS)
			ret = keep_early(verbs, &wc);
	}
	if (i < count)
		verbs->context->loss.malformed_events++;
	return ret;
}

/* ---- Posts ---- */

static struct tap_span *make_posted(struct tap_verbs *verbs,
				    const struct tap_process *process,
				    const struct tap_event *event, const char *name)
{
	struct tap_span *span = make_span(verbs, process, event->tid, name);

	if (!span)
		return NULL;
	span->state = TAP_SPAN_RUNNING;
	/* Not after its event, but in a damaged trace. */
	span->begin_ns = event->begin_ns && event->begin_ns < event->time_ns
				 ? event->begin_ns
				 : event->time_ns;
	return span;
}

/* A request is in its queue, and the consumer knows. */
static int begin_request(struct tap_verbs *verbs, struct tap_work_queue *queue,
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
	queue->has_races |= request->is_raced;
	queue_request(queue, request);
	ret = tap_emit_begun(verbs->context, request->span);
	while (!ret && verbs->open > verbs->context->bounds.open_calls)
		ret = lose_request(verbs, verbs->oldest, TAP_WHY_GIVEN_UP);
	return ret;
}

/* What of a post is alike for all requests of a list. */
struct sends {
	const struct tap_process *process;
	struct tap_event *event;
	struct tap_life *life;
	struct column wr_id, opcode, flags, num_sge, length, addr, remote_addr, rkey,
		imm_data, remote_qpn, ah_id;
	uint64_t lkey;
	uint64_t seq, signaled, consuming; /* of the request */
	bool is_raced, is_list;
	struct tap_rdma_list list;
	struct tap_rdma_note notes[TAP_RDMA_LIST_MAX];
};

/* Which flow it is a message of. */
static int set_flow(struct tap_verbs *verbs, const struct sends *sends, size_t i,
		    struct tap_request *request)
{
	struct tap_life *life = sends->life, *to;
	bool is_guess;

	if (life->qp->type != TAP_QP_UD) {
		request->flow = &life->out;
		request->ordinal = sends->consuming;
		return tap_flow_posted(verbs, request->flow, request->ordinal,
				       request->span->begin_ns);
	}
	to = tap_qp_find_datagram(verbs, sends->process, at(&sends->ah_id, i),
				  at(&sends->remote_qpn, i), &is_guess);
	if (!to) {
		tap_verbs_unmatched(verbs, TAP_MATCH_SEND_RECEIVE, TAP_WHY_PEER_UNKNOWN);
		return 0;
	}
	request->flow = tap_flow_datagram(verbs, life, to, 0);
	if (!request->flow)
		return -ENOMEM;
	request->flow->is_ambiguous |= is_guess;
	request->ordinal = request->flow->count + 1;
	if (life->sends.has_hole || life->sends.has_races || life->sends.posted_before)
		request->flow->is_broken = true;
	return tap_flow_posted(verbs, request->flow, request->ordinal,
			       request->span->begin_ns);
}

static int take_one_send(struct tap_verbs *verbs, const struct sends *sends, size_t i)
{
	const uint64_t opcode = at(&sends->opcode, i), flags = at(&sends->flags, i);
	const char *name = tap_opcode_name(opcode);
	struct tap_span *span =
		make_posted(verbs, sends->process, sends->event, name ? name : "(other)");
	struct tap_request *request = span ? make_request(verbs) : NULL;
	struct tap_life *life = sends->life;
	struct tap_fields *entry;
	int ret;

	if (!request)
		return -ENOMEM;
	request->span = span;
	request->wr_id = at(&sends->wr_id, i);
	request->length = at(&sends->length, i);
	request->imm_data = at(&sends->imm_data, i);
	request->has_imm = tap_opcode_has_imm(opcode);
	request->is_raced = sends->is_raced;
	if (i < TAP_RDMA_LIST_MAX)
		request->note = sends->notes[i];
	if ((flags & SIGNALED) || life->qp->is_sig_all)
		request->signaled = sends->signaled;
	request->due = sends->signaled + !request->signaled;
	span->work = tap_life_work(life, TAP_WORK_SEND, sends->seq);
	entry = &span->entry;
	add_number(entry, "wr_id", request->wr_id, true, NULL);
	add_number(entry, "qp_id", life->qp->id, false, NULL);
	add_number(entry, "qp_num", life->qp->qp_num, false, NULL);
	add_number(entry, "life", life->number, false, NULL);
	add_number(entry, "seq", sends->seq, false, NULL);
	add_number(entry, "signaled_seq", request->signaled, false, NULL);
	add_number(entry, "consuming_seq",
		   tap_opcode_is_consuming(opcode) ? sends->consuming : 0, false, NULL);
	if (!name)
		add_number(entry, "opcode", opcode, false, NULL);
	add_number(entry, "bytes", request->length, false, NULL);
	add_number(entry, "send_flags", flags, true, NULL);
	add_number(entry, "num_sge", at(&sends->num_sge, i), false, NULL);
	add_number(entry, "addr", at(&sends->addr, i), true, NULL);
	if (!sends->is_list)
		add_number(entry, "lkey", sends->lkey, true, NULL);
	if (request->has_imm)
		add_number(entry, "imm_data", request->imm_data, true, NULL);
	if (tap_opcode_is_one_sided(opcode)) {
		add_number(entry, "remote_addr", at(&sends->remote_addr, i), true, NULL);
		add_number(entry, "rkey", at(&sends->rkey, i), true, NULL);
		request->remote_addr = at(&sends->remote_addr, i);
		request->rkey = at(&sends->rkey, i);
		/* Without bytes the key is not looked at. */
		request->is_one_sided = request->length != 0;
		if (request->is_one_sided)
			find_memory(verbs, request, life, entry);
	}
	if (life->qp->type == TAP_QP_UD) {
		add_number(entry, "remote_qpn", at(&sends->remote_qpn, i), false, NULL);
		add_number(entry, "ah_id", at(&sends->ah_id, i), false, NULL);
	}
	if (sends->is_raced)
		add_number(entry, "raced", 1, false, NULL);
	ret = begin_request(verbs, &life->sends, request);
	if (!ret && tap_opcode_is_consuming(opcode))
		ret = set_flow(verbs, sends, i, request);
	return ret;
}

static int report_list(struct tap_verbs *verbs, struct sends *sends, uint64_t count)
{
	const struct tap_event *event = sends->event;
	const struct tap_rdma_observer *observer = verbs->observer;
	struct tap_rdma_list *list = &sends->list;
	uint64_t i;

	if (!observer || !count || count > TAP_RDMA_LIST_MAX ||
	    (sends->is_list && count > sends->wr_id.count))
		return 0;
	list->life = sends->life;
	list->begin_ns = event->begin_ns && event->begin_ns < event->time_ns
				 ? event->begin_ns
				 : event->time_ns;
	list->end_ns = event->time_ns;
	list->tid = event->tid;
	list->seq = sends->seq;
	list->consuming = sends->consuming;
	list->is_raced = sends->is_raced;
	list->count = count;
	for (i = 0; i < count; i++) {
		list->requests[i] =
			(struct tap_rdma_request){.opcode = at(&sends->opcode, i),
						  .flags = at(&sends->flags, i),
						  .wr_id = at(&sends->wr_id, i),
						  .num_sge = at(&sends->num_sge, i),
						  .length = at(&sends->length, i),
						  .addr = at(&sends->addr, i),
						  .remote_addr =
							  at(&sends->remote_addr, i),
						  .rkey = at(&sends->rkey, i),
						  .imm_data = at(&sends->imm_data, i)};
		if (i)
			list->consuming +=
				tap_opcode_is_consuming(list->requests[i].opcode);
	}
	return observer->posted(observer->data, list, sends->notes);
}

int tap_wr_sends(struct tap_verbs *verbs, const struct tap_process *process,
		 struct tap_event *event, bool is_list)
{
	struct reader reader = {.fields = &event->fields};
	struct tap_qp *qp = tap_qp_get(verbs, process, read_number(&reader, "qp_id"));
	struct tap_life *life =
		qp ? tap_qp_life(verbs, qp, read_number(&reader, "life")) : NULL;
	struct sends sends = {.process = process,
			      .event = event,
			      .life = life,
			      .is_list = is_list};
	uint64_t i, count;
	int ret = 0;

	if (!life)
		return -ENOMEM;
	tap_qp_note_missed(verbs, life);
	sends.seq = read_number(&reader, "seq");
	sends.signaled = read_number(&reader, "signaled_seq");
	sends.consuming = read_number(&reader, "consuming_seq");
	sends.is_raced = read_number(&reader, "raced");
	count = is_list ? read_number(&reader, "num_wr") : 1;
	sends.wr_id = read_column(&reader, "wr_id");
	sends.opcode = read_column(&reader, "opcode");
	sends.flags = read_column(&reader, "send_flags");
	sends.num_sge = read_column(&reader, "num_sge");
	sends.length = read_column(&reader, "length");
	sends.addr = read_column(&reader, "addr");
	sends.lkey = is_list ? 0 : read_number(&reader, "lkey");
	sends.imm_data = read_column(&reader, "imm_data");
	/* Those of memory, or of a datagram, or neither. */
	sends.remote_addr = read_column(&reader, "remote_addr");
	sends.rkey = read_column(&reader, "rkey");
	sends.remote_qpn = read_column(&reader, "remote_qpn");
	sends.ah_id = read_column(&reader, "ah_id");
	ret = report_list(verbs, &sends, count);
	for (i = 0; i < count && (!is_list || i < sends.wr_id.count) && !ret; i++) {
		if (i) {
			sends.seq++;
			sends.signaled +=
				(at(&sends.flags, i) & SIGNALED) || life->qp->is_sig_all;
			sends.consuming += tap_opcode_is_consuming(at(&sends.opcode, i));
		}
		ret = take_one_send(verbs, &sends, i);
	}
	if (i < count)
		verbs->context->loss.malformed_events++;
	return ret ? ret : retry(verbs, &life->sends);
}

static int keep_same(struct tap_verbs *verbs, struct tap_srq *srq,
		     struct tap_request *request)
{
	struct tap_request *first =
		tap_table_find(&verbs->by_wr_id, srq->number, request->wr_id);

	if (!first) {
		request->same_earlier = request;
		return tap_table_set(&verbs->by_wr_id, srq->number, request->wr_id,
				     request);
	}
	srq->has_same = true;
	request->same_earlier = first->same_earlier;
	first->same_earlier->same_later = request;
	first->same_earlier = request;
	return 0;
}

int tap_wr_receives(struct tap_verbs *verbs, const struct tap_process *process,
		    struct tap_event *event, bool is_list)
{
	struct reader reader = {.fields = &event->fields};
	const uint64_t qp_id = read_number(&reader, "qp_id");
	const uint64_t srq_id = read_number(&reader, "srq_id");
	const uint64_t number = read_number(&reader, "life");
	const uint64_t seq = read_number(&reader, "seq");
	const bool is_raced = read_number(&reader, "raced");
	const uint64_t count = is_list ? read_number(&reader, "num_wr") : 1;
	const struct column wr_id = read_column(&reader, "wr_id");
	const struct column num_sge = read_column(&reader, "num_sge");
	const struct column length = read_column(&reader, "length");
	const struct column addr = read_column(&reader, "addr");
	struct tap_srq *srq = srq_id ? tap_srq_get(verbs, process, srq_id) : NULL;
	struct tap_qp *qp = srq_id ? NULL : tap_qp_get(verbs, process, qp_id);
	struct tap_life *life = qp ? tap_qp_life(verbs, qp, number) : NULL;
	const struct tap_rdma_observer *observer = verbs->observer;
	struct tap_work_queue *queue;
	uint64_t i;
	int ret = 0;

	if (!srq && !life)
		return -ENOMEM;
	queue = srq ? &srq->receives : &life->receives;
	for (i = 0; i < count && (!is_list || i < wr_id.count) && !ret; i++) {
		struct tap_span *span = make_posted(verbs, process, event, "RECV");
		struct tap_request *request = span ? make_request(verbs) : NULL;
		struct tap_fields *entry;

		if (!request)
			return -ENOMEM;
		request->span = span;
		request->wr_id = at(&wr_id, i);
		request->length = at(&length, i);
		request->signaled = seq + i;
		request->due = seq + i;
		request->is_raced = is_raced;
		span->work = (struct tap_work){.kind = TAP_WORK_RECEIVE,
					       .request = {.qp = qp,
							   .qp_id = srq ? 0 : qp_id,
							   .srq_id = srq_id,
							   .life = srq ? 0 : life->number,
							   .seq = seq + i}};
		entry = &span->entry;
		add_number(entry, "wr_id", request->wr_id, true, NULL);
		if (srq) {
			add_number(entry, "srq_id", srq_id, false, NULL);
		} else {
			add_number(entry, "qp_id", qp_id, false, NULL);
			add_number(entry, "qp_num", qp->qp_num, false, NULL);
			add_number(entry, "life", life->number, false, NULL);
		}
		add_number(entry, "seq", seq + i, false, NULL);
		add_number(entry, "bytes", at(&length, i), false, NULL);
		add_number(entry, "num_sge", at(&num_sge, i), false, NULL);
		add_number(entry, "addr", at(&addr, i), true, NULL);
		if (is_raced)
			add_number(entry, "raced", 1, false, NULL);
		if (life && observer)
			observer->receive_posted(observer->data, life, seq + i,
						 request->wr_id, at(&num_sge, i),
						 &request->note);
		if (srq && keep_same(verbs, srq, request))
			return -ENOMEM;
		ret = begin_request(verbs, queue, request);
	}
	if (i < count)
		verbs->context->loss.malformed_events++;
	return ret ? ret : retry(verbs, queue);
}

int tap_wr_refused(struct tap_verbs *verbs, const struct tap_process *process,
		   struct tap_event *event)
{
	const uint64_t qp_id = tap_verbs_number(event, "qp_id");
	const uint64_t srq_id = tap_verbs_number(event, "srq_id");
	struct tap_qp *qp = tap_qp_get(verbs, process, qp_id);
	struct tap_life *life = qp ? tap_qp_life(verbs, qp, 0) : NULL;
	struct tap_span *span;
	int64_t answer = 0;
	struct tap_field *field;
	int ret = 0;

	if (!life)
		return -ENOMEM;
	span = make_posted(verbs, process, event,
			   tap_verbs_number(event, "is_recv") ? "post_recv"
							      : "post_send");
	if (!span)
		return -ENOMEM;
	span->work = (struct tap_work){.kind = TAP_WORK_REFUSED,
				       .request = {.qp = qp_id ? qp : NULL,
						   .qp_id = qp_id,
						   .srq_id = srq_id,
						   .life = life->number,
						   .seq = ++life->refused}};
	add_number(&span->entry, "qp_id", qp_id, false, NULL);
	if (srq_id)
		add_number(&span->entry, "srq_id", srq_id, false, NULL);
	add_number(&span->entry, "wr_id", tap_verbs_number(event, "wr_id"), true, NULL);
	add_number(&span->entry, "accepted", tap_verbs_number(event, "accepted"), false,
		   NULL);
	ret = tap_emit_begun(verbs->context, span);
	tap_fields_get_signed(&event->fields, "ret", &answer);
	field = tap_fields_add(&span->exit, "status", TAP_FIELD_SIGNED);
	if (field)
		field->value.i = answer;
	span->end_ns = event->time_ns;
	span->state = TAP_SPAN_COMPLETE;
	if (!ret)
		ret = tap_emit_ended(verbs->context, span);
	tap_pairs_put(&verbs->context->pairs, span);
	return ret;
}

/* A later one has completed. */
static bool is_passed(const struct tap_work_queue *queue,
		      const struct tap_request *request)
{
	const struct tap_work *work = &request->span->work;

	/* On a shared queue only what was taken in order is counted. */
	if (work->request.srq_id && !queue->last_completed)
		return false;
	return queue->has_error ? work->request.seq < queue->done_seq
				: request->due <= queue->last_completed;
}

int tap_wr_end(struct tap_verbs *verbs, struct tap_work_queue *queue)
{
	int ret;

	queue->is_over = true;
	ret = retry(verbs, queue);
	while (!ret && queue->first) {
		struct tap_request *request = queue->first;

		if (queue->has_error && !queue->is_error_sure)
			ret = lose_request(verbs, request, TAP_WHY_AMBIGUOUS);
		else if (is_passed(queue, request))
			ret = lose_request(verbs, request, TAP_WHY_COMPLETION_LOST);
		else
			ret = leave_open(verbs, request);
	}
	return ret;
}

void tap_wr_forget(struct tap_verbs *verbs, struct tap_work_queue *queue)
{
	struct tap_request *request;

	while ((request = queue->first)) {
		unqueue_request(verbs, request);
		release_request(verbs, request);
	}
	while (queue->early)
		drop_early(verbs, queue, &queue->early);
}

void tap_wrs_free(struct tap_verbs *verbs)
{
	struct tap_completion *wc;
	struct tap_request *request;

	while ((request = verbs->free_requests)) {
		verbs->free_requests = request->newer;
		free(request);
	}
	while ((wc = verbs->free_completions)) {
		verbs->free_completions = wc->next;
		free(wc);
	}
	tap_table_free(&verbs->by_wr_id);
}
