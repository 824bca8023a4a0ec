/* SPDX-License-Identifier: MIT */
/* Receive queues: each queue pair's own, and those that several share. */
#include "soft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int soft_recv_queue_init(struct soft_recv_queue *queue, uint32_t max_wr, uint32_t max_sge)
{
	queue->capacity = soft_pow2(max_wr ? max_wr : 1);
	queue->max_sge = max_sge ? max_sge : 1;
	queue->entries = calloc(queue->capacity, sizeof(*queue->entries));
	queue->sges =
		calloc((size_t) queue->capacity * queue->max_sge, sizeof(*queue->sges));
	return queue->entries && queue->sges ? 0 : ENOMEM;
}

void soft_recv_queue_free(struct soft_recv_queue *queue)
{
	free(queue->entries);
	free(queue->sges);
}

static int push(struct soft_recv_queue *queue, const struct ibv_recv_wr *wr)
{
	uint32_t slot = queue->tail & (queue->capacity - 1);

	if (wr->num_sge < 0 || (uint32_t) wr->num_sge > queue->max_sge)
		return EINVAL;
	if (queue->tail - queue->head >= queue->capacity)
		return ENOMEM;
	queue->entries[slot].wr_id = wr->wr_id;
	queue->entries[slot].num_sge = wr->num_sge;
	if (wr->num_sge)
		memcpy(queue->sges + (size_t) slot * queue->max_sge, wr->sg_list,
		       (size_t) wr->num_sge * sizeof(*wr->sg_list));
	queue->tail++;
	return 0;
}

static int post(struct soft_recv_queue *queue, struct ibv_recv_wr *wr,
		struct ibv_recv_wr **bad)
{
	int err;

	for (; wr; wr = wr->next) {
		err = push(queue, wr);
		if (err) {
			*bad = wr;
			return err;
		}
	}
	return 0;
}

int soft_post_recv(struct ibv_qp *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct soft_qp *qp = soft_qp(base);
	int err;

	pthread_mutex_lock(&soft_lock);
	/* As rxe: not before INIT, nor to a queue pair with a shared queue. */
	if (base->state == IBV_QPS_RESET || base->srq) {
		*bad = wr;
		err = EINVAL;
	} else {
		err = post(&qp->queue, wr, bad);
		/* In the error state it completes at once, flushed. */
		if (base->state == IBV_QPS_ERR)
			soft_recv_flush(qp);
		else if (!STAILQ_EMPTY(&qp->parked))
			soft_serve_parked(qp);
	}
	pthread_mutex_unlock(&soft_lock);
	return err;
}

int soft_post_srq_recv(struct ibv_srq *base, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad)
{
	struct soft_srq *srq = soft_srq(base);
	struct soft_qp *qp;
	int err;

	pthread_mutex_lock(&soft_lock);
	err = post(&srq->queue, wr, bad);
	if (srq->users)
		LIST_FOREACH(qp, &soft_qps, link)
	if (qp->ex.qp_base.srq == base && !STAILQ_EMPTY(&qp->parked))
		soft_serve_parked(qp);
	pthread_mutex_unlock(&soft_lock);
	return err;
}

static struct soft_recv_queue *queue_of(struct soft_qp *qp)
{
	return qp->ex.qp_base.srq ? &soft_srq(qp->ex.qp_base.srq)->queue : &qp->queue;
}

struct soft_recv *soft_recv_first(struct soft_qp *qp, struct ibv_sge **sges)
{
	struct soft_recv_queue *queue = queue_of(qp);
	uint32_t slot = queue->head & (queue->capacity - 1);

	if (queue->head == queue->tail)
		return NULL;
	*sges = queue->sges + (size_t) slot * queue->max_sge;
	return &queue->entries[slot];
}

void soft_recv_take(struct soft_qp *qp)
{
	struct soft_recv_queue *queue = queue_of(qp);
	struct soft_srq *srq;

	queue->head++;
	if (!qp->ex.qp_base.srq)
		return;
	/* ibv_modify_srq(3): once, when fewer than the limit are left. */
	srq = soft_srq(qp->ex.qp_base.srq);
	if (srq->limit && queue->tail - queue->head < srq->limit) {
		srq->limit = 0;
		soft_event_srq(srq, IBV_EVENT_SRQ_LIMIT_REACHED);
	}
}

void soft_recv_flush(struct soft_qp *qp)
{
	struct soft_recv *entry;
	struct ibv_sge *sges;

	while (!qp->ex.qp_base.srq && (entry = soft_recv_first(qp, &sges))) {
		struct ibv_wc wc = {.wr_id = entry->wr_id,
				    .status = IBV_WC_WR_FLUSH_ERR,
				    .opcode = IBV_WC_RECV,
				    .qp_num = qp->ex.qp_base.qp_num};

		soft_complete(soft_cq(qp->ex.qp_base.recv_cq), &wc, false);
		soft_recv_take(qp);
	}
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct soft_srq *srq;

	if (!attr->attr.max_wr || attr->attr.max_wr > SOFT_MAX_WR ||
	    attr->attr.max_sge > SOFT_MAX_SGE) {
		errno = EINVAL;
		return NULL;
	}
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	if (soft_recv_queue_init(&srq->queue, attr->attr.max_wr, attr->attr.max_sge)) {
		soft_recv_queue_free(&srq->queue);
		free(srq);
		errno = ENOMEM;
		return NULL;
	}
	attr->attr.max_wr = srq->queue.capacity;
	attr->attr.max_sge = srq->queue.max_sge;
	srq->base.context = pd->context;
	srq->base.srq_context = attr->srq_context;
	srq->base.pd = pd;
	srq->base.handle = soft_new_handle();
	pthread_mutex_init(&srq->base.mutex, NULL);
	pthread_cond_init(&srq->base.cond, NULL);
	pthread_mutex_lock(&soft_lock);
	soft_pd(pd)->users++;
	LIST_INSERT_HEAD(&soft_context(pd->context)->srqs, srq, link);
	pthread_mutex_unlock(&soft_lock);
	return &srq->base;
}

int ibv_modify_srq(struct ibv_srq *base, struct ibv_srq_attr *attr, int mask)
{
	struct soft_srq *srq = soft_srq(base);

	/* Resizing is an option that adapters may lack: IBV_DEVICE_SRQ_RESIZE. */
	if (mask & ~IBV_SRQ_LIMIT)
		return EINVAL;
	if (!(mask & IBV_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit > srq->queue.capacity)
		return EINVAL;
	pthread_mutex_lock(&soft_lock);
	srq->limit = attr->srq_limit;
	pthread_mutex_unlock(&soft_lock);
	return 0;
}

int ibv_query_srq(struct ibv_srq *base, struct ibv_srq_attr *attr)
{
	struct soft_srq *srq = soft_srq(base);

	pthread_mutex_lock(&soft_lock);
	attr->max_wr = srq->queue.capacity;
	attr->max_sge = srq->queue.max_sge;
	attr->srq_limit = srq->limit;
	pthread_mutex_unlock(&soft_lock);
	return 0;
}

int ibv_destroy_srq(struct ibv_srq *base)
{
	struct soft_srq *srq = soft_srq(base);

	pthread_mutex_lock(&soft_lock);
	if (srq->users) {
		pthread_mutex_unlock(&soft_lock);
		return EBUSY;
	}
	LIST_REMOVE(srq, link);
	soft_pd(base->pd)->users--;
	soft_wait_acknowledged(&base->mutex, &base->cond, &base->events_completed,
			       srq->async_events);
	pthread_mutex_unlock(&soft_lock);
	soft_recv_queue_free(&srq->queue);
	free(srq);
	return 0;
}
