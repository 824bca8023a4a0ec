/* SPDX-License-Identifier: MIT */
/*
 * The sending side of a queue pair: requests leave in order, are answered in order, and
 * complete in order.  Nobody's answer makes a reliable one leave again after its timeout,
 * as often as its retry count says; then, and after every other failure, the queue pair
 * is in error and what waits is flushed.
 */
#include "soft.h"

#include <errno.h>
#include <string.h>

static struct soft_send *slot(struct soft_qp *qp, uint32_t position)
{
	return &qp->sends[position & qp->mask];
}

static bool is_reliable(const struct soft_qp *qp)
{
	return qp->ex.qp_base.qp_type == IBV_QPT_RC;
}

static bool reads(const struct soft_send *send)
{
	return send->opcode == IBV_WR_RDMA_READ ||
	       send->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       send->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static bool consumes_receive(const struct soft_send *send)
{
	return send->opcode == IBV_WR_SEND || send->opcode == IBV_WR_SEND_WITH_IMM ||
	       send->opcode == IBV_WR_SEND_WITH_INV ||
	       send->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static enum ibv_wc_opcode wc_opcode(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return IBV_WC_COMP_SWAP;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
	case IBV_WR_BIND_MW:
		return IBV_WC_BIND_MW;
	case IBV_WR_LOCAL_INV:
		return IBV_WC_LOCAL_INV;
	default:
		return IBV_WC_SEND;
	}
}

uint32_t soft_send_bytes(struct soft_qp *qp, uint32_t position)
{
	const struct soft_send *send = slot(qp, position);
	const struct ibv_sge *sges = qp->send_sges + (size_t) (position & qp->mask) *
							     qp->attr.cap.max_send_sge;
	uint32_t length = send->inline_size;
	int i;

	for (i = 0; i < send->num_sge; i++)
		length += sges[i].length;
	return length;
}

/* The oldest request ends. */
static void finish(struct soft_qp *qp, enum ibv_wc_status status)
{
	struct soft_send *send = slot(qp, qp->head);
	struct ibv_wc wc = {
		.wr_id = send->wr_id,
		.status = status,
		.opcode = wc_opcode(send->opcode),
		.byte_len = soft_send_bytes(qp, qp->head),
		.qp_num = qp->ex.qp_base.qp_num,
	};

	if (status != IBV_WC_SUCCESS || qp->sq_sig_all ||
	    (send->flags & IBV_SEND_SIGNALED))
		soft_complete(soft_cq(qp->ex.qp_base.send_cq), &wc, false);
	if (reads(send) && qp->head != qp->next && qp->reads)
		qp->reads--;
	if (qp->head == qp->next)
		qp->next++;
	qp->head++;
}

/* Those whose answers are there end well, if it is time. */
static void retire(struct soft_qp *qp, uint64_t now)
{
	if (!qp->answered || qp->answered_at > now)
		return;
	for (; qp->answered; qp->answered--) {
		qp->psn = (qp->psn + 1) & SOFT_PSN_MASK;
		finish(qp, IBV_WC_SUCCESS);
	}
	qp->answered_at = 0;
	if (qp->ex.qp_base.state == IBV_QPS_SQD && qp->head == qp->next &&
	    qp->attr.en_sqd_async_notify)
		soft_event_qp(qp, IBV_EVENT_SQ_DRAINED);
}

void soft_send_flush(struct soft_qp *qp)
{
	while (qp->head != qp->tail)
		finish(qp, IBV_WC_WR_FLUSH_ERR);
	qp->answered = 0;
	qp->answered_at = 0;
	qp->reads = 0;
	qp->retry_at = SOFT_NEVER;
	qp->due_at = SOFT_NEVER;
	qp->epoch++;
}

static void fail(struct soft_qp *qp, enum ibv_wc_status status)
{
	retire(qp, SOFT_NEVER);
	finish(qp, status);
	/* As InfiniBand has it: without reliability only the send queue is in error. */
	if (!is_reliable(qp)) {
		qp->ex.qp_base.state = IBV_QPS_SQE;
		soft_send_flush(qp);
		return;
	}
	soft_qp_fail(qp);
}

/* As InfiniBand has it: 4.096 us times two to the power of the timeout; 0: for ever. */
static uint64_t timeout_ns(const struct soft_qp *qp)
{
	return qp->attr.timeout ? UINT64_C(4096) << qp->attr.timeout : SOFT_NEVER;
}

static void wait_for_answer(struct soft_qp *qp)
{
	uint64_t timeout = timeout_ns(qp);

	/* All that is on its way goes again, and old answers count no more. */
	retire(qp, SOFT_NEVER);
	if (qp->head == qp->next)
		return;
	qp->next = qp->head;
	qp->reads = 0;
	qp->epoch++;
	qp->retry_at = timeout == SOFT_NEVER ? SOFT_NEVER - 1 : soft_now() + timeout;
	soft_timer(qp->retry_at);
}

/* The pieces of memory that a request reads, or those that its answer goes to. */
static int spans_of(struct soft_qp *qp, uint32_t position, struct soft_span *spans)
{
	struct soft_send *send = slot(qp, position);

	if (send->flags & IBV_SEND_INLINE) {
		spans->data = qp->inline_data + (size_t) (position & qp->mask) *
							qp->attr.cap.max_inline_data;
		spans->size = send->inline_size;
		return send->inline_size ? 1 : 0;
	}
	return soft_spans(qp->ex.qp_base.pd,
			  qp->send_sges + (size_t) (position & qp->mask) *
						  qp->attr.cap.max_send_sge,
			  send->num_sge, reads(send) ? IBV_ACCESS_LOCAL_WRITE : 0, spans);
}

static void address(struct soft_qp *qp, const struct soft_send *send,
		    struct soft_frame *frame)
{
	struct soft_context *context = soft_context(qp->ex.qp_base.context);
	const struct ibv_ah_attr *attr = &send->address;

	frame->source = context->place;
	frame->source.port = qp->attr.port_num;
	frame->source_qpn = qp->ex.qp_base.qp_num;
	if (qp->ex.qp_base.qp_type != IBV_QPT_UD) {
		frame->target = qp->remote;
		frame->target_qpn = qp->attr.dest_qp_num;
		return;
	}
	soft_resolve(attr, send->remote_qpn, &frame->target);
	frame->target_qpn = send->remote_qpn;
	/* As InfiniBand has it: with the upper bit set the queue pair's own counts. */
	frame->qkey = send->remote_qkey & 0x80000000 ? qp->attr.qkey : send->remote_qkey;
	frame->has_grh = attr->is_global;
	frame->service_level = attr->sl;
	frame->dgid = attr->grh.dgid;
	soft_gid(&frame->source, attr->grh.sgid_index, &frame->sgid);
	if (soft_settings()->is_infiniband)
		frame->source_lid = soft_lid(&frame->source);
}

static void transmit(struct soft_qp *qp, struct soft_send *send,
		     const struct soft_span *spans, int num_spans,
		     struct soft_wire **wire)
{
	uint64_t bytes = soft_span_bytes(spans, num_spans);
	struct soft_frame frame = {
		.size = reads(send) ? 0 : bytes,
		.length = bytes,
		.remote_addr = send->remote_addr,
		.rkey = send->rkey,
		.compare_add = send->compare_add,
		.swap = send->swap,
		.imm_data = send->imm_data,
		.psn = send->psn,
		.epoch = qp->epoch,
		.opcode = (uint8_t) send->opcode,
		.qp_type = (uint8_t) qp->ex.qp_base.qp_type,
		.is_solicited = !!(send->flags & IBV_SEND_SOLICITED),
		.rnr_retry = qp->attr.rnr_retry,
	};

	address(qp, send, &frame);
	if (reads(send))
		num_spans = 0;
	if (soft_fault_is_silent()) {
		if (is_reliable(qp))
			wait_for_answer(qp);
		return;
	}
	if (soft_context_at(&frame.target)) {
		soft_respond(NULL, &frame, spans, num_spans);
		return;
	}
	*wire = qp->wire ? qp->wire : soft_wire_to(&frame.target);
	if (*wire) {
		if (qp->ex.qp_base.qp_type != IBV_QPT_UD)
			qp->wire = *wire;
		soft_wire_hold(*wire);
		soft_wire_send(*wire, &frame, spans, num_spans);
		return;
	}
	if (is_reliable(qp))
		wait_for_answer(qp);
}

/* IBA C10-93.1.1, as rxe: too long a datagram is not sent, and that is no error. */
static bool is_lost(const struct soft_qp *qp, const struct soft_send *send,
		    uint64_t bytes)
{
	if (qp->ex.qp_base.qp_type == IBV_QPT_UD && bytes > SOFT_MTU_BYTES)
		return true;
	return soft_fault_loses(qp, send);
}

static bool is_local(const struct soft_send *send)
{
	return send->opcode == IBV_WR_BIND_MW || send->opcode == IBV_WR_LOCAL_INV;
}

/* Nothing leaves; those before it end first. */
static bool do_local(struct soft_qp *qp, struct soft_send *send)
{
	struct ibv_pd *pd = qp->ex.qp_base.pd;
	int err;

	if (qp->head != qp->next)
		return false;
	err = send->opcode == IBV_WR_BIND_MW
		      ? soft_bind(pd, send->mw, send->rkey, &send->bind)
		      : soft_invalidate(pd, send->rkey);
	if (err)
		fail(qp, IBV_WC_MW_BIND_ERR);
	else
		finish(qp, IBV_WC_SUCCESS);
	return !err;
}

/* False: the next request has to wait. */
static bool send_next(struct soft_qp *qp, struct soft_wire **wire)
{
	struct soft_send *send = slot(qp, qp->next);
	struct soft_span spans[SOFT_MAX_SGE];
	enum ibv_wc_status status;
	int count;

	if (send->due_ns && send->due_ns > soft_now()) {
		qp->due_at = send->due_ns;
		soft_timer(qp->due_at);
		return false;
	}
	if ((send->flags & IBV_SEND_FENCE) && qp->reads)
		return false;
	if (is_local(send))
		return do_local(qp, send);
	count = spans_of(qp, qp->next, spans);
	status = count < 0 ? IBV_WC_LOC_PROT_ERR
			   : soft_fault_status(qp, send, consumes_receive(send));
	if (status != IBV_WC_SUCCESS || send->number == soft_settings()->flush_at ||
	    send->number == soft_settings()->fatal_at) {
		/* Those before it end first. */
		if (qp->head != qp->next)
			return false;
		if (status != IBV_WC_SUCCESS) {
			fail(qp, status);
		} else if (send->number == soft_settings()->fatal_at) {
			soft_device_fail(qp->ex.qp_base.context);
		} else {
			soft_event_qp(qp, IBV_EVENT_QP_FATAL);
			soft_qp_fail(qp);
		}
		return false;
	}
	if (soft_fault_silences(send)) {
		soft_unanswered();
		/* Those before it were on their way: it has its turn after them. */
		if (qp->retry_at != SOFT_NEVER)
			return false;
	}
	send->psn = qp->psn + (qp->next - qp->head);
	send->psn &= SOFT_PSN_MASK;
	qp->next++;
	qp->reads += reads(send);
	if (!is_lost(qp, send, soft_span_bytes(spans, count)))
		transmit(qp, send, spans, count, wire);
	/* Nobody answers these. */
	if (!is_reliable(qp)) {
		qp->psn = (qp->psn + 1) & SOFT_PSN_MASK;
		finish(qp, IBV_WC_SUCCESS);
	}
	return true;
}

static bool may_send(const struct soft_qp *qp, const struct soft_wire *wire)
{
	if (!wire)
		wire = qp->wire;
	return qp->ex.qp_base.state == IBV_QPS_RTS && qp->next != qp->tail &&
	       qp->retry_at == SOFT_NEVER && !(wire && soft_wire_is_full(wire));
}

void soft_pump(struct soft_qp *qp)
{
	struct soft_wire *wire = NULL;

	/* An answer within this process comes while the request leaves. */
	if (qp->is_pumping)
		return;
	if (qp->ex.qp_base.state >= IBV_QPS_SQE) {
		soft_send_flush(qp);
		return;
	}
	qp->is_pumping = true;
	while (may_send(qp, wire)) {
		struct soft_wire *used = NULL;
		bool goes_on = send_next(qp, &used);

		/* Held once more before it is let go: several leave together. */
		if (used) {
			if (wire)
				soft_wire_release(wire);
			wire = used;
		}
		if (!goes_on)
			break;
	}
	if (wire)
		soft_wire_release(wire);
	qp->is_pumping = false;
}

static enum ibv_wc_status status_of(const struct soft_frame *answer)
{
	switch (answer->answer) {
	case SOFT_DONE:
		return IBV_WC_SUCCESS;
	case SOFT_RNR_EXCEEDED:
		return IBV_WC_RNR_RETRY_EXC_ERR;
	case SOFT_INVALID_REQUEST:
		return IBV_WC_REM_INV_REQ_ERR;
	case SOFT_ACCESS_ERROR:
		return IBV_WC_REM_ACCESS_ERR;
	default:
		return IBV_WC_REM_OP_ERR;
	}
}

void soft_take_answer(const struct soft_frame *answer, struct soft_span *payload)
{
	struct soft_qp *qp = soft_qp_at(&answer->target, answer->target_qpn);
	struct soft_span spans[SOFT_MAX_SGE];
	enum ibv_wc_status status;
	struct soft_send *send;
	uint32_t position;
	uint64_t late;
	int count;

	if (!qp || soft_fault_is_silent())
		return;
	position = qp->head + qp->answered;
	send = slot(qp, position);
	if (position == qp->next || answer->epoch != qp->epoch ||
	    send->psn != answer->psn)
		return;
	if (answer->answer == SOFT_SILENCE) {
		wait_for_answer(qp);
		return;
	}
	status = status_of(answer);
	if (status == IBV_WC_SUCCESS && reads(send)) {
		/* The region may have gone meanwhile. */
		count = spans_of(qp, position, spans);
		if (count < 0)
			status = IBV_WC_LOC_PROT_ERR;
		else
			soft_copy(spans, count, payload, 1);
	}
	if (status != IBV_WC_SUCCESS) {
		fail(qp, status);
		return;
	}
	qp->retries_left = qp->attr.retry_cnt;
	qp->answered++;
	late = soft_fault_late(qp, send);
	if (late && soft_now() + late > qp->answered_at)
		qp->answered_at = soft_now() + late;
	if (qp->answered_at)
		soft_timer(qp->answered_at);
	retire(qp, qp->answered_at ? soft_now() : 0);
	soft_pump(qp);
}

void soft_unreachable(const struct soft_place *place)
{
	struct soft_qp *qp;

	LIST_FOREACH(qp, &soft_qps, link)
	if (is_reliable(qp) && qp->head != qp->next &&
	    soft_same_place(&qp->remote, place))
		wait_for_answer(qp);
}

void soft_unanswered(void)
{
	struct soft_qp *qp;

	LIST_FOREACH(qp, &soft_qps, link)
	{
		soft_drop_parked(qp);
		if (is_reliable(qp) && qp->head + qp->answered != qp->next)
			wait_for_answer(qp);
	}
}

void soft_request_timer(struct soft_qp *qp, uint64_t now)
{
	if (qp->retry_at <= now) {
		qp->retry_at = SOFT_NEVER;
		if (!qp->retries_left) {
			fail(qp, IBV_WC_RETRY_EXC_ERR);
			return;
		}
		qp->retries_left--;
		soft_pump(qp);
	}
	if (qp->due_at <= now) {
		qp->due_at = SOFT_NEVER;
		soft_pump(qp);
	}
	if (qp->answered && qp->answered_at <= now) {
		retire(qp, now);
		soft_pump(qp);
	}
	if (qp->answered)
		soft_timer(qp->answered_at);
	if (qp->retry_at < SOFT_NEVER - 1)
		soft_timer(qp->retry_at);
	soft_timer(qp->due_at);
}
