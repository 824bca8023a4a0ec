/* SPDX-License-Identifier: MIT */
/* Collecting calls per thread, and carrying them out at the end of the group. */
#include "group.h"

#include "comm.h"
#include "group_share.h"
#include "reduce.h"
#include "result.h"
#include "thread.h"
#include "truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of NCCL_SIM_INFO_INITIALIZER. */
#define SIM_INFO_MAGIC 0x74685283

struct job {
	struct job *next;
	struct group *group;
	struct ncclComm *comm;
	/* Takes the communicator away, so that nothing is said to it afterwards. */
	bool is_destroy;
	mini_job_function run;
	mini_job_cancel cancel;
	void *argument;
	struct mini_thread thread;
	ncclResult_t result;
};

/* What NCCL calls the group's blocking mode: the first communicator decides. */
enum mode { UNDECIDED, BLOCKING, NONBLOCKING };

struct group {
	struct mini_share *shares;
	struct mini_share **last_share;
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

static struct mini_share *share_of(struct group *group, struct ncclComm *comm)
{
	struct mini_share *share;

	for (share = group->shares; share; share = share->next) {
		if (share->comm == comm)
			return share;
	}
	share = mini_share_create(comm);
	if (share) {
		*group->last_share = share;
		group->last_share = &share->next;
	}
	return share;
}

static enum mode mode_of(const struct ncclComm *comm)
{
	return comm->is_nonblocking ? NONBLOCKING : BLOCKING;
}

ncclResult_t mini_group_add_op(struct ncclComm *comm, struct mini_op *op)
{
	struct group *group = current_group();
	struct mini_share *share = group ? share_of(group, comm) : NULL;
	bool is_added;

	MINI_PROFILE(call_begin(comm, op, depth));
	is_added = share && mini_share_add_op(share, op);
	MINI_PROFILE(call_end(op));
	if (!is_added)
		return mini_fail(ncclSystemError, "out of memory");
	/* Of operations it is the last one that decides. */
	group->mode = mode_of(comm);
	return ncclSuccess;
}

ncclResult_t mini_group_add_registration(struct ncclComm *comm,
					 struct mini_registration *registration)
{
	struct group *group = current_group();
	struct mini_share *share = group ? share_of(group, comm) : NULL;

	if (!share) {
		free(registration);
		return mini_fail(ncclSystemError, "out of memory");
	}
	mini_share_add_registration(share, registration);
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

static void *job_thread(void *arg)
{
	struct job *job = arg;

	mini_truth_thread(MINI_THREAD_GROUP, job->comm);
	return job_main(job);
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
		else if (mini_thread_start(&job->thread, MINI_ARGUMENT_JOB, job_thread,
					   job))
			job->result =
				mini_fail(ncclSystemError, "cannot create a thread");
	}
	for (job = group->jobs; job; job = job->next) {
		mini_thread_join(&job->thread);
		if (result == ncclSuccess)
			result = job->result;
	}
	return result;
}

static void destroy_group(struct group *group)
{
	struct mini_share *share;
	struct job *job;

	while (group->shares) {
		share = group->shares;
		group->shares = share->next;
		mini_share_destroy(share);
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
	struct mini_share *share;
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
	const struct mini_share *share;
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

	if (result == ncclSuccess)
		result = mini_shares_register(group->shares);
	if (result == ncclSuccess && info)
		estimate(group, info);
	else if (result == ncclSuccess)
		result = mini_shares_launch(group->shares);
	return result;
}

static void *background_main(void *arg)
{
	struct group *group = arg;
	struct mini_share *share;
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

/* Of several communicators the first is told. */
static void *background_thread(void *arg)
{
	struct group *group = arg;

	mini_truth_thread(MINI_THREAD_GROUP,
			  group->jobs ? group->jobs->comm : group->shares->comm);
	return background_main(group);
}

/*
 * NCCL creates a thread for each group of a nonblocking communicator, and the
 * call returns before the work is launched.
 */
static ncclResult_t run_in_background(struct group *group)
{
	struct mini_share *share;
	struct job *job;
	struct mini_thread thread;

	for (share = group->shares; share; share = share->next)
		mini_comm_begin_job(share->comm);
	for (job = group->jobs; job; job = job->next) {
		if (!job->is_destroy)
			mini_comm_begin_job(job->comm);
	}
	if (mini_thread_start(&thread, MINI_ARGUMENT_JOB, background_thread, group)) {
		background_main(group);
		return ncclSuccess;
	}
	mini_thread_detach(&thread);
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

static ncclResult_t end_group(ncclSimInfo_t *info)
{
	struct group *group = current;
	ncclResult_t result = failure;
	ncclSimInfo_t copy;
	size_t size = 0;

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

ncclResult_t mini_group_end(ncclSimInfo_t *info)
{
	ncclResult_t result;

	if (depth == 0)
		return mini_fail(ncclInvalidUsage, "ncclGroupEnd: not in a group call.");
	MINI_PROFILE(group_end());
	result = end_group(info);
	MINI_PROFILE(group_over());
	return result;
}
