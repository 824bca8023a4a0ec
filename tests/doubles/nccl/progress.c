/* SPDX-License-Identifier: MIT */
/*
 * Goes on with all that can go on: of each connection with what is first in its line, and
 * of each communicator with its first kernel.
 */
#include "progress.h"

#include "comm.h"
#include "device.h"
#include "nvtx.h"
#include "proxy_guest.h"
#include "proxy_op.h"
#include "result.h"
#include "settings.h"
#include "truth.h"

#include <sched.h>
#include <stdio.h>

struct progress {
	struct mini_proxy_state *state;
	struct mini_actives actives;
	/* Communicators with kernels that are not over. */
	struct ncclComm *comms;
	/* That are not over. */
	size_t plans;
	/* Whether no message went on in the last round. */
	bool is_idle;
};

/* Called with the lock held.  Whoever is the last to use a plan ends it. */
static void leave(struct mini_proxy *proxy, struct mini_plan *plan, bool *is_left)
{
	*is_left = true;
	if (plan->is_over && plan->is_left_by_kernel) {
		mini_plan_destroy(plan);
		proxy->kernels--;
	}
	pthread_cond_broadcast(proxy->state->changed);
}

bool mini_plan_is_dead(const struct mini_plan *plan)
{
	int64_t rank = mini_number(SET_MININCCL_DEAD_RANK);
	const struct mini_op *op = plan->ops;

	while (op && op->ordinal < (uint64_t) mini_number(SET_MININCCL_DEAD_OP))
		op = op->next;
	return rank == plan->comm->rank && op;
}

void mini_proxy_kernel(struct mini_plan *plan)
{
	struct mini_proxy *proxy = &plan->comm->proxy;
	struct mini_proxy_state *state = proxy->state;
	bool is_to_begin = !mini_plan_is_dead(plan);

	pthread_mutex_lock(state->lock);
	atomic_store(&plan->has_begun, is_to_begin);
	pthread_cond_broadcast(state->changed);
	while (!plan->is_done)
		pthread_cond_wait(state->changed, state->lock);
	leave(proxy, plan, &plan->is_left_by_kernel);
	pthread_mutex_unlock(state->lock);
}

/*
 * A failed transfer shows only in ncclCommGetAsyncError(): the kernel keeps waiting until
 * the communicator is aborted, as a real one does.
 */
static void fail(struct mini_plan *plan, int err)
{
	plan->err = err;
	atomic_store(&plan->comm->proxy.state->error, (int) mini_result(err));
}

/* Either half is over, and so perhaps all of the plan. */
static void finish(struct progress *progress, struct mini_plan *plan)
{
	struct mini_proxy *proxy = &plan->comm->proxy;
	bool is_over = plan->is_kernel_done && plan->batches == 0;

	progress->plans -= is_over;
	pthread_mutex_lock(progress->state->lock);
	plan->is_done = plan->is_kernel_done;
	pthread_cond_broadcast(progress->state->changed);
	if (is_over)
		leave(proxy, plan, &plan->is_over);
	pthread_mutex_unlock(progress->state->lock);
}

/* Of another rank's nothing is known but that it failed. */
static void hear(void *argument, struct mini_plan *plan, int err)
{
	struct progress *progress = argument;

	if (!plan)
		atomic_store(&progress->state->error, (int) mini_result(err));
	else if (err)
		fail(plan, err);
	else if (plan->is_kernel_done)
		finish(progress, plan);
}

static void begin(struct progress *progress, struct mini_plan *plan)
{
	struct ncclComm *comm = plan->comm;
	struct mini_plan **place = &comm->kernels;
	int err = mini_device_create(plan);

	progress->plans++;
	if (comm->kernels) {
		place = &comm->last_kernel->next_kernel;
	} else {
		comm->next_busy = progress->comms;
		progress->comms = comm;
	}
	*place = plan;
	comm->last_kernel = plan;
	if (!err)
		err = mini_proxy_ops_begin(&progress->actives, plan);
	if (err)
		fail(plan, err);
}

static void end_kernel(struct progress *progress, struct mini_plan *plan)
{
	plan->comm->kernels = plan->next_kernel;
	plan->is_kernel_done = true;
	mini_device_destroy(plan->device);
	plan->device = NULL;
	finish(progress, plan);
}

/* Kernels of a communicator run one after the other, whatever their streams. */
static bool can_run(const struct mini_plan *plan)
{
	return atomic_load(&plan->has_begun) && !plan->err;
}

static void step_kernel(struct progress *progress, struct ncclComm *comm, bool *moved)
{
	struct mini_plan *plan = comm->kernels;
	int res;

	if (!can_run(plan))
		return;
	res = mini_device_step(plan->device, moved);
	if (res < 0)
		fail(plan, res);
	if (res <= 0)
		return;
	*moved = true;
	end_kernel(progress, plan);
}

