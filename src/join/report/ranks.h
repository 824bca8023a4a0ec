/* SPDX-License-Identifier: MIT */
/*
 * Lists of ranks in the report: as many as there is room for, and the number of the
 * others.
 *
 * Hides their format, which is the same wherever ranks are missing.
 */
#ifndef TAP_JOIN_REPORT_RANKS_H
#define TAP_JOIN_REPORT_RANKS_H

#include "join/base/json.h"

/* The size of a list; -1 ends a shorter one. */
#define TAP_RANKS_MAX 16

/* "rank 3", or "rank ?" for -1. */
void tap_ranks_add_one(struct tap_buffer *line, int64_t rank);
/* " 1, 2 and 3 more" for `total` ranks; ": 5" where none of them is known. */
void tap_ranks_add_text(struct tap_buffer *line, const int64_t *ranks, uint64_t total);
/* "name":[1,2] */
void tap_ranks_add_json(struct tap_json *json, const char *name, const int64_t *ranks);

#endif
