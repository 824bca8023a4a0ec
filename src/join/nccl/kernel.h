/* SPDX-License-Identifier: MIT */
/*
 * Finds what an NCCL launch is for, from the kernel's name and, where recorded, the
 * kernel's arguments (event cuda:nccl_args).
 *
 * Hides which parts of a name are reliable, and the check of the arguments against the
 * launch: an NCCL that was built with fewer functions numbers them differently.
 */
#ifndef TAP_JOIN_NCCL_KERNEL_H
#define TAP_JOIN_NCCL_KERNEL_H

#include "join/base/field.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Adds what is known of a launch to its fields; nothing for a kernel that is not NCCL's:
 *
 * - kernel_kind: collective, symmetric or one_rank;
 * - known: decoded (from the arguments) or named (the name is exact); without it only
 *   the kind is certain;
 * - collective, op, datatype, algorithm, protocol as NCCL spells them; of several
 *   functions each is a list in one order, with commas, "-" for none;
 * - channels, channel_mask, device_comm, nccl_version, also where `known` is not there;
 * - left_out: 1 if the launch has more functions than these.
 *
 * function is the name that the driver gives, or NULL; args the fields of the event, or
 * NULL.  Returns 0 or -ENOMEM.
 */
int tap_kernel_describe(struct tap_fields *fields, const char *function, uint64_t grid_x,
			const struct tap_fields *args);

/*
 * The algorithm of a single collective whose kernel has this name, in NCCL before 2.22
 * (2.18.3, enqueue.cc:24-45; 2.21.5, device/generate.py:138-149): "RING" or "TREE", NULL
 * for others.  Where *version is 0, not known, and the name is of a release before 2.19,
 * sets it to 21800.  From 2.19 on the name of a ring is also that of NVLS, NVLS_TREE and
 * CollNet.
 */
const char *tap_kernel_algorithm(const char *function, uint32_t *version);

/*
 * The kind of a copy or stream operation `function` within the NCCL call nccl_call on a
 * communicator of nr_ranks ranks (-1: unknown): "one_rank" where the communicator has a
 * single rank, "copy_engine" where NCCL makes a collective of such operations, or NULL.
 */
const char *tap_kernel_copy(const char *function, const char *nccl_call,
			    int64_t nr_ranks);

/* Whether NCCL makes collectives of operations in batches, as this function takes them.
 */
bool tap_kernel_is_batch(const char *function);

#endif
