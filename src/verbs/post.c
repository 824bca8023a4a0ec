/* SPDX-License-Identifier: MIT */
/*
 * Posts: the functions that replace post_send, post_recv and post_srq_recv in the tables.
 *
 * The tracer reads requests only before the real call: when it returns, another thread
 * may already have seen them complete and freed them.  It reads no more of them than a
 * provider accepts, and never follows the addresses in them.
 */
#include <errno.h>

#include "common/clock.h"
#include "verbs/post.h"
#include "verbs/entry_point.h"

void tap_emit_failed(const struct tap_object *qp, const struct tap_object *srq,
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
 * The context of a queue that the tracer did not see made: its posts go straight to the
 * context's real functions.
 */
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

/* All requests of a list, before it is posted. */
static inline uint64_t bytes_of_list(const struct tap_qp *q, const struct tap_list *list,
				     const struct ibv_send_wr *wr)
{
	return unlikely(tap_metered(q)) ? tap_metered_bytes(wr, list->nr) : 0;
}

/*
 * Of a list that failed, the bytes of those that were accepted.  The others are still the
 * program's, and may be read.
 */
tap_cold static uint64_t bytes_accepted(struct tap_qp *q, const struct tap_list *list,
					uint64_t bytes, const struct ibv_send_wr *bad,
					struct tap_sends accepted)
{
	if (!tap_metered(q))
		return 0;
	tap_metered_refused(q, accepted.signaled);
	return accepted.nr ? bytes - tap_metered_bytes(bad, list->nr - accepted.nr) : 0;
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
	visit = tap_owner_counter_begin(&q->send_counter);
	tap_metered_begin_in(&visit, q, sends.signaled);
	send->begin_ns = (uint64_t) tap_now_ns();
	ret = post(qp, wr, bad);
	if (unlikely(ret)) {
		if (unlikely(tap_metered(q)))
			tap_metered_refused(q, 0);
		tap_owner_counter_pass(&q->send_counter, &visit);
		tap_emit_failed(&q->head, NULL, false, ret, 0, wr_id);
		return ret;
	}
	send->concurrent = tap_sends_accepted(q, &visit, &sends, send->length, &first);
	send->seq = first.nr + 1;
	send->signaled_seq = first.signaled + sends.signaled;
	send->consuming_seq = first.consuming + sends.consuming;
	tap_send_write(&record);
	return ret;
}

/*
 * Fills in the events after the first one of a long list and has the list mark all its
 * requests.  Returns NULL when there is no memory.
 */
tap_apart static struct tap_send_part *
keep_rest(struct tap_list *list, const struct tap_qp *q, enum tap_send_kind kind,
	  const struct ibv_send_wr *first, const struct ibv_send_wr *wr)
{
	const uint32_t nr = list->nr;
	const size_t more = (tap_list_nr_events(nr) - 1) * sizeof(struct tap_send_part);
	struct tap_send_part *const parts = tap_list_grow(list, nr, more), *part;
	uint32_t left = nr - TAP_VERBS_LIST_MAX, some;

	if (!parts)
		return NULL;
	(void) tap_sends_read(list, q, first, &kind);
	for (part = parts; left; left -= some, part++) {
		some = left < TAP_VERBS_LIST_MAX ? left : TAP_VERBS_LIST_MAX;
		wr = tap_sends_fill(part, q, kind, wr, some);
	}
	return parts;
}

/* The description of a list: its first event, and the others. */
struct sends_reported {
	struct tap_send_part first, *more;
	enum tap_send_kind kind;
	uint64_t begin_ns;
	bool concurrent;
};

/* The wr_id of the i-th request; 0 if there was no memory to keep it. */
static uint64_t wr_id_of(struct sends_reported *reported, uint32_t i)
{
	struct tap_verbs_post_send_list_arrays a;
	struct tap_send_part *part = &reported->first;

	if (i >= TAP_VERBS_LIST_MAX) {
		if (!reported->more)
			return 0;
		part = &reported->more[i / TAP_VERBS_LIST_MAX - 1];
	}
	/* wr_id is the first array of each kind. */
	tap_verbs_post_send_list_place(&part->room.send, TAP_VERBS_LIST_MAX, &a);
	return a.wr_id[i % TAP_VERBS_LIST_MAX].is;
}

/* Writes the accepted requests; `first` counts those accepted before them. */
static void write_sends(struct sends_reported *reported, const struct tap_list *list,
			const struct tap_qp *q, struct tap_sends first, uint32_t accepted)
{
	struct tap_send_part *part = &reported->first;
	struct tap_verbs_post_send_list *record;
	struct tap_sends before = first, some;
	uint32_t i = 0, nr;

	while (i < accepted) {
		record = &part->room.send.record;
		record->begin_ns = reported->begin_ns;
		record->concurrent = reported->concurrent;
		nr = accepted - i < record->num_wr ? accepted - i : record->num_wr;
		tap_sends_write(part, reported->kind, before, nr);
		i += nr;
		if (likely(i == accepted))
			break;
		if (!reported->more) {
			tap_list_emit_forgotten(list);
			break;
		}
		part = part == &reported->first ? reported->more : part + 1;
		some = tap_sends_first(list, q, i);
		before.nr = first.nr + some.nr;
		before.signaled = first.signaled + some.signaled;
		before.consuming = first.consuming + some.consuming;
	}
}

tap_hot tap_apart static int
post_many_sends(struct tap_qp *q, tap_post_send post, struct ibv_qp *qp,
		enum tap_send_kind kind, struct tap_sends sends, struct tap_list *list,
		struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	const struct ibv_send_wr *next;
	struct sends_reported reported;
	struct tap_visit visit;
	struct tap_sends first;
	uint32_t accepted;
	uint64_t bytes, wr_id = 0;
	int ret;

	bytes = bytes_of_list(q, list, wr);
	reported.kind = kind;
	reported.more = NULL;
	if (likely(sends.nr <= TAP_VERBS_LIST_MAX)) {
		tap_sends_fill(&reported.first, q, kind, wr, sends.nr);
	} else {
		next = tap_sends_fill(&reported.first, q, kind, wr, TAP_VERBS_LIST_MAX);
		reported.more = keep_rest(list, q, kind, wr, next);
	}
	visit = tap_owner_counter_begin(&q->send_counter);
	tap_metered_begin_in(&visit, q, sends.signaled);
	reported.begin_ns = (uint64_t) tap_now_ns();
	ret = post(qp, wr, bad);
	if (unlikely(ret)) {
		if (tap_list_accepted(list, *bad, &accepted))
			wr_id = wr_id_of(&reported, accepted);
		sends = tap_sends_first(list, q, accepted);
		bytes = bytes_accepted(q, list, bytes, *bad, sends);
	}
	reported.concurrent = tap_sends_accepted(q, &visit, &sends, bytes, &first);
	write_sends(&reported, list, q, first, sends.nr);
	tap_list_end(list);
	if (unlikely(ret))
		tap_emit_failed(&q->head, NULL, false, ret, sends.nr, wr_id);
	else if (unlikely(list->rest))
		tap_list_emit_unread(list);
	return ret;
}

tap_hot int tap_post_sends(struct tap_qp *q, tap_post_send post, struct ibv_qp *qp,
			   struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct tap_sends sends, first;
	enum tap_send_kind kind;
	struct tap_visit visit;
	struct tap_list list;
	uint32_t accepted;
	uint64_t bytes;
	int ret;

	tap_list_begin(&list, q->about.context_id, q->about.max_send_wr);
	sends = tap_sends_read(&list, q, wr, &kind);
	if (sends.nr == 1 && tap_verbs_wants(TAP_VERBS_post_send + kind))
		return post_one_send(q, post, qp, kind, wr, bad);
	if (sends.nr > 1 && tap_verbs_wants(TAP_VERBS_post_send_list + kind))
		return post_many_sends(q, post, qp, kind, sends, &list, wr, bad);
	if (unlikely(sends.nr > TAP_VERBS_LIST_MAX) && tap_list_grow(&list, sends.nr, 0))
		sends = tap_sends_read(&list, q, wr, &kind);
	bytes = bytes_of_list(q, &list, wr);
	visit = tap_owner_counter_begin(&q->send_counter);
	tap_metered_begin_in(&visit, q, sends.signaled);
	ret = post(qp, wr, bad);
	if (unlikely(ret && wr)) {
		(void) tap_list_accepted(&list, *bad, &accepted);
		sends = tap_sends_first(&list, q, accepted);
		bytes = bytes_accepted(q, &list, bytes, *bad, sends);
	}
	tap_sends_accepted(q, &visit, &sends, bytes, &first);
	tap_list_end(&list);
	if (unlikely(list.rest && !ret))
		tap_list_emit_unread(&list);
	return ret;
}

tap_apart static int post_slowly(struct ibv_qp *qp, struct ibv_send_wr *wr,
				 struct ibv_send_wr **bad)
{
	struct tap_qp *q = tap_find(&tap_qps, qp);

	return likely(q) ? tap_post_sends(q, q->post_send, qp, wr, bad)
			 : post_unknown_send(qp, wr, bad);
}

/*
 * Most posts have one request, on a queue that this thread owns.  Inlined into its two
 * callers, so that one of them has no test for what --metrics counts.
 */
tap_within static inline int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
				       struct ibv_send_wr **bad, bool may_be_metered)
{
	struct tap_qp *q = tap_table_look(&tap_qps, qp);
	struct tap_sends sends = {0};
	enum tap_send_kind kind;
	uint64_t bytes = 0;
	bool is_plain, is_metered;
	uint32_t *stage;
	int ret;

