/* SPDX-License-Identifier: MIT */
/*
 * Objects that the program makes in a context and destroys.  The tracer forgets an object
 * before the call that frees it, since another thread may get its address before that
 * call returns.
 */
#include <errno.h>
#include <string.h>

#include "verbs/address.h"
#include "verbs/extended.h"
#include "verbs/metered.h"
#include "verbs/objects.h"
#include "verbs/entry_point.h"

/*
 * Destroys the object at `at` by `call`; o is what the tracer knows of it, NULL if
 * nothing.
 */
#define DESTROY(table, o, at, what, call) \
	do { \
		const struct tap_verbs_events *events; \
		struct tap_guard guard; \
		const int ret = call; \
\
		if (!(o)) \
			return ret; \
		if (ret) { \
			tap_table_show(&(table), o, at); \
			return ret; \
		} \
		events = tap_verbs_begin_emit(&guard); \
		if (events) \
			events->gone(what, (o)->head.id); \
		tap_table_free(&(table), o); \
		tap_guard_clear(guard); \
		return ret; \
	} while (0)

static void *make(struct tap_table *table)
{
	void *made = tap_table_make(table);

	if (!made)
		tap_problem("not recorded", "an object of libibverbs: out of memory", 1);
	return made;
}

/* ---- Protection domains, memory regions, address handles, channels ---- */

struct ibv_pd *tap_on_ibv_alloc_pd(ibv_alloc_pd_function real,
				   struct ibv_context *context)
{
	struct ibv_pd *pd = real(context);
	const struct tap_verbs_events *events;
	struct tap_guard guard;
	struct tap_pd *p;

	if (!pd)
		return pd;
	events = tap_verbs_begin_emit(&guard);
	p = make(&tap_pds);
	if (p) {
		p->about = (struct tap_verbs_pd){p->head.id,
						 tap_id_of(&tap_contexts, context)};
		tap_table_show(&tap_pds, p, pd);
		if (events)
			events->pd(&p->about);
	}
	tap_guard_clear(guard);
	return pd;
}

int tap_on_ibv_dealloc_pd(ibv_dealloc_pd_function real, struct ibv_pd *pd)
{
	struct tap_pd *p = tap_table_hide(&tap_pds, pd);

	DESTROY(tap_pds, p, pd, TAP_GONE_PD, real(pd));
}

void tap_mr_made(struct ibv_mr *mr, struct ibv_pd *pd, uint64_t addr, uint64_t length,
		 uint32_t access, enum tap_verbs_mr_kind kind)
{
	const struct tap_verbs_events *events;
	const struct tap_mr *known = tap_find(&tap_mrs, mr);
	struct tap_guard guard;
	struct tap_mr *m;

	/*
	 * libibverbs registers by another of its own functions, whose wrapper has emitted
	 * it.
	 */
	if (known && known->about.lkey == mr->lkey)
		return;
	events = tap_verbs_begin_emit(&guard);
	m = make(&tap_mrs);
	if (m) {
		m->about = (struct tap_verbs_mr){
			.mr_id = m->head.id,
			.context_id = tap_id_of(&tap_contexts, pd->context),
			.addr = addr,
			.length = length,
			.lkey = mr->lkey,
			.rkey = mr->rkey,
			.access = access,
			.kind = kind,
		};
		tap_table_show(&tap_mrs, m, mr);
		if (events)
			events->mr(&m->about, false);
	}
	tap_guard_clear(guard);
}

struct ibv_mr *tap_on_ibv_reg_mr(ibv_reg_mr_function real, struct ibv_pd *pd, void *addr,
				 size_t length, int access)
{
	struct ibv_mr *mr = real(pd, addr, length, access);

	if (mr)
		tap_mr_made(mr, pd, (uintptr_t) addr, length, (uint32_t) access,
			    TAP_MR_PLAIN);
	return mr;
}

/* Peers address a region with an iova of its own by that iova. */
static enum tap_verbs_mr_kind kind_of(const void *addr, uint64_t iova)
{
	return (uintptr_t) addr == iova ? TAP_MR_PLAIN : TAP_MR_IOVA;
}

