/* SPDX-License-Identifier: MIT */
/* Queue pairs: their creation, their attributes, their end; and address handles. */
#include "soft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Numbers 0 and 1 are the management's; a new one is not the one just freed. */
#define FIRST_QP 0x11

static int number(struct soft_context *context, struct soft_qp *qp)
{
	uint32_t tried;

	for (tried = 0; tried < SOFT_MAX_QPS; tried++) {
		uint32_t index = context->next_qp++ % SOFT_MAX_QPS;

		if (index < FIRST_QP || context->qps[index])
			continue;
		context->qps[index] = qp;
		qp->ex.qp_base.qp_num = (uint32_t) context->place.slot << 16 | index;
		return 0;
	}
	return ENOMEM;
}

struct soft_qp *soft_qp_at(const struct soft_place *place, uint32_t qpn)
{
	struct soft_context *context = soft_context_at(place);

	if (!context || qpn >> 16 != place->slot)
		return NULL;
	return context->qps[qpn & 0xffff];
}

static void release(struct soft_qp *qp)
{
	free(qp->sends);
	free(qp->send_sges);
	free(qp->inline_data);
	soft_recv_queue_free(&qp->queue);
	free(qp);
}

static int check(const struct ibv_qp_init_attr_ex *attr)
{
	uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS |
			 IBV_QP_INIT_ATTR_CREATE_FLAGS;
	const struct ibv_qp_cap *cap = &attr->cap;

	if ((attr->comp_mask & ~known) || !(attr->comp_mask & IBV_QP_INIT_ATTR_PD) ||
	    ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && attr->create_flags))
		return EOPNOTSUPP;
	if (attr->qp_type != IBV_QPT_RC && attr->qp_type != IBV_QPT_UC &&
	    attr->qp_type != IBV_QPT_UD)
		return EOPNOTSUPP;
	if (!attr->send_cq || !attr->recv_cq)
		return EINVAL;
	if (cap->max_send_wr > SOFT_MAX_WR || cap->max_recv_wr > SOFT_MAX_WR ||
	    cap->max_send_sge > SOFT_MAX_SGE || cap->max_recv_sge > SOFT_MAX_SGE ||
	    cap->max_inline_data > SOFT_MAX_INLINE)
		return EINVAL;
	return 0;
}

static int set_queues(struct soft_qp *qp, const struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp_cap *cap = &qp->attr.cap;
	uint32_t slots = soft_pow2(attr->cap.max_send_wr ? attr->cap.max_send_wr : 1);

	*cap = attr->cap;
	cap->max_send_wr = slots;
	if (!cap->max_send_sge)
		cap->max_send_sge = 1;
	qp->mask = slots - 1;
	qp->sends = calloc(slots, sizeof(*qp->sends));
	qp->send_sges =
		calloc((size_t) slots * cap->max_send_sge, sizeof(*qp->send_sges));
	qp->inline_data = malloc((size_t) slots * cap->max_inline_data + 1);
	if (!qp->sends || !qp->send_sges || !qp->inline_data)
		return ENOMEM;
	/* ibv_create_qp(3): with a shared queue the sizes of an own one are ignored. */
	if (attr->srq) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
		return 0;
	}
	if (soft_recv_queue_init(&qp->queue, cap->max_recv_wr, cap->max_recv_sge))
		return ENOMEM;
	cap->max_recv_wr = qp->queue.capacity;
	cap->max_recv_sge = qp->queue.max_sge;
	return 0;
}

