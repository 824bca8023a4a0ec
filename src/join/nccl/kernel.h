/* SPDX-License-Identifier: MIT */
/*
 * What a launch that NCCL makes is for, from the kernel's name and, where there are, the
 * arguments that it was given (event cuda:nccl_args).
 *
 * It hides what of a name can be relied on, and that arguments are believed only where
 * the launch around them says the same: a NCCL that somebody built with fewer functions
 * numbers them otherwise.
 */
#ifndef TAP_JOIN_NCCL_KERNEL_H
#define TAP_JOIN_NCCL_KERNEL_H

#include "join/base/field.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Adds to the fields of a launch what is known of it; nothing for a kernel that is not
 * NCCL's:
 *
 * kernel_kind	collective, symmetric, one_rank
 * known	decoded: from the arguments; named: the name is exact.  Without it only
 *the kind is sure. collective, op, datatype, algorithm, protocol in NCCL's words.  Of
 *several functions each is a list in one order, with commas, "-" for none channels,
 *channel_mask, device_comm left_out	1: the launch has more functions than these
 *
 * function is the name that the driver tells, or NULL; args the fields of the event, or
 * NULL.  Returns 0 or -ENOMEM.
 */
int tap_kernel_describe(struct tap_fields *fields, const char *function, uint64_t grid_x,
			const struct tap_fields *args);

/*
 * What a copy or a stream operation is that a NCCL call of this name makes on a
 * communicator of so many ranks (-1 unknown): "one_rank", where there is nobody else,
 * "copy_engine", where a collective is made of them, or NULL.
 */
const char *tap_kernel_copy(const char *function, const char *nccl_call,
			    int64_t nr_ranks);

#endif
