/* SPDX-License-Identifier: MIT */
/*
 * Completion queues, read in either way (ibv_poll_cq, ibv_start_poll), and completion
 * channels, whose descriptor is a pipe: it can be polled and set non-blocking like the
 * kernel's.  A poll that finds nothing does what came from other processes, and now and
 * then gives way: who polls may well leave the thread or the process that it waits for no
 * processor.
 */
#include "soft.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void notify(struct soft_cq *cq)
{
	struct soft_channel *channel = (struct soft_channel *) cq->ex.channel;
	uint64_t handle = cq->ex.handle;

	cq->armed = SOFT_UNARMED;
	if (channel && write(channel->write_fd, &handle, sizeof(handle)) < 0)
		/* So many events unread: the program sleeps for other reasons. */
		return;
}

void soft_complete(struct soft_cq *cq, const struct ibv_wc *wc, bool is_solicited)
{
	unsigned int tail = atomic_load_explicit(&cq->tail, memory_order_relaxed);
	unsigned int head = atomic_load_explicit(&cq->head, memory_order_acquire);
	struct soft_completion *entry = &cq->ring[tail & cq->mask];

	if (tail - head >= (unsigned int) cq->ex.cqe) {
		/* ibv_get_async_event(3), IBV_EVENT_CQ_ERR: an overrun. */
		if (!cq->is_overrun)
			soft_event_cq(cq, IBV_EVENT_CQ_ERR);
		cq->is_overrun = true;
		return;
	}
	entry->wc = *wc;
	if (cq->has_time)
		entry->time_ns = soft_now();
	atomic_store_explicit(&cq->tail, tail + 1, memory_order_release);
	/* ibv_req_notify_cq(3): what failed counts as solicited. */
	if (cq->armed == SOFT_ARMED || (cq->armed == SOFT_ARMED_SOLICITED &&
					(is_solicited || wc->status != IBV_WC_SUCCESS)))
		notify(cq);
}

static bool take(struct soft_cq *cq, struct soft_completion *entry)
{
	unsigned int head = atomic_load_explicit(&cq->head, memory_order_relaxed);

	if (head == atomic_load_explicit(&cq->tail, memory_order_acquire))
		return false;
	*entry = cq->ring[head & cq->mask];
	atomic_store_explicit(&cq->head, head + 1, memory_order_release);
	return true;
}

static bool has_none(struct soft_cq *cq)
{
	return atomic_load_explicit(&cq->head, memory_order_relaxed) ==
	       atomic_load_explicit(&cq->tail, memory_order_acquire);
}

static bool is_empty(struct soft_cq *cq)
{
	static _Thread_local unsigned int polls;

	if (!has_none(cq))
		return false;
	soft_progress();
	if (!has_none(cq))
		return false;
	/* What is waited for may need the processor. */
	if (++polls % 32 == 0)
		sched_yield();
	return true;
}

int soft_poll_cq(struct ibv_cq *base, int num_entries, struct ibv_wc *wc)
{
	struct soft_cq *cq = soft_cq(base);
	struct soft_completion entry;
	int count = 0;

	if (is_empty(cq))
		return 0;
	pthread_mutex_lock(&cq->read_lock);
	while (count < num_entries && take(cq, &entry)) {
		if (entry.wc.status == IBV_WC_SUCCESS) {
			wc[count] = entry.wc;
		} else {
			/* ibv_poll_cq(3): of a failure only these are valid. */
			wc[count].wr_id = entry.wc.wr_id;
			wc[count].status = entry.wc.status;
			wc[count].qp_num = entry.wc.qp_num;
			wc[count].vendor_err = entry.wc.vendor_err;
		}
		count++;
	}
	pthread_mutex_unlock(&cq->read_lock);
	return count;
}

static int show(struct soft_cq *cq)
{
	if (!take(cq, &cq->current))
		return ENOENT;
	cq->ex.wr_id = cq->current.wc.wr_id;
	cq->ex.status = cq->current.wc.status;
	return 0;
}

/* The lock is held from here to end_poll, as providers of rdma-core do;
 * after ENOENT there is no end_poll. */
static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct soft_cq *cq = (struct soft_cq *) ex;

	if (attr->comp_mask)
		return EINVAL;
	if (is_empty(cq))
		return ENOENT;
	pthread_mutex_lock(&cq->read_lock);
	if (!show(cq))
		return 0;
	pthread_mutex_unlock(&cq->read_lock);
	return ENOENT;
}

static int next_poll(struct ibv_cq_ex *ex)
{
	return show((struct soft_cq *) ex);
}

