/* SPDX-License-Identifier: MIT */
/*
 * Polls: the function that replaces poll_cq in the tables.  A poll that finds nothing
 * increments one count and does no more: programs poll millions of times.
 */
#include <errno.h>
#include <string.h>

#include "verbs/metered.h"
#include "verbs/poll.h"

/* Which queue a completion came from; EITHER: a failed completion that does not tell. */
enum { IS_SEND, IS_RECV, IS_EITHER };

/*
 * A failed completion has no valid opcode.  Its side is known only if the completion
 * queue serves one side, or nothing was posted to the other.
 */
static uint8_t side_of_failed(const struct tap_qp *q, const void *cq)
{
	if (!q)
		return IS_EITHER;
	if (q->send_cq != q->recv_cq)
		return q->recv_cq == cq ? IS_RECV : IS_SEND;
	if (!__atomic_load_n(&q->counts.sent, __ATOMIC_RELAXED))
		return IS_RECV;
	if (!q->about.srq_id &&
	    __atomic_load_n(&q->counts.recv_posted, __ATOMIC_RELAXED) ==
		    __atomic_load_n(&q->counts.recv_completed, __ATOMIC_RELAXED))
		return IS_SEND;
	return IS_EITHER;
}

/*
 * The queue pair of the last completion if it has this number, else NULL.  Reads c->last
 * once: another thread may replace it meanwhile.
 */
static inline struct tap_qp *last_if(const struct tap_cq *c, uint32_t qp_num)
{
	struct tap_qp *q = __atomic_load_n(&c->last, __ATOMIC_RELAXED);

	return likely(q && q->about.qp_num == qp_num &&
		      q->about.context_id == c->about.context_id &&
		      __atomic_load_n(&q->head.address, __ATOMIC_RELAXED))
		       ? q
		       : NULL;
}

static inline struct tap_qp *qp_of(struct tap_cq *c, uint32_t qp_num)
{
	struct tap_qp *q = last_if(c, qp_num);

	if (unlikely(!q)) {
		q = tap_qp_numbered(c->about.context_id, qp_num);
		__atomic_store_n(&c->last, q, __ATOMIC_RELAXED);
	}
	return q;
}

struct tap_qp *tap_cq_qp(struct tap_cq *c, uint32_t qp_num)
{
	return qp_of(c, qp_num);
}

/*
 * Consecutive completions of one queue pair: the increments of its counts, written once
 * at the end.  A count without an increment is not written: it may be another completion
 * queue's.
 */
struct run {
	struct tap_qp *q;
	bool is_plain;
	uint32_t sent, received;
};

static inline void end_run(struct run *run)
{
	if (run->sent)
		tap_owner_counter_add(true, &run->q->counts.send_completed, run->sent);
	if (run->received)
		tap_owner_counter_add(true, &run->q->counts.recv_completed,
				      run->received);
	run->sent = run->received = 0;
}

static inline uint32_t count_one(struct run *run, uint8_t side)
{
	struct tap_qp *q = run->q;
	uint32_t *count;

	if (unlikely(!q || side == IS_EITHER))
		return 0;
	if (unlikely(!run->is_plain)) {
		count = side == IS_RECV ? &q->counts.recv_completed
					: &q->counts.send_completed;
		return tap_owner_counter_add(false, count, 1) + 1;
	}
	if (side == IS_RECV)
		return __atomic_load_n(&q->counts.recv_completed, __ATOMIC_RELAXED) +
		       ++run->received;
	return __atomic_load_n(&q->counts.send_completed, __ATOMIC_RELAXED) + ++run->sent;
}

static inline uint32_t imm_of(const struct ibv_wc *wc)
{
	return wc->wc_flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV) ? wc->imm_data : 0;
}

/*
 * Counts nr completions and, if a is not NULL, describes them.  Returns whether an event
 * of them needs the detailed form.  Inlined into its callers, to keep the addresses of
 * the arrays in registers.
 */
