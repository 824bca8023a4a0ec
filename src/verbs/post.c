/* SPDX-License-Identifier: MIT */
/*
 * Posts: what stands in the tables in place of post_send, post_recv and post_srq_recv.
 *
 * Requests are read before the real call, since another thread may have seen them
 * complete and have freed them when it returns; only of a long list the rest is read
 * after it, and of one that failed the part that did not.  The addresses in them are
 * never followed.
 */
#include <errno.h>
#include <time.h>

#include "verbs/objects.h"
#include "verbs/way.h"

struct sends {
	uint32_t nr, signaled, consuming;
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t) ts.tv_sec * 1000000000 + (uint64_t) ts.tv_nsec;
}

static bool is_consuming(enum ibv_wr_opcode opcode)
{
	const uint32_t consuming = 1u << IBV_WR_SEND | 1u << IBV_WR_SEND_WITH_IMM |
				   1u << IBV_WR_SEND_WITH_INV |
				   1u << IBV_WR_RDMA_WRITE_WITH_IMM;

	return (unsigned) opcode < 32 && consuming >> opcode & 1;
}

static bool has_imm(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM ||
	       opcode == IBV_WR_SEND_WITH_INV || opcode == IBV_WR_LOCAL_INV;
}

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static void count_send(struct sends *sends, const struct tap_qp *q,
		       const struct ibv_send_wr *wr)
{
	sends->nr++;
	sends->signaled += q->all_signaled || wr->send_flags & IBV_SEND_SIGNALED;
	sends->consuming += is_consuming(wr->opcode);
}

/* Those before `end`, NULL all. */
static struct sends count_sends(const struct tap_qp *q, const struct ibv_send_wr *wr,
				const struct ibv_send_wr *end)
{
	struct sends sends = {0};

	for (; wr && wr != end; wr = wr->next)
		count_send(&sends, q, wr);
	return sends;
}

static uint32_t length_of(const struct ibv_sge *sge, int nr)
{
	uint64_t length = 0;
	int i;

	for (i = 0; i < nr; i++)
		length += sge[i].length;
	return length > UINT32_MAX ? UINT32_MAX : (uint32_t) length;
}

static uint8_t small(int n)
{
	return (uint8_t) (n > UINT8_MAX ? UINT8_MAX : n);
}

/* Where a request goes: nowhere for those that name no address. */
static void read_remote(const struct tap_qp *q, const struct ibv_send_wr *wr,
			uint64_t *ret_addr, uint32_t *ret_rkey)
{
	*ret_addr = 0;
	*ret_rkey = 0;
	if (q->is_ud)
		return;
	if (is_atomic(wr->opcode)) {
		*ret_addr = wr->wr.atomic.remote_addr;
		*ret_rkey = wr->wr.atomic.rkey;
	} else if (wr->opcode == IBV_WR_RDMA_WRITE ||
		   wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ||
		   wr->opcode == IBV_WR_RDMA_READ) {
		*ret_addr = wr->wr.rdma.remote_addr;
		*ret_rkey = wr->wr.rdma.rkey;
	}
}

static void fill_send(struct tap_verbs_post_send *record, const struct tap_qp *q,
		      const struct ibv_send_wr *wr)
{
	uint64_t remote_addr;
	uint32_t rkey;

	read_remote(q, wr, &remote_addr, &rkey);
	record->qp_id = q->head.id;
	record->life = q->life;
	record->wr_id = wr->wr_id;
	record->opcode = (uint8_t) wr->opcode;
	record->send_flags = (uint8_t) wr->send_flags;
	record->num_sge = small(wr->num_sge);
	record->length = length_of(wr->sg_list, wr->num_sge);
	record->addr = wr->num_sge > 0 ? wr->sg_list[0].addr : 0;
	record->lkey = wr->num_sge > 0 ? wr->sg_list[0].lkey : 0;
	record->remote_addr = remote_addr;
	record->rkey = rkey;
	record->imm_data = has_imm(wr->opcode) ? wr->imm_data : 0;
	record->remote_qpn = q->is_ud ? wr->wr.ud.remote_qpn : 0;
	record->ah_id = q->is_ud ? tap_id_of(&tap_ahs, wr->wr.ud.ah) : 0;
}

/* A part of a list, as one event. */
struct send_part {
	struct tap_verbs_post_send_list_room room;
	size_t length;
	struct sends all, lead; /* of the part, and of its first request */
	const struct ibv_send_wr *next;
};

