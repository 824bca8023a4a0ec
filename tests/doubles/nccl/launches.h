/* SPDX-License-Identifier: MIT */
/*
 * Which launch carries which operations, as a file named by MININCCL_LAUNCHES: what a
 * tracer should find out from outside.
 */
#ifndef MINI_NCCL_LAUNCHES_H
#define MINI_NCCL_LAUNCHES_H

#include "arguments.h"

/* The operations are the launch's, the first of them `ops`. */
void mini_launches_write(const struct ncclComm *comm, const struct mini_launch *launch,
			 const struct mini_op *ops, CUstream stream, bool is_captured,
			 int result);

#endif
