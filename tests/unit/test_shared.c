/* SPDX-License-Identifier: MIT */
/*
 * Receives of a shared queue against what really happened.  One process sends over
 * several queue pairs to another, whose ends share a receive queue.  A message takes the
 * receive that was posted first when it begins to arrive, and completes it when it is
 * whole, which of messages on different queue pairs may be in another order.  The join
 * sees the events alone, some of them lost.  No link may name another receive than the
 * one that was used, nor may a message lack its sender because its receive is not known.
 */
#include "join/join.h"
#include "join/model/link.h"
#include "unit/tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS 20000
#define QPS_MAX 4
#define DEPTH 8	   /* messages that arrive at once, on one queue pair */
#define MANY 60000 /* within the bound on open requests */
/* What takes a walk along the others for each of so many takes minutes: no more than a
 * few seconds are needed, under sanitizers on a machine that is busy. */
#define LIMIT_S 100

enum { SENDER, RECEIVER };

struct receive {
	int64_t end_ns;
	uint64_t qp, message; /* that used it */
};

struct world {
	unsigned int qps, loss;
	unsigned int ahead; /* receives that are posted and not used, at most */
	bool is_alike;	    /* all receives have one wr_id */
	struct tap_join *join;
	struct tap_trace *trace;
	struct tap_event event;
	int64_t now;
	struct receive receives[STEPS + 1]; /* by seq */
	uint64_t posted, used;
	struct {
		uint64_t sent, received;
		uint64_t taken[DEPTH]; /* receives, of those on their way */
	} qp[QPS_MAX + 1];
	unsigned int done, posts, inferred_posts, messages, inferred_messages, wrong;
	bool is_right;
};

static uint64_t draw_state = 88172645463325252u;

static uint64_t draw(uint64_t below)
{
	draw_state ^= draw_state << 13;
	draw_state ^= draw_state >> 7;
	draw_state ^= draw_state << 17;
	return (draw_state >> 20) % below;
}

/* ---- Events ---- */

static void begin_event(struct world *world, enum tap_verbs_event verbs)
{
	tap_fields_clear(&world->event.fields);
	world->event.kind = TAP_EVENT_VERBS;
	world->event.verbs = verbs;
	world->event.begin_ns = 0;
}

static void add(struct world *world, const char *name, uint64_t value)
{
	tap_fields_add(&world->event.fields, name, TAP_FIELD_UNSIGNED)->value.u = value;
}

static void add_one(struct world *world, const char *name, uint64_t value)
{
	uint64_t *elements;

	tap_fields_add_array(&world->event.fields, name, 1, &elements);
	memcpy(elements, &value, sizeof(value));
}

static void give(struct world *world, unsigned int p, bool may_be_lost)
{
	world->event.trace = world->trace;
	world->event.pid = p + 1;
	world->event.tid = p + 1;
	world->event.time_ns = world->now += 10;
	if (may_be_lost && world->loss && !draw(world->loss))
		return;
	if (tap_join_event(world->join, &world->event))
		world->is_right = false;
}

static void tell_queue(struct world *world, unsigned int p, uint64_t qp)
{
	begin_event(world, TAP_VERBS_QP);
	add(world, "qp_id", qp);
	add(world, "context_id", 1);
	add(world, "qp_num", 10 + qp);
	add(world, "type", 2);
	add(world, "srq_id", p == RECEIVER);
	give(world, p, false);
	begin_event(world, TAP_VERBS_QP_MODIFY);
	add(world, "qp_id", qp);
	add(world, "life", 1);
	add(world, "attr_mask", 1 << 20 | 1 << 7);
	add(world, "dest_qp_num", 10 + qp);
	add(world, "dgid_lo", !p);
	add(world, "sgid_lo", p);
	add(world, "is_global", 1);
	give(world, p, false);
}