	if (unlikely(!q || !wr || wr->next))
		return post_slowly(qp, wr, bad);
	kind = tap_send_kind(q, wr->opcode);
	if (tap_verbs_wants(TAP_VERBS_post_send + kind))
		return post_one_send(q, q->post_send, qp, kind, wr, bad);
	stage = tap_owner_counter_enter(&q->send_counter);
	if (unlikely(!stage))
		return post_slowly(qp, wr, bad);
	tap_send_count(&sends, q, wr);
	is_metered = may_be_metered && tap_metered(q);
	if (is_metered) {
		bytes = tap_length_of(wr->sg_list, wr->num_sge);
		tap_metered_begin(q, sends.signaled);
	}
	ret = q->post_send(qp, wr, bad);
	if (likely(!ret)) {
		is_plain = tap_owner_counter_is_plain(&q->send_counter, stage);
		tap_owner_counter_add(is_plain, &q->counts.sent, 1);
		tap_owner_counter_add(is_plain, &q->counts.signaled, sends.signaled);
		tap_owner_counter_add(is_plain, &q->counts.consuming, sends.consuming);
		if (is_metered)
			tap_metered_sent(q, is_plain, 1, bytes);
	} else if (is_metered) {
		tap_metered_refused(q, 0);
	}
	tap_owner_counter_leave(stage);
	return ret;
}

