/* SPDX-License-Identifier: MIT */
/*
 * How requests get into a send queue: as a list (ibv_post_send), or built one by one and
 * handed over together (ibv_wr_start ... ibv_wr_complete).  Both write into the queue's
 * slots; only then are they seen.
 */
#include "soft.h"

#include <errno.h>
#include <string.h>

/* ibv_post_send(3): which transport carries what; as rxe, a wrong one is EINVAL. */
static bool is_carried(enum ibv_qp_type type, enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return true;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return type != IBV_QPT_UD;
	case IBV_WR_RDMA_READ:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_BIND_MW:
	case IBV_WR_LOCAL_INV:
		return type == IBV_QPT_RC;
	default:
		return false;
	}
}

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static struct soft_send *slot(struct soft_qp *qp, uint32_t position)
{
	return &qp->sends[position & qp->mask];
}

static struct ibv_sge *sges_of(struct soft_qp *qp, uint32_t position)
{
	return qp->send_sges + (size_t) (position & qp->mask) * qp->attr.cap.max_send_sge;
}

static char *inline_of(struct soft_qp *qp, uint32_t position)
{
	return qp->inline_data +
	       (size_t) (position & qp->mask) * qp->attr.cap.max_inline_data;
}

static int set_inline(struct soft_qp *qp, uint32_t position, const void *data,
		      size_t size)
{
	struct soft_send *send = slot(qp, position);

	if (size > qp->attr.cap.max_inline_data - send->inline_size)
		return EINVAL;
	if (size)
		memcpy(inline_of(qp, position) + send->inline_size, data, size);
	send->inline_size += (uint32_t) size;
	return 0;
}

static int set_sges(struct soft_qp *qp, uint32_t position, const struct ibv_sge *sges,
		    int count)
{
	if (count < 0 || (uint32_t) count > qp->attr.cap.max_send_sge)
		return EINVAL;
	if (count)
		memcpy(sges_of(qp, position), sges, (size_t) count * sizeof(*sges));
	slot(qp, position)->num_sge = count;
	return 0;
}

/* What is wrong whichever way it came in. */
static int check(struct soft_qp *qp, uint32_t position)
{
	struct soft_send *send = slot(qp, position);
	const struct ibv_sge *sges = sges_of(qp, position);
	bool is_inline = send->flags & IBV_SEND_INLINE;
	uint64_t length = 0;
	int i;

	if (!is_carried(qp->ex.qp_base.qp_type, send->opcode))
		return EINVAL;
	if (is_inline && (send->opcode == IBV_WR_RDMA_READ || is_atomic(send->opcode)))
		return EINVAL;
	for (i = 0; i < send->num_sge; i++)
		length += sges[i].length;
	if (length > SOFT_MAX_MESSAGE)
		return EINVAL;
	if (is_atomic(send->opcode) && length != sizeof(uint64_t))
		return EINVAL;
	return 0;
}

static int fill(struct soft_qp *qp, uint32_t position, const struct ibv_send_wr *wr)
{
	struct soft_send *send = slot(qp, position);
	int err = 0;
	int i;

	if (position - qp->head > qp->mask)
		return ENOMEM;
	send->wr_id = wr->wr_id;
	send->flags = wr->send_flags;
	send->opcode = wr->opcode;
	send->imm_data = wr->imm_data;
	send->inline_size = 0;
	send->num_sge = 0;
	if (qp->ex.qp_base.qp_type == IBV_QPT_UD) {
		if (!wr->wr.ud.ah)
			return EINVAL;
		send->address = ((struct soft_ah *) wr->wr.ud.ah)->attr;
		send->remote_qpn = wr->wr.ud.remote_qpn;
		send->remote_qkey = wr->wr.ud.remote_qkey;
	} else if (is_atomic(wr->opcode)) {
		send->remote_addr = wr->wr.atomic.remote_addr;
		send->rkey = wr->wr.atomic.rkey;
		send->compare_add = wr->wr.atomic.compare_add;
		send->swap = wr->wr.atomic.swap;
	} else if (wr->opcode == IBV_WR_BIND_MW) {
		send->mw = wr->bind_mw.mw;
		send->rkey = wr->bind_mw.rkey;
		send->bind = wr->bind_mw.bind_info;
	} else if (wr->opcode == IBV_WR_SEND_WITH_INV || wr->opcode == IBV_WR_LOCAL_INV) {
		send->rkey = wr->invalidate_rkey;
	} else {
		send->remote_addr = wr->wr.rdma.remote_addr;
		send->rkey = wr->wr.rdma.rkey;
	}
	if (wr->send_flags & IBV_SEND_INLINE)
		for (i = 0; i < wr->num_sge && !err; i++)
			err = set_inline(qp, position,
					 (void *) (uintptr_t) wr->sg_list[i].addr,
					 wr->sg_list[i].length);
	else
		err = set_sges(qp, position, wr->sg_list, wr->num_sge);
	return err ? err : check(qp, position);
}

