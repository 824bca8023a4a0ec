/* SPDX-License-Identifier: MIT */
/*
 * What the progress thread does, and, since it plays the GPU as well, the channels of
 * kernels (NCCL 2.28.9, plugin/profiler.cc:482-700, transport/profiler.cc).
 */
#include "profiler.h"

#include "comm.h"
#include "plan.h"
#include "proxy_op.h"
#include "release.h"
#include "work.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	STEP_KINDS = MINI_EVENT_PROXY_STEP | MINI_EVENT_NET,
	OP_KINDS = MINI_EVENT_PROXY_OP | STEP_KINDS,
	/* A send and a receive for each of the transfers of a batch. */
	MOST_EVENTS = 16
};

_Static_assert(sizeof(((struct mini_proxy_profile *) NULL)->steps) ==
		       MINI_STEPS * sizeof(void *),
	       "there is a place for each step");

void mini_profile_op(struct mini_proxy_profile *profile, const struct ncclComm *comm,
		     const struct mini_op *op, size_t chunk)
{
	profile->mask = op->profile.mask;
	profile->pid = getpid();
	profile->context = comm->profile.context;
	profile->task = op->profile.task;
	profile->chunk = chunk;
}

/* What is told of as steps are messages, of several of the connection's steps each. */
static int messages(const struct mini_proxy_op *op, int steps)
{
	return (steps + op->slice_steps - 1) / op->slice_steps;
}

void mini_profile_op_begin(struct mini_proxy_op *op, size_t chunk)
{
	struct mini_proxy_profile *profile = &op->profile;
	struct mini_event event = {
		.kind = MINI_EVENT_PROXY_OP,
		.parent = profile->task,
		.rank = op->whose.rank,
		.proxy_op.pid = profile->pid,
		.proxy_op.channel = (uint8_t) op->channel,
		.proxy_op.peer = op->peer,
		.proxy_op.steps = messages(op, op->steps),
		.proxy_op.chunk = (int) chunk * op->slice_steps,
		.proxy_op.is_send = op->flow->is_send,
	};

	if (profile->mask & OP_KINDS)
		mini_profiler_start(profile->context, &profile->event, &event);
}

void mini_profile_op_progress(struct mini_proxy_op *op)
{
	if (op->profile.event)
		mini_profiler_record(op->profile.event, MINI_STATE_IN_PROGRESS,
				     (union mini_event_argument){.data = NULL});
}

void mini_profile_op_end(struct mini_proxy_op *op)
{
	if (op->profile.event)
		mini_profiler_stop(op->profile.event);
	op->profile.event = NULL;
}

static void **step_of(struct mini_proxy_op *op, int step)
{
	return &op->profile.steps[messages(op, step) % MINI_STEPS];
}

void mini_profile_step_begin(struct mini_proxy_op *op, int step)
{
	struct mini_event event = {
		.kind = MINI_EVENT_PROXY_STEP,
		.parent = op->profile.event,
		.rank = op->whose.rank,
		.proxy_step.step = messages(op, step),
	};

	/* In 2.27 there is none without a parent. */
	if (op->profile.mask & STEP_KINDS &&
	    (op->profile.event || mini_release() >= 22800))
		mini_profiler_start(op->profile.context, step_of(op, step), &event);
}

void mini_profile_step_state(struct mini_proxy_op *op, int step,
			     enum mini_event_state state)
{
	void *event = *step_of(op, step);

	if (op->profile.event && event)
		mini_profiler_record(event, state,
				     (union mini_event_argument){
					     .bytes = op->profile.bytes});
}

void mini_profile_step_end(struct mini_proxy_op *op, int step)
{
	void **event = step_of(op, step);

	if (*event)
		mini_profiler_stop(*event);
	*event = NULL;
}

void mini_profile_control_begin(void *context, void **handle, enum mini_event_state state)
{
	struct mini_event event = {.kind = MINI_EVENT_PROXY_CONTROL};

	*handle = NULL;
	if (!(mini_profiler_mask() & MINI_EVENT_PROXY_CONTROL))
		return;
	mini_profiler_start(context, handle, &event);
	if (*handle)
		mini_profiler_record(*handle, state,
				     (union mini_event_argument){.added = 0});
}

void mini_profile_control_end(void *handle, enum mini_event_state state, int added)
{
	if (!handle)
		return;
	if (mini_profiler_mask() & MINI_EVENT_PROXY_CONTROL)
		mini_profiler_record(handle, state,
				     (union mini_event_argument){.added = added});
	mini_profiler_stop(handle);
}

void mini_profile_control(void *context, enum mini_event_state state)
{
	void *handle;

	mini_profile_control_begin(context, &handle, state);
	if (handle)
		mini_profiler_stop(handle);
}

struct mini_kernel_profile {
	int count;
	void *events[MOST_EVENTS];
};

/* What the GPU has for a clock here. */
static uint64_t gpu_timer(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

static void begin_channel(struct mini_kernel_profile *profile,
			  const struct mini_plan *plan, const struct mini_op *op,
			  int channel, uint64_t timer)
{
	struct mini_event event = {
		.kind = MINI_EVENT_KERNEL_CHANNEL,
		.parent = op->profile.task,
		.kernel = {(uint8_t) channel, timer},
	};

	if (profile->count == MOST_EVENTS ||
	    !(op->profile.mask & MINI_EVENT_KERNEL_CHANNEL))
		return;
	mini_profiler_start(plan->comm->profile.context, &profile->events[profile->count],
			    &event);
	profile->count += profile->events[profile->count] != NULL;
}

void mini_profile_kernel_begin(struct mini_kernel_profile **profile,
			       const struct mini_plan *plan, const struct mini_part *part)
{
	const struct mini_pair *pair = &part->work->pair;
	uint64_t timer = gpu_timer();
	int direction;

	if (!*profile)
		*profile = calloc(1, sizeof(**profile));
	if (!*profile)
		return;
	if (!part->work->is_pair) {
		begin_channel(*profile, plan, part->work->coll.op, part->channel, timer);
		return;
	}
	for (direction = 0; direction < MINI_DIRECTIONS; direction++) {
		const struct mini_side *side = &pair->sides[direction];

		if (side->op && mini_topology_part(plan->comm, pair->base,
						   part->channel) < side->channels)
			begin_channel(*profile, plan, side->op, part->channel, timer);
	}
}

void mini_profile_kernel_end(struct mini_kernel_profile *profile)
{
	union mini_event_argument argument = {.timer = gpu_timer()};
	int i;

	for (i = 0; profile && i < profile->count; i++) {
		mini_profiler_record(profile->events[i], MINI_STATE_KERNEL_STOP,
				     argument);
		mini_profiler_stop(profile->events[i]);
		profile->events[i] = NULL;
	}
	if (profile)
		profile->count = 0;
}
