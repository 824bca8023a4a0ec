/* SPDX-License-Identifier: MIT */
/*
 * NCCL's device functions and the kernels that run them.  A kernel's name is that of one
 * function of its kind, and it runs many others: which one is in the arguments of the
 * launch, as a number.
 *
 * Hides how numbers and names changed from release to release.
 */
#ifndef MINI_NCCL_FUNCTIONS_H
#define MINI_NCCL_FUNCTIONS_H

#include "plan.h"

struct mini_device_function {
	unsigned int number;
	/* Among the kernels, and whether that is made for this very function. */
	unsigned int kernel;
	bool is_own_kernel;
	/* Of its name: "None" where it has no such part. */
	const char *operator_name;
	const char *type_name;
	enum mini_algorithm algorithm;
	enum mini_protocol protocol;
};

/* What an operation is carried out by, once its algorithm and protocol are known. */
struct mini_device_function mini_device_function(const struct mini_op *op);
/* Whether the release has functions for the type. */
bool mini_type_is_there(ncclDataType_t type);

const char *mini_function_name(const struct mini_op *op);
const char *mini_algorithm_name(enum mini_algorithm algorithm);
const char *mini_protocol_name(enum mini_protocol protocol);

/* As the compiler writes it, and as the driver knows it in the current context. */
const char *mini_kernel_name(unsigned int kernel);
CUresult mini_kernel(unsigned int kernel, CUfunction *ret_function);

#endif
