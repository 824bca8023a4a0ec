/* SPDX-License-Identifier: MIT */
/*
 * Decodes the numbers of NCCL's device functions.
 *
 * A number is an index into a table that each NCCL release generates by a rule. funcid/
 * has one table for each rule; scripts/nccl-function-ids writes these tables and compares
 * them with the libraries that NVIDIA ships (doc/nccl-function-ids.md).  Hides which
 * release uses which table.
 */
#ifndef TAP_JOIN_NCCL_FUNCID_H
#define TAP_JOIN_NCCL_FUNCID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Names as NCCL spells them, NULL where the function has none.  The caller frees nothing.
 */
struct tap_funcid {
	const char *collective;
	const char *op;	      /* MinMax is both */
	const char *datatype; /* "i32/u32" where one function does for both */
	const char *algorithm;
	const char *protocol;
};

/*
 * Looks up function `id` of release `version`, such as 22809; false if either is unknown.
 */
bool tap_funcid_lookup(uint32_t version, uint64_t id, struct tap_funcid *ret_function);

#define TAP_FUNCID_KERNEL_MAX 64

/*
 * The name, without ncclDevKernel_, of the kernel that NCCL launches for this function
 * alone.
 */
void tap_funcid_kernel(uint32_t version, const struct tap_funcid *function,
		       char ret_name[TAP_FUNCID_KERNEL_MAX]);

#endif
