/* SPDX-License-Identifier: MIT */
/* Before they are known, a clock's one point has the earliest time. */
#include "join/bt/first.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "join/clock/observer.h"

/* Hosts that begin within so much may well have set their clocks by one source. */
#define ALIKE_NS INT64_C(10000000000)

/* The most by which times may be off when NCCL's messages are looked for. */
#define OFF_NS 1000000

int tap_first_begin(struct tap_first *first, const struct tap_join *join)
{
	const struct tap_context *context = tap_join_context(join);

	first->observer = tap_clock_observer_create();
	if (!first->observer)
		return -ENOMEM;
	first->join =
		tap_join_create(&tap_clock_consumer, first->observer, &context->bounds);
	if (!first->join)
		return -ENOMEM;
	first->decoder = tap_decoder_create(first->join);
	if (!first->decoder ||
	    (context->jobs && tap_join_set_jobs(first->join, context->jobs)))
		return -ENOMEM;
	tap_clock_observer_begin(first->observer, tap_join_context(first->join));
	return 0;
}

void tap_first_free(struct tap_first *first)
{
	tap_join_destroy(first->join);
	tap_decoder_destroy(first->decoder);
	tap_clock_observer_destroy(first->observer);
	tap_vec_free(&first->last);
	memset(first, 0, sizeof(*first));
}

int tap_first_see(struct tap_first *first, struct tap_clock *clock, int64_t host_ns)
{
	if (!clock->count && !first->is_known) {
		clock->points = calloc(1, sizeof(*clock->points));
		if (!clock->points)
			return -ENOMEM;
		clock->count = 1;
		clock->points[0].host_ns = host_ns;
	}
	if (!first->is_known && host_ns < clock->points[0].host_ns)
		clock->points[0].host_ns = host_ns;
	if (clock->number >= first->last.count &&
	    tap_vec_resize(&first->last, (size_t) clock->number + 1))
		return -ENOMEM;
	first->last.items[clock->number] = host_ns;
	return tap_clock_observer_see(first->observer, clock, host_ns);
}

/* What makes this host begin when the reference does, unless it does within so much. */
static int64_t find_shift(const struct tap_clock *clock,
			  const struct tap_clock *reference, int64_t alike_ns)
{
	int64_t shift_ns;

	if (__builtin_sub_overflow(reference->points[0].host_ns, clock->points[0].host_ns,
				   &shift_ns) ||
	    (shift_ns < alike_ns && shift_ns > -alike_ns))
		return 0;
	return shift_ns;
}

static void align(struct tap_first *first, int64_t alike_ns)
{
	const struct tap_clocks *clocks = tap_join_clocks(first->join);
	const struct tap_clock *reference = NULL;
	size_t i;

	for (i = 0; i < clocks->count; i++) {
		struct tap_clock *clock = clocks->all[i];

		if (!clock->count)
			continue;
		if (!reference)
			reference = clock;
		clock->points[0].add_ns = find_shift(clock, reference, alike_ns);
	}
}

void tap_first_align(struct tap_first *first)
{
	align(first, ALIKE_NS);
}

void tap_first_align_all(struct tap_first *first)
{
	align(first, 0);
}

static struct tap_clock *same_in(struct tap_clocks *clocks, const struct tap_clock *clock)
{
	return tap_clocks_get(clocks, clock->host, clock->has_boot ? clock->boot : NULL);
}

/* Gives all of a clock to that of the same host in another reading. */
static int move(struct tap_clock *from, struct tap_clocks *clocks)
{
	struct tap_clock *to = same_in(clocks, from);
	struct tap_clock *reference = same_in(clocks, from->reference);

	if (!to || !reference)
		return -ENOMEM;
	to->how = from->how;
	to->is_contradicted = from->is_contradicted;
	to->reference = reference;
	to->offset_ns = from->offset_ns;
	to->drift_ppb = from->drift_ppb;
	to->uncertainty_ns = from->uncertainty_ns;
	free(to->points);
	to->points = from->points;
	to->count = from->count;
	to->latest = 0;
	from->points = NULL;
	from->count = 0;
	return 0;
}

static int move_all(struct tap_clocks *from, struct tap_clocks *to)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < from->count; i++)
		ret = move(from->all[i], to);
	return ret;
}

int tap_first_know(struct tap_first *first, struct tap_join *join)
{
	first->is_known = true;
	return move_all(tap_join_clocks(join), tap_join_clocks(first->join));
}

/* What was added to a time of the host. */
static int64_t added(struct tap_clock *clock, int64_t host_ns)
{
	return tap_clock_convert(clock, host_ns) - host_ns;
}

/*
 * Whether a host is elsewhere, seen from its reference, than what was added to the times
 * of both put it.  `was` has the same clocks as the reading had them.
 */
