/* SPDX-License-Identifier: MIT */
/*
 * Collectives of a communicator that has one rank: there is nobody to talk to, and so no
 * plan.
 *
 * Hides the kernels that multiply alone.
 */
#ifndef MINI_NCCL_ONE_RANK_H
#define MINI_NCCL_ONE_RANK_H

#include "plan.h"

/* At once, even inside a group. */
ncclResult_t mini_one_rank_run(const struct ncclComm *comm, const struct mini_op *op);

#endif