static struct soft_qp *new_qp(struct ibv_context *context,
			      const struct ibv_qp_init_attr_ex *attr)
{
	struct soft_qp *qp = calloc(1, sizeof(*qp));
	struct ibv_qp *base;

	if (!qp)
		return NULL;
	if (set_queues(qp, attr)) {
		release(qp);
		errno = ENOMEM;
		return NULL;
	}
	base = &qp->ex.qp_base;
	base->context = context;
	base->qp_context = attr->qp_context;
	base->pd = attr->pd;
	base->send_cq = attr->send_cq;
	base->recv_cq = attr->recv_cq;
	base->srq = attr->srq;
	base->handle = soft_new_handle();
	base->state = IBV_QPS_RESET;
	base->qp_type = attr->qp_type;
	pthread_mutex_init(&base->mutex, NULL);
	pthread_cond_init(&base->cond, NULL);
	qp->sq_sig_all = attr->sq_sig_all;
	qp->retry_at = SOFT_NEVER;
	qp->due_at = SOFT_NEVER;
	STAILQ_INIT(&qp->parked);
	return qp;
}

struct ibv_qp *soft_create_qp_ex(struct ibv_context *context,
				 struct ibv_qp_init_attr_ex *attr)
{
	struct soft_qp *qp;
	int err;

	err = check(attr);
	if (err) {
		errno = err;
		return NULL;
	}
	qp = new_qp(context, attr);
	if (!qp)
		return NULL;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		soft_build_init(qp, attr->send_ops_flags);
	pthread_mutex_lock(&soft_lock);
	err = number(soft_context(context), qp);
	if (err) {
		pthread_mutex_unlock(&soft_lock);
		release(qp);
		errno = err;
		return NULL;
	}
	soft_pd(attr->pd)->users++;
	soft_cq(attr->send_cq)->users++;
	soft_cq(attr->recv_cq)->users++;
	if (attr->srq)
		soft_srq(attr->srq)->users++;
	LIST_INSERT_HEAD(&soft_qps, qp, link);
	pthread_mutex_unlock(&soft_lock);
	attr->cap = qp->attr.cap;
	return &qp->ex.qp_base;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {0};
	struct ibv_qp *qp;

	/* Alike up to there. */
	memcpy(&ex, attr, offsetof(struct ibv_qp_init_attr_ex, comp_mask));
	ex.comp_mask = IBV_QP_INIT_ATTR_PD;
	ex.pd = pd;
	qp = soft_create_qp_ex(pd->context, &ex);
	if (qp)
		attr->cap = ex.cap;
	return qp;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *base)
{
	struct soft_qp *qp = soft_qp(base);

	return qp->is_extended ? &qp->ex : NULL;
}

