/* SPDX-License-Identifier: MIT */
/*
 * The consumer between the join and a view where the user gave filters: it forwards what
 * passes.  It comes after the join, so that a rank that is left out is no rank that is
 * missing.
 *
 * Hides what passes that has none of the wanted attributes itself (what is launched for
 * an operation belongs to it; a link passes with a span at one of its ends), and that some
 * filters can be decided only at the end: for the last seconds, for failures and for the
 * slowest, spans are held, a bounded number of them, and forwarded then in order of time.
 * Processes and libraries always pass.  No link passes where spans are held.
 */
#ifndef TAP_JOIN_VIEWS_FILTERED_H
#define TAP_JOIN_VIEWS_FILTERED_H

#include "join/views/filters.h"
#include "join/views/view.h"

/*
 * Makes the consumer's data.  The view's context is set before anything is forwarded; the
 * filters are not owned.  NULL when memory is short.
 */
struct tap_filtered *tap_filtered_create(struct tap_view *view,
					 const struct tap_filters *filters,
					 size_t held_max);
/* Before the join is destroyed. */
void tap_filtered_destroy(struct tap_filtered *filtered);

extern const struct tap_consumer tap_filtered_consumer;

/* "filtered: rank 2, op 5..6: 14 of 13600 spans", a line; nothing without filters. */
void tap_filtered_add_text(struct tap_buffer *text, const struct tap_view *view);
/* "filtered: rank 2, op 5..6", a line, where spans are not counted. */
void tap_filtered_add_filters(struct tap_buffer *text, const struct tap_view *view);
/* "filters":{...},"spans_passed":14,"spans":13600; nothing without filters. */
void tap_filtered_add_json(struct tap_json *json, const struct tap_view *view);

#endif