static void admit(struct soft_qp *qp)
{
	struct soft_send *send = slot(qp, qp->tail);

	send->number = ++qp->requests;
	send->due_ns = soft_fault_due(qp, send, soft_send_bytes(qp, qp->tail));
	qp->tail++;
}

static bool may_post(const struct soft_qp *qp)
{
	/* As rxe. */
	return qp->ex.qp_base.state >= IBV_QPS_RTS;
}

int soft_post_send(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct soft_qp *qp = soft_qp(base);
	int err = 0;

	/* Not into the slots that another thread is building in. */
	if (qp->is_extended)
		pthread_mutex_lock(&qp->build_lock);
	pthread_mutex_lock(&soft_lock);
	if (!may_post(qp)) {
		err = EINVAL;
		*bad = wr;
	}
	/* Those before the bad one are posted. */
	for (; wr && !err; wr = wr->next) {
		err = fill(qp, qp->tail, wr);
		if (err)
			*bad = wr;
		else
			admit(qp);
	}
	soft_pump(qp);
	pthread_mutex_unlock(&soft_lock);
	if (qp->is_extended)
		pthread_mutex_unlock(&qp->build_lock);
	return err;
}

static void wr_start(struct ibv_qp_ex *ex)
{
	struct soft_qp *qp = soft_qp(&ex->qp_base);

	pthread_mutex_lock(&qp->build_lock);
	qp->built = 0;
	qp->build_error = 0;
}

/* A request begins; its position, or one that is thrown away after an error. */
static struct soft_send *begin(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode)
{
	static _Thread_local struct soft_send nowhere;
	struct soft_qp *qp = soft_qp(&ex->qp_base);
	struct soft_send *send;

	/* Others only free slots meanwhile. */
	if (!qp->build_error &&
	    qp->tail + qp->built - *(volatile uint32_t *) &qp->head > qp->mask)
		qp->build_error = ENOMEM;
	if (qp->build_error)
		return &nowhere;
	send = slot(qp, qp->tail + qp->built++);
	send->wr_id = ex->wr_id;
	send->flags = ex->wr_flags & ~(unsigned int) IBV_SEND_INLINE;
	send->opcode = opcode;
	send->inline_size = 0;
	send->num_sge = 0;
	return send;
}

static void begin_rdma(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey,
		       uint64_t remote_addr, __be32 imm_data)
{
	struct soft_send *send = begin(ex, opcode);

	send->rkey = rkey;
	send->remote_addr = remote_addr;
	send->imm_data = imm_data;
}

