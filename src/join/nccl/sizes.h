/* SPDX-License-Identifier: MIT */
/*
 * The sizes of NCCL's buffers and of the chunks of sends, as the environment of each
 * process sets them: NCCL reads it with the first communicator, with the variables that
 * its configuration files add (NCCL 2.28.9, misc/param.cc; init.cc: computeBuffSizes).
 *
 * Hides the variables.
 */
#ifndef TAP_JOIN_NCCL_SIZES_H
#define TAP_JOIN_NCCL_SIZES_H

#include "join/base/table.h"
#include "join/model/layer.h"
#include "join/nccl/expected.h"

struct tap_sizes {
	struct tap_context *context; /* first: layer.h */
	struct tap_table by_process; /* what sizes.c knows of each */
};

extern const struct tap_layer tap_sizes_layer;

struct tap_ccl_sizes tap_sizes_of(const struct tap_sizes *sizes,
				  const struct tap_process *process);

/*
 * Whether the process's connections for sends and receives share a pool; with
 * NCCL_NET_SHARED_BUFFERS=0 each has the same buffers as one for collectives (2.28.9,
 * transport/net.cc: req.shared).
 */
bool tap_sizes_have_pool(const struct tap_sizes *sizes,
			 const struct tap_process *process);

#endif
