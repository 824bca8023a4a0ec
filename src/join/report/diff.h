/* SPDX-License-Identifier: MIT */
/*
 * What changed between two runs: findings that came or went, and collectives, ranks and
 * connections whose measures differ by more than the noise of either run.
 *
 * Hides which differences count, and which of them is the main one.
 */
#ifndef TAP_JOIN_REPORT_DIFF_H
#define TAP_JOIN_REPORT_DIFF_H

#include "common/vec.h"
#include "join/report/measures.h"

enum tap_change_kind {
	TAP_CHANGE_NEW, /* a finding */
	TAP_CHANGE_GONE,
	TAP_CHANGE_SLOWER,
	TAP_CHANGE_FASTER,
	TAP_CHANGE_LATER, /* a rank */
	TAP_CHANGE_EARLIER,
};

struct tap_change {
	enum tap_change_kind kind;
	const struct tap_measure *before, *after; /* NULL: not in this run */
	int64_t weight_ns; /* what it costs or saves; INT64_MAX: the program cannot go on
			    */
};

/* All zero is empty. */
struct tap_diff {
	TAP_VEC(struct tap_change) changes; /* largest first */
	size_t same;			    /* measures that differ by noise alone */
	size_t too_few;			    /* measures of too few values to tell */
	size_t only_once; /* measures of one run alone, but for findings */
};

/* Compares two runs, which the changes point to.  Returns 0 or -ENOMEM. */
int tap_diff_make(struct tap_diff *diff, const struct tap_measures *before,
		  const struct tap_measures *after);

/* Adds at most `height` lines of `width` columns, the main change first. */
void tap_diff_add_text(struct tap_buffer *text, const struct tap_diff *diff, size_t width,
		       size_t height);
/* Adds the members "changes", "same", "too_few" and "only_once". */
void tap_diff_add_json(struct tap_json *json, const struct tap_diff *diff);

void tap_diff_free(struct tap_diff *diff);

#endif