struct ibv_mr *tap_on_ibv_reg_mr_iova(ibv_reg_mr_iova_function real, struct ibv_pd *pd,
				      void *addr, size_t length, uint64_t iova,
				      int access)
{
	struct ibv_mr *mr = real(pd, addr, length, iova, access);

	if (mr)
		tap_mr_made(mr, pd, iova, length, (uint32_t) access, kind_of(addr, iova));
	return mr;
}

struct ibv_mr *tap_on_ibv_reg_mr_iova2(ibv_reg_mr_iova2_function real, struct ibv_pd *pd,
				       void *addr, size_t length, uint64_t iova,
				       unsigned int access)
{
	struct ibv_mr *mr = real(pd, addr, length, iova, access);

	if (mr)
		tap_mr_made(mr, pd, iova, length, access, kind_of(addr, iova));
	return mr;
}

struct ibv_mr *tap_on_ibv_reg_dmabuf_mr(ibv_reg_dmabuf_mr_function real,
					struct ibv_pd *pd, uint64_t offset, size_t length,
					uint64_t iova, int fd, int access)
{
	struct ibv_mr *mr = real(pd, offset, length, iova, fd, access);

	if (mr)
		tap_mr_made(mr, pd, iova, length, (uint32_t) access, TAP_MR_DMABUF);
	return mr;
}

int tap_on_ibv_dereg_mr(ibv_dereg_mr_function real, struct ibv_mr *mr)
{
	struct tap_mr *m = tap_table_hide(&tap_mrs, mr);

	DESTROY(tap_mrs, m, mr, TAP_GONE_MR, real(mr));
}

static struct tap_verbs_gid read_gid(const union ibv_gid *gid)
{
	struct tap_verbs_gid ret = {0};
	int i;

	for (i = 0; i < 8; i++) {
		ret.hi = ret.hi << 8 | gid->raw[i];
		ret.lo = ret.lo << 8 | gid->raw[8 + i];
	}
	return ret;
}

struct ibv_ah *tap_on_ibv_create_ah(ibv_create_ah_function real, struct ibv_pd *pd,
				    struct ibv_ah_attr *attr)
{
	struct ibv_ah *ah = real(pd, attr);
	const struct tap_verbs_events *events;
	struct tap_guard guard;
	struct tap_ah *a;

	if (!ah)
		return ah;
	events = tap_verbs_begin_emit(&guard);
	a = make(&tap_ahs);
	if (a) {
		a->about = (struct tap_verbs_ah){
			.ah_id = a->head.id,
			.context_id = tap_id_of(&tap_contexts, pd->context),
			.dlid = attr->dlid,
			.is_global = attr->is_global,
		};
		if (attr->is_global)
			a->about.dgid = read_gid(&attr->grh.dgid);
		tap_table_show(&tap_ahs, a, ah);
		if (events)
			events->ah(&a->about, false);
	}
	tap_guard_clear(guard);
	return ah;
}

int tap_on_ibv_destroy_ah(ibv_destroy_ah_function real, struct ibv_ah *ah)
{
	struct tap_ah *a = tap_table_hide(&tap_ahs, ah);

	DESTROY(tap_ahs, a, ah, TAP_GONE_AH, real(ah));
}

struct ibv_comp_channel *
tap_on_ibv_create_comp_channel(ibv_create_comp_channel_function real,
			       struct ibv_context *context)
{
	struct ibv_comp_channel *channel = real(context);
	struct tap_channel *c = channel ? make(&tap_channels) : NULL;

	if (c)
		tap_table_show(&tap_channels, c, channel);
	return channel;
}

int tap_on_ibv_destroy_comp_channel(ibv_destroy_comp_channel_function real,
				    struct ibv_comp_channel *channel)
{
	struct tap_channel *c = tap_table_hide(&tap_channels, channel);
	const int ret = real(channel);

	if (c && ret)
		tap_table_show(&tap_channels, c, channel);
	else if (c)
		tap_table_free(&tap_channels, c);
	return ret;
}

/* ---- Queues ---- */

/*
 * Before an object that counts is made.  Only a child of a fork, whose contexts are its
 * parent's, may have no page here.
 */
static const struct tap_verbs_events *begin_counted(struct tap_guard *ret_guard)
{
	const struct tap_verbs_events *events = tap_verbs_begin_emit(ret_guard);

	tap_metrics_begin();
	return events;
}

