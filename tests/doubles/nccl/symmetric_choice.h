/* SPDX-License-Identifier: MIT */
/*
 * The table of the kernels between windows, and which of them NCCL's model of time takes.
 *
 * Hides their names and how they are known to the driver.
 */
#ifndef MINI_NCCL_SYMMETRIC_CHOICE_H
#define MINI_NCCL_SYMMETRIC_CHOICE_H

#include "plan.h"

/*
 * For so many operations of one kind, whose buffers are in windows, with so many
 * elements, all and in the largest: a number of the table and how many blocks it has; -1:
 * there is none, or none is allowed.
 */
int mini_symmetric_choose(const struct ncclComm *comm, const struct mini_op *op,
			  unsigned int operations, size_t all, size_t most,
			  unsigned int *ret_blocks);
/* As the compiler writes it, and as the driver knows it in the current context. */
const char *mini_symmetric_name(int kernel);
CUresult mini_symmetric_function(int kernel, CUfunction *ret_function);

/* Every one of them; of symmetric.c. */
void mini_symmetric_run(const void *arguments, size_t size);

#endif
