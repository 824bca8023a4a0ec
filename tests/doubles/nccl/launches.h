/* SPDX-License-Identifier: MIT */
/*
 * Which launch carries which operations, as a file named by MININCCL_LAUNCHES: what a
 * tracer should find out from outside.
 */
#ifndef MINI_NCCL_LAUNCHES_H
#define MINI_NCCL_LAUNCHES_H

#include "arguments.h"

/* The operations are the launch's, the first of them `ops`; gives it its number. */
void mini_launches_write(const struct ncclComm *comm, struct mini_launch *launch,
			 const struct mini_op *ops, CUstream stream, bool is_captured,
			 int result);
/* The same, for the truth alone, of what has no such arguments; without a kernel: NULL. */
void mini_launches_told(const struct mini_plan *plan, const char *kind,
			const char *kernel, int result);
/* A graph launches once more what was captured. */
void mini_launches_replayed(const struct mini_plan *plan);

#endif
