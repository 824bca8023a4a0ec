/* SPDX-License-Identifier: MIT */
/*
 * Work requests against what really happened.  Two processes post to a connection,
 * signalled or not, poll late, fail, reset it and go on; messages may be lost on the
 * way.  Each request knows when it completed and which message it was; the join sees
 * the events alone: some of them lost, posts told after their completions, and the
 * first not at all.  No link that is called exact may be wrong.
 */
#include "join/model/link.h"
#include "unit/draw.h"
#include "unit/tap.h"
#include "unit/verbs_events.h"

#include <stdlib.h>
#include <string.h>

#define STEPS 20000
#define REQUESTS_MAX 16384 /* of one queue in all its lives */
#define DEPTH 12
#define GENERATIONS_MAX 512

enum { WRITE = 0, SEND = 2 };
enum { RETRY_EXCEEDED = 12, FLUSHED = 5 };

/* What really became of a request. */
struct truth {
	int64_t end_ns;
	uint64_t message; /* 0 none */
	uint64_t status;
};

/* A request on its way, or a completion that is not polled. */
struct item {
	uint64_t seq;
	uint64_t wr_id;
	uint64_t message;
	uint64_t ordinal; /* of a completion */
	uint64_t status;
	bool is_signaled, is_receive, is_send;
};

struct ring {
	struct item items[4 * DEPTH];
	unsigned int first, count;
};

struct side {
	uint64_t generation;
	uint64_t sent, signaled, consuming, receives, send_completions,
		receive_completions;
	struct ring under_way; /* sends that have not arrived */
	struct ring receivable;
	struct ring completions;
	struct truth sends[GENERATIONS_MAX][64 * DEPTH];
	struct truth receipts[GENERATIONS_MAX][64 * DEPTH];
	struct {
		bool is_there;
		struct item item;
		uint64_t opcode, signaled, consuming;
		int64_t begin_ns;
	} reported_late; /* a post that has returned, and is not written yet */
};

struct world {
	struct events events;
	uint64_t type;
	unsigned int event_loss, message_loss; /* of so many one is lost; 0 none */
	uint64_t wr_ids;		       /* so many different ones */
	bool has_errors, is_recorded;
	uint64_t messages;
	struct side *sides;
	uint64_t exact[2], inferred[2], wrong;
};

static void push(struct ring *ring, struct item item)
{
	ring->items[(ring->first + ring->count++) % (4 * DEPTH)] = item;
}

static struct item pop(struct ring *ring)
{
	struct item item = ring->items[ring->first];

	ring->first = (ring->first + 1) % (4 * DEPTH);
	ring->count--;
	return item;
}

/* ---- Events ---- */

static void give(struct world *world, unsigned int p, bool may_be_lost)
{
	event_give(&world->events, p, 1,
		   !world->is_recorded || (may_be_lost && world->event_loss &&
					   !draw(world->event_loss)));
}

static void describe(struct world *world, unsigned int p)
{
	event_add(&world->events, "qp_id", 1);
	event_add(&world->events, "context_id", 1);
	event_add(&world->events, "qp_num", 100 + p);
	event_add(&world->events, "type", world->type);
}

static void add_address(struct world *world, unsigned int p)
{
	event_add(&world->events, "dest_qp_num", 100 + !p);
	event_add(&world->events, "dgid_hi", 1);
	event_add(&world->events, "dgid_lo", !p);
	event_add(&world->events, "sgid_hi", 1);
	event_add(&world->events, "sgid_lo", p);
	event_add(&world->events, "is_global", 1);
}

static void emit_modify(struct world *world, unsigned int p, uint64_t mask)
{
	event_begin(&world->events, TAP_VERBS_QP_MODIFY);
	event_add(&world->events, "qp_id", 1);
	event_add(&world->events, "generation", world->sides[p].generation);
	event_add(&world->events, "attr_mask", mask);
	add_address(world, p);
	give(world, p, false);
}

