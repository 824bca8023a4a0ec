/* SPDX-License-Identifier: MIT */
/*
 * Polls of the extended interface: the program walks a batch of completions from
 * start_poll to end_poll and reads the fields of each by calls of the provider.
 *
 * The tracer reads each completion while the provider shows it, since it cannot be read
 * later.  It emits them in end_poll, before the provider lets another thread in: so the
 * completions are counted in their order.
 */
#include <errno.h>

#include "verbs/extended.h"
#include "verbs/poll.h"
#include "verbs/entry_point.h"

#define DESCRIBED (IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_SRC_QP)

struct extended_cq {
	struct tap_object head;
	struct tap_cq *cq;
	__typeof__(((struct ibv_cq_ex *) NULL)->start_poll) start_poll;
	__typeof__(((struct ibv_cq_ex *) NULL)->next_poll) next_poll;
	__typeof__(((struct ibv_cq_ex *) NULL)->end_poll) end_poll;
	/* The fields that the program asked for; the tracer must not read others. */
	uint64_t wc_flags;
	/*
	 * A completion without a queue pair number belongs to the only queue pair of the
	 * queue.
	 */
	uint32_t nr_qps, only_qp_num;
	/* Valid from start_poll to end_poll. */
	bool is_recorded;
	int nr;
	struct ibv_wc found[TAP_VERBS_LIST_MAX];
};

static struct tap_table extended = {.size = sizeof(struct extended_cq)};

static void emit(struct extended_cq *x)
{
	const int nr = x->nr;

	x->nr = 0;
	if (nr)
		tap_poll_found(x->cq, x->found, nr, x->is_recorded);
}

/* A failed completion has valid wr_id, qp_num, status and vendor_err alone. */
static void read_fields(const struct extended_cq *x, struct ibv_cq_ex *cq,
			struct ibv_wc *wc)
{
	wc->byte_len = wc->imm_data = wc->wc_flags = wc->src_qp = wc->vendor_err = 0;
	if (wc->status != IBV_WC_SUCCESS) {
		if (cq->read_vendor_err)
			wc->vendor_err = cq->read_vendor_err(cq);
		return;
	}
	if (cq->read_wc_flags)
		wc->wc_flags = cq->read_wc_flags(cq);
	if ((x->wc_flags & DESCRIBED) != DESCRIBED)
		wc->wc_flags |= TAP_VERBS_WC_UNREAD;
	if (x->wc_flags & IBV_WC_EX_WITH_BYTE_LEN && cq->read_byte_len)
		wc->byte_len = cq->read_byte_len(cq);
	if (x->wc_flags & IBV_WC_EX_WITH_IMM && cq->read_imm_data &&
	    wc->wc_flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV))
		wc->imm_data = cq->read_imm_data(cq);
	if (x->wc_flags & IBV_WC_EX_WITH_SRC_QP && cq->read_src_qp)
		wc->src_qp = cq->read_src_qp(cq);
}

/* Keeps the completion that the provider shows now. */
tap_apart static void gather(struct extended_cq *x, struct ibv_cq_ex *cq)
{
	const int kept_errno = errno;
	struct ibv_wc *wc;

	if (x->nr == TAP_VERBS_LIST_MAX)
		emit(x);
	wc = &x->found[x->nr++];
	wc->wr_id = cq->wr_id;
	wc->status = cq->status;
	wc->opcode = cq->status == IBV_WC_SUCCESS ? cq->read_opcode(cq) : 0;
	wc->qp_num = x->wc_flags & IBV_WC_EX_WITH_QP_NUM && cq->read_qp_num
			     ? cq->read_qp_num(cq)
			     : x->only_qp_num;
	if (unlikely(x->is_recorded || x->cq->is_metered))
		read_fields(x, cq, wc);
	errno = kept_errno;
}

tap_apart static void gather_first(struct extended_cq *x, struct ibv_cq_ex *cq)
{
	/* The batch before, if the program never ended it. */
	emit(x);
	x->is_recorded = tap_poll_is_wanted();
	gather(x, cq);
}

static void count_empty(struct tap_cq *c)
{
	uint32_t *stage = tap_owner_counter_enter(&c->counter);

	tap_cq_count_empty(c, stage);
	if (likely(stage))
		tap_owner_counter_leave(stage);
}

static int on_start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	struct extended_cq *x = tap_find(&extended, cq);
	int ret;

	if (unlikely(!x))
		return EINVAL;
	ret = x->start_poll(cq, attr);
	if (unlikely(!ret))
		gather_first(x, cq);
	else if (ret == ENOENT)
		count_empty(x->cq);
	return ret;
}

static int on_next_poll(struct ibv_cq_ex *cq)
{
	struct extended_cq *x = tap_find(&extended, cq);
	int ret;

	if (unlikely(!x))
		return EINVAL;
	ret = x->next_poll(cq);
	if (!ret)
		gather(x, cq);
	return ret;
}

static void on_end_poll(struct ibv_cq_ex *cq)
{
	struct extended_cq *x = tap_find(&extended, cq);

	if (unlikely(!x))
		return;
	emit(x);
	x->end_poll(cq);
}

/* clang-format off */
#define OPS(X) X(start_poll) X(next_poll) X(end_poll)
#define PATCH(op) x->op = cq->op; cq->op = on_##op;
#define PUT_BACK(op) if (cq->op == on_##op) cq->op = x->op;
/* clang-format on */

static void patch(struct extended_cq *x, struct ibv_cq_ex *cq)
{
	OPS(PATCH)
}

static void put_back(const struct extended_cq *x, struct ibv_cq_ex *cq)
{
	OPS(PUT_BACK)
}

bool tap_extended_cq_made(struct ibv_cq_ex *cq, uint64_t wc_flags)
{
	struct tap_cq *c = tap_find(&tap_cqs, ibv_cq_ex_to_cq(cq));
	struct extended_cq *x;

	if (!c || !cq->start_poll || !cq->next_poll || !cq->end_poll || !cq->read_opcode)
		return false;
	x = tap_table_make(&extended);
	if (!x)
		return false;
	x->cq = c;
	x->wc_flags = wc_flags;
	tap_table_show(&extended, x, cq);
	patch(x, cq);
	return true;
}

void *tap_extended_cq_destroy_begin(struct ibv_cq *cq)
{
	struct extended_cq *x = tap_find(&extended, cq);

	if (x)
		put_back(x, (struct ibv_cq_ex *) cq);
	return x;
}

void tap_extended_cq_destroy_end(void *followed, struct ibv_cq *cq, bool is_gone)
{
	struct extended_cq *x = followed;

	if (!x)
		return;
	if (is_gone)
		tap_table_drop(&extended, x);
	else if (((struct ibv_cq_ex *) cq)->start_poll == x->start_poll)
		patch(x, (struct ibv_cq_ex *) cq);
}

bool tap_extended_cq_joined(const struct ibv_cq *cq, uint32_t qp_num)
{
	struct extended_cq *x = cq ? tap_find(&extended, cq) : NULL;

	if (!x)
		return true;
	x->only_qp_num = x->nr_qps++ ? 0 : qp_num;
	return x->nr_qps == 1 || x->wc_flags & IBV_WC_EX_WITH_QP_NUM;
}

void tap_extended_cq_left(const struct ibv_cq *cq)
{
	struct extended_cq *x = cq ? tap_find(&extended, cq) : NULL;

	if (x)
		x->nr_qps--;
}
