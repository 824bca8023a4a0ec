/* SPDX-License-Identifier: MIT */
/* Until they are aligned, a clock's one point has the earliest time and adds nothing. */
#include "join/bt/first.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "join/clock/observer.h"

int tap_first_begin(struct tap_first *first, const struct tap_join *join)
{
	const struct tap_context *context = tap_join_context(join);

	first->observer = tap_clock_observer_create();
	if (!first->observer)
		return -ENOMEM;
	first->join = tap_join_create(&tap_clock_consumer, first->observer,
				      &context->bounds);
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
	memset(first, 0, sizeof(*first));
}

int tap_first_see(struct tap_first *first, struct tap_clock *clock, int64_t host_ns)
{
	if (!clock->count) {
		clock->points = calloc(1, sizeof(*clock->points));
		if (!clock->points)
			return -ENOMEM;
		clock->count = 1;
		clock->points[0].host_ns = host_ns;
	}
	if (host_ns < clock->points[0].host_ns)
		clock->points[0].host_ns = host_ns;
	return tap_clock_observer_see(first->observer, clock, host_ns);
}

int tap_first_align(struct tap_first *first)
{
	struct tap_clocks *clocks = tap_join_clocks(first->join);
	const struct tap_clock *reference = NULL;
	size_t i;

	for (i = 0; i < clocks->count; i++) {
		struct tap_clock *clock = clocks->all[i];

		if (!clock->count)
			continue;
		if (!reference)
			reference = clock;
		if (__builtin_sub_overflow(reference->points[0].host_ns,
					   clock->points[0].host_ns,
					   &clock->points[0].add_ns))
			clock->points[0].add_ns = 0;
	}
	return 0;
}

static struct tap_clock *same_in(struct tap_clocks *clocks, const struct tap_clock *clock)
{
	return tap_clocks_get(clocks, clock->host, clock->has_boot ? clock->boot : NULL);
}

/* Gives all of a clock to that of the same host in the other reading. */
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
	to->points = from->points;
	to->count = from->count;
	from->points = NULL;
	from->count = 0;
	return 0;
}

int tap_first_finish(struct tap_first *first, struct tap_join *join)
{
	struct tap_clocks *from = tap_join_clocks(first->join);
	struct tap_clocks *to = tap_join_clocks(join);
	size_t i;
	int ret = tap_join_finish(first->join);

	/* Clocks without a solution have no points. */
	for (i = 0; i < from->count; i++)
		from->all[i]->count = 0;
	if (!ret)
		ret = tap_clock_observer_solve(first->observer, from);
	for (i = 0; !ret && i < from->count; i++)
		ret = move(from->all[i], to);
	return ret;
}
