/* SPDX-License-Identifier: MIT */
/*
 * What a filter decided about spans that are over, for what comes later and refers to
 * them: calls inside a call, work on a GPU, links.
 *
 * Hides how a span is identified, and that the oldest of very many are forgotten.
 */
#ifndef TAP_JOIN_VIEWS_KNOWN_H
#define TAP_JOIN_VIEWS_KNOWN_H

#include "join/base/table.h"
#include "join/model/span.h"

#include <stdbool.h>

/* What is remembered of a span; bits. */
enum tap_known_of_span {
	TAP_KNOWN_PASSED = 1, /* the view got it */
	TAP_KNOWN_WANTED = 2, /* it belongs to an operation that the user wants to see */
};

/* A span, or a group of calls, among all of the trace. */
struct tap_known_id {
	uint64_t process, number;
};

/* All zero is empty. */
struct tap_known_spans {
	struct tap_table by_id;
	struct tap_known_id *ring; /* in the order in which they came */
	size_t next;
};

/* The id of the span of this work, or of the call. */
struct tap_known_id tap_known_span(const struct tap_process *process,
				   const struct tap_work *work, uint64_t call_id);
struct tap_known_id tap_known_group(const struct tap_process *process, uint64_t group_id);

bool tap_known_is(const struct tap_known_spans *known, struct tap_known_id id,
		  enum tap_known_of_span what);
/* Returns 0 or -ENOMEM. */
int tap_known_add(struct tap_known_spans *known, struct tap_known_id id,
		  enum tap_known_of_span what);

void tap_known_free(struct tap_known_spans *known);

#endif
