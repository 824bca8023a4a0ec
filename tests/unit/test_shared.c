/* SPDX-License-Identifier: MIT */
/*
 * Receives of a shared queue against what really happened.  One process sends over
 * several queue pairs to another, whose ends share a receive queue.  A message takes the
 * receive that was posted first when it begins to arrive, and completes it when it is
 * whole, which of messages on different queue pairs may be in another order.  The join
 * sees the events alone, some of them lost.  No link may name another receive than the
 * one that was used, nor may a message lack its sender because its receive is not known.
 */
#include "join/model/link.h"
#include "unit/draw.h"
#include "unit/tap.h"
#include "unit/verbs_events.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS 20000
#define STEP_NS 10 /* between events */
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
	struct events events;
	struct receive receives[STEPS + 1]; /* by seq */
	uint64_t posted, used;
	struct {
		uint64_t sent, received;
		uint64_t taken[DEPTH]; /* receives, of those on their way */
	} qp[QPS_MAX + 1];
	unsigned int done, posts, inferred_posts, messages, inferred_messages, wrong;
};

/* ---- Events ---- */

static void add_one(struct world *world, const char *name, uint64_t value)
{
	event_add_all(&world->events, name, &value, 1);
}

static void give(struct world *world, unsigned int p, bool may_be_lost)
{
	event_give(&world->events, p, STEP_NS,
		   may_be_lost && world->loss && !draw(world->loss));
}

static void emit_queue(struct world *world, unsigned int p, uint64_t qp)
{
	event_begin(&world->events, TAP_VERBS_QP);
	event_add(&world->events, "qp_id", qp);
	event_add(&world->events, "context_id", 1);
	event_add(&world->events, "qp_num", 10 + qp);
	event_add(&world->events, "type", 2);
	event_add(&world->events, "srq_id", p == RECEIVER);
	give(world, p, false);
	event_give_connected(&world->events, p, qp, 10 + qp, !p, STEP_NS);
}

static void poll(struct world *world, unsigned int p, uint64_t qp, uint64_t seq,
		 uint64_t wr_id)
{
	const bool is_receive = p == RECEIVER;

	event_begin(&world->events, TAP_VERBS_POLL);
	event_add(&world->events, "cq_id", 1);
	event_add(&world->events, "num_wc", 1);
	add_one(world, "wr_id", wr_id);
	add_one(world, "qp_id", qp);
	add_one(world, "generation", 1);
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
	event_begin(&world->events, TAP_VERBS_POST_RECV);
	event_add(&world->events, "srq_id", 1);
	event_add(&world->events, "seq", ++world->posted);
	event_add(&world->events, "wr_id", wr_id_of(world, world->posted));
	event_add(&world->events, "num_sge", 1);
	event_add(&world->events, "length", 4096);
	give(world, RECEIVER, true);
}

static void send(struct world *world, uint64_t qp)
{
	const uint64_t seq = ++world->qp[qp].sent;

	event_begin(&world->events, TAP_VERBS_POST_SEND);
	event_add(&world->events, "qp_id", qp);
	event_add(&world->events, "generation", 1);
	event_add(&world->events, "seq", seq);
	event_add(&world->events, "signaled_seq", seq);
	event_add(&world->events, "consuming_seq", seq);
	event_add(&world->events, "wr_id", seq);
	event_add(&world->events, "opcode", 2);
	event_add(&world->events, "send_flags", 2);
	event_add(&world->events, "length", 64);
	give(world, SENDER, false);
	world->qp[qp].taken[seq % DEPTH] = ++world->used;
	world->receives[world->used] =
		(struct receive){.qp = qp, .message = seq, .end_ns = -1};
}

static void arrive(struct world *world, uint64_t qp)
{
	const uint64_t seq = ++world->qp[qp].received;
	const uint64_t used = world->qp[qp].taken[seq % DEPTH];

	world->receives[used].end_ns = world->events.now + 10;
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
	uint64_t qp;

	events_begin(&world->events, &consumer, world, 1 << 16);
	for (qp = 1; qp <= world->qps; qp++) {
		emit_queue(world, SENDER, qp);
		emit_queue(world, RECEIVER, qp);
	}
}

static void end(struct world *world)
{
	if (tap_join_finish(world->events.join))
		world->events.is_right = false;
	printf("# %u messages: receives %u, inferred %u; senders %u, inferred %u; wrong %u\n",
	       world->done, world->posts, world->inferred_posts, world->messages,
	       world->inferred_messages, world->wrong);
	events_end(&world->events);
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
	CHECK(world.events.is_right && !world.wrong && world.done > 1000);
	CHECK(world.posts == world.done && !world.inferred_posts);
	CHECK(world.messages == world.done && !world.inferred_messages);
	return is_passed;
}

static bool test_in_order(void)
{
	static struct world world = {.qps = 1, .is_alike = true};
	bool is_passed = true;

	run(&world);
	CHECK(world.events.is_right && !world.wrong && world.done > 1000);
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
		CHECK(world->events.is_right && !world->wrong && world->done > 1000);
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
		CHECK(world->events.is_right && !world->wrong && world->done > 1000);
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
	CHECK(tap_join_finish(world.events.join) == 0 && world.events.is_right);
	CHECK(world.posts == 4 * MANY);
	alarm(0);
	events_end(&world.events);
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