tap_within static inline bool count_found(struct tap_cq *c, const struct ibv_wc *wc,
					  int nr, bool is_plain,
					  const struct tap_verbs_poll_arrays *a)
{
	struct run run = {.is_plain = is_plain};
	bool is_detailed = false;
	uint32_t seq, id = 0;
	uint16_t generation = 0;
	uint8_t side;
	int i;

	for (i = 0; i < nr; i++, wc++) {
		if (unlikely(!run.q || run.q->about.qp_num != wc->qp_num)) {
			end_run(&run);
			run.q = qp_of(c, wc->qp_num);
			id = run.q ? run.q->head.id : 0;
			generation = run.q ? tap_generation_of(run.q) : 0;
			is_detailed |= !run.q || run.q->is_ud;
		}
		side = wc->opcode & IBV_WC_RECV ? IS_RECV : IS_SEND;
		if (unlikely(wc->status != IBV_WC_SUCCESS)) {
			end_run(&run);
			side = side_of_failed(run.q, c->head.address);
			is_detailed = true;
		}
		seq = count_one(&run, side);
		if (!a)
			continue;
		a->wr_id[i].is = wc->wr_id;
		a->qp_id[i].is = id;
		a->generation[i].is = generation;
		a->seq[i].is = seq;
		a->status[i].is = (uint8_t) wc->status;
		a->opcode[i].is = (uint8_t) wc->opcode;
		a->is_recv[i].is = side;
		a->byte_len[i].is = wc->byte_len;
		a->imm_data[i].is = imm_of(wc);
		a->wc_flags[i].is = (uint8_t) wc->wc_flags;
	}
	end_run(&run);
	return is_detailed;
}

/* Writes up to 7 bytes more than nr_bytes; the caller overwrites these. */
static inline void repeat(void *at, uint64_t pattern, size_t nr_bytes)
{
	size_t i;

	for (i = 0; i < nr_bytes; i += sizeof(pattern))
		memcpy((char *) at + i, &pattern, sizeof(pattern));
}

/* The completions of one event. */
union part {
	struct tap_verbs_polled polled;
	struct tap_verbs_poll_room poll;
	struct tap_verbs_poll_detailed_room detailed;
	struct tap_verbs_poll_sent_room sent;
};

/* A send or a write, of which byte_len and imm_data have no meaning. */
static inline bool is_sent(const struct ibv_wc *wc)
{
	return wc->opcode == IBV_WC_SEND || wc->opcode == IBV_WC_RDMA_WRITE;
}

/*
 * Counts and describes what the owner found, in the two most common cases: completions of
 * q, none of which failed, that are all of requests of one opcode without data (_sent),
 * or all received (_received).  Return the length of the event, or 0, with nothing
 * counted, in any other case.  Inlined into their callers, so that record_one() needs no
 * loop.
 */
tap_within static inline size_t record_sent(struct tap_qp *q, const struct ibv_wc *wc,
					    size_t nr, union part *part)
{
	struct tap_verbs_poll_sent *const record = &part->sent.record;
	const uint32_t qp_num = q->about.qp_num;
	const unsigned opcode = wc->opcode;
	struct tap_verbs_poll_sent_arrays a;
	const size_t length = tap_verbs_poll_sent_place(&part->sent, nr, &a);
	unsigned differ = 0;
	size_t i;

	record->qp_id = q->head.id;
	record->generation = tap_generation_of(q);
	record->seq = 1 + __atomic_load_n(&q->counts.send_completed, __ATOMIC_RELAXED);
	record->opcode = (uint8_t) opcode;
	record->is_recv = IS_SEND;
	record->num_wc = (uint8_t) nr;
	for (i = 0; i < nr; i++, wc++) {
		differ |= wc->status | (wc->qp_num ^ qp_num) | (wc->opcode ^ opcode);
		a.wr_id[i].is = wc->wr_id;
	}
	if (unlikely(differ))
		return 0;
	tap_owner_counter_add(true, &q->counts.send_completed, (uint32_t) nr);
	return length;
}