void tap_cq_made(struct ibv_cq *cq, struct ibv_comp_channel *channel, bool extended)
{
	const struct tap_context *context = tap_find(&tap_contexts, cq->context);
	const struct tap_verbs_events *events;
	struct tap_guard guard;
	struct tap_cq *c;

	if (!context)
		return;
	events = begin_counted(&guard);
	c = make(&tap_cqs);
	if (c) {
		c->poll = context->real.poll_cq;
		c->about = (struct tap_verbs_cq){
			.cq_id = c->head.id,
			.context_id = context->head.id,
			.cqe = cq->cqe,
			.cq_context = (uintptr_t) cq->cq_context,
			.channel_id = tap_id_of(&tap_channels, channel),
			.extended = extended,
		};
		c->is_metered = tap_metrics_page;
		tap_table_show(&tap_cqs, c, cq);
		if (events)
			events->cq(&c->about, false);
	}
	tap_guard_clear(guard);
}

struct ibv_cq *tap_on_ibv_create_cq(ibv_create_cq_function real,
				    struct ibv_context *context, int cqe,
				    void *cq_context, struct ibv_comp_channel *channel,
				    int comp_vector)
{
	struct ibv_cq *cq = real(context, cqe, cq_context, channel, comp_vector);

	if (cq)
		tap_cq_made(cq, channel, false);
	return cq;
}

static int destroy_cq(ibv_destroy_cq_function real, struct ibv_cq *cq)
{
	void *extended = tap_extended_cq_destroy_begin(cq);
	const int ret = real(cq);

	tap_extended_cq_destroy_end(extended, cq, !ret);
	return ret;
}

int tap_on_ibv_destroy_cq(ibv_destroy_cq_function real, struct ibv_cq *cq)
{
	struct tap_cq *c = tap_table_hide(&tap_cqs, cq);

	DESTROY(tap_cqs, c, cq, TAP_GONE_CQ, destroy_cq(real, cq));
}

void tap_srq_made(struct ibv_srq *srq, uint32_t max_wr)
{
	const struct tap_context *context = tap_find(&tap_contexts, srq->context);
	const struct tap_verbs_events *events;
	struct tap_guard guard;
	struct tap_srq *s;

	if (!context)
		return;
	events = begin_counted(&guard);
	s = make(&tap_srqs);
	if (s) {
		s->post = context->real.post_srq_recv;
		s->about = (struct tap_verbs_srq){s->head.id, context->head.id, max_wr};
		s->room = tap_metrics_take_room(context->device);
		tap_table_show(&tap_srqs, s, srq);
		if (events)
			events->srq(&s->about, false);
	}
	tap_guard_clear(guard);
}

struct ibv_srq *tap_on_ibv_create_srq(ibv_create_srq_function real, struct ibv_pd *pd,
				      struct ibv_srq_init_attr *attr)
{
	struct ibv_srq *srq = real(pd, attr);

	if (srq)
		tap_srq_made(srq, attr->attr.max_wr);
	return srq;
}

int tap_on_ibv_modify_srq(ibv_modify_srq_function real, struct ibv_srq *srq,
			  struct ibv_srq_attr *attr, int mask)
{
	int (*query)(struct ibv_srq *, struct ibv_srq_attr *) =
		(int (*)(struct ibv_srq *, struct ibv_srq_attr *))
			tap_verbs_function("ibv_query_srq", "IBVERBS_1.1");
	struct tap_srq *s = tap_find(&tap_srqs, srq);
	const int ret = real(srq, attr, mask);
	struct ibv_srq_attr now;

	/* Providers round up, so the tracer asks for the value. */
	if (s && !ret && mask & IBV_SRQ_MAX_WR)
		s->about.max_wr = query && !query(srq, &now) ? now.max_wr : 0;
	return ret;
}

static int destroy_srq(ibv_destroy_srq_function real, struct ibv_srq *srq,
		       const struct tap_srq *s)
{
	const int ret = real(srq);

	if (s && !ret)
		tap_metrics_return_room(&s->room);
	return ret;
}

int tap_on_ibv_destroy_srq(ibv_destroy_srq_function real, struct ibv_srq *srq)
{
	struct tap_srq *s = tap_table_hide(&tap_srqs, srq);

	DESTROY(tap_srqs, s, srq, TAP_GONE_SRQ, destroy_srq(real, srq, s));
}

