/* SPDX-License-Identifier: MIT */
/*
 * What one communicator has in a group of calls: windows that are asked for, and
 * operations.
 *
 * Hides the steps in which all of it is carried out, and the threads that do it.
 */
#ifndef MINI_NCCL_GROUP_SHARE_H
#define MINI_NCCL_GROUP_SHARE_H

#include "plan.h"
#include "thread.h"
#include "window.h"

struct mini_step;

struct mini_share {
	struct mini_share *next;
	struct ncclComm *comm;
	struct mini_registration *registrations;
	struct mini_registration **last_registration;
	struct mini_op *ops;
	struct mini_op **last;
	/* Some of the operations are. */
	bool is_by_copies;

	struct mini_plan *plans;
	/* For the thread that does a step, where there are several shares. */
	const struct mini_step *step;
	struct mini_thread thread;
	ncclResult_t result;
};

/* Empty; NULL without memory. */
struct mini_share *mini_share_create(struct ncclComm *comm);
/* Takes the registration; copies the operation.  False without memory. */
void mini_share_add_registration(struct mini_share *share,
				 struct mini_registration *registration);
bool mini_share_add_op(struct mini_share *share, const struct mini_op *op);
void mini_share_destroy(struct mini_share *share);
/* Of all shares from the first one on: the windows, and then the operations. */
ncclResult_t mini_shares_register(struct mini_share *first);
ncclResult_t mini_shares_launch(struct mini_share *first);

#endif