static void emit_post(struct world *world, unsigned int p)
{
	struct side *side = &world->sides[p];
	const struct item *item = &side->reported_late.item;

	if (!side->reported_late.is_there)
		return;
	side->reported_late.is_there = false;
	event_begin(&world->events,
		    item->is_receive ? TAP_VERBS_POST_RECV : TAP_VERBS_POST_SEND);
	world->events.event.begin_ns = side->reported_late.begin_ns;
	event_add(&world->events, "qp_id", 1);
	event_add(&world->events, "generation", side->generation);
	event_add(&world->events, "seq", item->seq);
	event_add(&world->events, "signaled_seq", side->reported_late.signaled);
	event_add(&world->events, "consuming_seq", side->reported_late.consuming);
	event_add(&world->events, "wr_id", item->wr_id);
	event_add(&world->events, "opcode", side->reported_late.opcode);
	event_add(&world->events, "send_flags", item->is_signaled ? 2 : 0);
	event_add(&world->events, "length", 64);
	give(world, p, true);
}

static void emit_state(struct world *world, unsigned int p)
{
	const struct side *side = &world->sides[p];

	event_begin(&world->events, TAP_VERBS_QP_STATEDUMP);
	describe(world, p);
	add_address(world, p);
	event_add(&world->events, "generation", side->generation);
	event_add(&world->events, "sent", side->sent);
	event_add(&world->events, "signaled", side->signaled);
	event_add(&world->events, "consuming", side->consuming);
	event_add(&world->events, "recv_posted", side->receives);
	event_add(&world->events, "send_completed", side->send_completions);
	event_add(&world->events, "recv_completed", side->receive_completions);
	give(world, p, false);
}

/* ---- What happens ---- */

static struct truth *truth_of(struct side *side, uint64_t generation, bool is_receive,
			      uint64_t seq)
{
	struct truth(*table)[64 * DEPTH] = is_receive ? side->receipts : side->sends;

	return &table[generation][seq];
}

static void poll(struct world *world, unsigned int p)
{
	static const char *const names[] = {"wr_id",  "qp_id",	"generation", "seq",
					    "status", "opcode", "is_recv"};
	struct side *side = &world->sides[p];
	uint64_t *columns[7], count = 1 + draw(4), i;

	if (count > side->completions.count)
		count = side->completions.count;
	if (!count)
		return;
	event_begin(&world->events, TAP_VERBS_POLL);
	event_add(&world->events, "cq_id", 1);
	event_add(&world->events, "num_wc", count);
	for (i = 0; i < 7; i++)
		tap_fields_add_array(&world->events.event.fields, names[i], count,
				     &columns[i]);
	/* Adding one may move those before. */
	for (i = 0; i < 7; i++)
		columns[i] = (uint64_t *) (uintptr_t) tap_fields_array(
			&world->events.event.fields,
			tap_fields_find(&world->events.event.fields, names[i]));
	for (i = 0; i < count; i++) {
		struct item item = pop(&side->completions);
		struct truth *truth =
			truth_of(side, side->generation, item.is_receive, item.seq);

		columns[0][i] = item.wr_id;
		columns[1][i] = 1;
		columns[2][i] = side->generation;
		columns[3][i] = item.is_receive ? ++side->receive_completions
						: ++side->send_completions;
		columns[4][i] = item.status;
		columns[5][i] = item.is_receive ? 129 : 0;
		columns[6][i] = item.is_receive;
		truth->end_ns = world->events.now + 1;
		truth->status = item.status;
	}
	give(world, p, true);
}

static bool has_room(const struct side *side)
{
	return side->sent + 2 * DEPTH < 64 * DEPTH && side->receives < 62 * DEPTH;
}

static void post(struct world *world, unsigned int p, bool is_receive)
{
	struct side *side = &world->sides[p];
	struct item item = {.wr_id = draw(world->wr_ids), .is_receive = is_receive};
	struct ring *ring = is_receive ? &side->receivable : &side->under_way;
	bool is_lost;

	if (ring->count >= DEPTH || side->completions.count >= DEPTH || !has_room(side))
		return;
	/* One thread posts; another may poll in between. */
	emit_post(world, p);
	item.is_send = !is_receive && draw(3);
	item.is_signaled = is_receive || !draw(3);
	item.seq = is_receive ? ++side->receives : ++side->sent;
	if (!is_receive) {
		side->signaled += item.is_signaled;
		side->consuming += item.is_send;
	}
	side->reported_late.is_there = true;
	side->reported_late.opcode = item.is_send ? SEND : WRITE;
	side->reported_late.signaled = side->signaled;
	side->reported_late.consuming = side->consuming;
	side->reported_late.begin_ns = ++world->events.now;
	is_lost = item.is_send && world->message_loss && !draw(world->message_loss);
	if (item.is_send)
		item.message = ++world->messages;
	side->reported_late.item = item;
	if (!is_receive)
		truth_of(side, side->generation, false, item.seq)->message = item.message;
	if (is_lost)
		item.is_send = false;
	push(ring, item);
	if (draw(2))
		emit_post(world, p);
}

