/* SPDX-License-Identifier: MIT */
/*
 * Lists of ranks in the report: as many as there is room for are named, of the rest the
 * number.
 *
 * Hides how they are written, so that they are the same wherever ranks are missing.
 */
#ifndef TAP_JOIN_REPORT_RANKS_H
#define TAP_JOIN_REPORT_RANKS_H

#include "join/base/json.h"

/* A list has so many; -1 stands after the last one where there are fewer. */
#define TAP_RANKS_MAX 16

/* "rank 3", "rank ?" of -1. */
void tap_ranks_add_one(struct tap_buffer *line, int64_t rank);
/* " 1, 2 and 3 more" of `total` ranks; ": 5" where none of them is known. */
void tap_ranks_add_text(struct tap_buffer *line, const int64_t *ranks, uint64_t total);
/* "name":[1,2] */
void tap_ranks_add_json(struct tap_json *json, const char *name, const int64_t *ranks);

#endif