/* Fields that all share are written several at a time. */
tap_within static inline size_t record_received(struct tap_qp *q, const struct ibv_wc *wc,
						size_t nr, union part *part)
{
	const uint32_t qp_num = q->about.qp_num;
	const uint32_t seq =
		1 + __atomic_load_n(&q->counts.recv_completed, __ATOMIC_RELAXED);
	struct tap_verbs_poll_arrays a;
	const size_t length = tap_verbs_poll_place(&part->poll, nr, &a);
	unsigned differ = 0;
	size_t i;

	part->poll.record.num_wc = (uint8_t) nr;
	repeat(a.qp_id, q->head.id * 0x100000001ull, nr * sizeof(*a.qp_id));
	repeat(a.generation, tap_generation_of(q) * 0x1000100010001ull,
	       nr * sizeof(*a.generation));
	repeat(a.status, IBV_WC_SUCCESS, nr * sizeof(*a.status));
	repeat(a.is_recv, IS_RECV * 0x101010101010101ull, nr * sizeof(*a.is_recv));
	for (i = 0; i < nr; i++, wc++) {
		differ |=
			wc->status | (wc->qp_num ^ qp_num) | (~wc->opcode & IBV_WC_RECV);
		a.wr_id[i].is = wc->wr_id;
		a.seq[i].is = seq + (uint32_t) i;
		a.opcode[i].is = (uint8_t) wc->opcode;
		a.byte_len[i].is = wc->byte_len;
		a.imm_data[i].is = imm_of(wc);
		a.wc_flags[i].is = (uint8_t) wc->wc_flags;
	}
	if (unlikely(differ))
		return 0;
	tap_owner_counter_add(true, &q->counts.recv_completed, (uint32_t) nr);
	return length;
}

/* Either of the two; sets the event where it is the first. */
tap_within static inline size_t record_alike(struct tap_qp *q, const struct ibv_wc *wc,
					     size_t nr, union part *part,
					     enum tap_verbs_hot *event)
{
	if (wc->opcode & IBV_WC_RECV)
		return record_received(q, wc, nr, part);
	if (unlikely(!is_sent(wc)))
		return 0;
	*event = TAP_VERBS_poll_sent;
	return record_sent(q, wc, nr, part);
}

/* Returns the count before. */
static inline uint64_t count_completions(struct tap_cq *c, int nr, bool is_plain)
{
	const uint64_t before = __atomic_load_n(&c->completions, __ATOMIC_RELAXED);

	if (unlikely(!is_plain))
		return __atomic_fetch_add(&c->completions, (uint64_t) nr,
					  __ATOMIC_RELAXED);
	__atomic_store_n(&c->completions, before + (uint64_t) nr, __ATOMIC_RELAXED);
	return before;
}

static size_t fill_details(union part *part, const struct ibv_wc *wc, int nr)
{
	struct tap_verbs_poll_detailed_arrays a;
	const size_t length =
		tap_verbs_poll_detailed_place(&part->detailed, (size_t) nr, &a);
	int i;

	for (i = 0; i < nr; i++, wc++) {
		a.src_qp[i].is = wc->src_qp;
		a.vendor_err[i].is = wc->vendor_err;
	}
	return length;
}

/* Takes the empty polls that no event has reported; the caller reports them. */
static inline uint32_t take_empty_polls(struct tap_cq *c, bool is_plain)
{
	uint64_t reported = __atomic_load_n(&c->reported_empty_polls, __ATOMIC_ACQUIRE);
	uint32_t polls = tap_cq_unreported_polls(c, reported);

	if (likely(is_plain)) {
		__atomic_store_n(&c->reported_empty_polls, reported + polls,
				 __ATOMIC_RELEASE);
		return polls;
	}
	while (!__atomic_compare_exchange_n(&c->reported_empty_polls, &reported,
					    reported + polls, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_ACQUIRE))
		polls = tap_cq_unreported_polls(c, reported);
	return polls;
}

/* Fills what all polls begin with, and takes the ordinals of nr completions. */
static inline void fill_polled(struct tap_verbs_polled *polled, struct tap_cq *c, int nr,
			       bool is_plain, bool concurrent)
{
	polled->cq_id = c->head.id;
	polled->first_seq = count_completions(c, nr, is_plain);
	polled->empty_polls = take_empty_polls(c, is_plain);
	polled->concurrent = concurrent;
}

/* Any completions. */
static size_t record_any(struct tap_cq *c, const struct ibv_wc *wc, int nr, bool is_plain,
			 union part *part, enum tap_verbs_hot *event)
{
	struct tap_verbs_poll_arrays arrays;
	const size_t length = tap_verbs_poll_place(&part->poll, (size_t) nr, &arrays);

