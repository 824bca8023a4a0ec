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

#include "common/clock.h"
#include "verbs/post.h"
#include "verbs/way.h"

void tap_tell_failed(const struct tap_object *qp, const struct tap_object *srq,
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

/*
 * The request that a provider refused: the first where it names none of the list, as one
 * that returns early may do.  What it left in *bad is not followed.
 */
static const struct ibv_send_wr *refused_send(const struct ibv_send_wr *first,
					      const struct ibv_send_wr *bad)
{
	const struct ibv_send_wr *wr = first;

	while (wr && wr != bad)
		wr = wr->next;
	return wr ? wr : first;
}

static const struct ibv_recv_wr *refused_recv(const struct ibv_recv_wr *first,
					      const struct ibv_recv_wr *bad)
{
	const struct ibv_recv_wr *wr = first;

	while (wr && wr != bad)
		wr = wr->next;
	return wr ? wr : first;
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

tap_hot tap_apart static int post_one_send(struct tap_qp *q, tap_post_send post,
					   struct ibv_qp *qp, enum tap_send_kind kind,
					   struct ibv_send_wr *wr,
					   struct ibv_send_wr **bad)
{
	struct tap_send_record record;
	struct tap_verbs_post_send *const send = &record.is.send;
	struct tap_sends sends = {0}, first;
	struct tap_visit visit;
	const uint64_t wr_id = wr->wr_id;
	int ret;

	tap_send_count(&sends, q, wr);
	tap_send_fill(&record, q, kind, wr);
	visit = tap_turn_begin(&q->send_turn);
	send->begin_ns = (uint64_t) tap_now_ns();
	ret = post(qp, wr, bad);
	if (unlikely(ret)) {
		tap_turn_pass(&q->send_turn, &visit);
		tap_tell_failed(&q->head, NULL, false, ret, 0, wr_id);
		return ret;
	}
	send->raced = tap_sends_accepted(q, &visit, &sends, &first);
	send->seq = first.nr + 1;
	send->signaled_seq = first.signaled + sends.signaled;
	send->consuming_seq = first.consuming + sends.consuming;
	tap_send_write(&record);
	return ret;
}

tap_hot tap_apart static int post_many_sends(struct tap_qp *q, tap_post_send post,
					     struct ibv_qp *qp, enum tap_send_kind kind,
					     struct tap_sends sends,
					     struct ibv_send_wr *wr,
					     struct ibv_send_wr **bad)
{
	struct tap_send_part part;
	struct tap_verbs_post_send_list *const list = &part.room.send.record;
	const struct ibv_send_wr *refused = NULL;
	struct tap_visit visit;
	struct tap_sends first;
	int ret;

	tap_sends_fill(&part, q, kind, wr, sends);
	visit = tap_turn_begin(&q->send_turn);
	list->begin_ns = (uint64_t) tap_now_ns();
	ret = post(qp, wr, bad);
	if (unlikely(ret)) {
		refused = refused_send(wr, *bad);
		sends = tap_sends_count(q, wr, refused, &kind);
	}
	list->raced = tap_sends_accepted(q, &visit, &sends, &first);
	tap_sends_write(&part, q, wr, first, sends);
	if (unlikely(ret))
		tap_tell_failed(&q->head, NULL, false, ret, sends.nr, refused->wr_id);
	return ret;
}

tap_hot int tap_post_sends(struct tap_qp *q, tap_post_send post, struct ibv_qp *qp,
			   struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct tap_sends sends, first;
	enum tap_send_kind kind;
	struct tap_visit visit;
	int ret;

	sends = tap_sends_count(q, wr, NULL, &kind);
	if (sends.nr == 1 && tap_verbs_wants(TAP_VERBS_post_send + kind))
		return post_one_send(q, post, qp, kind, wr, bad);
	if (sends.nr > 1 && tap_verbs_wants(TAP_VERBS_post_send_list + kind))
		return post_many_sends(q, post, qp, kind, sends, wr, bad);
	visit = tap_turn_begin(&q->send_turn);
	ret = post(qp, wr, bad);
	if (unlikely(ret && wr))
		sends = tap_sends_count(q, wr, refused_send(wr, *bad), &kind);
	tap_sends_accepted(q, &visit, &sends, &first);
	return ret;
}

tap_apart static int post_slowly(struct ibv_qp *qp, struct ibv_send_wr *wr,
				 struct ibv_send_wr **bad)
{
	struct tap_qp *q = tap_find(&tap_qps, qp);

	return likely(q) ? tap_post_sends(q, q->post_send, qp, wr, bad)
			 : post_unknown_send(qp, wr, bad);
}

/* Most posts are of one request, on a queue of this thread's. */
tap_hot int tap_on_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
			     struct ibv_send_wr **bad)
{
	struct tap_qp *q = tap_table_look(&tap_qps, qp);
	struct tap_sends sends = {0};
	enum tap_send_kind kind;
	uint32_t *stage;
	bool is_plain;
	int ret;

	if (unlikely(!q || !wr || wr->next))
		return post_slowly(qp, wr, bad);
	kind = tap_send_kind(q, wr->opcode);
	if (tap_verbs_wants(TAP_VERBS_post_send + kind))
		return post_one_send(q, q->post_send, qp, kind, wr, bad);
	stage = tap_turn_enter(&q->send_turn);
	if (unlikely(!stage))
		return post_slowly(qp, wr, bad);
	tap_send_count(&sends, q, wr);
	ret = q->post_send(qp, wr, bad);
	if (likely(!ret)) {
		is_plain = tap_turn_is_plain(&q->send_turn, stage);
		tap_turn_add(is_plain, &q->counts.sent, 1);
		tap_turn_add(is_plain, &q->counts.signaled, sends.signaled);
		tap_turn_add(is_plain, &q->counts.consuming, sends.consuming);
		if (unlikely(!is_plain))
			return ret;
	}
	tap_turn_leave(stage);
	return ret;
}

/* ---- Receives, of a queue pair or of what several share ---- */

struct receive {
	struct tap_turn *turn;
	uint32_t *count;
	const struct tap_object *qp, *srq;
	uint16_t life;
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
	record->num_sge = tap_small(wr->num_sge);
	record->length = tap_length_of(wr->sg_list, wr->num_sge);
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
		a.num_sge[i].is = tap_small(wr->num_sge);
		a.length[i].is = tap_length_of(wr->sg_list, wr->num_sge);
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
	record->nr = count_recvs(wr, NULL);
	record->is_wanted =
		record->nr && tap_verbs_wants(record->nr == 1 ? TAP_VERBS_post_recv
							      : TAP_VERBS_post_recv_list);
	if (unlikely(record->is_wanted)) {
		if (record->nr == 1)
			fill_recv(&record->one, r, wr);
		else
			fill_recvs(&record->many, r, wr, record->nr);
	}
	record->visit = tap_turn_begin(r->turn);
	if (unlikely(record->is_wanted)) {
		if (record->nr == 1)
			record->one.begin_ns = (uint64_t) tap_now_ns();
		else
			record->many.room.record.begin_ns = (uint64_t) tap_now_ns();
	}
}

tap_apart static void write_recv(struct recv_record *record, const struct receive *r,
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

	tap_turn_end(&record->visit);
	if (unlikely(record->is_wanted))
		write_recv(record, r, wr, first, accepted);
	if (unlikely(ret && bad))
		tap_tell_failed(r->qp, r->srq, true, ret, accepted, bad->wr_id);
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
			     tap_life_of(q)};
	begin_recv(&record, &r, wr);
	ret = q->post_recv(qp, wr, bad);
	end_recv(&record, &r, wr, ret && wr ? refused_recv(wr, *bad) : NULL, ret);
	return ret;
}

tap_hot int tap_on_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			     struct ibv_recv_wr **bad)
{
	struct tap_qp *q = tap_table_look(&tap_qps, qp);
	uint32_t *stage;
	bool is_plain;
	int ret;

	if (unlikely(!q || !wr || wr->next || tap_verbs_wants(TAP_VERBS_post_recv)))
		return post_recv_slowly(qp, wr, bad);
	stage = tap_turn_enter(&q->recv_turn);
	if (unlikely(!stage))
		return post_recv_slowly(qp, wr, bad);
	ret = q->post_recv(qp, wr, bad);
	if (likely(!ret)) {
		is_plain = tap_turn_is_plain(&q->recv_turn, stage);
		tap_turn_add(is_plain, &q->counts.recv_posted, 1);
		if (unlikely(!is_plain))
			return ret;
	}
	tap_turn_leave(stage);
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
	end_recv(&record, &r, wr, ret && wr ? refused_recv(wr, *bad) : NULL, ret);
	return ret;
}
