/* SPDX-License-Identifier: MIT */
/*
 * Links against what really happened.  Ranks make up collectives and messages with
 * calls that fail, groups that are dropped and tried again, and each call knows which
 * operation it was part of; the join sees the events alone, some of them lost.
 */
#include "join/model/comm.h"
#include "join/join.h"
#include "join/model/link.h"
#include "unit/draw.h"
#include "unit/tap.h"

#include <stdlib.h>
#include <string.h>

#define RANKS 4
#define OPERATIONS 400
#define CALLS_MAX 8192 /* of a rank */
#define COMM_KEY 0x77u

enum what { COLLECTIVE, SEND, RECEIVE };

/* What a call really was; number 0: it did not count. */
struct truth {
	enum what what;
	uint64_t number;
	unsigned int peer;
};

struct world {
	struct tap_join *join;
	struct tap_trace *trace;
	unsigned int loss; /* of so many events, one is lost; 0 none */
	int64_t now;
	struct truth truths[RANKS][CALLS_MAX];
	uint64_t call_ids[RANKS];
	uint64_t group_ids[RANKS];
	uint64_t collectives[RANKS];
	int64_t not_counted[RANKS];
	uint64_t sends[RANKS][RANKS]; /* from, to */
	uint64_t receives[RANKS][RANKS];
	unsigned int linked[2]; /* by kind */
	unsigned int inferred;
	bool is_right;
	struct tap_event event;
};

static const struct tap_name *name(struct world *world, const char *string)
{
	return tap_join_intern(world->join, "nccl", 4, string, strlen(string));
}

static void give(struct world *world, unsigned int rank, bool may_be_lost)
{
	struct tap_event *event = &world->event;

	event->trace = world->trace;
	event->pid = rank + 1;
	event->tid = rank + 1;
	event->time_ns = world->now++;
	event->has_call_id = true;
	if (may_be_lost && world->loss && !draw(world->loss))
		return;
	if (tap_join_event(world->join, event))
		world->is_right = false;
}

static void describe(struct world *world, unsigned int rank)
{
	struct tap_fields *fields = &world->event.fields;

	tap_fields_clear(fields);
	world->event.kind = TAP_EVENT_COMM;
	tap_fields_add(fields, "comm_id", TAP_FIELD_UNSIGNED)->value.u = 1;
	tap_fields_add(fields, "comm_key", TAP_FIELD_UNSIGNED)->value.u = COMM_KEY;
	tap_fields_add(fields, "nranks", TAP_FIELD_SIGNED)->value.i = RANKS;
	tap_fields_add(fields, "rank", TAP_FIELD_SIGNED)->value.i = rank;
	give(world, rank, false);
}

/* Returns the call's number. */
static uint64_t enter(struct world *world, unsigned int rank, const char *function,
		      uint64_t number, uint64_t group_id, unsigned int peer)
{
	struct tap_event *event = &world->event;

	tap_fields_clear(&event->fields);
	event->kind = TAP_EVENT_ENTRY;
	event->name = name(world, function);
	event->call_id = ++world->call_ids[rank];
	event->operation = (struct tap_operation){
		.comm_id = number ? 1 : 0,
		.comm_key = number ? COMM_KEY : 0,
		.number = number,
		.not_counted = world->not_counted[rank],
		.group_id = group_id,
		.peer = peer,
		.datatype = -1,
	};
	give(world, rank, true);
	return event->call_id;
}

static void leave(struct world *world, unsigned int rank, const char *function,
		  uint64_t call_id, uint64_t result, int64_t outcome)
{
	struct tap_event *event = &world->event;

	tap_fields_clear(&event->fields);
	event->kind = TAP_EVENT_EXIT;
	event->name = name(world, function);
	event->call_id = call_id;
	event->operation = (struct tap_operation){
		.not_counted = -1,
		.group_id = outcome >= 0 ? world->group_ids[rank] : 0,
		.peer = -1,
		.datatype = -1,
	};
	tap_fields_add(&event->fields, "result", TAP_FIELD_UNSIGNED)->value.u = result;
	if (outcome >= 0)
		tap_fields_add(&event->fields, "group_outcome", TAP_FIELD_SIGNED)
			->value.i = outcome;
	give(world, rank, true);
}

static uint64_t next_number(struct world *world, unsigned int rank, enum what what,
			    unsigned int peer)
{
	if (what == COLLECTIVE)
		return world->collectives[rank] + 1;
	return what == SEND ? world->sends[rank][peer] + 1
			    : world->receives[rank][peer] + 1;
}