void soft_qp_fail(struct soft_qp *qp)
{
	if (qp->ex.qp_base.state == IBV_QPS_ERR)
		return;
	qp->ex.qp_base.state = IBV_QPS_ERR;
	soft_drop_parked(qp);
	soft_send_flush(qp);
	soft_recv_flush(qp);
	/* ibv_get_async_event(3): no more receives of the shared queue go to it. */
	if (qp->ex.qp_base.srq)
		soft_event_qp(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
}

void soft_device_fail(struct ibv_context *context)
{
	struct soft_qp *qp;

	soft_event_device(context, IBV_EVENT_DEVICE_FATAL);
	LIST_FOREACH(qp, &soft_qps, link)
	if (qp->ex.qp_base.context == context)
		soft_qp_fail(qp);
}

/* As new, and without completions: what was queued is gone. */
static void reset(struct soft_qp *qp)
{
	soft_drop_parked(qp);
	qp->head = qp->tail;
	qp->next = qp->tail;
	qp->answered = 0;
	qp->answered_at = 0;
	qp->reads = 0;
	qp->requests = 0;
	qp->retry_at = SOFT_NEVER;
	qp->due_at = SOFT_NEVER;
	qp->epoch++;
	qp->queue.head = qp->queue.tail;
}

static void take_attributes(struct soft_qp *qp, const struct ibv_qp_attr *new, int mask)
{
	struct ibv_qp_attr *attr = &qp->attr;

	if (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY)
		attr->en_sqd_async_notify = new->en_sqd_async_notify;
	if (mask & IBV_QP_ACCESS_FLAGS)
		attr->qp_access_flags = new->qp_access_flags;
	if (mask & IBV_QP_PKEY_INDEX)
		attr->pkey_index = new->pkey_index;
	if (mask & IBV_QP_PORT)
		attr->port_num = new->port_num;
	if (mask & IBV_QP_QKEY)
		attr->qkey = new->qkey;
	if (mask & IBV_QP_AV)
		attr->ah_attr = new->ah_attr;
	if (mask & IBV_QP_PATH_MTU)
		attr->path_mtu = new->path_mtu;
	if (mask & IBV_QP_TIMEOUT)
		attr->timeout = new->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		attr->retry_cnt = new->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		attr->rnr_retry = new->rnr_retry;
	if (mask & IBV_QP_RQ_PSN)
		attr->rq_psn = new->rq_psn &SOFT_PSN_MASK;
	if (mask & IBV_QP_SQ_PSN)
		attr->sq_psn = new->sq_psn &SOFT_PSN_MASK;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		attr->max_rd_atomic = new->max_rd_atomic;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		attr->max_dest_rd_atomic = new->max_dest_rd_atomic;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		attr->min_rnr_timer = new->min_rnr_timer;
	if (mask & IBV_QP_DEST_QPN)
		attr->dest_qp_num = new->dest_qp_num;
	qp->retries_left = attr->retry_cnt;
	if (mask & IBV_QP_RQ_PSN)
		qp->expected_psn = attr->rq_psn;
	if (mask & IBV_QP_SQ_PSN)
		qp->psn = attr->sq_psn;
}

static int check_values(const struct ibv_qp_attr *attr, int mask,
			struct soft_place *remote)
{
	if ((mask & IBV_QP_PORT) && !soft_is_port(attr->port_num))
		return EINVAL;
	if ((mask & IBV_QP_PKEY_INDEX) && attr->pkey_index)
		return EINVAL;
	if ((mask & IBV_QP_PATH_MTU) &&
	    (attr->path_mtu < IBV_MTU_256 || attr->path_mtu > IBV_MTU_4096))
		return EINVAL;
	if ((mask & IBV_QP_TIMEOUT) && attr->timeout > 31)
		return EINVAL;
	if (((mask & IBV_QP_RETRY_CNT) && attr->retry_cnt > 7) ||
	    ((mask & IBV_QP_RNR_RETRY) && attr->rnr_retry > 7) ||
	    ((mask & IBV_QP_MIN_RNR_TIMER) && attr->min_rnr_timer > 31))
		return EINVAL;
	if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) && attr->max_rd_atomic > 128)
		return EINVAL;
	if (mask & IBV_QP_AV) {
		if (!soft_is_port(attr->ah_attr.port_num) ||
		    (attr->ah_attr.is_global &&
		     attr->ah_attr.grh.sgid_index >= SOFT_GIDS))
			return EINVAL;
		if (soft_resolve(&attr->ah_attr, attr->dest_qp_num, remote))
			return EINVAL;
	}
	return 0;
}

static void change_state(struct soft_qp *qp, enum ibv_qp_state to)
{
	enum ibv_qp_state from = qp->ex.qp_base.state;

	if (to == IBV_QPS_ERR) {
		soft_qp_fail(qp);
		return;
	}
	qp->ex.qp_base.state = to;
	if (to == IBV_QPS_RESET)
		reset(qp);
	else if (to == IBV_QPS_RTS)
		soft_pump(qp);
	/* What is on its way ends first: soft_take_answer(). */
	else if (to == IBV_QPS_SQD && from == IBV_QPS_RTS && qp->head == qp->next &&
		 qp->attr.en_sqd_async_notify)
		soft_event_qp(qp, IBV_EVENT_SQ_DRAINED);
}