/* The oldest request arrives, where it can. */
static void arrive(struct world *world, unsigned int p)
{
	struct side *side = &world->sides[p], *peer = &world->sides[!p];
	struct item item, receive;

	if (!side->under_way.count || side->completions.count >= 2 * DEPTH ||
	    peer->completions.count >= 2 * DEPTH)
		return;
	if (side->under_way.items[side->under_way.first].is_send &&
	    !peer->receivable.count)
		return;
	item = pop(&side->under_way);
	if (item.is_send) {
		receive = pop(&peer->receivable);
		truth_of(peer, peer->generation, true, receive.seq)->message =
			item.message;
		push(&peer->completions, receive);
	}
	if (item.is_signaled)
		push(&side->completions, item);
}

/* The oldest request fails; both sides flush, and connect again. */
static void fail(struct world *world)
{
	unsigned int p;

	for (p = 0; p < 2; p++) {
		struct side *side = &world->sides[p];
		uint64_t status = RETRY_EXCEEDED;

		while (side->completions.count)
			poll(world, p);
		for (; side->under_way.count; status = FLUSHED) {
			struct item item = pop(&side->under_way);

			item.status = status;
			push(&side->completions, item);
		}
		while (side->receivable.count) {
			struct item item = pop(&side->receivable);

			item.status = FLUSHED;
			push(&side->completions, item);
		}
		if (draw(2))
			while (side->completions.count)
				poll(world, p);
	}
	for (p = 0; p < 2; p++) {
		struct side *side = &world->sides[p];

		emit_post(world, p);
		side->completions.count = 0;
		side->generation++;
		side->sent = side->signaled = side->consuming = side->receives = 0;
		side->send_completions = side->receive_completions = 0;
		emit_modify(world, p, 1);
	}
	for (p = 0; p < 2; p++)
		emit_modify(world, p, 1 << 7 | 1 << 20);
}

/* ---- What the join says ---- */

static int take_link(void *data, const struct tap_link *link)
{
	struct world *world = data;
	const bool is_message = link->kind == TAP_LINK_SEND_RECEIVE;
	const struct truth *truths[2];
	size_t i;

	if (link->known != TAP_KNOWN_EXACT) {
		world->inferred[is_message]++;
		return 0;
	}
	world->exact[is_message]++;
	for (i = 0; i < link->count; i++) {
		const struct tap_link_end *end = &link->ends[i];

		truths[i] = truth_of(&world->sides[end->process->pid - 1],
				     end->work.request.generation,
				     end->work.kind == TAP_WORK_RECEIVE,
				     end->work.request.seq);
	}
	if (is_message)
		world->wrong +=
			!truths[0]->message || truths[0]->message != truths[1]->message;
	else
		world->wrong += truths[0]->end_ns && truths[0]->end_ns != link->end_ns;
	return 0;
}

static const struct tap_consumer consumer = {.link = take_link};

