/* SPDX-License-Identifier: MIT */
/* The steps of a group (NCCL 2.28.9, group.cc:515-600). */
#include "group_share.h"

#include "comm.h"
#include "copies.h"
#include "result.h"
#include "truth.h"

#include <errno.h>
#include <stdlib.h>

/* What is done for each share that needs it. */
struct mini_step {
	bool (*is_needed)(const struct mini_share *share);
	ncclResult_t (*run)(struct mini_share *share);
};

struct mini_share *mini_share_create(struct ncclComm *comm)
{
	struct mini_share *share = calloc(1, sizeof(*share));

	if (!share)
		return NULL;
	share->comm = comm;
	share->last = &share->ops;
	share->last_registration = &share->registrations;
	return share;
}

void mini_share_add_registration(struct mini_share *share,
				 struct mini_registration *registration)
{
	*share->last_registration = registration;
	share->last_registration = &registration->next;
}

bool mini_share_add_op(struct mini_share *share, const struct mini_op *op)
{
	struct mini_op *copy = malloc(sizeof(*copy));

	if (!copy)
		return false;
	*copy = *op;
	copy->next = NULL;
	*share->last = copy;
	share->last = &copy->next;
	share->is_by_copies = share->is_by_copies || op->is_by_copies;
	return true;
}

void mini_share_destroy(struct mini_share *share)
{
	struct mini_registration *registration;

	while (share->registrations) {
		registration = share->registrations;
		share->registrations = registration->next;
		free(registration);
	}
	mini_ops_destroy(share->ops);
	mini_plans_destroy(share->plans);
	free(share);
}

static void *step_main(void *arg)
{
	struct mini_share *share = arg;

	mini_truth_thread(MINI_THREAD_GROUP, share->comm);
	share->result = share->step->run(share);
	return NULL;
}

/*
 * Like NCCL: one job runs inline, and of several each has a thread, since they may wait
 * for each other.
 */
static ncclResult_t run_step(struct mini_share *first, const struct mini_step *step)
{
	ncclResult_t result = ncclSuccess;
	struct mini_share *share;

	for (share = first; share; share = share->next) {
		share->result = ncclSuccess;
		share->step = step;
		if (!step->is_needed(share))
			continue;
		if (!first->next)
			share->result = step->run(share);
		else if (mini_thread_start(&share->thread, MINI_ARGUMENT_JOB, step_main,
					   share))
			share->result = mini_result(-EAGAIN);
	}
	for (share = first; share; share = share->next) {
		mini_thread_join(&share->thread);
		if (result == ncclSuccess)
			result = share->result;
	}
	return result;
}

static bool has_to_register(const struct mini_share *share)
{
	return share->registrations || share->is_by_copies;
}

/* One after another: all ranks have the same ones in the same order. */
static ncclResult_t register_share(struct mini_share *share)
{
	struct mini_registration *registration;
	ncclResult_t result = ncclSuccess;
	CUcontext before = NULL;

	mini_driver.CtxGetCurrent(&before);
	mini_driver.CtxSetCurrent(share->comm->context);
	for (registration = share->registrations; registration && result == ncclSuccess;
	     registration = registration->next)
		result = mini_window_register(share->comm, registration);
	if (result == ncclSuccess && share->is_by_copies)
		result = mini_copies_open(share->comm);
	mini_driver.CtxSetCurrent(before);
	return result;
}

ncclResult_t mini_shares_register(struct mini_share *first)
{
	static const struct mini_step registering = {has_to_register, register_share};

	return run_step(first, &registering);
}

/* What is connected already has no job. */
static bool has_to_connect(const struct mini_share *share)
{
	return share->plans && !mini_plans_are_connected(share->plans);
}

static ncclResult_t connect_share(struct mini_share *share)
{
	return mini_result(mini_plans_connect(share->plans));
}

ncclResult_t mini_shares_launch(struct mini_share *first)
{
	static const struct mini_step connecting = {has_to_connect, connect_share};
	ncclResult_t result = ncclSuccess;
	struct mini_share *share;

	for (share = first; share; share = share->next) {
		struct mini_op *ops = share->ops;

		share->ops = NULL;
		result = mini_plans_create(share->comm, ops, &share->plans);
		if (result != ncclSuccess)
			return result;
	}
	result = run_step(first, &connecting);
	for (share = first; share && result == ncclSuccess; share = share->next) {
		struct mini_plan *plans = share->plans;

		/* From here on the plans are not the group's any more. */
		share->plans = NULL;
		if (plans)
			result = mini_plans_launch(plans);
	}
	return result;
}