/* Not the same request of each queue pair: those of a program have the same pattern. */
static uint32_t first_timed(const struct tap_qp *q)
{
	return 1 + q->head.id % TAP_METRICS_REQUESTS_TIMED;
}

/* The program may not have asked for the queue pair number in its completions. */
static void join_cq(const struct tap_verbs_events *events, const struct ibv_cq *cq,
		    const struct tap_qp *q)
{
	if (!tap_extended_cq_joined(cq, q->about.qp_num) && events)
		events->unobserved(
			q->about.context_id, "ibv_wc_read_qp_num",
			"not asked for: the queue pair of these completions is not known");
}

/* A provider may put a copy of its table back in place of the patched one. */
static void look_for_table(const struct tap_verbs_events *events, struct tap_context *c,
			   const struct ibv_context *context)
{
	if (c->is_put_back || !c->real.post_send ||
	    context->ops.post_send != c->real.post_send)
		return;
	c->is_put_back = true;
	events->unobserved(c->head.id, "ibv_post_send",
			   "the provider put its own table back");
}

void tap_qp_made(struct ibv_qp *qp, const struct ibv_qp_cap *cap, bool all_signaled,
		 bool extended)
{
	struct tap_context *context = tap_find(&tap_contexts, qp->context);
	const struct tap_verbs_events *events;
	struct tap_guard guard;
	struct tap_qp *q;

	if (!context)
		return;
	events = begin_counted(&guard);
	q = make(&tap_qps);
	if (q) {
		q->post_send = context->real.post_send;
		q->post_recv = context->real.post_recv;
		q->all_signaled = all_signaled;
		q->is_ud = qp->qp_type == IBV_QPT_UD;
		q->generation = 1;
		q->send_cq = qp->send_cq;
		q->recv_cq = qp->recv_cq;
		q->modify = (struct tap_verbs_qp_modify){.qp_id = q->head.id,
							 .generation = 1,
							 .state = IBV_QPS_RESET};
		q->about = (struct tap_verbs_qp){
			.qp_id = q->head.id,
			.context_id = context->head.id,
			.qp_num = qp->qp_num,
			.type = (int32_t) qp->qp_type,
			.send_cq_id = tap_id_of(&tap_cqs, qp->send_cq),
			.recv_cq_id = tap_id_of(&tap_cqs, qp->recv_cq),
			.srq_id = tap_id_of(&tap_srqs, qp->srq),
			.qp_context = (uintptr_t) qp->qp_context,
			.max_send_wr = cap->max_send_wr,
			.max_recv_wr = cap->max_recv_wr,
			.max_inline_data = cap->max_inline_data,
			.sq_sig_all = all_signaled,
			.extended = extended,
		};
		q->room = tap_metrics_take_room(context->device);
		q->timed.next = first_timed(q);
		tap_qp_show(q, qp);
		if (events)
			events->qp(&q->about);
		join_cq(events, qp->send_cq, q);
		if (qp->recv_cq != qp->send_cq)
			join_cq(events, qp->recv_cq, q);
	}
	if (events)
		look_for_table(events, context, qp->context);
	tap_guard_clear(guard);
}

struct ibv_qp *tap_on_ibv_create_qp(ibv_create_qp_function real, struct ibv_pd *pd,
				    struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *qp = real(pd, attr);

	if (qp)
		tap_qp_made(qp, &attr->cap, attr->sq_sig_all, false);
	return qp;
}

int tap_on_ibv_destroy_qp(ibv_destroy_qp_function real, struct ibv_qp *qp)
{
	struct tap_qp *q = tap_qp_hide(qp);
	void *extended = tap_extended_qp_destroy_begin(qp);
	const struct tap_verbs_events *events;
	struct tap_guard guard;
	const int ret = real(qp);

	tap_extended_qp_destroy_end(extended, qp, !ret);
	if (!q)
		return ret;
	if (ret) {
		tap_qp_show(q, qp);
		return ret;
	}
	tap_extended_cq_left(q->send_cq);
	if (q->recv_cq != q->send_cq)
		tap_extended_cq_left(q->recv_cq);
	events = tap_verbs_begin_emit(&guard);
	if (events)
		events->gone(TAP_GONE_QP, q->head.id);
	tap_metrics_return_room(&q->room);
	tap_qp_free(q);
	tap_guard_clear(guard);
	return ret;
}

