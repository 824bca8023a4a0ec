/* SPDX-License-Identifier: MIT */
/*
 * Asynchronous events: a pipe per context, whose descriptor can be polled.  An event
 * names its object by a number that is never used again, so one of an object that was
 * destroyed is dropped, as the kernel drops it.
 */
#include "soft.h"

#include <errno.h>
#include <unistd.h>

struct event {
	uint32_t type;
	uint32_t handle;
};

static void push(struct ibv_context *context, enum ibv_event_type type, uint32_t handle)
{
	struct event event = {.type = type, .handle = handle};

	/* Nobody reads them: the pipe is full, and the oldest stay. */
	if (write(soft_context(context)->async_write_fd, &event, sizeof(event)) < 0)
		return;
}

void soft_event_device(struct ibv_context *context, enum ibv_event_type type)
{
	push(context, type, 0);
}

void soft_event_qp(struct soft_qp *qp, enum ibv_event_type type)
{
	push(qp->ex.qp_base.context, type, qp->ex.qp_base.handle);
}

void soft_event_cq(struct soft_cq *cq, enum ibv_event_type type)
{
	push(cq->ex.context, type, cq->ex.handle);
}

void soft_event_srq(struct soft_srq *srq, enum ibv_event_type type)
{
	push(srq->base.context, type, srq->base.handle);
}

/* Fills in the object and counts the event there; false: it is no more. */
static bool find(struct soft_context *context, const struct event *event,
		 struct ibv_async_event *found)
{
	struct soft_qp *qp;
	struct soft_cq *cq;
	struct soft_srq *srq;

	found->event_type = event->type;
	if (event->type == IBV_EVENT_DEVICE_FATAL) {
		found->element.port_num = 0;
		return true;
	}
	LIST_FOREACH(qp, &soft_qps, link)
	if (qp->ex.qp_base.handle == event->handle) {
		qp->async_events++;
		found->element.qp = &qp->ex.qp_base;
		return true;
	}
	LIST_FOREACH(cq, &context->cqs, link)
	if (cq->ex.handle == event->handle) {
		cq->async_events++;
		found->element.cq = ibv_cq_ex_to_cq(&cq->ex);
		return true;
	}
	LIST_FOREACH(srq, &context->srqs, link)
	if (srq->base.handle == event->handle) {
		srq->async_events++;
		found->element.srq = &srq->base;
		return true;
	}
	return false;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *found)
{
	struct event event;
	bool is_found;

	do {
		if (read(context->async_fd, &event, sizeof(event)) != sizeof(event))
			return -1;
		pthread_mutex_lock(&soft_lock);
		is_found = find(soft_context(context), &event, found);
		pthread_mutex_unlock(&soft_lock);
	} while (!is_found);
	return 0;
}

static void acknowledge(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *completed)
{
	pthread_mutex_lock(mutex);
	(*completed)++;
	pthread_cond_signal(cond);
	pthread_mutex_unlock(mutex);
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct ibv_qp *qp = event->element.qp;
	struct ibv_cq *cq = event->element.cq;
	struct ibv_srq *srq = event->element.srq;

	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		acknowledge(&cq->mutex, &cq->cond, &cq->async_events_completed);
		break;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		acknowledge(&srq->mutex, &srq->cond, &srq->events_completed);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		acknowledge(&qp->mutex, &qp->cond, &qp->events_completed);
		break;
	default:
		break;
	}
}

void soft_wait_acknowledged(pthread_mutex_t *mutex, pthread_cond_t *cond,
			    const uint32_t *completed, uint32_t events)
{
	pthread_mutex_unlock(&soft_lock);
	pthread_mutex_lock(mutex);
	while (*completed != events)
		pthread_cond_wait(cond, mutex);
	pthread_mutex_unlock(mutex);
	pthread_mutex_lock(&soft_lock);
}
