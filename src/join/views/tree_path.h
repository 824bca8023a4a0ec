/* SPDX-License-Identifier: MIT */
/*
 * The critical path of a tree: from what ended last back to what it waited for, from one
 * rank to another, down to a call.
 *
 * Hides how one moment is found to have waited for another.  It is inferred throughout:
 * of all that a thing needs, what came last is what it waited for.
 */
#ifndef TAP_JOIN_VIEWS_TREE_PATH_H
#define TAP_JOIN_VIEWS_TREE_PATH_H

#include "join/views/tree_parts.h"

enum tap_tree_moment {
	TAP_TREE_ENDED,	   /* a kernel */
	TAP_TREE_ARRIVED,  /* a message, at its receiver */
	TAP_TREE_POSTED,   /* a message, by its sender */
	TAP_TREE_READY,	   /* the receiver of a message: it posted its CTS */
	TAP_TREE_BEGAN,	   /* a kernel */
	TAP_TREE_LAUNCHED, /* a kernel: its launch began */
	TAP_TREE_CALLED,
};

struct tap_tree_hop {
	enum tap_tree_moment moment;
	const struct tap_tree_part *part;
	int64_t time_ns;
};

/* What a rank had at a time. */
struct tap_tree_own {
	uint64_t process;
	int64_t rank;
	struct tap_tree_hop hop;
};

struct tap_tree_path {
	TAP_VEC(struct tap_tree_hop) hops; /* the last moment first */
	TAP_VEC(struct tap_tree_own) own;  /* by rank and time */
	bool is_cut; /* times of the next moment cannot be compared */
};

/* "ended", "arrived" ... */
const char *tap_tree_moment_name(enum tap_tree_moment moment);

/* Fills a path that is all zero, or empty; returns 0 or -ENOMEM. */
int tap_tree_path_find(struct tap_tree_path *path, const struct tap_tree *tree);
void tap_tree_path_free(struct tap_tree_path *path);

#endif