/* What is under way is left as it is. */
static void drop(struct progress *progress, struct ncclComm *comm)
{
	mini_proxy_ops_drop(&progress->actives, comm, hear, progress);
	while (comm->kernels)
		end_kernel(progress, comm->kernels);
}

static void set_idle(struct progress *progress, bool is_idle)
{
	if (is_idle != progress->is_idle)
		MINI_PROFILE(control(progress->state->profiler_context,
				     is_idle ? MINI_STATE_IDLE : MINI_STATE_ACTIVE));
	progress->is_idle = is_idle;
}

static void step(struct progress *progress, bool *moved)
{
	struct ncclComm **place = &progress->comms;
	struct ncclComm *comm;

	comm = mini_proxy_ops_step(&progress->actives, moved, hear, progress);
	set_idle(progress, !*moved);
	if (comm)
		mini_proxy_ops_drop(&progress->actives, comm, hear, progress);
	while (*place) {
		comm = *place;
		if (atomic_load(&comm->aborted))
			drop(progress, comm);
		else
			step_kernel(progress, comm, moved);
		if (comm->kernels)
			place = &comm->next_busy;
		else
			*place = comm->next_busy;
	}
}

/* Whether it is worth while to look again. */
static bool can_go_on(const struct progress *progress)
{
	const struct ncclComm *comm;

	for (comm = progress->comms; comm; comm = comm->next_busy) {
		if (atomic_load(&comm->aborted) || can_run(comm->kernels))
			return true;
	}
	return mini_proxy_ops_are_busy(&progress->actives);
}

/* Whether nothing is left, and nothing can come. */
static bool is_over(const struct progress *progress)
{
	const struct mini_proxy_state *state = progress->state;

	return state->is_closed && state->is_served && progress->plans == 0 &&
	       progress->actives.guests == 0 && !mini_errands_are_there(state);
}

/* Called with the lock held. */
static bool has_to_wait(const struct progress *progress)
{
	const struct mini_proxy_state *state = progress->state;

	return !state->first && !mini_errands_are_there(state) && !can_go_on(progress) &&
	       !is_over(progress);
}

/* Called with the lock held.  NCCL tells of each time that its thread goes to sleep. */
static void wait(struct progress *progress)
{
	struct mini_proxy_state *state = progress->state;
	void *event;

	do {
		event = NULL;
		MINI_PROFILE(
			control_begin(state->profiler_context, &event, MINI_STATE_SLEEP));
		pthread_cond_wait(state->changed, state->lock);
		MINI_PROFILE(control_end(event, MINI_STATE_WAKEUP, 0));
	} while (has_to_wait(progress));
}

static void append(struct progress *progress, struct mini_plan *plans)
{
	struct mini_proxy_state *state = progress->state;
	int before = progress->actives.added;
	struct mini_plan *plan;
	void *event = NULL;

	MINI_PROFILE(control_begin(state->profiler_context, &event, MINI_STATE_APPEND));
	mini_errands_take(state, &progress->actives);
	while (plans) {
		plan = plans;
		plans = plan->next;
		plan->next = NULL;
		begin(progress, plan);
	}
	MINI_PROFILE(control_end(event, MINI_STATE_APPEND_END,
				 progress->actives.added - before));
}

/* Waits for something to do; false when there will be nothing any more. */
static bool take_plans(struct progress *progress, bool moved)
{
	struct mini_proxy_state *state = progress->state;
	struct mini_plan *plans;
	bool has_some;
	bool is_closed;

	pthread_mutex_lock(state->lock);
	if (!moved && has_to_wait(progress))
		wait(progress);
	plans = state->first;
	has_some = plans || mini_errands_are_there(state);
	state->first = NULL;
	state->last = &state->first;
	is_closed = is_over(progress) && !plans;
	pthread_mutex_unlock(state->lock);
	if (has_some)
		append(progress, plans);
	return !is_closed;
}

void *mini_progress_main(void *argument)
{
	struct progress progress = {.state = argument};
	bool moved = false;
	char name[16];

	snprintf(name, sizeof(name), "NCCL Progress%2d", progress.state->device);
	mini_nvtx_name_thread(name);
	progress.actives.is_aborted = &progress.state->is_aborted;
	progress.actives.order = (uint64_t) mini_number(SET_MININCCL_ORDER);
	mini_truth_thread(MINI_THREAD_PROGRESS, progress.state->top);
	set_idle(&progress, true);
	while (take_plans(&progress, moved)) {
		moved = false;
		step(&progress, &moved);
		/* As NCCL's while there is nothing to do. */
		if (!moved)
			sched_yield();
	}
	return NULL;
}
