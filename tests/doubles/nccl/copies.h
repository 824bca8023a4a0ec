/* SPDX-License-Identifier: MIT */
/*
 * Collectives between windows by the GPUs' copy engines: each rank copies to its peers,
 * and there is neither a kernel nor a message (NCCL 2.28.9, ce_coll.cc).
 *
 * Hides how the ranks meet in their streams.
 */
#ifndef MINI_NCCL_COPIES_H
#define MINI_NCCL_COPIES_H

#include "plan.h"

/* Whether that is how the operation is done: wanted, possible, and both in windows. */
bool mini_copies_do(const struct ncclComm *comm, const struct mini_op *op);
/* Before the first one, all ranks. */
ncclResult_t mini_copies_open(struct ncclComm *comm);
/* As mini_symmetric_plan(): one plan for each of them, in the order of the calls. */
struct mini_plan **mini_copies_plan(struct ncclComm *comm, struct mini_op **ops,
				    struct mini_plan **plans, ncclResult_t *ret_result);
/* The plan is gone afterwards. */
CUresult mini_copies_launch(struct mini_plan *plan, bool is_captured);
/* Waits for the copies, and gives all of it back. */
void mini_copies_close(struct ncclComm *comm);

#endif