static void poll(struct world *world, unsigned int p, uint64_t qp, uint64_t seq,
		 uint64_t wr_id)
{
	const bool is_receive = p == RECEIVER;

	begin_event(world, TAP_VERBS_POLL);
	add(world, "cq_id", 1);
	add(world, "num_wc", 1);
	add_one(world, "wr_id", wr_id);
	add_one(world, "qp_id", qp);
	add_one(world, "life", 1);
	add_one(world, "seq", seq);
	add_one(world, "opcode", is_receive ? 128 : 0);
	add_one(world, "is_recv", is_receive);
	add_one(world, "byte_len", is_receive ? 64 : 0);
	give(world, p, is_receive);
}

/* ---- What happens ---- */

static uint64_t wr_id_of(const struct world *world, uint64_t seq)
{
	return world->is_alike ? 7 : seq;
}

static void post_receive(struct world *world)
{
	begin_event(world, TAP_VERBS_POST_RECV);
	add(world, "srq_id", 1);
	add(world, "seq", ++world->posted);
	add(world, "wr_id", wr_id_of(world, world->posted));
	add(world, "num_sge", 1);
	add(world, "length", 4096);
	give(world, RECEIVER, true);
}

static void send(struct world *world, uint64_t qp)
{
	const uint64_t seq = ++world->qp[qp].sent;

	begin_event(world, TAP_VERBS_POST_SEND);
	add(world, "qp_id", qp);
	add(world, "life", 1);
	add(world, "seq", seq);
	add(world, "signaled_seq", seq);
	add(world, "consuming_seq", seq);
	add(world, "wr_id", seq);
	add(world, "opcode", 2);
	add(world, "send_flags", 2);
	add(world, "length", 64);
	give(world, SENDER, false);
	world->qp[qp].taken[seq % DEPTH] = ++world->used;
	world->receives[world->used] =
		(struct receive){.qp = qp, .message = seq, .end_ns = -1};
}

static void arrive(struct world *world, uint64_t qp)
{
	const uint64_t seq = ++world->qp[qp].received;
	const uint64_t used = world->qp[qp].taken[seq % DEPTH];

	world->receives[used].end_ns = world->now + 10;
	poll(world, RECEIVER, qp, seq, wr_id_of(world, used));
	poll(world, SENDER, qp, seq, seq);
	world->done++;
}

static void step(struct world *world)
{
	const uint64_t qp = 1 + draw(world->qps);

	switch (draw(3)) {
	case 0:
		if (world->posted < world->used + world->ahead)
			post_receive(world);
		break;
	case 1:
		if (world->used < world->posted &&
		    world->qp[qp].sent < world->qp[qp].received + DEPTH)
			send(world, qp);
		break;
	default:
		if (world->qp[qp].received < world->qp[qp].sent)
			arrive(world, qp);
		break;
	}
}

/* ---- What the join says ---- */

static const struct receive *receive_of(const struct world *world,
					const struct tap_work *work)
{
	return &world->receives[work->request.seq <= STEPS ? work->request.seq : 0];
}

static int take_link(void *data, const struct tap_link *link)
{
	struct world *world = data;
	const struct tap_work *from = &link->ends[0].work;
	const struct tap_work *to = &link->ends[link->count - 1].work;
	const bool is_inferred = link->known != TAP_KNOWN_EXACT;

	if (link->kind == TAP_LINK_POST_COMPLETION && to->request.srq_id) {
		world->posts++;
		world->inferred_posts += is_inferred;
		world->wrong += receive_of(world, to)->end_ns != link->end_ns;
	}
	if (link->kind != TAP_LINK_SEND_RECEIVE)
		return 0;
	world->messages++;
	world->inferred_messages += is_inferred;
	if (to->request.srq_id)
		world->wrong += receive_of(world, to)->qp != from->request.qp_id ||
				receive_of(world, to)->message != from->request.seq;
	else
		world->wrong += to->request.qp_id != from->request.qp_id ||
				to->request.seq != from->request.seq;
	return 0;
}

