/* SPDX-License-Identifier: MIT */
/*
 * The state of the view of trees, and what its text and its JSON lines have in common.
 *
 * Hides the order in which parts are shown, what filters leave out, and how a part is
 * named.
 */
#ifndef TAP_JOIN_VIEWS_TREE_VIEW_H
#define TAP_JOIN_VIEWS_TREE_VIEW_H

#include "join/views/tree_fields.h"
#include "join/views/tree_path.h"
#include "join/views/view.h"

struct tap_tree_view {
	struct tap_view view;
	struct tap_trees trees;
	struct tap_json json;
	struct tap_tree_path path; /* of the tree that is shown */
	struct tap_fields fields;  /* of the part that is shown */
	bool has_begun;
	uint64_t shown; /* trees */
};

typedef TAP_VEC(const struct tap_tree_part *) tap_tree_parts;

/* Each adds parts in the order in which they are shown; returns 0 or -ENOMEM. */

/* Those below a part. */
int tap_tree_below(const struct tap_tree_part *part, tap_tree_parts *to);
/* The first ones of the ranks that filters leave. */
int tap_tree_firsts(const struct tap_tree_view *view, const struct tap_tree *tree,
		    tap_tree_parts *to);

/* Whether filters leave any of its operations. */
bool tap_tree_is_wanted(const struct tap_tree_view *view, const struct tap_tree *tree);

/* When the first part began; -1 unknown. */
int64_t tap_tree_origin_ns(const struct tap_tree *tree);

/* The id of the part's span; "0.group3", "0.coll7" or "0.coll9k" without one. */
void tap_tree_add_id(struct tap_buffer *text, const struct tap_tree_part *part);
/* "all.7", "0>1.7" */
void tap_tree_add_key(struct tap_buffer *text,
		      const struct tap_tree_operation *operation);

/* Each writes a tree and its path; returns 0 or -errno. */
int tap_tree_write_text(struct tap_tree_view *view, const struct tap_tree *tree);
int tap_tree_write_json(struct tap_tree_view *view, const struct tap_tree *tree);

#endif