static void end_poll(struct ibv_cq_ex *ex)
{
	pthread_mutex_unlock(&((struct soft_cq *) ex)->read_lock);
}

#define READER(type, name, field) \
	static type name(struct ibv_cq_ex *ex) \
	{ \
		return ((struct soft_cq *) ex)->current.field; \
	}
READER(enum ibv_wc_opcode, read_opcode, wc.opcode)
READER(uint32_t, read_vendor_err, wc.vendor_err)
READER(uint32_t, read_byte_len, wc.byte_len)
READER(__be32, read_imm_data, wc.imm_data)
READER(uint32_t, read_qp_num, wc.qp_num)
READER(uint32_t, read_src_qp, wc.src_qp)
READER(unsigned int, read_wc_flags, wc.wc_flags)
READER(uint32_t, read_slid, wc.slid)
READER(uint8_t, read_sl, wc.sl)
READER(uint8_t, read_dlid_path_bits, wc.dlid_path_bits)
READER(uint64_t, read_completion_ts, time_ns)
#undef READER

/* Wall time of an event, as far as the clocks agree now. */
static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *ex)
{
	struct timespec wall;

	clock_gettime(CLOCK_REALTIME, &wall);
	return (uint64_t) wall.tv_sec * 1000000000 + (uint64_t) wall.tv_nsec -
	       (soft_now() - ((struct soft_cq *) ex)->current.time_ns);
}