static void wr_send(struct ibv_qp_ex *ex)
{
	begin(ex, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm_data)
{
	begin(ex, IBV_WR_SEND_WITH_IMM)->imm_data = imm_data;
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t invalidate_rkey)
{
	begin(ex, IBV_WR_SEND_WITH_INV)->rkey = invalidate_rkey;
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t invalidate_rkey)
{
	begin(ex, IBV_WR_LOCAL_INV)->rkey = invalidate_rkey;
}

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *bind)
{
	struct soft_send *send = begin(ex, IBV_WR_BIND_MW);

	send->mw = mw;
	send->rkey = rkey;
	send->bind = *bind;
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	begin_rdma(ex, IBV_WR_RDMA_WRITE, rkey, remote_addr, 0);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
			      __be32 imm_data)
{
	begin_rdma(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr, imm_data);
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	begin_rdma(ex, IBV_WR_RDMA_READ, rkey, remote_addr, 0);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
			      uint64_t compare, uint64_t swap)
{
	struct soft_send *send = begin(ex, IBV_WR_ATOMIC_CMP_AND_SWP);

	send->rkey = rkey;
	send->remote_addr = remote_addr;
	send->compare_add = compare;
	send->swap = swap;
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
				uint64_t add)
{
	struct soft_send *send = begin(ex, IBV_WR_ATOMIC_FETCH_AND_ADD);

	send->rkey = rkey;
	send->remote_addr = remote_addr;
	send->compare_add = add;
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t remote_qpn,
			   uint32_t remote_qkey)
{
	struct soft_qp *qp = soft_qp(&ex->qp_base);
	struct soft_send *send;

	if (qp->build_error)
		return;
	send = slot(qp, qp->tail + qp->built - 1);
	send->address = ((struct soft_ah *) ah)->attr;
	send->remote_qpn = remote_qpn;
	send->remote_qkey = remote_qkey;
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t num_sge,
			    const struct ibv_sge *sges)
{
	struct soft_qp *qp = soft_qp(&ex->qp_base);

	if (!qp->build_error)
		qp->build_error = num_sge > SOFT_MAX_SGE
					  ? EINVAL
					  : set_sges(qp, qp->tail + qp->built - 1, sges,
						     (int) num_sge);
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};

	wr_set_sge_list(ex, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t count,
				    const struct ibv_data_buf *buffers)
{
	struct soft_qp *qp = soft_qp(&ex->qp_base);
	uint32_t position = qp->tail + qp->built - 1;
	size_t i;

	if (qp->build_error)
		return;
	slot(qp, position)->flags |= IBV_SEND_INLINE;
	for (i = 0; i < count && !qp->build_error; i++)
		qp->build_error =
			set_inline(qp, position, buffers[i].addr, buffers[i].length);
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct ibv_data_buf buffer = {.addr = addr, .length = length};

	wr_set_inline_data_list(ex, 1, &buffer);
}

/* ibv_wr_post(3): all of them, or none and the error. */
static int wr_complete(struct ibv_qp_ex *ex)
{
	struct soft_qp *qp = soft_qp(&ex->qp_base);
	uint32_t i;
	int err = qp->build_error;

	for (i = 0; i < qp->built && !err; i++)
		err = check(qp, qp->tail + i);
	pthread_mutex_lock(&soft_lock);
	if (!err && !may_post(qp))
		err = EINVAL;
	for (i = 0; i < qp->built && !err; i++)
		admit(qp);
	soft_pump(qp);
	pthread_mutex_unlock(&soft_lock);
	pthread_mutex_unlock(&qp->build_lock);
	return err;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	pthread_mutex_unlock(&soft_qp(&ex->qp_base)->build_lock);
}

/* ibv_create_qp_ex(3): only what was asked for has a function. */
void soft_build_init(struct soft_qp *qp, uint64_t operations)
{
	struct ibv_qp_ex *ex = &qp->ex;

	qp->is_extended = true;
	pthread_mutex_init(&qp->build_lock, NULL);
	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	if (qp->ex.qp_base.qp_type == IBV_QPT_UD)
		ex->wr_set_ud_addr = wr_set_ud_addr;
	if (operations & IBV_QP_EX_WITH_SEND)
		ex->wr_send = wr_send;
	if (operations & IBV_QP_EX_WITH_SEND_WITH_IMM)
		ex->wr_send_imm = wr_send_imm;
	if (operations & IBV_QP_EX_WITH_SEND_WITH_INV)
		ex->wr_send_inv = wr_send_inv;
	if (operations & IBV_QP_EX_WITH_LOCAL_INV)
		ex->wr_local_inv = wr_local_inv;
	if (operations & IBV_QP_EX_WITH_BIND_MW)
		ex->wr_bind_mw = wr_bind_mw;
	if (operations & IBV_QP_EX_WITH_RDMA_WRITE)
		ex->wr_rdma_write = wr_rdma_write;
	if (operations & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		ex->wr_rdma_write_imm = wr_rdma_write_imm;
	if (operations & IBV_QP_EX_WITH_RDMA_READ)
		ex->wr_rdma_read = wr_rdma_read;
	if (operations & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	if (operations & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
}
