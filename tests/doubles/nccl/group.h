/* SPDX-License-Identifier: MIT */
/*
 * What lies between ncclGroupStart() and ncclGroupEnd() of a thread, and how it
 * is carried out.  A single call is a group of its own.
 */
#ifndef MINI_NCCL_GROUP_H
#define MINI_NCCL_GROUP_H

#include "plan.h"
#include "window.h"

typedef ncclResult_t (*mini_job_function)(void *argument);
typedef void (*mini_job_cancel)(void *argument);

void mini_group_start(void);
/*
 * Carries out what was collected, at the outermost end.  With somewhere to write
 * how long that would take, the operations are dropped there instead; but not the
 * jobs, and nothing where communicators do not block: so it is in NCCL.
 */
ncclResult_t mini_group_end(ncclSimInfo_t *info);
/* Makes the group fail at its end too, with the last such result; returns it. */
ncclResult_t mini_group_fail(ncclResult_t result);
/* How many groups of the thread are open. */
int mini_group_depth(void);

/*
 * Takes the registration, which is carried out at the end of the group, after its jobs
 * and before its operations.  Called inside a group.
 */
ncclResult_t mini_group_add_registration(struct ncclComm *comm,
					 struct mini_registration *registration);
/* Copies the operation, once the profiler is told of it.  Called inside a group. */
ncclResult_t mini_group_add_op(struct ncclComm *comm, struct mini_op *op);
/*
 * Runs at the end of the group: in a thread of its own where there are several.
 * `cancel`, unless NULL, gets the argument where the group fails before that.  On
 * a failure, ncclInvalidArgument where blocking and nonblocking communicators
 * meet, the argument stays the caller's.  Called inside a group.
 */
ncclResult_t mini_group_add_job(struct ncclComm *comm, mini_job_function run,
				mini_job_cancel cancel, void *argument);

#endif
