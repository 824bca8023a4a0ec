/* SPDX-License-Identifier: MIT */
/*
 * Polls: what stands in the tables in place of poll_cq.  One that finds nothing counts
 * itself and no more: programs make millions of them.
 */
#include <errno.h>

#include "verbs/objects.h"
#include "verbs/way.h"

/* Which queue a completion came from; EITHER: what failed does not tell. */
enum { IS_SEND, IS_RECV, IS_EITHER };

/*
 * The kind of a completion that failed is not told (its opcode is not valid), but by a
 * queue that serves one side, or by a side that nothing was posted to.
 */
static uint8_t side_of(const struct tap_qp *q, const struct ibv_cq *cq,
		       const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS)
		return wc->opcode & IBV_WC_RECV ? IS_RECV : IS_SEND;
	if (!q)
		return IS_EITHER;
	if (q->send_cq != q->recv_cq)
		return q->recv_cq == cq ? IS_RECV : IS_SEND;
	if (!q->counts.sent)
		return IS_RECV;
	if (!q->about.srq_id && q->counts.recv_posted == q->counts.recv_completed)
		return IS_SEND;
	return IS_EITHER;
}

static struct tap_qp *qp_of(struct tap_cq *c, uint32_t qp_num)
{
	struct tap_qp *q = c->last;

	if (likely(q && q->about.qp_num == qp_num &&
		   q->about.context_id == c->about.context_id && q->head.address))
		return q;
	q = tap_qp_numbered(c->about.context_id, qp_num);
	c->last = q;
	return q;
}

static uint32_t count_completion(struct tap_qp *q, uint8_t side, bool is_plain)
{
	if (!q || side == IS_EITHER)
		return 0;
	return tap_turn_add(is_plain,
			    side == IS_RECV ? &q->counts.recv_completed
					    : &q->counts.send_completed,
			    1) +
	       1;
}

/* Counts nr completions, and describes them if asked to. */
static void count_found(struct tap_cq *c, struct ibv_cq *cq, const struct ibv_wc *wc,
			int nr, bool is_plain, struct tap_verbs_poll_arrays *a)
{
	int i;

	for (i = 0; i < nr; i++, wc++) {
		struct tap_qp *q = qp_of(c, wc->qp_num);
		const uint8_t side = side_of(q, cq, wc);
		const uint32_t seq = count_completion(q, side, is_plain);

		if (!a)
			continue;
		a->wr_id[i].is = wc->wr_id;
		a->qp_id[i].is = q ? q->head.id : 0;
		a->life[i].is = q ? q->life : 0;
		a->seq[i].is = seq;
		a->status[i].is = (uint8_t) wc->status;
		a->opcode[i].is = (uint8_t) wc->opcode;
		a->is_recv[i].is = side;
		a->byte_len[i].is = wc->byte_len;
		a->imm_data[i].is = wc->wc_flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV)
					    ? wc->imm_data
					    : 0;
		a->wc_flags[i].is = (uint8_t) wc->wc_flags;
		a->src_qp[i].is = wc->src_qp;
		a->vendor_err[i].is = wc->vendor_err;
	}
}

/*
 * In parts that an event has room for.  The ordinals of all are taken in one turn, and
 * what is described is written after it.
 */
tap_cold static void record_found(struct tap_cq *c, struct ibv_cq *cq,
				  const struct ibv_wc *wc, int nr,
				  struct tap_visit *visit)
{
	struct tap_verbs_poll_arrays arrays;
	struct tap_verbs_poll_room room;
	bool is_plain = tap_turn_count(&c->turn, visit);
	size_t length;
	int part;

	room.record.cq_id = c->head.id;
	for (; nr > 0; nr -= part, wc += part) {
		part = nr < TAP_VERBS_LIST_MAX ? nr : TAP_VERBS_LIST_MAX;
		length = tap_verbs_poll_place(&room, (size_t) part, &arrays);
		count_found(c, cq, wc, part, is_plain, &arrays);
		room.record.num_wc = (uint8_t) part;
		room.record.first_seq =
			__atomic_fetch_add(&c->completions, (uint64_t) part,
					   __ATOMIC_RELAXED);
		room.record.empty_polls = c->empty_polls;
		room.record.raced = visit->raced;
		c->all_empty_polls += c->empty_polls;
		c->empty_polls = 0;
		if (nr == part)
			tap_turn_end(&c->turn, visit);
		tap_verbs_write(TAP_VERBS_poll, &room, length);
	}
}

/* What was found is counted, and described where somebody records. */
tap_apart static int found_some(struct tap_cq *c, struct ibv_cq *cq,
				const struct ibv_wc *wc, int found,
				struct tap_visit visit)
{
	bool is_plain;

	if (tap_verbs_wants(TAP_VERBS_poll)) {
		record_found(c, cq, wc, found, &visit);
		return found;
	}
	is_plain = tap_turn_count(&c->turn, &visit);
	count_found(c, cq, wc, found, is_plain, NULL);
	if (is_plain)
		c->completions += (uint64_t) found;
	else
		__atomic_fetch_add(&c->completions, (uint64_t) found, __ATOMIC_RELAXED);
	tap_turn_end(&c->turn, &visit);
	return found;
}

static inline int ask_provider(struct tap_cq *c, struct ibv_cq *cq, int nr,
			       struct ibv_wc *wc, struct tap_visit visit)
{
	const int found = c->poll(cq, nr, wc);

	if (unlikely(found > 0))
		return found_some(c, cq, wc, found, visit);
	c->empty_polls += !found;
	tap_turn_pass(&c->turn, &visit);
	return found;
}

/* A queue that is not this thread's, or was not found at once. */
tap_apart static int poll_slowly(struct ibv_cq *cq, int nr, struct ibv_wc *wc)
{
	struct tap_cq *c = tap_find(&tap_cqs, cq);
	const struct tap_context *context;

	if (likely(c))
		return ask_provider(c, cq, nr, wc, tap_turn_begin(&c->turn));
	context = cq->context ? tap_find(&tap_contexts, cq->context) : NULL;
	return context ? context->real.poll_cq(cq, nr, wc) : -EINVAL;
}

int tap_on_poll_cq(struct ibv_cq *cq, int nr, struct ibv_wc *wc)
{
	struct tap_cq *c = tap_table_look(&tap_cqs, cq);
	struct tap_visit visit;

	if (unlikely(!c || !tap_turn_begin_fast(&c->turn, &visit)))
		return poll_slowly(cq, nr, wc);
	return ask_provider(c, cq, nr, wc, visit);
}