static void begin(struct world *world)
{
	static const struct tap_consumer consumer = {.link = take_link};
	static const struct tap_bounds bounds = {1 << 16, 1 << 16};
	uint64_t qp;

	world->join = tap_join_create(&consumer, world, &bounds);
	world->trace = tap_join_add_trace(world->join, "host", NULL, -1);
	world->is_right = true;
	for (qp = 1; qp <= world->qps; qp++) {
		tell_queue(world, SENDER, qp);
		tell_queue(world, RECEIVER, qp);
	}
}

static void end(struct world *world)
{
	if (tap_join_finish(world->join))
		world->is_right = false;
	printf("# %u messages: receives %u, inferred %u; senders %u, inferred %u; wrong %u\n",
	       world->done, world->posts, world->inferred_posts, world->messages,
	       world->inferred_messages, world->wrong);
	tap_join_destroy(world->join);
	tap_fields_free(&world->event.fields);
}

static void run(struct world *world)
{
	unsigned int i;

	if (!world->ahead)
		world->ahead = 16;
	begin(world);
	for (i = 0; i < STEPS; i++)
		step(world);
	end(world);
}

static bool test_different(void)
{
	static struct world world = {.qps = QPS_MAX};
	bool is_passed = true;

	run(&world);
	CHECK(world.is_right && !world.wrong && world.done > 1000);
	CHECK(world.posts == world.done && !world.inferred_posts);
	CHECK(world.messages == world.done && !world.inferred_messages);
	return is_passed;
}

static bool test_in_order(void)
{
	static struct world world = {.qps = 1, .is_alike = true};
	bool is_passed = true;

	run(&world);
	CHECK(world.is_right && !world.wrong && world.done > 1000);
	CHECK(world.posts == world.done);
	CHECK(world.inferred_posts > world.done / 2);
	CHECK(world.messages == world.done);
	return is_passed;
}

static bool test_unknown(void)
{
	static struct world worlds[4];
	bool is_passed = true;
	unsigned int i;

	for (i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
		struct world *world = &worlds[i];

		world->qps = QPS_MAX;
		world->is_alike = true;
		/* Of one alone it is known. */
		world->ahead = 1 << i;
		run(world);
		CHECK(world->is_right && !world->wrong && world->done > 1000);
		CHECK(world->posts < world->done / 2 && !world->inferred_posts);
		/* Of each message its sender is known all the same. */
		CHECK(world->messages == world->done && !world->inferred_messages);
	}
	return is_passed;
}

static bool test_lost(void)
{
	static struct world worlds[24];
	bool is_passed = true;
	unsigned int i;

	for (i = 0; i < sizeof(worlds) / sizeof(worlds[0]); i++) {
		struct world *world = &worlds[i];

		world->qps = i & 1 ? QPS_MAX : 1;
		world->is_alike = i & 2;
		world->loss = 20u << 2 * (i / 4 % 3);
		world->ahead = i < 12 ? 16 : 2;
		run(world);
		CHECK(world->is_right && !world->wrong && world->done > 1000);
		CHECK(world->messages > world->done / 2);
	}
	return is_passed;
}

static bool test_many(void)
{
	static struct world world = {.qps = 1, .is_alike = true};
	bool is_passed = true;
	uint64_t i;

	alarm(LIMIT_S);
	begin(&world);
	for (i = 0; i < MANY; i++)
		post_receive(&world);
	/* Each is used, and another posted. */
	for (i = 0; i < 4 * MANY; i++) {
		poll(&world, RECEIVER, 1, i + 1, 7);
		post_receive(&world);
	}
	CHECK(tap_join_finish(world.join) == 0 && world.is_right);
	CHECK(world.posts == 4 * MANY);
	alarm(0);
	tap_join_destroy(world.join);
	tap_fields_free(&world.event.fields);
	return is_passed;
}

int main(void)
{
	printf("1..5\n");
	report("receives of different wr_ids are exact", test_different);
	report("one queue pair takes receives of one wr_id in order", test_in_order);
	report("of several queue pairs none does, but each message has its sender",
	       test_unknown);
	report("no receive is another's where events are lost", test_lost);
	report("many receives of one wr_id wait at once", test_many);
	return 0;
}