static void count(struct world *world, unsigned int rank, uint64_t call_id)
{
	struct truth *truth = &world->truths[rank][call_id];

	truth->number = next_number(world, rank, truth->what, truth->peer);
	if (truth->what == COLLECTIVE)
		world->collectives[rank]++;
	else if (truth->what == SEND)
		world->sends[rank][truth->peer]++;
	else
		world->receives[rank][truth->peer]++;
}

/* One call of an operation, some of which fail at first.  Returns the one that did not.
 */
static uint64_t call(struct world *world, unsigned int rank, enum what what,
		     uint64_t number, uint64_t group_id, unsigned int peer)
{
	static const char *const functions[] = {"ncclAllReduce", "ncclSend", "ncclRecv"};
	uint64_t call_id;
	bool has_failed;

	do {
		has_failed = !draw(10);
		call_id = enter(world, rank, functions[what], number, group_id, peer);
		world->truths[rank][call_id] = (struct truth){what, 0, peer};
		/* Its exit may make links. */
		if (!has_failed && !group_id)
			count(world, rank, call_id);
		world->not_counted[rank] += has_failed;
		leave(world, rank, functions[what], call_id,
		      has_failed ? 4
		      : draw(4)	 ? 0
				 : 7,
		      -1);
	} while (has_failed);
	return call_id;
}

/* Two operations of one rank in a group, which may be dropped or simulated at first. */
static void call_group(struct world *world, unsigned int rank, const enum what *whats,
		       unsigned int peer)
{
	static const char *const ends[] = {"", "ncclGroupEnd", "ncclGroupEnd",
					   "ncclGroupSimulateEnd"};
	uint64_t call_ids[2], call_id, group_id, first, second;
	int64_t outcome;

	do {
		outcome = draw(3) ? 1 : 2 + (int64_t) draw(2);
		group_id = ++world->group_ids[rank];
		call_id = enter(world, rank, "ncclGroupStart", 0, group_id, 0);
		leave(world, rank, "ncclGroupStart", call_id, 0, -1);
		first = next_number(world, rank, whats[0], peer);
		second = next_number(world, rank, whats[1], peer);
		second += whats[0] == whats[1];
		call_ids[0] = call(world, rank, whats[0], first, group_id, peer);
		call_ids[1] = call(world, rank, whats[1], second, group_id, peer);
		call_id = enter(world, rank, ends[outcome], 0, group_id, 0);
		if (outcome == 1) {
			count(world, rank, call_ids[0]);
			count(world, rank, call_ids[1]);
		} else {
			world->not_counted[rank]++;
		}
		leave(world, rank, ends[outcome], call_id, outcome == 2 ? 4 : 0, outcome);
	} while (outcome != 1);
}

/* All ranks do the same, each at a time of its own: one is ahead of the others. */
static void run(struct world *world)
{
	static const enum what collectives[] = {COLLECTIVE, COLLECTIVE};
	static const enum what both_ways[] = {SEND, RECEIVE};
	unsigned int order[RANKS], done[RANKS] = {0}, i;
	unsigned char *plan = malloc(OPERATIONS);

	if (!plan)
		abort();
	for (i = 0; i < OPERATIONS; i++)
		plan[i] = (unsigned char) draw(3);
	for (i = 0; i < RANKS; i++)
		order[i] = i;
	for (;;) {
		unsigned int rank = order[draw(RANKS)], peer = rank ^ 1;

		for (i = 0; i < RANKS && done[i] == OPERATIONS; i++)
			;
		if (i == RANKS)
			break;
		if (done[rank] == OPERATIONS)
			continue;
		switch (plan[done[rank]++]) {
		case 0:
			call(world, rank, COLLECTIVE,
			     next_number(world, rank, COLLECTIVE, 0), 0, 0);
			break;
		case 1:
			call_group(world, rank, collectives, 0);
			break;
		default:
			call_group(world, rank, both_ways, peer);
			break;
		}
	}
	free(plan);
}

static bool is_true(struct world *world, const struct tap_link *link)
{
	const struct truth *first = NULL, *truth;
	size_t i;

	for (i = 0; i < link->count; i++) {
		const struct tap_link_end *end = &link->ends[i];

		/* A rank may not be known yet. */
		if (end->rank >= 0 && end->rank != end->member->process->pid - 1)
			return false;
		truth = &world->truths[end->member->process->pid - 1][end->call_id];
		if (truth->number != link->op_number)
			return false;
		if (!first) {
			first = truth;
			continue;
		}
		if (link->kind == TAP_LINK_COLLECTIVE_RANKS
			    ? truth->what != COLLECTIVE || first->what != COLLECTIVE
			    : first->what != SEND || truth->what != RECEIVE ||
				      first->peer != end->rank ||
				      truth->peer != link->ends[0].rank)
			return false;
	}
	return true;
}

