/* SPDX-License-Identifier: MIT */
/*
 * The device functions of NCCL 2.28.9 and the kernels that run them.  A kernel's name is
 * that of one function of its kind, and it runs many others: which one is in the
 * arguments of the launch, as a number.
 */
#ifndef MINI_NCCL_FUNCTIONS_H
#define MINI_NCCL_FUNCTIONS_H

#include "plan.h"

/* With the numbers of NCCL's own. */
enum mini_algorithm { MINI_NO_ALGORITHM = -1, MINI_TREE = 0, MINI_RING = 1 };
enum mini_protocol {
	MINI_NO_PROTOCOL = -1,
	MINI_LL = 0,
	MINI_LL128 = 1,
	MINI_SIMPLE = 2
};

struct mini_device_function {
	unsigned int number;
	/* Among the kernels, and whether that is made for this very function. */
	unsigned int kernel;
	bool is_own_kernel;
	/* Send and receive are one. */
	enum mini_function function;
	/* Of its name: NULL where it has no such part. */
	const char *operator_name;
	const char *type_name;
	int type;
	enum mini_algorithm algorithm;
	enum mini_protocol protocol;
};

/*
 * What an operation is carried out by: a ring with SIMPLE, which is how its messages go.
 * NCCL_ALGO=Tree of all-reduce and NCCL_PROTO change the function, and nothing else.
 */
const struct mini_device_function *mini_device_function(const struct mini_op *op);

const char *mini_function_name(const struct mini_op *op);
const char *mini_algorithm_name(enum mini_algorithm algorithm);
const char *mini_protocol_name(enum mini_protocol protocol);

/* As the compiler writes it, and as the driver knows it in the current context. */
const char *mini_kernel_name(unsigned int kernel);
CUresult mini_kernel(unsigned int kernel, CUfunction *ret_function);

#endif
