/* SPDX-License-Identifier: MIT */
/* Bytes of lists, completions by queue pair, and the time of some requests. */
#include "verbs/metered.h"

#include "common/clock.h"
#include "verbs/poll.h"

uint64_t tap_metered_bytes(const struct ibv_send_wr *wr, uint32_t nr)
{
	uint64_t bytes = 0;

	for (; wr && nr; nr--, wr = wr->next)
		bytes += tap_length_of(wr->sg_list, wr->num_sge);
	return bytes;
}

/* ---- Requests that are timed ---- */

/*
 * A thread that shares the queue posts without this, so `next` may lie behind.  While one
 * request is being timed no other is: who polls ends it.
 */
tap_cold void tap_metered_begin_timed(struct tap_qp *q, uint32_t before,
				      uint32_t signaled)
{
	const uint32_t seq =
		(int32_t) (q->timed.next - before) > 0 ? q->timed.next : before + 1;

	if (!signaled)
		return;
	q->timed.next = seq + TAP_METRICS_REQUESTS_TIMED;
	if (!seq || __atomic_load_n(&q->timed.seq, __ATOMIC_ACQUIRE))
		return;
	__atomic_store_n(&q->timed.begin_ns, tap_now_ns(), __ATOMIC_RELAXED);
	__atomic_store_n(&q->timed.seq, seq, __ATOMIC_RELEASE);
}

/* NULL: the queue pair is gone. */
static struct tap_metrics_device *device_of(const struct tap_qp *q)
{
	return __atomic_load_n(&q->room.device, __ATOMIC_RELAXED);
}

/* Several threads may poll: the one whose exchange succeeds counts the time. */
tap_cold void tap_metered_end_timed(struct tap_qp *q, uint32_t seq)
{
	const int64_t begin_ns = __atomic_load_n(&q->timed.begin_ns, __ATOMIC_RELAXED);
	const uint64_t ns = (uint64_t) (tap_now_ns() - begin_ns);
	struct tap_metrics_device *const device = device_of(q);

	if (!__atomic_compare_exchange_n(&q->timed.seq, &seq, 0, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	if (!device)
		return;
	tap_metrics_add_shared(&device->timed_ns, ns);
	tap_metrics_add_shared(&device->timed[tap_metrics_time_index(ns)], 1);
}

/* ---- Completions ---- */

/* Consecutive completions of one queue pair. */
struct run {
	struct tap_qp *q;
	struct tap_metrics_queue *queue; /* NULL: they are not counted */
	uint64_t sent, received, bytes;
};

static void end_run(const struct run *run, bool is_plain)
{
	const bool is_alone = is_plain && run->q->room.is_own;

	/* A count without an increment may be another completion queue's. */
	if (run->sent) {
		tap_metered_add(is_alone, &run->queue->send_completed, run->sent);
		tap_metered_look(run->q);
	}
	if (!run->received)
		return;
	tap_metered_add(is_alone, &run->queue->recv_completed, run->received);
	tap_metered_add(is_alone, &run->queue->received_bytes, run->bytes);
}

tap_cold static void count_failed(struct tap_qp *q, enum ibv_wc_status status)
{
	struct tap_metrics_device *const device = device_of(q);

	tap_metered_give_up(q);
	if (device)
		tap_metrics_add_shared(status == IBV_WC_WR_FLUSH_ERR ? &device->flushed
								     : &device->failed,
				       1);
}

void tap_metered_found(struct tap_cq *c, const struct ibv_wc *wc, int nr, bool is_plain)
{
	struct run run = {0};
	struct tap_qp *q = NULL;
	uint32_t qp_num = 0;

	for (; nr > 0; nr--, wc++) {
		if (!q || wc->qp_num != qp_num) {
			if (run.queue)
				end_run(&run, is_plain);
			qp_num = wc->qp_num;
			q = tap_cq_qp(c, qp_num);
			run = (struct run){.q = q,
					   .queue = q ? tap_metered_queue(q) : NULL};
		}
		if (!run.queue)
			continue;
		if (unlikely(wc->status != IBV_WC_SUCCESS)) {
			count_failed(q, wc->status);
		} else if (wc->opcode & IBV_WC_RECV) {
			run.received++;
			run.bytes += wc->byte_len;
		} else {
			run.sent++;
		}
	}
	if (run.queue)
		end_run(&run, is_plain);
}
