/* SPDX-License-Identifier: MIT */
/*
 * Which processes NCCL takes to be on one node: those of one host that have the same
 * NCCL_HOSTID, which stands for the host's name where it is set (NCCL 2.28.9,
 * misc/utils.cc: getHostHash).  A rank posts for others of its node alone (PXN).
 *
 * Hides the variable.
 */
#ifndef TAP_JOIN_NCCL_NODE_H
#define TAP_JOIN_NCCL_NODE_H

#include <stdbool.h>

#include "join/base/table.h"
#include "join/model/layer.h"

struct tap_nodes {
	struct tap_context *context; /* first: layer.h */
	struct tap_table ids;	     /* by process: a hash of the variable, odd */
};

extern const struct tap_layer tap_nodes_layer;

/* False where the processes are certainly on two nodes. */
bool tap_nodes_may_be_one(const struct tap_nodes *nodes, const struct tap_process *a,
			  const struct tap_process *b);

#endif
