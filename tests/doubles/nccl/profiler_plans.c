/* SPDX-License-Identifier: MIT */
/*
 * Launches, and what of them is given to the proxy (NCCL 2.28.9,
 * plugin/profiler.cc:307-480, enqueue.cc:1305-1325, 1575-1662).
 */
#include "profiler.h"

#include "comm.h"
#include "functions.h"
#include "plan.h"
#include "release.h"
#include "work.h"

#include <stdlib.h>

enum {
	BELOW_TASKS = MINI_EVENT_PROXY_OP | MINI_EVENT_PROXY_STEP |
		      MINI_EVENT_KERNEL_CHANNEL | MINI_EVENT_NET,
	GROUP_KINDS = MINI_EVENT_GROUP | MINI_EVENT_COLL | MINI_EVENT_P2P | BELOW_TASKS
};

/* The first operation for which anything is wanted; what comes first runs first. */
static const struct mini_op *first_wanted(const struct mini_plan *plan)
{
	const struct mini_op *op = plan->ops;

	while (op && !op->profile.mask)
		op = op->next;
	return op;
}

void mini_profile_launch_begin(struct mini_plan *plan, CUstream stream)
{
	const struct mini_op *op = first_wanted(plan);
	struct mini_event event = {
		.kind = MINI_EVENT_LAUNCH,
		.parent = op ? op->profile.group_call : NULL,
		.launch.stream = stream,
	};

	if (op && op->profile.mask & MINI_EVENT_LAUNCH)
		mini_profiler_start(plan->comm->profile.context, &plan->launch_event,
				    &event);
}

void mini_profile_launch_end(struct mini_plan *plan)
{
	if (plan->launch_event)
		mini_profiler_stop(plan->launch_event);
}

/* In 2.27 nothing is begun that has no group. */
static bool is_wanted(const struct mini_op *op, int kind, const void *group)
{
	return op->profile.mask & (kind | BELOW_TASKS) &&
	       (group || mini_release() >= 22800);
}

/*
 * What a graph runs is not counted, as RAS would miss it where a rank has nothing to do
 * for its proxy, unless channels are told of.
 */
static bool counts(const struct mini_plan *plan, const struct mini_op *op,
		   const void *group)
{
	if (!plan->is_captured)
		return true;
	return op->profile.mask & MINI_EVENT_KERNEL_CHANNEL &&
	       (group || (op->profile.call && mini_release() >= 22800));
}

static void begin_coll(struct mini_plan *plan, const struct mini_coll *coll, void *group)
{
	struct mini_comm_profile *comm = &plan->comm->profile;
	struct mini_op *op = coll->op;
	struct mini_event event = {
		.kind = MINI_EVENT_COLL,
		.parent = op->profile.call,
		.rank = plan->comm->rank,
		.coll.number = atomic_load(&comm->numbers[op->function]),
		.coll.function = mini_function_name(op),
		.coll.send = op->send,
		.coll.recv = op->recv,
		.coll.count = coll->count,
		.coll.root = op->root,
		.coll.type = mini_profiler_type(coll->type),
		.coll.channels = (uint8_t) (coll->last_channel - coll->first_channel + 1),
		.coll.warps = (uint8_t) coll->warps,
		.coll.algorithm = mini_algorithm_name(op->algorithm),
		.coll.protocol = mini_protocol_name(op->protocol),
		.coll.group = group,
	};

	if (is_wanted(op, MINI_EVENT_COLL, group))
		mini_profiler_start(comm->context, &op->profile.task, &event);
	if (counts(plan, op, group))
		atomic_fetch_add(&comm->numbers[op->function], 1);
}

static void begin_side(struct mini_plan *plan, const struct mini_side *side, void *group)
{
	struct mini_op *op = side->op;
	bool is_send = op->function == MINI_SEND;
	struct mini_event event = {
		.kind = MINI_EVENT_P2P,
		.parent = op->profile.call,
		.rank = plan->comm->rank,
		.p2p.function = is_send ? "Send" : "Recv",
		.p2p.buffer = is_send ? (void *) (uintptr_t) op->send : op->recv,
		.p2p.type = mini_profiler_type(op->type),
		.p2p.count = op->count,
		.p2p.peer = op->root,
		.p2p.channels = (uint8_t) side->channels,
		.p2p.group = group,
	};

	if (is_wanted(op, MINI_EVENT_P2P, group))
		mini_profiler_start(plan->comm->profile.context, &op->profile.task,
				    &event);
}

static void begin_work(struct mini_plan *plan, const struct mini_work *work, void *group)
{
	const struct mini_side *sides = work->pair.sides;

	if (!work->is_pair) {
		begin_coll(plan, &work->coll, group);
		return;
	}
	if (sides[MINI_SENDING].op)
		begin_side(plan, &sides[MINI_SENDING], group);
	if (sides[MINI_RECEIVING].op)
		begin_side(plan, &sides[MINI_RECEIVING], group);
}

static void begin_group(const struct mini_plan *plan, void **group)
{
	const struct mini_op *op = first_wanted(plan);
	struct mini_event event = {.kind = MINI_EVENT_GROUP};

	if (op && op->profile.mask & GROUP_KINDS)
		mini_profiler_start(plan->comm->profile.context, group, &event);
}

void mini_profile_plan_begin(struct mini_plan *plan, struct mini_plan_profile *profile)
{
	const struct mini_work *work;
	const struct mini_op *op;
	size_t count = 0;

	begin_group(plan, &profile->group);
	for (work = plan->works; work; work = work->next)
		begin_work(plan, work, profile->group);
	for (op = plan->ops; op; op = op->next)
		count++;
	profile->tasks = calloc(count + 1, sizeof(*profile->tasks));
	for (op = plan->ops; profile->tasks && op; op = op->next) {
		if (op->profile.task)
			profile->tasks[profile->count++] = op->profile.task;
	}
}

void mini_profile_plan_end(struct mini_plan_profile *profile)
{
	size_t i;

	for (i = 0; i < profile->count; i++)
		mini_profiler_stop(profile->tasks[i]);
	if (profile->group)
		mini_profiler_stop(profile->group);
	free(profile->tasks);
}
