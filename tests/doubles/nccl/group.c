/* SPDX-License-Identifier: MIT */
/* Collecting calls per thread, and carrying them out at the end of the group. */
#include "group.h"

#include "comm.h"
#include "reduce.h"
#include "result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of NCCL_SIM_INFO_INITIALIZER. */
#define SIM_INFO_MAGIC 0x74685283

/* A communicator's share of a group. */
struct share {
	struct share *next;
	struct ncclComm *comm;
	struct mini_op *ops;
	struct mini_op **last;
	/* For the thread that connects, where there are several shares. */
	struct mini_plan *plan;
	pthread_t thread;
	int err;
};

struct job {
	struct job *next;
	struct group *group;
	struct ncclComm *comm;
	/* Takes the communicator away, so that nothing is said to it afterwards. */
	bool is_destroy;
	mini_job_function run;
	mini_job_cancel cancel;
	void *argument;
	pthread_t thread;
	ncclResult_t result;
};

/* What NCCL calls the group's blocking mode: the first communicator decides. */
enum mode { UNDECIDED, BLOCKING, NONBLOCKING };

struct group {
	struct share *shares;
	struct share **last_share;
	struct job *jobs;
	struct job **last_job;
	enum mode mode;
};

static __thread int depth;
static __thread ncclResult_t failure;
static __thread struct group *current;

void mini_group_start(void)
{
	depth++;
}

int mini_group_depth(void)
{
	return depth;
}

ncclResult_t mini_group_fail(ncclResult_t result)
{
	if (depth > 0)
		failure = result;
	return result;
}

static struct group *current_group(void)
{
	if (current)
		return current;
	current = calloc(1, sizeof(*current));
	if (current) {
		current->last_share = &current->shares;
		current->last_job = &current->jobs;
	}
	return current;
}

static struct share *share_of(struct group *group, struct ncclComm *comm)
{
	struct share *share;

	for (share = group->shares; share; share = share->next) {
		if (share->comm == comm)
			return share;
	}
	share = calloc(1, sizeof(*share));
	if (share) {
		share->comm = comm;
		share->last = &share->ops;
		*group->last_share = share;
		group->last_share = &share->next;
	}
	return share;
}

static enum mode mode_of(const struct ncclComm *comm)
{
	return comm->is_nonblocking ? NONBLOCKING : BLOCKING;
}

ncclResult_t mini_group_add_op(struct ncclComm *comm, const struct mini_op *op)
{
	struct group *group = current_group();
	struct share *share = group ? share_of(group, comm) : NULL;
	struct mini_op *copy = share ? malloc(sizeof(*copy)) : NULL;

	if (!copy)
		return mini_fail(ncclSystemError, "out of memory");
	*copy = *op;
	copy->next = NULL;
	*share->last = copy;
	share->last = &copy->next;
	/* Of operations it is the last one that decides. */
	group->mode = mode_of(comm);
	return ncclSuccess;
}

static bool allows(struct group *group, const struct ncclComm *comm)
{
	/* What is taken away is waited for, whatever else there is. */
	if (comm->is_destroyed)
		group->mode = BLOCKING;
	else if (group->mode == UNDECIDED)
		group->mode = mode_of(comm);
	else if (group->mode != mode_of(comm))
		return false;
	return true;
}

ncclResult_t mini_group_add_job(struct ncclComm *comm, mini_job_function run,
				mini_job_cancel cancel, void *argument)
{
	struct group *group = current_group();
	struct job *job = group ? calloc(1, sizeof(*job)) : NULL;
	ncclResult_t result = ncclSuccess;

	if (!job)
		result = mini_fail(ncclSystemError, "out of memory");
	else if (!allows(group, comm))
		result = mini_fail(ncclInvalidArgument,
				   "Blocking and nonblocking communicators are not "
				   "allowed in the same group.");
	if (result != ncclSuccess) {
		free(job);
		return result;
	}
	job->group = group;
	job->comm = comm;
	job->is_destroy = comm->is_destroyed;
	job->run = run;
	job->cancel = cancel;
	job->argument = argument;
	*group->last_job = job;
	group->last_job = &job->next;
	return ncclSuccess;
}

/* One job that fails ends the waits of the others, which may be for it. */
static void stop_jobs(const struct group *group)
{
	const struct job *job;

	for (job = group->jobs; job; job = job->next) {
		if (!job->is_destroy)
			mini_comm_stop(job->comm);
	}
}

static void *job_main(void *arg)
{
	struct job *job = arg;

	job->result = job->run(job->argument);
	if (job->result != ncclSuccess && job->group->jobs->next)
		stop_jobs(job->group);
	return NULL;
}

/*
 * A job alone runs in the caller's thread.  Several wait for each other, so each
 * has a thread, created by the caller of ncclGroupEnd().
 */
static ncclResult_t run_jobs(struct group *group)
{
	ncclResult_t result = ncclSuccess;
	struct job *job;

	for (job = group->jobs; job; job = job->next) {
		if (!group->jobs->next)
			job_main(job);
		else if (pthread_create(&job->thread, NULL, job_main, job))
			job->result =
				mini_fail(ncclSystemError, "cannot create a thread");
	}
	for (job = group->jobs; job; job = job->next) {
		if (job->thread)
			pthread_join(job->thread, NULL);
		if (result == ncclSuccess)
			result = job->result;
	}
	return result;
}

static void *connect_main(void *arg)
{
	struct share *share = arg;

	share->err = mini_plan_connect(share->plan);
	return NULL;
}

/*
 * Like NCCL: what is connected already has no job; one job runs inline, and of
 * several each has a thread, since they may wait for each other.
 */