static int check_link(void *data, const struct tap_link *link)
{
	struct world *world = data;

	if (link->known == TAP_KNOWN_INFERRED)
		world->inferred++;
	else if (!is_true(world, link))
		world->is_right = false;
	world->linked[link->kind]++;
	return 0;
}

static const struct tap_consumer checker = {.link = check_link};

static struct world *make_world(size_t held, unsigned int loss, bool is_late)
{
	struct world *world = calloc(1, sizeof(*world));
	const struct tap_bounds bounds = {100, held};
	unsigned int rank;

	if (!world)
		abort();
	world->is_right = true;
	world->loss = loss;
	world->join = tap_join_create(&checker, world, &bounds);
	world->trace = tap_join_add_trace(world->join, "alpha", NULL, -1);
	for (rank = 0; !is_late && rank < RANKS; rank++)
		describe(world, rank);
	run(world);
	for (rank = 0; is_late && rank < RANKS; rank++)
		describe(world, rank);
	if (tap_join_finish(world->join))
		world->is_right = false;
	return world;
}

static void free_world(struct world *world)
{
	tap_join_destroy(world->join);
	tap_fields_free(&world->event.fields);
	free(world);
}

/* Nothing is lost, described before or after it all: every operation is linked. */
static bool test_all(void)
{
	bool is_passed = true;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		struct world *world = make_world(1000000, 0, i % 2);
		const struct tap_loss *loss = tap_join_loss(world->join);
		uint64_t messages = 0;
		unsigned int rank;

		for (rank = 0; rank < RANKS; rank++)
			messages += world->sends[rank][rank ^ 1];
		CHECK(world->is_right && !world->inferred);
		CHECK(world->linked[TAP_LINK_COLLECTIVE_RANKS] == world->collectives[0]);
		CHECK(world->linked[TAP_LINK_SEND_RECV] == messages);
		CHECK(!loss->unmatched_operations && !loss->missing_operations &&
		      !loss->ambiguous_operations && !loss->mismatched_operations);
		free_world(world);
	}
	return is_passed;
}

/*
 * Where events are lost, a link that claims to be exact is.  Others are made only of what
 * seems to hang: what each rank did last.
 */
static bool test_loss(void)
{
	unsigned int i, exact = 0;
	uint64_t unsure = 0;
	bool is_passed = true;

	for (i = 0; i < 60; i++) {
		struct world *world =
			make_world(1 + (i % 3 ? 1000 : draw(64)), 2 + i * 3, i % 2);

		CHECK(world->is_right);
		CHECK(!tap_join_loss(world->join)->ambiguous_operations);
		CHECK(world->inferred <= 2 * RANKS);
		exact += world->linked[0] + world->linked[1] - world->inferred;
		unsure += tap_join_loss(world->join)->unsure_operations;
		free_world(world);
	}
	CHECK(exact > 1000 && unsure > 100);
	return is_passed;
}

/* One rank alone: what it did waits for the others, but not for ever. */
static bool test_bounds(void)
{
	struct world *world = calloc(1, sizeof(*world));
	const struct tap_bounds bounds = {100, 50};
	const struct tap_loss *loss;
	bool is_passed = true;
	unsigned int i;

	if (!world)
		abort();
	world->join = tap_join_create(&checker, world, &bounds);
	world->trace = tap_join_add_trace(world->join, "alpha", NULL, -1);
	loss = tap_join_loss(world->join);
	for (i = 1; i < CALLS_MAX; i++) {
		leave(world, 0, "ncclAllReduce",
		      enter(world, 0, "ncclAllReduce", i, 0, 0), 0, -1);
		CHECK(loss->unmatched_operations == (i > 50 ? i - 50 : 0));
	}
	/* A group without an end, longer than what may be held. */
	for (; i < 2 * CALLS_MAX; i++)
		leave(world, 0, "ncclAllReduce",
		      enter(world, 0, "ncclAllReduce", i, 7, 0), 0, -1);
	CHECK(loss->unmatched_operations + loss->unsure_operations >= i - 1 - 50);
	CHECK(!tap_join_finish(world->join));
	CHECK(loss->unmatched_operations + loss->unsure_operations == i - 1);
	CHECK(!loss->missing_operations && !loss->ambiguous_operations);
	free_world(world);
	return is_passed;
}

int main(void)
{
	printf("1..3\n");
	report("without loss every operation is linked, exactly", test_all);
	report("with losses no exact link is wrong", test_loss);
	report("what waits for other ranks is bounded", test_bounds);
	return 0;
}
