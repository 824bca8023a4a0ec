/* SPDX-License-Identifier: MIT */
/*
 * Reduction operators: those that there are always, and those that a program has made for
 * one communicator and one type, which multiply before they add.
 *
 * Hides what a handle means, and what the device makes of an operator.
 */
#ifndef MINI_NCCL_REDOP_H
#define MINI_NCCL_REDOP_H

#include "plan.h"

struct mini_redop;

/* Of a communicator: zeros at first. */
struct mini_redops {
	struct mini_redop *all;
	int capacity;
	int first_free;
};

/* NULL memory of the program stands for what is read when a kernel runs. */
ncclResult_t mini_redop_create(struct ncclComm *comm, const void *scalar,
			       ncclDataType_t type, bool is_on_device,
			       ncclRedOp_t *ret_op);
ncclResult_t mini_redop_destroy(struct ncclComm *comm, ncclRedOp_t op);
void mini_redops_free(struct mini_redops *redops);

/* Whether there is such a one. */
bool mini_redop_exists(const struct ncclComm *comm, ncclRedOp_t op);
/* What the device is told of it; ncclInvalidArgument where it is of another type. */
ncclResult_t mini_redop_operation(const struct ncclComm *comm, ncclRedOp_t op,
				  ncclDataType_t type, struct mini_operation *operation);

#endif
