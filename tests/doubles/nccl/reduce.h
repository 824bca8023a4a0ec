/* SPDX-License-Identifier: MIT */
/* Arithmetic on the data types of NCCL, hiding how each is represented. */
#ifndef MINI_NCCL_REDUCE_H
#define MINI_NCCL_REDUCE_H

#include "plan.h"

/* Bytes of one element, 0 for what is not a data type. */
size_t mini_type_size(ncclDataType_t type);

/* into[i] = op(into[i], from[i]) for `count` elements.  8-bit floats are left alone. */
void mini_reduce(void *into, const void *from, size_t count, ncclDataType_t type,
		 const struct mini_operation *operation);
/* Multiplies by the operation's scalar. */
void mini_reduce_multiply(void *data, size_t count, ncclDataType_t type,
			  const struct mini_operation *operation);
/* Divides the sum of `nranks` contributions, truncating as NCCL does; of integers. */
void mini_reduce_divide(void *data, size_t count, ncclDataType_t type, int nranks);
/* One n-th, as NCCL has it as a scalar of that type of floats. */
uint64_t mini_reduce_share(ncclDataType_t type, int n);

#endif