/* ibv_create_cq_ex(3): what was not asked for has no function. */
static void set_readers(struct ibv_cq_ex *ex, uint64_t wanted)
{
	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_wc_flags = read_wc_flags;
	if (wanted & IBV_WC_EX_WITH_BYTE_LEN)
		ex->read_byte_len = read_byte_len;
	if (wanted & IBV_WC_EX_WITH_IMM)
		ex->read_imm_data = read_imm_data;
	if (wanted & IBV_WC_EX_WITH_QP_NUM)
		ex->read_qp_num = read_qp_num;
	if (wanted & IBV_WC_EX_WITH_SRC_QP)
		ex->read_src_qp = read_src_qp;
	if (wanted & IBV_WC_EX_WITH_SLID)
		ex->read_slid = read_slid;
	if (wanted & IBV_WC_EX_WITH_SL)
		ex->read_sl = read_sl;
	if (wanted & IBV_WC_EX_WITH_DLID_PATH_BITS)
		ex->read_dlid_path_bits = read_dlid_path_bits;
	if (wanted & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		ex->read_completion_ts = read_completion_ts;
	if (wanted & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		ex->read_completion_wallclock_ns = read_completion_wallclock_ns;
}

static struct soft_cq *create(struct ibv_context *context, uint32_t cqe, void *cq_context,
			      struct ibv_comp_channel *channel, uint32_t comp_vector)
{
	struct soft_cq *cq;

	if (!cqe || cqe > SOFT_MAX_CQE ||
	    comp_vector >= (uint32_t) context->num_comp_vectors) {
		errno = EINVAL;
		return NULL;
	}
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	cq->mask = soft_pow2(cqe) - 1;
	cq->ring = calloc(cq->mask + 1, sizeof(*cq->ring));
	if (!cq->ring) {
		free(cq);
		return NULL;
	}
	cq->ex.context = context;
	cq->ex.channel = channel;
	cq->ex.cq_context = cq_context;
	cq->ex.handle = soft_new_handle();
	cq->ex.cqe = (int) cqe;
	pthread_mutex_init(&cq->ex.mutex, NULL);
	pthread_cond_init(&cq->ex.cond, NULL);
	pthread_mutex_init(&cq->read_lock, NULL);
	pthread_mutex_lock(&soft_lock);
	if (channel)
		channel->refcnt++;
	LIST_INSERT_HEAD(&soft_context(context)->cqs, cq, link);
	pthread_mutex_unlock(&soft_lock);
	return cq;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	struct soft_cq *cq;

	if (cqe <= 0 || comp_vector < 0) {
		errno = EINVAL;
		return NULL;
	}
	cq = create(context, (uint32_t) cqe, cq_context, channel, (uint32_t) comp_vector);
	return cq ? ibv_cq_ex_to_cq(&cq->ex) : NULL;
}

struct ibv_cq_ex *soft_create_cq_ex(struct ibv_context *context,
				    struct ibv_cq_init_attr_ex *attr)
{
	uint64_t can = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
		       IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	struct soft_cq *cq;

	if ((attr->wc_flags & ~can) ||
	    (attr->comp_mask & ~(uint32_t) IBV_CQ_INIT_ATTR_MASK_FLAGS)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	cq = create(context, attr->cqe, attr->cq_context, attr->channel,
		    attr->comp_vector);
	if (!cq)
		return NULL;
	cq->has_time = attr->wc_flags & (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
					 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK);
	set_readers(&cq->ex, attr->wc_flags);
	return &cq->ex;
}

/* Moderation changes when events come, never whether: nothing to do. */
int soft_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	(void) cq;
	return attr->attr_mask & ~(uint32_t) IBV_CQ_ATTR_MODERATE ? EINVAL : 0;
}

int ibv_resize_cq(struct ibv_cq *base, int cqe)
{
	struct soft_cq *cq = soft_cq(base);
	struct soft_completion *ring;
	unsigned int count;
	unsigned int i;
	uint32_t size;
	int err = 0;

	if (cqe <= 0 || cqe > SOFT_MAX_CQE)
		return EINVAL;
	size = soft_pow2((uint32_t) cqe);
	ring = calloc(size, sizeof(*ring));
	if (!ring)
		return ENOMEM;
	pthread_mutex_lock(&soft_lock);
	pthread_mutex_lock(&cq->read_lock);
	count = cq->tail - cq->head;
	if (count > (unsigned int) cqe) {
		err = EINVAL;
	} else {
		struct soft_completion *old = cq->ring;

		for (i = 0; i < count; i++)
			ring[i] = old[(cq->head + i) & cq->mask];
		cq->ring = ring;
		cq->mask = size - 1;
		cq->head = 0;
		cq->tail = count;
		cq->ex.cqe = cqe;
		ring = old;
	}
	pthread_mutex_unlock(&cq->read_lock);
	pthread_mutex_unlock(&soft_lock);
	free(ring);
	return err;
}

int ibv_destroy_cq(struct ibv_cq *base)
{
	struct soft_cq *cq = soft_cq(base);

	pthread_mutex_lock(&soft_lock);
	if (cq->users) {
		pthread_mutex_unlock(&soft_lock);
		return EBUSY;
	}
	LIST_REMOVE(cq, link);
	if (base->channel)
		base->channel->refcnt--;
	soft_wait_acknowledged(&base->mutex, &base->cond, &base->comp_events_completed,
			       cq->comp_events);
	soft_wait_acknowledged(&base->mutex, &base->cond, &base->async_events_completed,
			       cq->async_events);
	pthread_mutex_unlock(&soft_lock);
	free(cq->ring);
	free(cq);
	return 0;
}

/* ibv_req_notify_cq(3): only what comes afterwards makes an event; a request for every
 * completion is not taken back by one for the solicited alone. */
int soft_req_notify_cq(struct ibv_cq *base, int solicited_only)
{
	struct soft_cq *cq = soft_cq(base);

	pthread_mutex_lock(&soft_lock);
	if (!solicited_only)
		cq->armed = SOFT_ARMED;
	else if (cq->armed == SOFT_UNARMED)
		cq->armed = SOFT_ARMED_SOLICITED;
	pthread_mutex_unlock(&soft_lock);
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct soft_channel *channel = calloc(1, sizeof(*channel));
	int fds[2];

	if (!channel)
		return NULL;
	if (pipe2(fds, O_CLOEXEC)) {
		free(channel);
		return NULL;
	}
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	channel->base.context = context;
	channel->base.fd = fds[0];
	channel->write_fd = fds[1];
	return &channel->base;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *base)
{
	struct soft_channel *channel = (struct soft_channel *) base;
	int users;

	pthread_mutex_lock(&soft_lock);
	users = base->refcnt;
	pthread_mutex_unlock(&soft_lock);
	if (users)
		return EBUSY;
	close(base->fd);
	close(channel->write_fd);
	free(channel);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **ret_cq,
		     void **ret_context)
{
	struct soft_context *context = soft_context(channel->context);
	struct soft_cq *cq;
	uint64_t handle;

	do {
		if (read(channel->fd, &handle, sizeof(handle)) != sizeof(handle))
			return -1;
		pthread_mutex_lock(&soft_lock);
		LIST_FOREACH(cq, &context->cqs, link)
		if (cq->ex.handle == handle)
			break;
		if (cq) {
			cq->comp_events++;
			*ret_cq = ibv_cq_ex_to_cq(&cq->ex);
			*ret_context = cq->ex.cq_context;
		}
		pthread_mutex_unlock(&soft_lock);
		/* The kernel drops the events of a queue that is destroyed. */
	} while (!cq);
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += nevents;
	pthread_cond_signal(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}