/* ---- The connection of a queue pair ---- */

/* Asks for the local GID of an index; the port may come from an earlier modification. */
static void ask_gid(const struct tap_verbs_events *events, struct tap_qp *q,
		    struct ibv_context *context, uint8_t port, uint8_t index,
		    struct tap_verbs_gid *ret_gid)
{
	int (*query)(struct ibv_context *, uint8_t, int, union ibv_gid *) =
		(int (*)(struct ibv_context *, uint8_t, int, union ibv_gid *))
			tap_verbs_function("ibv_query_gid", "IBVERBS_1.1");
	union ibv_gid gid;

	if (!query || query(context, port, index, &gid))
		return;
	*ret_gid = read_gid(&gid);
	tap_gid_learned(events, &(struct tap_verbs_port_gid){q->about.context_id, port,
							     index, *ret_gid});
}

/* More than any program uses; a table may have room for a thousand. */
#define NR_GIDS 32

/* A datagram may name any GID of its receiver's port. */
static void learn_gids(const struct tap_verbs_events *events, struct tap_qp *q,
		       struct ibv_context *context, uint8_t port)
{
	static const union ibv_gid none;
	int (*query)(struct ibv_context *, uint8_t, int, union ibv_gid *) =
		(int (*)(struct ibv_context *, uint8_t, int, union ibv_gid *))
			tap_verbs_function("ibv_query_gid", "IBVERBS_1.1");
	union ibv_gid gid;
	uint32_t i;

	for (i = 0; query && i < NR_GIDS && !query(context, port, (int) i, &gid); i++) {
		if (!memcmp(&gid, &none, sizeof(gid)))
			continue;
		tap_gid_learned(events,
				&(struct tap_verbs_port_gid){q->about.context_id, port, i,
							     read_gid(&gid)});
	}
}

static void ask_lid(struct ibv_context *context, uint8_t port, uint32_t *ret_lid)
{
	int (*query)(struct ibv_context *, uint8_t, struct _compat_ibv_port_attr *) =
		(int (*)(struct ibv_context *, uint8_t, struct _compat_ibv_port_attr *))
			tap_verbs_function("ibv_query_port", "IBVERBS_1.1");
	struct ibv_port_attr attr;

	memset(&attr, 0, sizeof(attr));
	if (query && !query(context, port, (void *) &attr))
		*ret_lid = attr.lid;
}

static void read_address(const struct tap_verbs_events *events, struct tap_qp *q,
			 const struct ibv_qp *qp, const struct ibv_ah_attr *ah,
			 struct tap_verbs_qp_modify *m)
{
	const uint8_t port = ah->port_num ? ah->port_num : m->port_num;

	m->port_num = port;
	m->dlid = ah->dlid;
	m->is_global = ah->is_global;
	if (ah->is_global) {
		m->dgid = read_gid(&ah->grh.dgid);
		ask_gid(events, q, qp->context, port, ah->grh.sgid_index, &m->sgid);
	}
	ask_lid(qp->context, port, &m->slid);
}

/* Updates m, which holds the values of earlier modifications. */
static void read_attr(const struct tap_verbs_events *events, struct tap_qp *q,
		      const struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask,
		      struct tap_verbs_qp_modify *m)
{
	if (mask & IBV_QP_STATE)
		m->state = attr->qp_state;
	if (mask & IBV_QP_PORT)
		m->port_num = attr->port_num;
	if (mask & IBV_QP_DEST_QPN)
		m->dest_qp_num = attr->dest_qp_num;
	if (mask & IBV_QP_AV)
		read_address(events, q, qp, &attr->ah_attr, m);
	if (mask & IBV_QP_SQ_PSN)
		m->sq_psn = attr->sq_psn;
	if (mask & IBV_QP_RQ_PSN)
		m->rq_psn = attr->rq_psn;
	if (mask & IBV_QP_PATH_MTU)
		m->path_mtu = attr->path_mtu;
	if (mask & IBV_QP_TIMEOUT)
		m->timeout = attr->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		m->retry_cnt = attr->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		m->rnr_retry = attr->rnr_retry;
}