static bool is_off_at(const struct tap_clock *clock, const struct tap_clock_point *point,
		      const struct tap_clocks *was)
{
	int64_t reference_ns, was_ns, by_ns;

	if (__builtin_add_overflow(point->host_ns, point->add_ns, &reference_ns) ||
	    __builtin_sub_overflow(added(was->all[clock->number], point->host_ns),
				   added(was->all[clock->reference->number],
					 reference_ns),
				   &was_ns) ||
	    __builtin_sub_overflow(point->add_ns, was_ns, &by_ns))
		return true;
	return by_ns > OFF_NS || by_ns < -OFF_NS;
}

/*
 * At its first point; or, where what was added was a guess from the beginning, at any of
 * them: a clock that is set back and forth is far off in the middle alone.
 */
static bool is_off(const struct tap_clock *clock, const struct tap_clocks *was,
		   bool is_guess)
{
	const size_t count = is_guess || !clock->count ? clock->count : 1;
	size_t i;

	for (i = 0; i < count; i++)
		if (is_off_at(clock, &clock->points[i], was))
			return true;
	return false;
}

/* Lets the hosts that nothing connects end when the reference does. */
static int align_ends(const struct tap_first *first, const struct tap_clocks *clocks,
		      bool *is_changed)
{
	const struct tap_clock *reference = NULL;
	size_t i;

	for (i = 0; i < clocks->count; i++)
		if (clocks->all[i]->how == TAP_CLOCK_REFERENCE)
			reference = clocks->all[i];
	for (i = 0; reference && i < clocks->count; i++) {
		struct tap_clock *clock = clocks->all[i];
		const size_t most = clock->number > reference->number ? clock->number
								      : reference->number;

		if (clock->how != TAP_CLOCK_APART || most >= first->last.count)
			continue;
		free(clock->points);
		clock->points = calloc(1, sizeof(*clock->points));
		if (!clock->points)
			return -ENOMEM;
		clock->count = 1;
		if (__builtin_sub_overflow(first->last.items[reference->number],
					   first->last.items[clock->number],
					   &clock->points[0].add_ns))
			clock->points[0].add_ns = 0;
		*is_changed = true;
	}
	return 0;
}

/* Makes the same clocks, which do not convert yet. */
static int make_same(const struct tap_clocks *clocks, struct tap_clocks *same)
{
	size_t i;

	for (i = 0; i < clocks->count; i++)
		if (!same_in(same, clocks->all[i]))
			return -ENOMEM;
	return 0;
}

/* Whether each host is connected, and known well at some time. */
static bool is_sure(const struct tap_clocks *clocks)
{
	size_t i, k;

	for (i = 0; i < clocks->count; i++) {
		const struct tap_clock *clock = clocks->all[i];

		if (clock->reference != clocks->all[0]->reference)
			return false;
		for (k = 0; k < clock->count; k++)
			if (clock->points[k].uncertainty_ns < OFF_NS / 2)
				break;
		if (clock->count && k == clock->count)
			return false;
	}
	return true;
}

int tap_first_look(struct tap_first *first, struct tap_join *join,
		   enum tap_first_look *ret_look)
{
	const struct tap_clocks *clocks = tap_join_clocks(first->join);
	struct tap_clocks found = {0};
	size_t i;
	int ret = make_same(clocks, &found);

	*ret_look = TAP_FIRST_UNSURE;
	if (!ret)
		ret = tap_clock_observer_solve(first->observer, &found);
	if (!ret && is_sure(&found)) {
		*ret_look = TAP_FIRST_NEAR;
		for (i = 0; i < found.count; i++)
			if (is_off(found.all[i], clocks, true))
				*ret_look = TAP_FIRST_OFF;
		ret = move_all(&found, tap_join_clocks(join));
	}
	tap_clocks_free(&found);
	return ret;
}

int tap_first_finish(struct tap_first *first, struct tap_join *join, bool *ret_is_off)
{
	struct tap_clocks *clocks = tap_join_clocks(first->join);
	const bool may_be_off = !first->is_known || first->is_guess;
	struct tap_clocks was = {0};
	size_t i;
	int ret = make_same(clocks, &was);

	*ret_is_off = false;
	if (!ret)
		ret = tap_join_finish(first->join);
	/* Clocks without a solution have no points. */
	for (i = 0; !ret && i < clocks->count; i++) {
		struct tap_clock *clock = clocks->all[i];

		was.all[i]->points = clock->points;
		was.all[i]->count = clock->count;
		clock->points = NULL;
		clock->count = 0;
		clock->how = TAP_CLOCK_APART;
		clock->reference = clock;
		clock->is_contradicted = false;
	}
	if (!ret)
		ret = tap_clock_observer_solve(first->observer, clocks);
	for (i = 0; !ret && i < clocks->count; i++)
		*ret_is_off |=
			may_be_off && is_off(clocks->all[i], &was, first->is_guess);
	if (!ret && may_be_off)
		ret = align_ends(first, clocks, ret_is_off);
	tap_clocks_free(&was);
	return ret ? ret : move_all(clocks, tap_join_clocks(join));
}