/* The requests from wr on, but no more than an event has room for, nor than limit. */
static void fill_sends(struct send_part *part, const struct tap_qp *q,
		       const struct ibv_send_wr *wr, uint32_t limit)
{
	const uint32_t nr = limit < TAP_VERBS_LIST_MAX ? limit : TAP_VERBS_LIST_MAX;
	struct tap_verbs_post_send_list_arrays a;
	uint64_t remote_addr;
	uint32_t i, rkey;

	part->all = part->lead = (struct sends){0};
	part->length = tap_verbs_post_send_list_place(&part->room, nr, &a);
	part->room.record.qp_id = q->head.id;
	part->room.record.life = q->life;
	part->room.record.num_wr = (uint8_t) nr;
	count_send(&part->lead, q, wr);
	for (i = 0; i < nr; i++, wr = wr->next) {
		count_send(&part->all, q, wr);
		read_remote(q, wr, &remote_addr, &rkey);
		a.wr_id[i].is = wr->wr_id;
		a.opcode[i].is = (uint8_t) wr->opcode;
		a.send_flags[i].is = (uint8_t) wr->send_flags;
		a.num_sge[i].is = small(wr->num_sge);
		a.length[i].is = length_of(wr->sg_list, wr->num_sge);
		a.addr[i].is = wr->num_sge > 0 ? wr->sg_list[0].addr : 0;
		a.remote_addr[i].is = remote_addr;
		a.rkey[i].is = rkey;
		a.imm_data[i].is = has_imm(wr->opcode) ? wr->imm_data : 0;
	}
	part->next = wr;
}

static void write_sends(struct send_part *part, const struct tap_qp *q,
			const struct ibv_send_wr *wr, struct sends first, uint32_t nr)
{
	struct tap_verbs_post_send_list *record = &part->room.record;

	/* Some were not accepted: what was filled in is too much. */
	if (nr && nr < record->num_wr)
		fill_sends(part, q, wr, nr);
	while (nr) {
		record->seq = first.nr + 1;
		record->signaled_seq = first.signaled + part->lead.signaled;
		record->consuming_seq = first.consuming + part->lead.consuming;
		tap_verbs_write(TAP_VERBS_post_send_list, &part->room, part->length);
		first.nr += part->all.nr;
		first.signaled += part->all.signaled;
		first.consuming += part->all.consuming;
		nr -= part->all.nr;
		if (nr)
			fill_sends(part, q, part->next, nr);
	}
}

/* Counts what was accepted; what was before, in *ret_first.  Whether two threads raced.
 */
static bool count_accepted(struct tap_qp *q, struct tap_visit *visit,
			   const struct sends *accepted, struct sends *ret_first)
{
	const bool is_plain = tap_turn_count(&q->send_turn, visit);

	ret_first->nr = tap_turn_add(is_plain, &q->counts.sent, accepted->nr);
	ret_first->signaled =
		tap_turn_add(is_plain, &q->counts.signaled, accepted->signaled);
	ret_first->consuming =
		tap_turn_add(is_plain, &q->counts.consuming, accepted->consuming);
	tap_turn_end(&q->send_turn, visit);
	return visit->raced;
}

static void tell_failed(const struct tap_object *qp, const struct tap_object *srq,
			bool is_recv, int ret, uint32_t accepted, uint64_t wr_id)
{
	const struct tap_verbs_post_failed record = {
		.qp_id = qp ? qp->id : 0,
		.srq_id = srq ? srq->id : 0,
		.is_recv = is_recv,
		.ret = ret,
		.accepted = accepted,
		.wr_id = wr_id,
	};

	if (tap_verbs_wants(TAP_VERBS_post_failed))
		tap_verbs_write(TAP_VERBS_post_failed, &record, sizeof(record));
}

/* A queue that was made past us: it goes where its context's others go. */
static const struct tap_context *context_of(struct ibv_context *context)
{
	return context ? tap_find(&tap_contexts, context) : NULL;
}

static int post_unknown_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
			     struct ibv_send_wr **bad)
{
	const struct tap_context *c = context_of(qp->context);

	if (c)
		return c->real.post_send(qp, wr, bad);
	*bad = wr;
	return EINVAL;
}

tap_cold static int post_one_send(struct tap_qp *q, struct ibv_qp *qp,
				  struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct tap_verbs_post_send record;
	struct sends sends = {0}, first;
	struct tap_visit visit;
	const uint64_t wr_id = wr->wr_id;
	int ret;

	count_send(&sends, q, wr);
	fill_send(&record, q, wr);
	visit = tap_turn_begin(&q->send_turn);
	record.begin_ns = now();
	ret = q->post_send(qp, wr, bad);
	if (unlikely(ret)) {
		tap_turn_pass(&q->send_turn, &visit);
		tell_failed(&q->head, NULL, false, ret, 0, wr_id);
		return ret;
	}
	record.raced = count_accepted(q, &visit, &sends, &first);
	record.seq = first.nr + 1;
	record.signaled_seq = first.signaled + sends.signaled;
	record.consuming_seq = first.consuming + sends.consuming;
	tap_verbs_write(TAP_VERBS_post_send, &record, sizeof(record));
	return ret;
}