	*event = TAP_VERBS_poll;
	part->poll.record.num_wc = (uint8_t) nr;
	if (!count_found(c, wc, nr, is_plain, &arrays))
		return length;
	*event = TAP_VERBS_poll_detailed;
	return fill_details(part, wc, nr);
}

/* The most common poll: the owner finds one completion, of q, that did not fail. */
tap_hot tap_apart static int record_one(struct tap_cq *c, struct tap_qp *q,
					const struct ibv_wc *wc, uint32_t *stage)
{
	enum tap_verbs_hot event = TAP_VERBS_poll;
	union part part;
	size_t length = record_alike(q, wc, 1, &part, &event);

	if (unlikely(!length))
		length = record_any(c, wc, 1, true, &part, &event);
	fill_polled(&part.polled, c, 1, true, false);
	tap_owner_counter_leave(stage);
	tap_verbs_write(event, &part, length);
	return 1;
}

/*
 * Writes as many events as the completions need.  One visit takes the ordinals of all,
 * and the last event is written after it.  Inlined into its two callers: a call in the
 * loop would cost those a tenth that are not metered.
 */
tap_within static inline void record_all(struct tap_cq *c, const struct ibv_wc *wc,
					 int nr, struct tap_visit *visit, bool is_metered)
{
	const bool is_plain = tap_owner_counter_count(&c->counter, visit);
	union part part;
	enum tap_verbs_hot event;
	struct tap_qp *q;
	size_t length;
	int some;

	for (; nr > 0; nr -= some, wc += some) {
		some = nr < TAP_VERBS_LIST_MAX ? nr : TAP_VERBS_LIST_MAX;
		event = TAP_VERBS_poll;
		q = qp_of(c, wc->qp_num);
		length = likely(is_plain && q && !q->is_ud)
				 ? record_alike(q, wc, (size_t) some, &part, &event)
				 : 0;
		if (unlikely(!length))
			length = record_any(c, wc, some, is_plain, &part, &event);
		if (is_metered)
			tap_metered_found(c, wc, some, is_plain);
		fill_polled(&part.polled, c, some, is_plain, visit->concurrent);
		if (nr == some)
			tap_owner_counter_end(visit);
		tap_verbs_write(event, &part, length);
	}
}

tap_hot tap_apart static void record_found(struct tap_cq *c, const struct ibv_wc *wc,
					   int nr, struct tap_visit *visit)
{
	record_all(c, wc, nr, visit, false);
}

tap_apart static void record_found_metered(struct tap_cq *c, const struct ibv_wc *wc,
					   int nr, struct tap_visit *visit)
{
	record_all(c, wc, nr, visit, true);
}

static inline void record(struct tap_cq *c, const struct ibv_wc *wc, int nr,
			  struct tap_visit *visit)
{
	if (unlikely(c->is_metered))
		record_found_metered(c, wc, nr, visit);
	else
		record_found(c, wc, nr, visit);
}

tap_hot static void count_only(struct tap_cq *c, const struct ibv_wc *wc, int found,
			       struct tap_visit *visit)
{
	const bool is_plain = tap_owner_counter_count(&c->counter, visit);

	count_found(c, wc, found, is_plain, NULL);
	if (unlikely(c->is_metered))
		tap_metered_found(c, wc, found, is_plain);
	count_completions(c, found, is_plain);
	tap_owner_counter_end(visit);
}

void tap_poll_found(struct tap_cq *c, const struct ibv_wc *wc, int found,
		    bool is_recorded)
{
	struct tap_visit visit = tap_owner_counter_begin(&c->counter);

	if (is_recorded)
		record(c, wc, found, &visit);
	else
		count_only(c, wc, found, &visit);
}

/* The general case: any completions, any thread. */
static int take_found(struct tap_cq *c, const struct ibv_wc *wc, int found,
		      struct tap_visit *visit)
{
	if (tap_poll_is_wanted())
		record(c, wc, found, visit);
	else
		count_only(c, wc, found, visit);
	return found;
}

/*
 * The provider returned more than nr: wc has no room for them, so the tracer reads only
 * nr.
 */