/* Runs one world, which begins unrecorded for so many steps. */
static bool run(struct world *world, unsigned int unrecorded)
{
	unsigned int step, p;
	bool is_passed = true;

	world->sides = calloc(2, sizeof(*world->sides));
	events_begin(&world->events, &consumer, world, 1000);
	if (!world->sides || !world->events.join)
		return false;
	world->is_recorded = !unrecorded;
	for (p = 0; p < 2; p++) {
		world->sides[p].generation = 1;
		event_begin(&world->events, TAP_VERBS_QP);
		describe(world, p);
		give(world, p, false);
	}
	for (p = 0; p < 2; p++)
		emit_modify(world, p, 1 << 7 | 1 << 20);
	for (step = 0; step < STEPS; step++) {
		p = (unsigned int) draw(2);
		if (unrecorded && step == unrecorded) {
			emit_post(world, 0);
			emit_post(world, 1);
			world->is_recorded = true;
			emit_state(world, 0);
			emit_state(world, 1);
		}
		switch (draw(5)) {
		case 0:
			post(world, p, true);
			break;
		case 1:
			post(world, p, false);
			break;
		case 2:
			arrive(world, p);
			break;
		default:
			poll(world, p);
			break;
		}
		if ((world->has_errors && !draw(200)) || !has_room(&world->sides[0]) ||
		    !has_room(&world->sides[1]))
			fail(world);
		if (world->sides[0].generation + 1 == GENERATIONS_MAX)
			break;
	}
	emit_post(world, 0);
	emit_post(world, 1);
	CHECK(!tap_join_finish(world->events.join));
	CHECK(world->events.is_right);
	CHECK(!world->wrong);
	printf("# exact %ju and %ju, inferred %ju and %ju, wrong %ju\n",
	       (uintmax_t) world->exact[0], (uintmax_t) world->exact[1],
	       (uintmax_t) world->inferred[0], (uintmax_t) world->inferred[1],
	       (uintmax_t) world->wrong);
	return is_passed;
}

static void end(struct world *world)
{
	events_end(&world->events);
	free(world->sides);
}

static bool test_whole(void)
{
	struct world world = {.type = 2, .wr_ids = UINT64_C(1) << 40};
	bool is_passed = run(&world, 0);
	const struct tap_matches *matches = tap_join_context(world.events.join)->matches;

	CHECK(world.exact[0] > 1000 && world.exact[1] > 1000);
	CHECK(!world.inferred[1]);
	CHECK(!matches[TAP_MATCH_SEND_RECEIVE].why[TAP_WHY_PEER_MISSING]);
	CHECK(!matches[TAP_MATCH_POST_COMPLETION].why[TAP_WHY_POST_LOST]);
	end(&world);
	return is_passed;
}

static bool test_errors(void)
{
	struct world world = {.type = 2, .wr_ids = 1000, .has_errors = true};
	bool is_passed = run(&world, 0);

	CHECK(world.exact[0] > 1000 && world.exact[1] > 500);
	end(&world);
	world = (struct world){.type = 2, .wr_ids = 2, .has_errors = true};
	is_passed &= run(&world, 0);
	end(&world);
	return is_passed;
}

static bool test_lost_events(void)
{
	unsigned int loss;
	bool is_passed = true;

	for (loss = 3; loss < 400; loss *= 3) {
		struct world world = {.type = 2,
				      .wr_ids = loss % 2 ? 1 : 4,
				      .has_errors = loss > 50,
				      .event_loss = loss};

		is_passed &= run(&world, 0);
		CHECK(world.exact[0] > 300 && world.exact[1] > 100);
		end(&world);
	}
	return is_passed;
}

static bool test_late(void)
{
	unsigned int late;
	bool is_passed = true;

	for (late = 1; late < 2000; late += 97) {
		struct world world = {.type = 2,
				      .wr_ids = late % 2 ? 1 : 3,
				      .has_errors = late % 3 == 0};

		is_passed &= run(&world, late);
		CHECK(world.exact[1] > 100);
		end(&world);
	}
	return is_passed;
}

static bool test_lossy(void)
{
	unsigned int loss;
	bool is_passed = true;

	for (loss = 10; loss < 3000; loss *= 4) {
		struct world world = {.type = 3, .wr_ids = 1, .message_loss = loss};

		is_passed &= run(&world, 0);
		end(&world);
	}
	for (loss = 10; loss < 3000; loss *= 4) {
		struct world world = {.type = 3,
				      .wr_ids = 1,
				      .message_loss = loss,
				      .event_loss = 20,
				      .has_errors = true};

		is_passed &= run(&world, loss % 50);
		end(&world);
	}
	return is_passed;
}

int main(void)
{
	printf("1..5\n");
	report("requests and messages of a whole trace are all exact", test_whole);
	report("errors are at the right requests, or not called exact", test_errors);
	report("no exact link is wrong where events are lost", test_lost_events);
	report("no exact link is wrong where recording begins late", test_late);
	report("no exact link is wrong where messages are lost", test_lossy);
	return 0;
}
