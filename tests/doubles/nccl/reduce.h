/* SPDX-License-Identifier: MIT */
/* Arithmetic on the data types of NCCL, hiding how each is represented. */
#ifndef MINI_NCCL_REDUCE_H
#define MINI_NCCL_REDUCE_H

#include <nccl.h>

/* Bytes of one element, 0 for what is not a data type. */
size_t mini_type_size(ncclDataType_t type);

/*
 * into[i] = op(into[i], from[i]) for `count` elements; ncclAvg adds, and the
 * sum is divided at the end.  The 8-bit floats are left alone.
 */
void mini_reduce(void *into, const void *from, size_t count, ncclDataType_t type,
		 ncclRedOp_t op);
/* Divides the sum of `nranks` contributions, truncating integers as NCCL does. */
void mini_reduce_divide(void *data, size_t count, ncclDataType_t type, int nranks);

#endif