static void begin_generation(struct tap_qp *q)
{
	q->generation++;
	q->counts = (struct tap_verbs_qp_counts){0};
	tap_metered_give_up(q);
	q->timed.next = first_timed(q);
	q->modify = (struct tap_verbs_qp_modify){.qp_id = q->head.id,
						 .generation = q->generation};
}

/* Posts to this queue pair bypass the tracer. */
static void emit_unknown(struct ibv_qp *qp)
{
	const struct tap_context *c = tap_find(&tap_contexts, qp->context);
	const struct tap_verbs_events *events;
	struct tap_guard guard;

	if (!c)
		return;
	events = tap_verbs_begin_emit(&guard);
	if (events)
		events->unobserved(c->head.id, "a queue pair",
				   "made by a function of its provider");
	tap_guard_clear(guard);
}

/* The real call comes first: it does not change attr. */
int tap_on_ibv_modify_qp(ibv_modify_qp_function real, struct ibv_qp *qp,
			 struct ibv_qp_attr *attr, int mask)
{
	struct tap_qp *q = tap_find(&tap_qps, qp);
	const struct tap_verbs_events *events;
	struct tap_verbs_qp_modify m;
	struct tap_guard guard;
	const int ret = real(qp, attr, mask);

	if (!q) {
		if (!ret && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_INIT)
			emit_unknown(qp);
		return ret;
	}
	events = tap_verbs_begin_emit(&guard);
	if (!ret && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		begin_generation(q);
	tap_extended_qp_modified(qp);
	m = q->modify;
	read_attr(events, q, qp, attr, mask, &m);
	m.attr_mask = (uint32_t) mask;
	m.ret = ret;
	if (!ret && mask & IBV_QP_CAP) {
		q->about.max_send_wr = attr->cap.max_send_wr;
		q->about.max_recv_wr = attr->cap.max_recv_wr;
	}
	if (!ret)
		q->modify = m;
	if (!(mask & IBV_QP_STATE))
		m.state = -1;
	if (q->is_ud && !ret && mask & IBV_QP_PORT)
		learn_gids(events, q, qp->context, attr->port_num);
	if (events)
		events->qp_modify(&m);
	tap_guard_clear(guard);
	return ret;
}

/* ---- Waiting ---- */

int tap_on_ibv_get_cq_event(ibv_get_cq_event_function real,
			    struct ibv_comp_channel *channel, struct ibv_cq **cq,
			    void **cq_context)
{
	const uint32_t id = tap_id_of(&tap_channels, channel);
	const struct tap_verbs_events *events;
	struct tap_guard guard;
	int ret;

	events = tap_verbs_begin_emit(&guard);
	if (events)
		events->comp_event_entry(id);
	tap_guard_clear(guard);
	ret = real(channel, cq, cq_context);
	events = tap_verbs_begin_emit(&guard);
	if (events)
		events->comp_event_exit(id, ret ? 0 : tap_id_of(&tap_cqs, *cq), ret);
	tap_guard_clear(guard);
	return ret;
}

static void describe_async(struct tap_verbs_async *ret,
			   const struct ibv_async_event *event)
{
	ret->event = (int32_t) event->event_type;
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		ret->cq_id = tap_id_of(&tap_cqs, event->element.cq);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		ret->qp_id = tap_id_of(&tap_qps, event->element.qp);
		break;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		ret->srq_id = tap_id_of(&tap_srqs, event->element.srq);
		break;
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		ret->port_num = (uint32_t) event->element.port_num;
		break;
	default:
		break;
	}
}

int tap_on_ibv_get_async_event(ibv_get_async_event_function real,
			       struct ibv_context *context, struct ibv_async_event *event)
{
	struct tap_verbs_async async = {.context_id = tap_id_of(&tap_contexts, context)};
	const struct tap_verbs_events *events;
	struct tap_guard guard;
	int ret;

	if (tap_thread_is_ccls())
		tap_thread_does(TAP_THREAD_ASYNC);
	ret = real(context, event);
	if (ret)
		return ret;
	events = tap_verbs_begin_emit(&guard);
	if (events) {
		describe_async(&async, event);
		events->async_event(&async);
	}
	tap_guard_clear(guard);
	return ret;
}