int ibv_modify_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask)
{
	struct soft_qp *qp = soft_qp(base);
	struct soft_place remote = qp->remote;
	enum ibv_qp_state from;
	enum ibv_qp_state to;
	int err;

	pthread_mutex_lock(&soft_lock);
	from = base->state;
	to = mask & IBV_QP_STATE ? attr->qp_state : from;
	err = (mask & IBV_QP_CUR_STATE) && attr->cur_qp_state != from ? EINVAL : 0;
	if (!err)
		err = soft_check_transition(base->qp_type, from, to, mask);
	if (!err)
		err = check_values(attr, mask, &remote);
	if (!err) {
		if (!soft_same_place(&qp->remote, &remote))
			qp->wire = NULL;
		qp->remote = remote;
		take_attributes(qp, attr, mask);
		if (mask & IBV_QP_STATE)
			change_state(qp, to);
	}
	pthread_mutex_unlock(&soft_lock);
	return err;
}

int ibv_query_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init_attr)
{
	struct soft_qp *qp = soft_qp(base);

	(void) mask;
	pthread_mutex_lock(&soft_lock);
	*attr = qp->attr;
	attr->qp_state = base->state;
	attr->cur_qp_state = base->state;
	attr->sq_psn = qp->psn;
	attr->rq_psn = qp->expected_psn;
	attr->sq_draining = base->state == IBV_QPS_SQD && qp->head != qp->next;
	pthread_mutex_unlock(&soft_lock);
	*init_attr = (struct ibv_qp_init_attr){
		.qp_context = base->qp_context,
		.send_cq = base->send_cq,
		.recv_cq = base->recv_cq,
		.srq = base->srq,
		.cap = attr->cap,
		.qp_type = base->qp_type,
		.sq_sig_all = qp->sq_sig_all,
	};
	return 0;
}

/* One message lands before the next begins, but its bytes in no promised order. */
int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	(void) qp;
	(void) op;
	(void) flags;
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *base)
{
	struct soft_qp *qp = soft_qp(base);
	struct soft_context *context = soft_context(base->context);

	pthread_mutex_lock(&soft_lock);
	soft_drop_parked(qp);
	LIST_REMOVE(qp, link);
	context->qps[base->qp_num & 0xffff] = NULL;
	soft_pd(base->pd)->users--;
	soft_cq(base->send_cq)->users--;
	soft_cq(base->recv_cq)->users--;
	if (base->srq)
		soft_srq(base->srq)->users--;
	soft_wait_acknowledged(&base->mutex, &base->cond, &base->events_completed,
			       qp->async_events);
	pthread_mutex_unlock(&soft_lock);
	release(qp);
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct soft_place place;
	struct soft_ah *ah;

	if (!soft_is_port(attr->port_num) || soft_resolve(attr, 0, &place) ||
	    (attr->is_global && attr->grh.sgid_index >= SOFT_GIDS)) {
		errno = EINVAL;
		return NULL;
	}
	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	ah->base.context = pd->context;
	ah->base.pd = pd;
	ah->base.handle = soft_new_handle();
	ah->attr = *attr;
	pthread_mutex_lock(&soft_lock);
	soft_pd(pd)->users++;
	pthread_mutex_unlock(&soft_lock);
	return &ah->base;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	pthread_mutex_lock(&soft_lock);
	soft_pd(ah->pd)->users--;
	pthread_mutex_unlock(&soft_lock);
	free(ah);
	return 0;
}

/* ibv_create_ah_from_wc(3): back to where a datagram came from. */
int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc,
			struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
	struct soft_place place = soft_port_of(context, port_num);
	int index;

	memset(attr, 0, sizeof(*attr));
	attr->dlid = wc->slid;
	attr->sl = wc->sl;
	attr->src_path_bits = wc->dlid_path_bits;
	attr->port_num = port_num;
	if (!(wc->wc_flags & IBV_WC_GRH))
		return 0;
	index = soft_gid_index(&place, &grh->dgid);
	if (index < 0)
		return -1;
	attr->is_global = 1;
	attr->grh.dgid = grh->sgid;
	attr->grh.sgid_index = (uint8_t) index;
	attr->grh.hop_limit = 0xff;
	return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
				     struct ibv_grh *grh, uint8_t port_num)
{
	struct ibv_ah_attr attr;

	if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr))
		return NULL;
	return ibv_create_ah(pd, &attr);
}
