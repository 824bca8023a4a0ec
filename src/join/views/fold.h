/* SPDX-License-Identifier: MIT */
/*
 * Makes one line of calls that a thread repeats while it waits: polling calls with the
 * same arguments and result, and nothing but polling calls of that thread between them.
 *
 * Hides that lines of other threads wait meanwhile, so that all stay in order of time, and
 * how many of them may wait: beyond that the line is written with what it has, and a new
 * one begins.
 */
#ifndef TAP_JOIN_VIEWS_FOLD_H
#define TAP_JOIN_VIEWS_FOLD_H

#include "join/model/span.h"

/* One line: the first of count spans that are alike, and when the last of them ended. */
struct tap_fold_line {
	struct tap_span *span;
	uint64_t count;
	int64_t end_ns; /* where count is more than 1 */
};

/* Takes the next line.  Returns 0 or -errno. */
typedef int (*tap_fold_take)(void *data, const struct tap_fold_line *line);

struct tap_fold_item;

struct tap_fold {
	struct tap_fold_item *ring;
	uint64_t first, next; /* numbers of items, from 0 */
	struct tap_table threads; /* with open items, by (process, tid) */
	bool is_off;
	tap_fold_take take;
	void *data;
};

/* is_off: every span is a line.  Returns 0 or -ENOMEM. */
int tap_fold_init(struct tap_fold *fold, bool is_off, tap_fold_take take, void *data);

/* The next span, in order of beginning.  Returns 0, -ENOMEM or what take returned. */
int tap_fold_add(struct tap_fold *fold, struct tap_span *span);

/* Gives all lines, after the last span.  Returns 0 or what take returned. */
int tap_fold_finish(struct tap_fold *fold);

/* Drops what is held; call it before the join is destroyed. */
void tap_fold_free(struct tap_fold *fold);

#endif
