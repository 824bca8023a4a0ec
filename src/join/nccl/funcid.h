/* SPDX-License-Identifier: MIT */
/*
 * What the numbers of NCCL's device functions mean.
 *
 * They are places in a table that each release makes anew by a rule: funcid/ has one
 * table for each rule, written by scripts/nccl-function-ids, which also compares them
 * with the libraries that NVIDIA ships (doc/nccl-function-ids.md).  This hides which
 * release has which.
 */
#ifndef TAP_JOIN_NCCL_FUNCID_H
#define TAP_JOIN_NCCL_FUNCID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In NCCL's own words; NULL where the function has none.  Nothing is owned. */
struct tap_funcid {
	const char *collective;
	const char *op;	      /* MinMax is both */
	const char *datatype; /* "i32/u32" where one function does for both */
	const char *algorithm;
	const char *protocol;
};

/* Whether release `version`, as 22809, is known and has a function of this number. */
bool tap_funcid_lookup(uint32_t version, uint64_t id, struct tap_funcid *ret_function);

#define TAP_FUNCID_KERNEL_MAX 64

/* The name of the kernel that runs the function when it is alone, without ncclDevKernel_.
 */
void tap_funcid_kernel(uint32_t version, const struct tap_funcid *function,
		       char ret_name[TAP_FUNCID_KERNEL_MAX]);

#endif