tap_hot int tap_on_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
			     struct ibv_send_wr **bad)
{
	return post_send(qp, wr, bad, false);
}

tap_hot int tap_on_post_send_metered(struct ibv_qp *qp, struct ibv_send_wr *wr,
				     struct ibv_send_wr **bad)
{
	return post_send(qp, wr, bad, true);
}

/* ---- Receives, of a queue pair or of a shared receive queue ---- */

struct receive {
	struct tap_owner_counter *counter;
	uint32_t *count;
	const struct tap_object *qp, *srq;
	const struct tap_metrics_room *room;
	uint32_t context_id, max_wr;
	uint16_t generation;
};

struct recv_part {
	struct tap_verbs_post_recv_list_room room;
	size_t length;
};

static void read_recvs(struct tap_list *list, const struct ibv_recv_wr *wr)
{
	const uint32_t limit = tap_list_limit(list->depth);
	uint32_t nr;

	for (nr = 0; wr && nr < limit; nr++, wr = wr->next)
		if (likely(nr < list->nr_marks))
			list->marks[nr].at = wr;
	list->nr = nr;
	list->rest = wr;
}

static void fill_recv(struct tap_verbs_post_recv *record, const struct receive *r,
		      const struct ibv_recv_wr *wr)
{
	record->qp_id = r->qp ? r->qp->id : 0;
	record->srq_id = r->srq ? r->srq->id : 0;
	record->generation = r->generation;
	record->wr_id = wr->wr_id;
	record->num_sge = tap_small(wr->num_sge);
	record->length = tap_length_of(wr->sg_list, wr->num_sge);
	record->addr = wr->num_sge > 0 ? wr->sg_list[0].addr : 0;
}

/*
 * Describes as many of the `left` requests as an event holds.  Returns the request after
 * them.
 */