static int take_no_more(struct tap_cq *c, const struct ibv_wc *wc, int found, int nr,
			struct tap_visit *visit)
{
	if (nr > 0)
		take_found(c, wc, nr, visit);
	else
		tap_owner_counter_pass(&c->counter, visit);
	return found;
}

/* Polls of a thread that does not own the queue, or of a queue not found at once. */
tap_apart static int poll_slowly(struct ibv_cq *cq, int nr, struct ibv_wc *wc)
{
	struct tap_cq *c = tap_find(&tap_cqs, cq);
	const struct tap_context *context;
	struct tap_visit visit;
	int found;

	if (unlikely(!c)) {
		context = cq->context ? tap_find(&tap_contexts, cq->context) : NULL;
		return context ? context->real.poll_cq(cq, nr, wc) : -EINVAL;
	}
	visit = tap_owner_counter_begin(&c->counter);
	found = c->poll(cq, nr, wc);
	if (unlikely(found > 0 && found > nr))
		return take_no_more(c, wc, found, nr, &visit);
	if (found > 0)
		return take_found(c, wc, found, &visit);
	if (!found)
		tap_cq_count_empty(c, visit.stage);
	tap_owner_counter_pass(&c->counter, &visit);
	return found;
}

/* Inlined into its two callers, as in post.c. */
tap_within static inline int take_some(struct tap_cq *c, const struct ibv_wc *wc,
				       int found, int nr, uint32_t *stage,
				       bool may_be_metered)
{
	struct tap_visit visit = {.stage = stage};
	struct tap_metrics_queue *queue;
	struct tap_qp *q;

	if (unlikely(found < 0)) {
		tap_owner_counter_leave(stage);
		return found;
	}
	if (unlikely(found > nr))
		return take_no_more(c, wc, found, nr, &visit);
	/* Mostly one completion, of the queue pair of the last one. */
	q = last_if(c, wc->qp_num);
	if (likely(found == 1 && q && wc->status == IBV_WC_SUCCESS &&
		   tap_owner_counter_is_plain(&c->counter, stage))) {
		if (tap_poll_is_wanted())
			return q->is_ud || (may_be_metered && c->is_metered)
				       ? take_found(c, wc, found, &visit)
				       : record_one(c, q, wc, stage);
		tap_owner_counter_add(true,
				      wc->opcode & IBV_WC_RECV
					      ? &q->counts.recv_completed
					      : &q->counts.send_completed,
				      1);
		queue = may_be_metered && c->is_metered ? tap_metered_queue(q) : NULL;
		if (queue)
			tap_metered_found_one(q, queue, wc);
		count_completions(c, 1, true);
		tap_owner_counter_leave(stage);
		return found;
	}
	return take_found(c, wc, found, &visit);
}

/* Kept out of line, so that a poll which finds nothing saves few registers. */
tap_hot tap_apart static int found_some(struct tap_cq *c, const struct ibv_wc *wc,
					int found, int nr, uint32_t *stage)
{
	return take_some(c, wc, found, nr, stage, false);
}

tap_hot tap_apart static int found_some_metered(struct tap_cq *c, const struct ibv_wc *wc,
						int found, int nr, uint32_t *stage)
{
	return take_some(c, wc, found, nr, stage, true);
}

tap_within static inline int poll_cq(struct ibv_cq *cq, int nr, struct ibv_wc *wc,
				     bool may_be_metered)
{
	struct tap_cq *c = tap_table_look(&tap_cqs, cq);
	uint32_t *stage = likely(c) ? tap_owner_counter_enter(&c->counter) : NULL;
	int found;

	if (unlikely(!stage))
		return poll_slowly(cq, nr, wc);
	found = c->poll(cq, nr, wc);
	if (unlikely(found))
		return may_be_metered ? found_some_metered(c, wc, found, nr, stage)
				      : found_some(c, wc, found, nr, stage);
	tap_cq_count_empty(c, stage);
	tap_owner_counter_leave(stage);
	return 0;
}

tap_hot int tap_on_poll_cq(struct ibv_cq *cq, int nr, struct ibv_wc *wc)
{
	return poll_cq(cq, nr, wc, false);
}

tap_hot int tap_on_poll_cq_metered(struct ibv_cq *cq, int nr, struct ibv_wc *wc)
{
	return poll_cq(cq, nr, wc, true);
}
