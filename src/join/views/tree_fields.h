/* SPDX-License-Identifier: MIT */
/*
 * What a part of a tree says, under the names of NCCL's profiler interface, and what only
 * we know: doc/parity.md has every field.
 *
 * Hides from which span a field comes.
 */
#ifndef TAP_JOIN_VIEWS_TREE_FIELDS_H
#define TAP_JOIN_VIEWS_TREE_FIELDS_H

#include "join/views/tree_parts.h"

/* "GroupApi", "CollApi" ... */
const char *tap_tree_event(const struct tap_tree_part *part);

/* Fills fields, which are empty; they last as long as the part. */
void tap_tree_fields(const struct tap_tree_part *part, struct tap_fields *fields);

#endif