tap_cold static int post_many_sends(struct tap_qp *q, struct ibv_qp *qp,
				    struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct sends sends = count_sends(q, wr, NULL), first;
	struct tap_visit visit;
	struct send_part part;
	int ret;

	fill_sends(&part, q, wr, sends.nr);
	visit = tap_turn_begin(&q->send_turn);
	part.room.record.begin_ns = now();
	ret = q->post_send(qp, wr, bad);
	if (unlikely(ret))
		sends = count_sends(q, wr, *bad);
	part.room.record.raced = count_accepted(q, &visit, &sends, &first);
	write_sends(&part, q, wr, first, sends.nr);
	if (unlikely(ret))
		tell_failed(&q->head, NULL, false, ret, sends.nr, (*bad)->wr_id);
	return ret;
}

tap_apart static int post_slowly(struct ibv_qp *qp, struct ibv_send_wr *wr,
				 struct ibv_send_wr **bad)
{
	struct tap_qp *q = tap_find(&tap_qps, qp);
	struct sends sends, first;
	struct tap_visit visit;
	int ret;

	if (unlikely(!q))
		return post_unknown_send(qp, wr, bad);
	if (tap_verbs_wants(TAP_VERBS_post_send) && wr)
		return wr->next ? post_many_sends(q, qp, wr, bad)
				: post_one_send(q, qp, wr, bad);
	sends = count_sends(q, wr, NULL);
	visit = tap_turn_begin(&q->send_turn);
	ret = q->post_send(qp, wr, bad);
	if (unlikely(ret))
		sends = count_sends(q, wr, *bad);
	count_accepted(q, &visit, &sends, &first);
	return ret;
}

/* Most posts are of one request, on a queue of this thread's, and nobody records. */
int tap_on_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct tap_qp *q = tap_table_look(&tap_qps, qp);
	struct tap_visit visit;
	struct sends sends = {0}, first;
	int ret;

	if (unlikely(!q || !wr || wr->next || tap_verbs_wants(TAP_VERBS_post_send) ||
		     !tap_turn_begin_fast(&q->send_turn, &visit)))
		return post_slowly(qp, wr, bad);
	count_send(&sends, q, wr);
	ret = q->post_send(qp, wr, bad);
	if (unlikely(ret))
		tap_turn_pass(&q->send_turn, &visit);
	else
		count_accepted(q, &visit, &sends, &first);
	return ret;
}

/* ---- Receives, of a queue pair or of what several share ---- */

struct receive {
	struct tap_turn *turn;
	uint32_t *count;
	const struct tap_object *qp, *srq;
	uint32_t life;
};

struct recv_part {
	struct tap_verbs_post_recv_list_room room;
	size_t length;
	const struct ibv_recv_wr *next;
};

static uint32_t count_recvs(const struct ibv_recv_wr *wr, const struct ibv_recv_wr *end)
{
	uint32_t nr = 0;

	for (; wr && wr != end; wr = wr->next)
		nr++;
	return nr;
}

static void fill_recv(struct tap_verbs_post_recv *record, const struct receive *r,
		      const struct ibv_recv_wr *wr)
{
	record->qp_id = r->qp ? r->qp->id : 0;
	record->srq_id = r->srq ? r->srq->id : 0;
	record->life = r->life;
	record->wr_id = wr->wr_id;
	record->num_sge = small(wr->num_sge);
	record->length = length_of(wr->sg_list, wr->num_sge);
	record->addr = wr->num_sge > 0 ? wr->sg_list[0].addr : 0;
}

static void fill_recvs(struct recv_part *part, const struct receive *r,
		       const struct ibv_recv_wr *wr, uint32_t limit)
{
	const uint32_t nr = limit < TAP_VERBS_LIST_MAX ? limit : TAP_VERBS_LIST_MAX;
	struct tap_verbs_post_recv_list_arrays a;
	uint32_t i;

	part->length = tap_verbs_post_recv_list_place(&part->room, nr, &a);
	part->room.record.qp_id = r->qp ? r->qp->id : 0;
	part->room.record.srq_id = r->srq ? r->srq->id : 0;
	part->room.record.life = r->life;
	part->room.record.num_wr = (uint8_t) nr;
	for (i = 0; i < nr; i++, wr = wr->next) {
		a.wr_id[i].is = wr->wr_id;
		a.num_sge[i].is = small(wr->num_sge);
		a.length[i].is = length_of(wr->sg_list, wr->num_sge);
		a.addr[i].is = wr->num_sge > 0 ? wr->sg_list[0].addr : 0;
	}
	part->next = wr;
}

