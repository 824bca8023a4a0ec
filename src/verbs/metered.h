/* SPDX-License-Identifier: MIT */
/*
 * What posts and polls add to the counters of --metrics (common/metrics_page.h).
 *
 * It hides that a queue's counters have one writer while one thread owns the queue, and
 * which requests are timed: one in TAP_METRICS_REQUESTS_TIMED of those that complete, of
 * each queue pair, and one at a time.  For all others no clock is read.
 */
#ifndef TAP_VERBS_METERED_H
#define TAP_VERBS_METERED_H

#include "verbs/objects.h"
#include "verbs/request.h"

/*
 * Where the completions of q count, NULL: nowhere.  A poll may hold a queue pair that is
 * gone, whose memory becomes another's meanwhile: so it reads this once.
 */
static inline struct tap_metrics_queue *tap_metered_queue(const struct tap_qp *q)
{
	return __atomic_load_n(&q->room.queue, __ATOMIC_RELAXED);
}

static inline bool tap_metered(const struct tap_qp *q)
{
	return tap_metered_queue(q);
}

/* What is added with plain loads and stores needs one writer alone. */
static inline void tap_metered_add(bool is_alone, uint64_t *count, uint64_t more)
{
	if (likely(is_alone))
		tap_metrics_add(count, more);
	else
		tap_metrics_add_shared(count, more);
}

static inline void tap_metered_sent(const struct tap_qp *q, bool is_plain, uint32_t nr,
				    uint64_t bytes)
{
	const bool is_alone = is_plain && q->room.is_own;

	tap_metered_add(is_alone, &q->room.queue->sent, nr);
	tap_metered_add(is_alone, &q->room.queue->sent_bytes, bytes);
}

static inline void tap_metered_posted_recvs(const struct tap_metrics_room *room,
					    bool is_plain, uint32_t nr)
{
	tap_metered_add(is_plain && room->is_own, &room->queue->recv_posted, nr);
}

/* The bytes of the nr requests from wr on. */
uint64_t tap_metered_bytes(const struct ibv_send_wr *wr, uint32_t nr) tap_hidden;

/* Completions that the program found; their queue pairs have counted them, as below. */
void tap_metered_found(struct tap_cq *c, const struct ibv_wc *wc, int nr,
		       bool is_plain) tap_hidden;

/* ---- Requests that are timed ---- */

void tap_metered_end_timed(struct tap_qp *q, uint32_t seq) tap_hidden;

/* After the completions of q are counted: whether the one that is timed is among them. */
static inline void tap_metered_look(struct tap_qp *q)
{
	const uint32_t seq = __atomic_load_n(&q->timed.seq, __ATOMIC_ACQUIRE);

	if (unlikely(seq) &&
	    (int32_t) (__atomic_load_n(&q->counts.send_completed, __ATOMIC_RELAXED) -
		       seq) >= 0)
		tap_metered_end_timed(q, seq);
}

void tap_metered_begin_timed(struct tap_qp *q, uint32_t before,
			     uint32_t signaled) tap_hidden;

/*
 * Before the owner of the queue posts requests, so many of them with a completion: notes
 * when the one is posted that is to be timed.
 */
static inline void tap_metered_begin(struct tap_qp *q, uint32_t signaled)
{
	const uint32_t before = __atomic_load_n(&q->counts.signaled, __ATOMIC_RELAXED);

	if (unlikely((int32_t) (before + signaled - q->timed.next) >= 0))
		tap_metered_begin_timed(q, before, signaled);
}

/* The same in a visit, of the owner's or not, of a queue that may not be metered. */
static inline void tap_metered_begin_in(const struct tap_visit *visit, struct tap_qp *q,
					uint32_t signaled)
{
	if (unlikely(tap_metered(q)) && visit->stage)
		tap_metered_begin(q, signaled);
}

/* One that the owner of the queue found, which did not fail. */
static inline void tap_metered_found_one(struct tap_qp *q,
					 struct tap_metrics_queue *queue,
					 const struct ibv_wc *wc)
{
	const bool is_alone = q->room.is_own;

	if (wc->opcode & IBV_WC_RECV) {
		tap_metered_add(is_alone, &queue->recv_completed, 1);
		tap_metered_add(is_alone, &queue->received_bytes, wc->byte_len);
	} else {
		tap_metered_add(is_alone, &queue->send_completed, 1);
		tap_metered_look(q);
	}
}

/* The queue pair is in error, or begins anew. */
static inline void tap_metered_give_up(struct tap_qp *q)
{
	__atomic_store_n(&q->timed.seq, 0, __ATOMIC_RELEASE);
}

/*
 * The post failed, before its requests are counted: of those that were accepted so many
 * have a completion.  If what is being timed was not, the next one in its place is.
 */
static inline void tap_metered_refused(struct tap_qp *q, uint32_t signaled)
{
	const uint32_t seq = __atomic_load_n(&q->timed.seq, __ATOMIC_RELAXED);
	const uint32_t before = __atomic_load_n(&q->counts.signaled, __ATOMIC_RELAXED);

	if (!seq || (int32_t) (seq - before - signaled) <= 0)
		return;
	q->timed.next = seq;
	tap_metered_give_up(q);
}

#endif