static const struct ibv_recv_wr *fill_recvs(struct recv_part *part,
					    const struct receive *r,
					    const struct ibv_recv_wr *wr, uint32_t left)
{
	const uint32_t nr = left < TAP_VERBS_LIST_MAX ? left : TAP_VERBS_LIST_MAX;
	struct tap_verbs_post_recv_list_arrays a;
	uint32_t i;

	part->length = tap_verbs_post_recv_list_place(&part->room, nr, &a);
	part->room.record.qp_id = r->qp ? r->qp->id : 0;
	part->room.record.srq_id = r->srq ? r->srq->id : 0;
	part->room.record.generation = r->generation;
	part->room.record.num_wr = (uint8_t) nr;
	for (i = 0; i < nr; i++, wr = wr->next) {
		a.wr_id[i].is = wr->wr_id;
		a.num_sge[i].is = tap_small(wr->num_sge);
		a.length[i].is = tap_length_of(wr->sg_list, wr->num_sge);
		a.addr[i].is = wr->num_sge > 0 ? wr->sg_list[0].addr : 0;
	}
	return wr;
}

/* What begin_recv() keeps for end_recv(); their caller makes the real call in between. */
struct recv_record {
	struct tap_list list;
	struct tap_visit visit;
	bool is_wanted, is_kept; /* kept also when only failed posts are wanted */
	uint64_t begin_ns;
	struct recv_part *more; /* after the first event, or NULL */
	union {
		struct tap_verbs_post_recv one;
		struct recv_part first;
	};
};

/* As keep_rest() for sends; keeps only the marks when the requests are not recorded. */
tap_apart static void keep_recvs(struct recv_record *record, const struct receive *r,
				 const struct ibv_recv_wr *first,
				 const struct ibv_recv_wr *wr)
{
	struct tap_list *list = &record->list;
	const size_t nr_more = record->is_kept ? tap_list_nr_events(list->nr) - 1 : 0;
	struct recv_part *const parts =
		tap_list_grow(list, list->nr, nr_more * sizeof(*parts));
	uint32_t left = list->nr - TAP_VERBS_LIST_MAX;
	size_t i;

	if (!parts)
		return;
	read_recvs(list, first);
	for (i = 0; i < nr_more; i++, left -= TAP_VERBS_LIST_MAX)
		wr = fill_recvs(&parts[i], r, wr, left);
	if (nr_more)
		record->more = parts;
}

static inline void begin_recv(struct recv_record *record, const struct receive *r,
			      const struct ibv_recv_wr *wr)
{
	struct tap_list *list = &record->list;
	const struct ibv_recv_wr *next = NULL;

	tap_list_begin(list, r->context_id, r->max_wr);
	read_recvs(list, wr);
	record->more = NULL;
	record->is_wanted =
		list->nr && tap_verbs_wants(list->nr == 1 ? TAP_VERBS_post_recv
							  : TAP_VERBS_post_recv_list);
	record->is_kept =
		record->is_wanted || (list->nr && tap_verbs_wants(TAP_VERBS_post_failed));
	if (unlikely(record->is_kept)) {
		if (list->nr == 1)
			fill_recv(&record->one, r, wr);
		else
			next = fill_recvs(&record->first, r, wr, list->nr);
	}
	if (unlikely(list->nr > TAP_VERBS_LIST_MAX))
		keep_recvs(record, r, wr, next);
	record->visit = tap_owner_counter_begin(r->counter);
	if (unlikely(record->is_wanted))
		record->begin_ns = (uint64_t) tap_now_ns();
}

static void write_one_recv(struct recv_record *record, uint32_t first)
{
	record->one.begin_ns = record->begin_ns;
	record->one.concurrent = record->visit.concurrent;
	record->one.seq = first + 1;
	tap_verbs_write(TAP_VERBS_post_recv, &record->one, sizeof(record->one));
}

static void write_recvs(struct recv_record *record, uint32_t first, uint32_t accepted)
{
	struct recv_part *part = &record->first;
	struct tap_verbs_post_recv_list *reported;
	uint32_t i;

	for (i = 0; i < accepted && part; i += reported->num_wr) {
		reported = &part->room.record;
		if (accepted - i < reported->num_wr) {
			part->length = tap_verbs_post_recv_list_shorten(&part->room,
									reported->num_wr,
									accepted - i);
			reported->num_wr = (uint8_t) (accepted - i);
		}
		reported->begin_ns = record->begin_ns;
		reported->concurrent = record->visit.concurrent;
		reported->seq = first + i + 1;
		tap_verbs_write(TAP_VERBS_post_recv_list, &part->room, part->length);
		part = part == &record->first ? record->more : part + 1;
	}
	if (unlikely(i < accepted))
		tap_list_emit_forgotten(&record->list);
}

