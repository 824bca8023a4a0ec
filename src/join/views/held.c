/* SPDX-License-Identifier: MIT */
/* An array of spans; where it is full, those that are not needed go. */
#include "join/views/held.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of the slowest so many more are held, so that they are rarely sorted. */
#define SLACK 1000

bool tap_held_is_needed(const struct tap_filters *filters)
{
	return filters->given[TAP_FILTER_LAST] || filters->given[TAP_FILTER_ERRORS] ||
	       filters->given[TAP_FILTER_SLOWEST];
}

void tap_held_init(struct tap_held *held, const struct tap_filters *filters, size_t max)
{
	const size_t slowest = 2 * (size_t) filters->slowest + SLACK;

	*held = (struct tap_held){.filters = filters, .max = max};
	if (filters->slowest && (!filters->last_ns || max < slowest))
		held->max = slowest;
}

static void drop_from(struct tap_held *held, size_t from)
{
	size_t i;

	for (i = from; i < held->spans.count; i++)
		tap_span_put(held->spans.items[i].span);
	held->spans.count = from;
}

static void drop_first(struct tap_held *held, size_t count)
{
	struct tap_held_span *spans = held->spans.items;
	size_t i;

	for (i = 0; i < count; i++)
		tap_span_put(spans[i].span);
	held->spans.count -= count;
	memmove(spans, spans + count, held->spans.count * sizeof(*spans));
}

/* Keeps the spans that lasted until the last seconds before now. */
static void keep_last(struct tap_held *held, int64_t now_ns)
{
	struct tap_held_span *spans = held->spans.items;
	int64_t from_ns;
	size_t i, kept = 0;

	if (__builtin_sub_overflow(now_ns, held->filters->last_ns, &from_ns))
		return;
	for (i = 0; i < held->spans.count; i++)
		if (spans[i].end_ns >= from_ns)
			spans[kept++] = spans[i];
		else
			tap_span_put(spans[i].span);
	held->spans.count = kept;
}

static int64_t duration_of(const struct tap_held_span *held)
{
	int64_t duration_ns;

	return __builtin_sub_overflow(held->end_ns, held->span->begin_ns, &duration_ns)
		       ? INT64_MAX
		       : duration_ns;
}

/* The longest first; of equals the one that began first. */
static int compare_durations(const void *left, const void *right)
{
	const struct tap_held_span *a = left, *b = right;
	const int64_t x = duration_of(a), y = duration_of(b);

	if (x != y)
		return x > y ? -1 : 1;
	return (a->span->begin_ns > b->span->begin_ns) -
	       (a->span->begin_ns < b->span->begin_ns);
}

static void keep_slowest(struct tap_held *held)
{
	if (held->spans.count <= held->filters->slowest)
		return;
	qsort(held->spans.items, held->spans.count, sizeof(*held->spans.items),
	      compare_durations);
	drop_from(held, held->filters->slowest);
}

static void make_room(struct tap_held *held, int64_t now_ns)
{
	if (held->filters->last_ns)
		keep_last(held, now_ns);
	else if (held->filters->slowest)
		keep_slowest(held);
	if (held->spans.count < held->max)
		return;
	held->is_cut = true;
	/* The first failures tell more than what follows them. */
	if (held->filters->last_ns)
		drop_first(held, held->max / 2);
	else
		drop_from(held, held->max - 1);
}

/* Whether it is known how long the span lasted, or that it lasts for ever. */
static bool has_length(const struct tap_span *span)
{
	return tap_filters_is_pending(span) || tap_span_has_duration(span);
}

static bool has_end(const struct tap_span *span)
{
	return span->state == TAP_SPAN_COMPLETE || span->state == TAP_SPAN_BEGIN_LOST;
}

int tap_held_add(struct tap_held *held, struct tap_span *span,
		 const struct tap_context *context)
{
	const struct tap_held_span item = {
		.span = span, .end_ns = has_end(span) ? span->end_ns : context->last_ns};

	if (held->filters->slowest && !has_length(span))
		return 0;
	if (held->spans.count >= held->max)
		make_room(held, context->last_ns);
	if (tap_vec_add(&held->spans, item))
		return -ENOMEM;
	tap_span_get(span);
	return 0;
}

/* ---- At the end ---- */

/* When a span is given: its beginning, and its end. */
struct moment {
	int64_t time_ns;
	/* At one time: ends, beginnings, and ends of what has no length. */
	enum { END, BEGIN, END_AT_ONCE } kind;
	size_t order;
	struct tap_span *span;
};

static int compare_moments(const void *left, const void *right)
{
	const struct moment *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	/* Calls nest: the outer one ends, and is held, after the inner one. */
	return a->kind == BEGIN ? (a->order < b->order) - (a->order > b->order)
				: (a->order > b->order) - (a->order < b->order);
}

/*
 * Adds the moments of a span.  A view takes what is known late when it began, and a span
 * without an end at the end of the trace.
 */
static size_t add_moments(struct moment *moments, struct tap_span *span, size_t order)
{
	const bool has_begin = span->state != TAP_SPAN_BEGIN_LOST;
	int64_t end_ns = has_end(span) ? span->end_ns : INT64_MAX;
	size_t count = 0;

	if (tap_work_is_known_late(&span->work))
		end_ns = span->begin_ns;
	if (has_begin)
		moments[count++] = (struct moment){span->begin_ns, BEGIN, order, span};
	moments[count++] = (struct moment){
		end_ns, has_begin && end_ns <= span->begin_ns ? END_AT_ONCE : END, order,
		span};
	return count;
}

static int give(const struct moment *moment, const struct tap_consumer *consumer,
		void *data)
{
	int (*take)(void *data, struct tap_span *span) =
		moment->kind == BEGIN ? consumer->span_begun : consumer->span_ended;

	return take ? take(data, moment->span) : 0;
}

int tap_held_give(struct tap_held *held, const struct tap_context *context,
		  const struct tap_consumer *consumer, void *data)
{
	struct moment *moments;
	size_t i, count = 0;
	int ret = 0;

	if (held->filters->last_ns)
		keep_last(held, context->last_ns);
	if (held->filters->slowest)
		keep_slowest(held);
	moments = calloc(2 * held->spans.count + 1, sizeof(*moments));
	if (!moments)
		return -ENOMEM;
	for (i = 0; i < held->spans.count; i++)
		count += add_moments(moments + count, held->spans.items[i].span, i);
	qsort(moments, count, sizeof(*moments), compare_moments);
	for (i = 0; !ret && i < count; i++)
		ret = give(&moments[i], consumer, data);
	free(moments);
	return ret;
}

void tap_held_free(struct tap_held *held)
{
	drop_from(held, 0);
	tap_vec_free(&held->spans);
}
