/* SPDX-License-Identifier: MIT */
/*
 * Collectives between windows: the kernels of the ranks read and write each other's
 * memory themselves, and there is no message (NCCL 2.28.9, sym_kernels.cc,
 * scheduler/symmetric_sched.cc).
 *
 * Hides which kernel that is, its arguments, and how the kernels meet.
 */
#ifndef MINI_NCCL_SYMMETRIC_H
#define MINI_NCCL_SYMMETRIC_H

#include "plan.h"

/*
 * Takes from the operations those that such kernels do, and appends their plans; returns
 * where the next plan goes, or NULL: then *ret_result says why.
 */
struct mini_plan **mini_symmetric_plan(struct ncclComm *comm, struct mini_op **ops,
				       struct mini_plan **plans,
				       ncclResult_t *ret_result);
void mini_symmetric_free(struct mini_symmetric *symmetric);
/* As the launches of launch.c; the plan is the kernel's from then on. */
CUresult mini_symmetric_launch(struct mini_plan *plan, bool is_captured);

#endif