/* The wr_id of the i-th request, if it was kept, else 0. */
static uint64_t recv_wr_id_of(struct recv_record *record, uint32_t i)
{
	struct tap_verbs_post_recv_list_arrays a;
	struct recv_part *part = &record->first;

	if (!record->is_kept || (i >= TAP_VERBS_LIST_MAX && !record->more))
		return 0;
	if (record->list.nr == 1)
		return record->one.wr_id;
	if (i >= TAP_VERBS_LIST_MAX)
		part = &record->more[i / TAP_VERBS_LIST_MAX - 1];
	tap_verbs_post_recv_list_place(&part->room, part->room.record.num_wr, &a);
	return a.wr_id[i % TAP_VERBS_LIST_MAX].is;
}

static inline void end_recv(struct recv_record *record, const struct receive *r,
			    const struct ibv_recv_wr *bad, int ret)
{
	const struct tap_list *list = &record->list;
	uint32_t accepted = list->nr, first;
	uint64_t wr_id = 0;
	bool is_plain;

	if (unlikely(ret && list->nr) && tap_list_accepted(list, bad, &accepted))
		wr_id = recv_wr_id_of(record, accepted);
	is_plain = tap_owner_counter_count(r->counter, &record->visit);
	first = tap_owner_counter_add(is_plain, r->count, accepted);
	if (unlikely(r->room->queue))
		tap_metered_posted_recvs(r->room, is_plain, accepted);
	tap_owner_counter_end(&record->visit);
	if (unlikely(record->is_wanted && accepted)) {
		if (list->nr == 1)
			write_one_recv(record, first);
		else
			write_recvs(record, first, accepted);
	}
	tap_list_end(list);
	if (unlikely(ret && list->nr))
		tap_emit_failed(r->qp, r->srq, true, ret, accepted, wr_id);
	else if (unlikely(list->rest && !ret))
		tap_list_emit_unread(list);
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
	r = (struct receive){
		.counter = &q->recv_counter,
		.count = &q->counts.recv_posted,
		.qp = &q->head,
		.room = &q->room,
		.context_id = q->about.context_id,
		.max_wr = q->about.max_recv_wr,
		.generation = tap_generation_of(q),
	};
	begin_recv(&record, &r, wr);
	ret = q->post_recv(qp, wr, bad);
	end_recv(&record, &r, ret && wr ? *bad : NULL, ret);
	return ret;
}

tap_within static inline int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
				       struct ibv_recv_wr **bad, bool may_be_metered)
{
	struct tap_qp *q = tap_table_look(&tap_qps, qp);
	uint32_t *stage;
	bool is_plain;
	int ret;

	if (unlikely(!q || !wr || wr->next || tap_verbs_wants(TAP_VERBS_post_recv)))
		return post_recv_slowly(qp, wr, bad);
	stage = tap_owner_counter_enter(&q->recv_counter);
	if (unlikely(!stage))
		return post_recv_slowly(qp, wr, bad);
	ret = q->post_recv(qp, wr, bad);
	if (likely(!ret)) {
		is_plain = tap_owner_counter_is_plain(&q->recv_counter, stage);
		tap_owner_counter_add(is_plain, &q->counts.recv_posted, 1);
		if (may_be_metered && tap_metered(q))
			tap_metered_posted_recvs(&q->room, is_plain, 1);
	}
	tap_owner_counter_leave(stage);
	return ret;
}

tap_hot int tap_on_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			     struct ibv_recv_wr **bad)
{
	return post_recv(qp, wr, bad, false);
}

tap_hot int tap_on_post_recv_metered(struct ibv_qp *qp, struct ibv_recv_wr *wr,
				     struct ibv_recv_wr **bad)
{
	return post_recv(qp, wr, bad, true);
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
	r = (struct receive){
		.counter = &s->counter,
		.count = &s->posted,
		.srq = &s->head,
		.room = &s->room,
		.context_id = s->about.context_id,
		.max_wr = s->about.max_wr,
		.generation = 1,
	};
	begin_recv(&record, &r, wr);
	ret = s->post(srq, wr, bad);
	end_recv(&record, &r, ret && wr ? *bad : NULL, ret);
	return ret;
}
