/* SPDX-License-Identifier: MIT */
/* Bounds and runs are made anew for each search, from all that is known by then. */
#include "join/nccl/net_serving.h"

#include <errno.h>

/* More messages are left for the next search. */
#define MESSAGES_MAX 4096
/* More kinds of kernels than this are forgotten. */
#define COUNTS_MAX 4096

/* ---- The messages' own bounds ---- */

/* The place of the first run that has not ended before this operation. */
static size_t place_from(const struct tap_net_lane *lane, uint64_t number)
{
	return tap_vec_search(&lane->places, 0, item, item->last >= number);
}

/* Widens the bounds by what the message may be of in this lane. */
static void add_lane(const struct tap_net_lanes *lanes, const struct tap_net_lane *lane,
		     uint64_t begin, uint64_t end, struct tap_net_run_message *bounds)
{
	const struct tap_lane_place *places = lane->places.items;
	const struct tap_net_run *runs = lanes->runs.items;
	const size_t last_run = lanes->runs.count - 1;
	const size_t low = place_from(lane, begin);
	size_t high = end ? place_from(lane, end) : 0;
	uint64_t first = UINT64_MAX, after = 0;

	if (high < lane->places.count && places[high].first < end)
		high++;
	if (low < high) {
		first = runs[places[low].run].first;
		after = runs[places[high - 1].run].first + 1;
	}
	/* Of an operation that is not in a run yet. */
	if (end > lane->next && end > begin) {
		first = first < runs[last_run].first ? first : runs[last_run].first;
		after = UINT64_MAX;
	}
	/* Of one from before the recording. */
	if (!begin) {
		first = 0;
		after = after > runs[0].first ? after : runs[0].first;
	}
	if (first < bounds->begin)
		bounds->begin = first;
	if (after > bounds->end)
		bounds->end = after;
}

/* The runs that the message may be of by times alone; false: nothing is to be concluded.
 */
static bool find_bounds(const struct tap_net_lanes *lanes,
			const struct tap_candidate_world *world,
			const struct tap_message_facts *facts,
			struct tap_net_run_message *bounds)
{
	uint64_t begin, end;
	size_t i;

	bounds->begin = UINT64_MAX;
	bounds->end = 0;
	for (i = 0; i < TAP_LANES_MAX; i++) {
		const struct tap_net_lane *lane = &lanes->all[i];

		if (!(lanes->used >> i & 1))
			continue;
		if (!tap_candidates_bounds(world, &lane->pair, lane->is_messages, facts,
					   &begin, &end))
			return false;
		add_lane(lanes, lane, begin, end, bounds);
	}
	return true;
}

static int add_messages(struct tap_serving *serving,
			const struct tap_candidate_world *world,
			const struct tap_net_route *route)
{
	struct tap_routed_message *message;

	for (message = route->messages.first;
	     message && serving->served.count < MESSAGES_MAX;
	     message = message->of_route.after) {
		const struct tap_message_facts facts = tap_net_route_facts(message);
		const struct tap_served served = {.message = message,
						  .step = TAP_STEP_UNKNOWN};
		struct tap_net_run_message bounds = {.number = message->number,
						     .more = message->requests - 1};

		if (!find_bounds(&serving->lanes, world, &facts, &bounds))
			return -EAGAIN;
		if (tap_vec_add(&serving->served, served) ||
		    tap_vec_add(&serving->bounds, bounds))
			return -ENOMEM;
	}
	return 0;
}

/* Messages keep the order of their operations; one that contradicts itself says nothing.
 */
static void align_bounds(struct tap_serving *serving)
{
	struct tap_net_run_message *bounds = serving->bounds.items;
	const size_t count = serving->bounds.count;
	uint64_t begin = 0, end = UINT64_MAX;
	size_t i;

	for (i = 0; i < count; i++) {
		if (bounds[i].begin >= bounds[i].end)
			serving->served.items[i].verdict = TAP_VERDICT_CONTRADICTED;
		else if (bounds[i].begin > begin)
			begin = bounds[i].begin;
		bounds[i].begin = begin;
	}
	for (i = count; i--;) {
		if (!serving->served.items[i].verdict && bounds[i].end < end)
			end = bounds[i].end;
		bounds[i].end = end;
	}
}

/* ---- Which operations ---- */

/* So many messages are looked at to find out. */
#define LOOKED_MAX 64

/* Whether the message may be of a connection for collectives, or of one for the others.
 */
static bool may_be_of(const struct tap_candidate_world *world,
		      const struct tap_net_route *route,
		      const struct tap_routed_message *message, bool is_messages)
{
	struct tap_message_facts facts = tap_net_route_facts(message);
	size_t i;

	facts.index = is_messages;
	for (i = 0; i < route->pairs.count; i++) {
		const struct tap_rank_pair *pair = &route->pairs.items[i];

		if (tap_candidates_have(world, pair, false, &facts) ||
		    (is_messages && tap_candidates_have(world, pair, true, &facts)))
			return true;
	}
	return false;
}

static enum tap_series find_by_times(const struct tap_candidate_world *world,
				     const struct tap_net_route *route)
{
	const struct tap_routed_message *message = route->messages.first;
	unsigned int looked;

	for (looked = 0; message && looked < LOOKED_MAX; looked++) {
		const bool may_be_collective = may_be_of(world, route, message, false);

		if (may_be_collective != may_be_of(world, route, message, true))
			return may_be_collective ? TAP_SERIES_COLLECTIVES
						 : TAP_SERIES_MESSAGES;
		message = message->of_route.after;
	}
	return TAP_SERIES_UNKNOWN;
}

/*
 * NCCL has connections for collectives, and others for sends and receives and what is
 * made of them.
 */
enum tap_series tap_serving_find_series(const struct tap_candidate_world *world,
					struct tap_net_route *route)
{
	const struct tap_routed_message *message = route->messages.first;
	const int64_t index = message ? message->facts.index : -1;

	if (index >= 0)
		route->order.series = index == 0   ? TAP_SERIES_COLLECTIVES
				      : index == 1 ? TAP_SERIES_MESSAGES
						   : TAP_SERIES_UNKNOWN;
	/* Only what is for sends and receives is shared: transport/net.cc, req.shared. */
	else if (route->has_several)
		route->order.series = TAP_SERIES_MESSAGES;
	else if (!route->order.series)
		route->order.series = find_by_times(world, route);
	return route->order.series;
}

/* ---- All of it ---- */

int tap_serving_fill(struct tap_serving *serving, const struct tap_candidate_world *world,
		     struct tap_net_route *route)
{
	int ret;

	serving->served.count = 0;
	serving->bounds.count = 0;
	if (!route->messages.first)
		return 0;
	if (!tap_serving_find_series(world, route) ||
	    !tap_net_lanes_find(&serving->lanes, world, route,
				route->order.series == TAP_SERIES_MESSAGES))
		return -EAGAIN;
	if (route->order.counts.by_signature.count > COUNTS_MAX)
		tap_run_counts_free(&route->order.counts);
	ret = tap_net_lanes_fill(&serving->lanes, world, route);
	if (!ret)
		ret = add_messages(serving, world, route);
	if (!ret)
		align_bounds(serving);
	return ret;
}

void tap_serving_free(struct tap_serving *serving)
{
	tap_vec_free(&serving->served);
	tap_vec_free(&serving->bounds);
	tap_net_lanes_free(&serving->lanes);
}