static ncclResult_t connect_shares(struct group *group)
{
	ncclResult_t result = ncclSuccess;
	struct share *share;

	for (share = group->shares; share; share = share->next) {
		if (mini_plan_is_connected(share->plan))
			continue;
		if (!group->shares->next)
			connect_main(share);
		else if (pthread_create(&share->thread, NULL, connect_main, share))
			share->err = -EAGAIN;
	}
	for (share = group->shares; share; share = share->next) {
		if (share->thread)
			pthread_join(share->thread, NULL);
		if (result == ncclSuccess)
			result = mini_result(share->err);
	}
	return result;
}

static ncclResult_t launch_shares(struct group *group)
{
	ncclResult_t result = ncclSuccess;
	struct share *share;

	for (share = group->shares; share; share = share->next) {
		share->plan = mini_plan_create(share->comm, share->ops);
		if (!share->plan)
			return mini_fail(ncclSystemError, "out of memory");
		share->ops = NULL;
		result = mini_plan_check(share->plan);
		if (result != ncclSuccess)
			return result;
	}
	result = connect_shares(group);
	for (share = group->shares; share && result == ncclSuccess; share = share->next) {
		struct mini_plan *plan = share->plan;

		/* From here on the plan is not the group's any more. */
		share->plan = NULL;
		result = mini_plan_launch(plan);
	}
	return result;
}

static void destroy_group(struct group *group)
{
	struct share *share;
	struct job *job;

	while (group->shares) {
		share = group->shares;
		group->shares = share->next;
		mini_ops_destroy(share->ops);
		if (share->plan)
			mini_plan_destroy(share->plan);
		free(share);
	}
	while (group->jobs) {
		job = group->jobs;
		group->jobs = job->next;
		free(job);
	}
	free(group);
}

/*
 * All operations of a group that has failed before its end are dropped, and
 * nonblocking communicators learn why.
 */
static void cancel_group(struct group *group, ncclResult_t result)
{
	struct share *share;
	struct job *job;

	for (share = group->shares; share; share = share->next) {
		if (share->comm->is_nonblocking)
			atomic_store(&share->comm->async_result, (int) result);
	}
	for (job = group->jobs; job; job = job->next) {
		if (!job->is_destroy && job->comm->is_nonblocking)
			atomic_store(&job->comm->async_result, (int) result);
		if (job->cancel)
			job->cancel(job->argument);
	}
}

/* What NCCL's tuning model gives for the last collective; any number will do. */
static void estimate(const struct group *group, ncclSimInfo_t *info)
{
	const struct share *share;
	const struct mini_op *op;

	for (share = group->shares; share; share = share->next) {
		for (op = share->ops; op; op = op->next) {
			if (!mini_op_is_p2p(op))
				info->estimatedTime =
					10.0f +
					(float) (op->count * mini_type_size(op->type)) /
						1e4f;
		}
	}
}

static ncclResult_t run_group(struct group *group, ncclSimInfo_t *info)
{
	ncclResult_t result = run_jobs(group);

	if (result == ncclSuccess && info)
		estimate(group, info);
	else if (result == ncclSuccess)
		result = launch_shares(group);
	return result;
}

static void *background_main(void *arg)
{
	struct group *group = arg;
	struct share *share;
	struct job *job;
	ncclResult_t result;

	result = run_group(group, NULL);
	for (share = group->shares; share; share = share->next)
		mini_comm_end_job(share->comm, result);
	for (job = group->jobs; job; job = job->next) {
		if (!job->is_destroy)
			mini_comm_end_job(job->comm, result);
	}
	destroy_group(group);
	return NULL;
}

/*
 * NCCL creates a thread for each group of a nonblocking communicator, and the
 * call returns before the work is launched.
 */
static ncclResult_t run_in_background(struct group *group)
{
	struct share *share;
	struct job *job;
	pthread_t thread;

	for (share = group->shares; share; share = share->next)
		mini_comm_begin_job(share->comm);
	for (job = group->jobs; job; job = job->next) {
		if (!job->is_destroy)
			mini_comm_begin_job(job->comm);
	}
	if (pthread_create(&thread, NULL, background_main, group)) {
		background_main(group);
		return ncclSuccess;
	}
	pthread_detach(thread);
	return ncclInProgress;
}

/* As much of it as the program's own release knew of. */
static ncclResult_t read_info(const ncclSimInfo_t *info, ncclSimInfo_t *ret_copy,
			      size_t *ret_size)
{
	*ret_copy = (ncclSimInfo_t) NCCL_SIM_INFO_INITIALIZER;
	ret_copy->magic = 0;
	*ret_size = info->size < sizeof(*info) ? info->size : sizeof(*info);
	memcpy(ret_copy, info, *ret_size);
	if (ret_copy->magic == SIM_INFO_MAGIC)
		return ncclSuccess;
	return mini_fail(ncclInvalidArgument, "ncclSimInfo_t argument not initialized "
					      "via NCCL_SIM_INFO_INITIALIZER");
}

ncclResult_t mini_group_end(ncclSimInfo_t *info)
{
	struct group *group = current;
	ncclResult_t result = failure;
	ncclSimInfo_t copy;
	size_t size = 0;

	if (depth == 0)
		return mini_fail(ncclInvalidUsage, "ncclGroupEnd: not in a group call.");
	if (--depth > 0)
		return ncclSuccess;
	current = NULL;
	failure = ncclSuccess;
	if (result == ncclSuccess && info)
		result = read_info(info, &copy, &size);
	if (!group)
		return result;
	if (result == ncclSuccess && group->mode == NONBLOCKING)
		return run_in_background(group);
	if (result == ncclSuccess) {
		result = run_group(group, info ? &copy : NULL);
		if (info && result == ncclSuccess)
			memcpy(info, &copy, size);
	} else {
		cancel_group(group, result);
	}
	destroy_group(group);
	return result;
}
