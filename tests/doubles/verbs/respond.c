/* SPDX-License-Identifier: MIT */
/*
 * The receiving side of a queue pair: what a request does to this process's memory and
 * receive queue, whatever the process itself is doing, and how it is answered.  A request
 * that finds no receive waits here, as long as the requester would try again, and those
 * behind it wait too: that is what the retries come to.
 */
#include "soft.h"

#include <stdlib.h>
#include <string.h>

/* The delays that a queue pair may ask for (IBV_QP_MIN_RNR_TIMER), in units of 10 us. */
static const uint32_t rnr_delays[32] = {
	65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
	48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

static bool consumes_receive(const struct soft_frame *request)
{
	return request->opcode == IBV_WR_SEND ||
	       request->opcode == IBV_WR_SEND_WITH_IMM ||
	       request->opcode == IBV_WR_SEND_WITH_INV ||
	       request->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static void answer(struct soft_wire *wire, const struct soft_frame *request,
		   enum soft_answer result, struct soft_span *payload)
{
	struct soft_frame frame = {
		.is_answer = true,
		.answer = (uint8_t) result,
		.psn = request->psn,
		.epoch = request->epoch,
		.target = request->source,
		.target_qpn = request->source_qpn,
		.source = request->target,
		.source_qpn = request->target_qpn,
		.size = payload ? payload->size : 0,
	};

	if (request->qp_type != IBV_QPT_RC)
		return;
	if (wire)
		soft_wire_send(wire, &frame, payload, payload && payload->size ? 1 : 0);
	else
		soft_take_answer(&frame, payload);
}

/* A requester that did wrong: both sides are in error. */
static void refuse(struct soft_qp *qp, struct soft_wire *wire,
		   const struct soft_frame *request, enum soft_answer result)
{
	if (request->qp_type != IBV_QPT_RC)
		return;
	if (result == SOFT_ACCESS_ERROR)
		soft_event_qp(qp, IBV_EVENT_QP_ACCESS_ERR);
	else if (result == SOFT_INVALID_REQUEST)
		soft_event_qp(qp, IBV_EVENT_QP_REQ_ERR);
	/* First said, then done: a queue pair may talk to itself. */
	answer(wire, request, result, NULL);
	soft_qp_fail(qp);
}

static void receive_completion(struct soft_qp *qp, const struct soft_frame *request,
			       uint64_t wr_id, enum ibv_wc_status status)
{
	struct ibv_wc wc = {
		.wr_id = wr_id,
		.status = status,
		.opcode = request->opcode == IBV_WR_RDMA_WRITE_WITH_IMM
				  ? IBV_WC_RECV_RDMA_WITH_IMM
				  : IBV_WC_RECV,
		.byte_len = (uint32_t) request->length,
		.qp_num = qp->ex.qp_base.qp_num,
		.src_qp = request->source_qpn,
		.slid = request->source_lid,
		.sl = request->service_level,
	};

	if (request->opcode == IBV_WR_SEND_WITH_INV) {
		wc.wc_flags |= IBV_WC_WITH_INV;
		wc.invalidated_rkey = request->rkey;
	} else if (request->opcode != IBV_WR_SEND) {
		wc.wc_flags |= IBV_WC_WITH_IMM;
		wc.imm_data = request->imm_data;
	}
	if (request->qp_type == IBV_QPT_UD) {
		wc.byte_len += sizeof(struct ibv_grh);
		if (request->has_grh)
			wc.wc_flags |= IBV_WC_GRH;
	}
	soft_complete(soft_cq(qp->ex.qp_base.recv_cq), &wc, request->is_solicited);
}

/* ibv_post_recv(3): the first 40 bytes of a datagram's buffer are the GRH's, and
 * undefined where there is none. */
static int with_grh(const struct soft_frame *request, const struct soft_span *payload,
		    int num_spans, struct ibv_grh *grh, struct soft_span *spans)
{
	memset(grh, 0, sizeof(*grh));
	if (request->has_grh) {
		grh->version_tclass_flow = htobe32(6U << 28);
		grh->paylen = htobe16((uint16_t) request->size);
		grh->next_hdr = 0x1b;
		grh->hop_limit = 0xff;
		grh->sgid = request->sgid;
		grh->dgid = request->dgid;
	}
	spans[0].data = (char *) grh;
	spans[0].size = sizeof(*grh);
	if (num_spans)
		memcpy(spans + 1, payload, (size_t) num_spans * sizeof(*payload));
	return num_spans + 1;
}

static enum soft_answer do_send(struct soft_qp *qp, const struct soft_frame *request,
				const struct soft_span *payload, int num_spans)
{
	struct soft_span from[SOFT_MAX_SGE + 1];
	struct soft_span to[SOFT_MAX_SGE];
	enum ibv_wc_status status = IBV_WC_SUCCESS;
	struct soft_recv *recv;
	struct ibv_sge *sges;
	struct ibv_grh grh;
	size_t size = request->size;
	uint64_t wr_id;
	size_t room = 0;
	int count;
	int i;

	recv = soft_recv_first(qp, &sges);
	for (i = 0; i < recv->num_sge; i++)
		room += sges[i].length;
	if (request->qp_type == IBV_QPT_UD) {
		num_spans = with_grh(request, payload, num_spans, &grh, from);
		payload = from;
		size += sizeof(grh);
	}
	count = soft_spans(qp->ex.qp_base.pd, sges, recv->num_sge, IBV_ACCESS_LOCAL_WRITE,
			   to);
	if (size > room)
		status = IBV_WC_LOC_LEN_ERR;
	else if (count < 0)
		status = IBV_WC_LOC_PROT_ERR;
	/* As rxe: without reliability what does not fit is dropped, the receive stays. */
	if (status != IBV_WC_SUCCESS && request->qp_type != IBV_QPT_RC)
		return SOFT_INVALID_REQUEST;
	/* As rxe: a key that is none is the receiver's error, too. */
	if (status == IBV_WC_SUCCESS && request->opcode == IBV_WR_SEND_WITH_INV &&
	    soft_invalidate(qp->ex.qp_base.pd, request->rkey))
		status = IBV_WC_LOC_QP_OP_ERR;
	if (status == IBV_WC_SUCCESS)
		soft_copy(to, count, payload, num_spans);
	wr_id = recv->wr_id;
	soft_recv_take(qp);
	receive_completion(qp, request, wr_id, status);
	if (status == IBV_WC_LOC_LEN_ERR)
		return SOFT_INVALID_REQUEST;
	return status == IBV_WC_SUCCESS ? SOFT_DONE : SOFT_OPERATION_ERROR;
}

static enum soft_answer do_write(struct soft_qp *qp, const struct soft_frame *request,
				 const struct soft_span *payload, int num_spans)
{
	struct soft_span to = {.size = request->size};
	struct soft_recv *recv;
	struct ibv_sge *sges;
	uint64_t wr_id;

	if (!(qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE))
		return SOFT_INVALID_REQUEST;
	/* IBA C9-88, as rxe: without bytes the key is not looked at. */
	if (request->size) {
		to.data = soft_memory(qp->ex.qp_base.pd, request->rkey,
				      request->remote_addr, request->size,
				      IBV_ACCESS_REMOTE_WRITE);
		if (!to.data)
			return SOFT_ACCESS_ERROR;
		soft_copy(&to, 1, payload, num_spans);
	}
	if (request->opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
		recv = soft_recv_first(qp, &sges);
		wr_id = recv->wr_id;
		soft_recv_take(qp);
		receive_completion(qp, request, wr_id, IBV_WC_SUCCESS);
	}
	return SOFT_DONE;
}

static enum soft_answer do_read(struct soft_qp *qp, const struct soft_frame *request,
				struct soft_span *result)
{
	if (!(qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) ||
	    !qp->attr.max_dest_rd_atomic)
		return SOFT_INVALID_REQUEST;
	result->size = request->length;
	if (!request->length)
		return SOFT_DONE;
	result->data = soft_memory(qp->ex.qp_base.pd, request->rkey, request->remote_addr,
				   request->length, IBV_ACCESS_REMOTE_READ);
	return result->data ? SOFT_DONE : SOFT_ACCESS_ERROR;
}

static enum soft_answer do_atomic(struct soft_qp *qp, const struct soft_frame *request,
				  uint64_t *old)
{
	uint64_t *target;

	if (!(qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC) ||
	    !qp->attr.max_dest_rd_atomic || request->remote_addr % sizeof(*target))
		return SOFT_INVALID_REQUEST;
	target = (uint64_t *) soft_memory(qp->ex.qp_base.pd, request->rkey,
					  request->remote_addr, sizeof(*target),
					  IBV_ACCESS_REMOTE_ATOMIC);
	if (!target)
		return SOFT_ACCESS_ERROR;
	if (request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		*old = __atomic_fetch_add(target, request->compare_add, __ATOMIC_SEQ_CST);
		return SOFT_DONE;
	}
	*old = request->compare_add;
	__atomic_compare_exchange_n(target, old, request->swap, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	return SOFT_DONE;
}

static void serve(struct soft_qp *qp, struct soft_wire *wire,
		  const struct soft_frame *request, const struct soft_span *payload,
		  int num_spans)
{
	struct soft_span back = {0};
	enum soft_answer result;
	uint64_t old;

	switch (request->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		result = do_write(qp, request, payload, num_spans);
		break;
	case IBV_WR_RDMA_READ:
		result = do_read(qp, request, &back);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		result = do_atomic(qp, request, &old);
		back.data = (char *) &old;
		back.size = sizeof(old);
		break;
	default:
		result = do_send(qp, request, payload, num_spans);
		break;
	}
	if (result != SOFT_DONE)
		refuse(qp, wire, request, result);
	else
		answer(wire, request, SOFT_DONE, &back);
}

static bool park(struct soft_qp *qp, struct soft_wire *wire,
		 const struct soft_frame *request, const struct soft_span *payload,
		 int num_spans)
{
	struct soft_parked *parked = malloc(sizeof(*parked) + request->size);
	struct soft_span copy;

	if (!parked)
		return false;
	parked->frame = *request;
	parked->wire = wire;
	copy.data = parked->payload;
	copy.size = request->size;
	if (request->size)
		soft_copy(&copy, 1, payload, num_spans);
	parked->deadline_ns = SOFT_NEVER;
	/* 7: for ever. */
	if (request->rnr_retry < 7) {
		parked->deadline_ns =
			soft_now() + request->rnr_retry * UINT64_C(10000) *
					     rnr_delays[qp->attr.min_rnr_timer];
		soft_timer(parked->deadline_ns);
	}
	STAILQ_INSERT_TAIL(&qp->parked, parked, link);
	return true;
}

static bool lacks_receive(struct soft_qp *qp, const struct soft_frame *request)
{
	struct ibv_sge *sges;

	return consumes_receive(request) && !soft_recv_first(qp, &sges);
}

/* Whether a queue pair takes what comes from there. */
static bool listens(const struct soft_qp *qp, const struct soft_frame *request)
{
	enum ibv_qp_state state = qp->ex.qp_base.state;

	if ((uint8_t) qp->ex.qp_base.qp_type != request->qp_type || state < IBV_QPS_RTR ||
	    state == IBV_QPS_ERR || qp->attr.port_num != request->target.port)
		return false;
	if (request->qp_type == IBV_QPT_UD)
		return request->qkey == qp->attr.qkey;
	return qp->attr.dest_qp_num == request->source_qpn &&
	       soft_same_place(&qp->remote, &request->source) &&
	       qp->remote.port == request->source.port;
}

void soft_respond(struct soft_wire *wire, const struct soft_frame *request,
		  const struct soft_span *payload, int num_spans)
{
	struct soft_qp *qp = soft_qp_at(&request->target, request->target_qpn);

	if (!qp || soft_fault_is_silent() || !listens(qp, request)) {
		answer(wire, request, SOFT_SILENCE, NULL);
		return;
	}
	if (request->qp_type != IBV_QPT_RC) {
		if (!lacks_receive(qp, request))
			serve(qp, wire, request, payload, num_spans);
		return;
	}
	/* Out of turn: something before it was not heard. */
	if (request->psn != qp->expected_psn) {
		answer(wire, request, SOFT_SILENCE, NULL);
		return;
	}
	if (lacks_receive(qp, request) || !STAILQ_EMPTY(&qp->parked)) {
		bool never = !request->rnr_retry && STAILQ_EMPTY(&qp->parked);

		if (never || !park(qp, wire, request, payload, num_spans))
			answer(wire, request, SOFT_RNR_EXCEEDED, NULL);
		else
			qp->expected_psn = (qp->expected_psn + 1) & SOFT_PSN_MASK;
		return;
	}
	qp->expected_psn = (qp->expected_psn + 1) & SOFT_PSN_MASK;
	serve(qp, wire, request, payload, num_spans);
}

static void hold(struct soft_wire *wire)
{
	if (wire)
		soft_wire_hold(wire);
}

static void release(struct soft_wire *wire)
{
	if (wire)
		soft_wire_release(wire);
}

void soft_serve_parked(struct soft_qp *qp)
{
	struct soft_parked *parked;

	/* An answer within this process may bring the next request. */
	if (qp->is_serving)
		return;
	qp->is_serving = true;
	while ((parked = STAILQ_FIRST(&qp->parked)) &&
	       !lacks_receive(qp, &parked->frame)) {
		struct soft_span payload = {parked->payload, parked->frame.size};

		STAILQ_REMOVE_HEAD(&qp->parked, link);
		hold(parked->wire);
		serve(qp, parked->wire, &parked->frame, &payload, payload.size ? 1 : 0);
		release(parked->wire);
		free(parked);
	}
	qp->is_serving = false;
	/* Its own time to wait begins when it is the first. */
	if (parked && parked->frame.rnr_retry < 7) {
		parked->deadline_ns =
			soft_now() + parked->frame.rnr_retry * UINT64_C(10000) *
					     rnr_delays[qp->attr.min_rnr_timer];
		soft_timer(parked->deadline_ns);
	}
}

static void empty(struct soft_qp *qp, enum soft_answer first)
{
	struct soft_parked *parked;

	while ((parked = STAILQ_FIRST(&qp->parked))) {
		STAILQ_REMOVE_HEAD(&qp->parked, link);
		qp->expected_psn = (qp->expected_psn - 1) & SOFT_PSN_MASK;
		hold(parked->wire);
		answer(parked->wire, &parked->frame, first, NULL);
		release(parked->wire);
		first = SOFT_SILENCE;
		free(parked);
	}
}

void soft_drop_parked(struct soft_qp *qp)
{
	empty(qp, SOFT_SILENCE);
}

void soft_forget_wire(const struct soft_wire *wire)
{
	struct soft_parked *parked;
	struct soft_parked *after;
	struct soft_qp *qp;

	LIST_FOREACH(qp, &soft_qps, link)
	{
		if (qp->wire == wire)
			qp->wire = NULL;
		for (parked = STAILQ_FIRST(&qp->parked); parked; parked = after) {
			after = STAILQ_NEXT(parked, link);
			if (parked->wire != wire)
				continue;
			STAILQ_REMOVE(&qp->parked, parked, soft_parked, link);
			qp->expected_psn = (qp->expected_psn - 1) & SOFT_PSN_MASK;
			free(parked);
		}
	}
}

void soft_respond_timer(struct soft_qp *qp, uint64_t now)
{
	struct soft_parked *parked = STAILQ_FIRST(&qp->parked);

	if (!parked)
		return;
	if (parked->deadline_ns <= now)
		empty(qp, SOFT_RNR_EXCEEDED);
	else
		soft_timer(parked->deadline_ns);
}
