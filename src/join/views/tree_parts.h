/* SPDX-License-Identifier: MIT */
/*
 * The spans of each operation of all ranks, as one tree for each rank: calls, launches,
 * kernels, ProxyOps, messages and work requests, each below what it belongs to.
 *
 * Hides that they come in any order and long after each other: a message waits to be
 * ascribed, and a tree waits for its kernels.
 */
#ifndef TAP_JOIN_VIEWS_TREE_PARTS_H
#define TAP_JOIN_VIEWS_TREE_PARTS_H

#include "join/views/tree_hold.h"

/* Each returns 0 or -errno. */
int tap_trees_begun(struct tap_trees *trees, struct tap_span *span);
int tap_trees_ended(struct tap_trees *trees, struct tap_span *span);
int tap_trees_link(struct tap_trees *trees, const struct tap_link *link);

#endif