static void write_recvs(struct recv_part *part, const struct receive *r,
			const struct ibv_recv_wr *wr, uint32_t first, uint32_t nr)
{
	struct tap_verbs_post_recv_list *record = &part->room.record;

	if (nr && nr < record->num_wr)
		fill_recvs(part, r, wr, nr);
	while (nr) {
		record->seq = first + 1;
		tap_verbs_write(TAP_VERBS_post_recv_list, &part->room, part->length);
		first += record->num_wr;
		nr -= record->num_wr;
		if (nr)
			fill_recvs(part, r, part->next, nr);
	}
}

/* The real call is the caller's, between these two. */
struct recv_record {
	struct tap_visit visit;
	bool is_wanted;
	uint32_t nr;
	union {
		struct tap_verbs_post_recv one;
		struct recv_part many;
	};
};

static inline void begin_recv(struct recv_record *record, const struct receive *r,
			      const struct ibv_recv_wr *wr)
{
	record->is_wanted = wr && tap_verbs_wants(TAP_VERBS_post_recv);
	record->nr = count_recvs(wr, NULL);
	if (unlikely(record->is_wanted)) {
		if (record->nr == 1)
			fill_recv(&record->one, r, wr);
		else
			fill_recvs(&record->many, r, wr, record->nr);
	}
	record->visit = tap_turn_begin(r->turn);
	if (unlikely(record->is_wanted)) {
		if (record->nr == 1)
			record->one.begin_ns = now();
		else
			record->many.room.record.begin_ns = now();
	}
}

tap_cold static void write_recv(struct recv_record *record, const struct receive *r,
				const struct ibv_recv_wr *wr, uint32_t first,
				uint32_t accepted)
{
	if (record->nr == 1 && accepted) {
		record->one.raced = record->visit.raced;
		record->one.seq = first + 1;
		tap_verbs_write(TAP_VERBS_post_recv, &record->one, sizeof(record->one));
	} else if (accepted) {
		record->many.room.record.raced = record->visit.raced;
		write_recvs(&record->many, r, wr, first, accepted);
	}
}

static inline void end_recv(struct recv_record *record, const struct receive *r,
			    const struct ibv_recv_wr *wr, const struct ibv_recv_wr *bad,
			    int ret)
{
	const uint32_t accepted = unlikely(ret) ? count_recvs(wr, bad) : record->nr;
	const bool is_plain = tap_turn_count(r->turn, &record->visit);
	const uint32_t first = tap_turn_add(is_plain, r->count, accepted);

	tap_turn_end(r->turn, &record->visit);
	if (unlikely(record->is_wanted))
		write_recv(record, r, wr, first, accepted);
	if (unlikely(ret && bad))
		tell_failed(r->qp, r->srq, true, ret, accepted, bad->wr_id);
}

tap_apart static int post_recv_slowly(struct ibv_qp *qp, struct ibv_recv_wr *wr,
				      struct ibv_recv_wr **bad)
{
	struct tap_qp *q = tap_find(&tap_qps, qp);
	const struct tap_context *c;
	struct recv_record record;
	struct receive r;
	int ret;

	if (unlikely(!q)) {
		c = context_of(qp->context);
		if (c)
			return c->real.post_recv(qp, wr, bad);
		*bad = wr;
		return EINVAL;
	}
	r = (struct receive){&q->recv_turn, &q->counts.recv_posted, &q->head, NULL,
			     q->life};
	begin_recv(&record, &r, wr);
	ret = q->post_recv(qp, wr, bad);
	end_recv(&record, &r, wr, ret ? *bad : NULL, ret);
	return ret;
}

int tap_on_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct tap_qp *q = tap_table_look(&tap_qps, qp);
	struct tap_visit visit;
	bool is_plain;
	int ret;

	if (unlikely(!q || !wr || wr->next || tap_verbs_wants(TAP_VERBS_post_recv) ||
		     !tap_turn_begin_fast(&q->recv_turn, &visit)))
		return post_recv_slowly(qp, wr, bad);
	ret = q->post_recv(qp, wr, bad);
	is_plain = tap_turn_count(&q->recv_turn, &visit);
	tap_turn_add(is_plain, &q->counts.recv_posted, !ret);
	tap_turn_end(&q->recv_turn, &visit);
	return ret;
}

int tap_on_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad)
{
	struct tap_srq *s = tap_find(&tap_srqs, srq);
	const struct tap_context *c;
	struct recv_record record;
	struct receive r;
	int ret;

	if (unlikely(!s)) {
		c = context_of(srq->context);
		if (c)
			return c->real.post_srq_recv(srq, wr, bad);
		*bad = wr;
		return EINVAL;
	}
	r = (struct receive){&s->turn, &s->posted, NULL, &s->head, 1};
	begin_recv(&record, &r, wr);
	ret = s->post(srq, wr, bad);
	end_recv(&record, &r, wr, ret ? *bad : NULL, ret);
	return ret;
}
