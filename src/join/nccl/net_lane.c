/* SPDX-License-Identifier: MIT */
/*
 * A lane's next run is what its next number stands for on both ranks; of several lanes
 * the one whose sender called first is taken.
 */
#include "join/nccl/net_lane.h"

#include <errno.h>

#include "join/model/comm.h"

/* ---- Which lanes ---- */

/* Whether collectives of the two ranks may be made of sends and receives. */
static bool are_some_made(const struct tap_net_lane *lane)
{
	return (lane->from && lane->from->has_messages) ||
	       (lane->to && lane->to->has_messages);
}

static void find_lane(struct tap_net_lane *lane, const struct tap_candidate_world *world,
		      const struct tap_rank_pair *pair, bool is_messages)
{
	const struct tap_rank_series series =
		tap_rank_series_find(world->ranks, pair, is_messages);

	lane->pair = *pair;
	lane->is_messages = is_messages;
	lane->from = series.from;
	lane->to = series.to;
	lane->place = (struct tap_ccl_place){tap_member_comm(pair->from)->nranks,
					     pair->from->rank, pair->to->rank,
					     lane->facts.channel};
}

bool tap_net_lanes_find(struct tap_net_lanes *lanes,
			const struct tap_candidate_world *world,
			const struct tap_net_route *route, bool is_messages)
{
	size_t i;

	lanes->used = 0;
	if (2 * route->pairs.count > TAP_LANES_MAX)
		return false;
	for (i = 0; i < 2 * route->pairs.count; i++) {
		struct tap_net_lane *lane = &lanes->all[i];
		const bool is_of_messages = i % 2;

		if (is_of_messages && !is_messages)
			continue;
		lane->facts = route->messages.first->facts;
		lane->facts.index = is_messages;
		lane->facts.bytes = route->is_of_data ? 1 : TAP_BYTES_UNKNOWN;
		find_lane(lane, world, &route->pairs.items[i / 2], is_of_messages);
		if ((lane->from && lane->from->is_irregular) ||
		    (lane->to && lane->to->is_irregular))
			return false;
		if (!is_messages || is_of_messages || are_some_made(lane))
			lanes->used |= 1U << i;
	}
	return lanes->used;
}

static bool has_several(const struct tap_net_lanes *lanes)
{
	return lanes->used & (lanes->used - 1);
}

/* ---- The next run of a lane ---- */

/* What the next number of a lane stands for. */
struct next {
	const struct tap_op_kernel *from, *to;
	uint64_t last;		/* operation of it */
	int64_t from_ns, to_ns; /* when it was called; only where is_called */
	bool is_from_called, is_to_called;
	bool is_possible;
};

static const struct tap_op_kernel *kernel_at(const struct tap_op_times *times,
					     uint64_t number)
{
	return times ? tap_op_times_find_kernel(times, number) : NULL;
}

static const struct tap_op_call *call_at(const struct tap_op_times *times,
					 uint64_t number)
{
	return times ? tap_op_times_find_call(times, number) : NULL;
}

static uint64_t known_from(const struct tap_op_times *times, uint64_t number)
{
	return times ? tap_op_times_next(times, number) : UINT64_MAX;
}

/* Whether an operation of which the call alone is known may have messages. */
static bool may_have(const struct tap_net_lane *lane, const struct tap_op_call *call)
{
	return !call ||
	       (!call->is_empty && call->is_messages == lane->facts.index &&
		(!call->is_messages ||
		 tap_candidate_may_be_sent(&call->transfer, &lane->pair, &lane->facts)));
}

/* The last operation of what begins with this one. */
static uint64_t find_last(const struct tap_net_lane *lane, const struct next *next)
{
	const struct tap_op_kernel *kernel = next->from ? next->from : next->to;
	uint64_t number = lane->next, after, other;

	if (kernel)
		return kernel->last;
	if (next->is_from_called || next->is_to_called)
		return number;
	/* All that is missing up to the next one that is known. */
	after = known_from(lane->from, number);
	other = known_from(lane->to, number);
	if (other < after)
		after = other;
	return after > number ? after - 1 : number;
}

/* Returns false where no operation from the lane's next one on is known. */
static bool find_next(const struct tap_net_lane *lane, struct next *next)
{
	const struct tap_op_call *from = call_at(lane->from, lane->next);
	const struct tap_op_call *to = call_at(lane->to, lane->next);
	const struct tap_op_kernel *kernel;

	if (known_from(lane->from, lane->next) == UINT64_MAX &&
	    known_from(lane->to, lane->next) == UINT64_MAX)
		return false;
	*next = (struct next){.from = kernel_at(lane->from, lane->next),
			      .to = kernel_at(lane->to, lane->next),
			      .is_from_called = from,
			      .is_to_called = to,
			      .from_ns = from ? from->begin_ns : 0,
			      .to_ns = to ? to->begin_ns : 0};
	next->last = find_last(lane, next);
	kernel = next->from ? next->from : next->to;
	next->is_possible =
		kernel ? tap_candidate_is_possible(kernel, &lane->pair, &lane->facts)
		       : may_have(lane, from) && may_have(lane, to);
	return true;
}

/* ---- Of several lanes ---- */

/* The run that is next in each lane, and which of all is. */
struct merge {
	struct next next[TAP_LANES_MAX];
	unsigned int has_next;	/* bits */
	int64_t from_ns, to_ns; /* calls of the run before */
};

/* What cannot be of the connection has no place in its order. */
static void skip_impossible(struct tap_net_lane *lane, struct merge *merge, size_t i)
{
	merge->has_next &= ~(1U << i);
	while (find_next(lane, &merge->next[i])) {
		if (merge->next[i].is_possible) {
			merge->has_next |= 1U << i;
			return;
		}
		lane->next = merge->next[i].last + 1;
	}
}

/* Less than 0 where the sender calls a before b; 0: it is one kernel, or not known. */
static int compare(const struct next *a, const struct next *b)
{
	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns ? -1 : 1;
	/* One launch of a graph calls all that is in it. */
	if (!a->from || !b->from || a->from->begin_ns == b->from->begin_ns)
		return 0;
	return a->from->begin_ns < b->from->begin_ns ? -1 : 1;
}

/* The lane whose next run is called first; -1: the order is not known. */
static int choose(const struct merge *merge)
{
	int i, order, first = -1;

	for (i = 0; i < TAP_LANES_MAX; i++) {
		if (!(merge->has_next >> i & 1))
			continue;
		if (!merge->next[i].is_from_called)
			return -1;
		order = first < 0 ? -1 : compare(&merge->next[i], &merge->next[first]);
		if (!order &&
		    !tap_op_kernels_are_one(merge->next[i].from, merge->next[first].from))
			return -1;
		if (order < 0)
			first = i;
	}
	return first;
}

/* Whether both ranks call the run after the one before. */
static bool keeps_order(struct merge *merge, const struct next *next)
{
	const bool is_kept = next->from_ns >= merge->from_ns &&
			     (!next->is_to_called || next->to_ns >= merge->to_ns);

	merge->from_ns = next->from_ns;
	if (next->is_to_called)
		merge->to_ns = next->to_ns;
	return is_kept;
}

static uint64_t sign(const struct tap_net_lane *lane, const struct tap_op_kernel *kernel)
{
	return kernel->signature ^
	       (lane->pair.from->number * UINT64_C(0x9e3779b97f4a7c15)) ^
	       (lane->is_messages ? UINT64_C(0xc2b2ae3d27d4eb4f) : 0);
}

/* Whether all that settings say of sends is known. */
static bool has_sizes(const struct tap_ccl_sizes *sizes)
{
	size_t i;

	for (i = 0; i < TAP_CCL_PATHS; i++)
		if (sizes->chunks[i] == TAP_CCL_UNKNOWN)
			return false;
	return sizes->buffers[TAP_CCL_SIMPLE] != TAP_CCL_UNKNOWN &&
	       sizes->has_ll_sends != TAP_CCL_UNKNOWN &&
	       (sizes->has_ll_sends != 1 ||
		(sizes->ll_threshold != TAP_CCL_UNKNOWN &&
		 sizes->buffers[TAP_CCL_LL] != TAP_CCL_UNKNOWN));
}

/* Adds what a kernel sends from rank to rank; false where that is not known. */
static bool add_sends(const struct tap_net_lane *lane, const struct tap_op_kernel *kernel,
		      struct tap_sends *sends)
{
	const struct tap_op_transfers *transfers = &kernel->transfers;
	unsigned int i;

	if (transfers->is_cut || !has_sizes(&kernel->asked.sizes))
		return false;
	/* Which sends are by LL, each release decides otherwise. */
	if (!kernel->asked.version && kernel->asked.sizes.has_ll_sends == 1)
		return false;
	sends->version = kernel->asked.version;
	sends->sizes = kernel->asked.sizes;
	for (i = 0; i < transfers->count; i++) {
		if (!tap_candidate_may_be_sent(&transfers->items[i], &lane->pair,
					       &lane->facts))
			continue;
		if (sends->count == TAP_SENDS_MAX ||
		    transfers->items[i].bytes > TAP_SEND_BYTES_MAX)
			return false;
		sends->bytes[sends->count++] = transfers->items[i].bytes;
	}
	return true;
}

/* Puts a run of this lane, and of all that have the same kernel next, at the end. */
static int add_run(struct tap_net_lanes *lanes, struct tap_net_route *route,
		   struct merge *merge, size_t chosen)
{
	const struct next next = merge->next[chosen];
	const struct tap_op_kernel *kernel = next.from ? next.from : next.to;
	const struct tap_net_lane *own = &lanes->all[chosen];
	const struct tap_net_run run = {.first = lanes->runs.count + 1,
					.number = own->next};
	struct tap_served_run about = {.pair = own->pair,
				       .from = next.from,
				       .to = next.to,
				       .is_possible = true};
	struct tap_run_about asked = {.comm = chosen / 2,
				      .place = &own->place,
				      .proofs = &lanes->proofs,
				      .of = tap_member_comm(own->pair.from)};
	bool has_sends = own->facts.index == 1;
	size_t i;

	for (i = 0; i < TAP_LANES_MAX; i++) {
		struct tap_net_lane *lane = &lanes->all[i];
		const struct next *other = &merge->next[i];
		const struct tap_lane_place place = {lane->next, other->last,
						     lanes->runs.count};

		if (i != chosen && (!(merge->has_next >> i & 1) ||
				    !tap_op_kernels_are_one(next.from, other->from)))
			continue;
		/* Of one kernel on one rank the other one may have made two. */
		if (i != chosen && next.to && other->to &&
		    !tap_op_kernels_are_one(next.to, other->to))
			return -EAGAIN;
		if (kernel) {
			const struct tap_op_kernel *one =
				other->from ? other->from : other->to;

			asked.signature += sign(lane, one);
			has_sends = has_sends && add_sends(lane, one, &asked.sends);
		}
		about.is_mixed |= i != chosen;
		if (tap_vec_add(&lane->places, place))
			return -ENOMEM;
		lane->next = other->last + 1;
		skip_impossible(lane, merge, i);
	}
	if (kernel) {
		if (!has_sends)
			asked.sends.count = 0;
		asked.is_collective = !own->is_messages && !about.is_mixed;
		asked.work = &kernel->asked;
		about.count = tap_run_counts_get(&route->order.counts, &asked);
		if (!about.count)
			return -ENOMEM;
	}
	return tap_vec_add(&lanes->runs, run) || tap_vec_add(&lanes->about, about)
		       ? -ENOMEM
		       : 0;
}

static int add_runs(struct tap_net_lanes *lanes, struct tap_net_route *route)
{
	const bool is_merged = has_several(lanes);
	const struct tap_served_run nothing = {0};
	struct merge merge = {.from_ns = INT64_MIN, .to_ns = INT64_MIN};
	struct tap_net_run end = {0};
	int ret = 0, chosen;
	size_t i;

	for (i = 0; i < TAP_LANES_MAX; i++)
		if (lanes->used >> i & 1)
			skip_impossible(&lanes->all[i], &merge, i);
	while (!ret && merge.has_next && lanes->runs.count < TAP_SERVING_RUNS_MAX) {
		chosen = is_merged ? choose(&merge) : __builtin_ctz(merge.has_next);
		if (chosen < 0)
			break;
		if (is_merged && !keeps_order(&merge, &merge.next[chosen]))
			return -EAGAIN;
		ret = add_run(lanes, route, &merge, (size_t) chosen);
	}
	end.first = lanes->runs.count + 1;
	if (!ret &&
	    (tap_vec_add(&lanes->runs, end) || tap_vec_add(&lanes->about, nothing)))
		ret = -ENOMEM;
	return ret;
}

/* ---- All of it ---- */

/* What was before all messages says nothing of them. */
static bool find_begins(struct tap_net_lanes *lanes,
			const struct tap_candidate_world *world,
			struct tap_net_route *route, bool *ret_is_old)
{
	const struct tap_routed_message *message = route->messages.first;
	struct tap_message_facts facts = tap_net_route_facts(message);
	struct tap_route_order *order = &route->order;
	uint64_t begin, end;
	size_t i;

	/* Later ones may be of another operation of its kernel, with other bytes. */
	facts.bytes = TAP_BYTES_UNKNOWN;
	for (i = 0; i < TAP_LANES_MAX; i++) {
		struct tap_net_lane *lane = &lanes->all[i];

		lane->places.count = 0;
		if (!(lanes->used >> i & 1))
			continue;
		if (!tap_candidates_bounds(world, &lane->pair, lane->is_messages, &facts,
					   &begin, &end))
			return false;
		*ret_is_old |= !begin;
		if (begin != UINT64_MAX && begin > order->firsts[i])
			order->firsts[i] = begin;
		lane->next = order->firsts[i];
	}
	return true;
}

/* Whether the first run is still the one that the order begins with. */
static bool has_head(const struct tap_net_lanes *lanes,
		     const struct tap_route_order *order)
{
	const struct tap_net_lane *lane = &lanes->all[order->head_lane];

	return lane->places.count && !lane->places.items[0].run &&
	       lane->places.items[0].first == order->head;
}

/*
 * Where another one is first, all that is known is that the messages are of it or of
 * later ones; is_old: not even that.
 */
static void find_head(const struct tap_net_lanes *lanes, struct tap_net_route *route,
		      bool is_old)
{
	struct tap_route_order *order = &route->order;

	if (has_head(lanes, order))
		return;
	order->begin_most = is_old ? TAP_RUN_UNKNOWN : route->messages.first->number;
	if (order->begin_least > order->begin_most)
		order->begin_least = order->begin_most;
}

int tap_net_lanes_fill(struct tap_net_lanes *lanes,
		       const struct tap_candidate_world *world,
		       struct tap_net_route *route)
{
	bool is_old = false;
	int ret;

	lanes->runs.count = 0;
	lanes->about.count = 0;
	if (!find_begins(lanes, world, route, &is_old))
		return -EAGAIN;
	ret = add_runs(lanes, route);
	if (!ret)
		find_head(lanes, route, is_old);
	return ret;
}

void tap_net_lanes_pass(const struct tap_net_lanes *lanes, struct tap_route_order *order,
			size_t run)
{
	size_t i, at;

	order->head = 0;
	for (i = 0; i < TAP_LANES_MAX; i++) {
		const struct tap_net_lane *lane = &lanes->all[i];

		if (!(lanes->used >> i & 1))
			continue;
		order->firsts[i] = lane->next;
		for (at = lane->places.count; at--;)
			if (lane->places.items[at].run >= run)
				order->firsts[i] = lane->places.items[at].first;
			else
				break;
		if (++at < lane->places.count && lane->places.items[at].run == run) {
			order->head_lane = i;
			order->head = order->firsts[i];
		}
	}
	order->begin_least = lanes->runs.items[run].begin_least;
	order->begin_most = lanes->runs.items[run].begin_most;
}

void tap_net_lanes_free(struct tap_net_lanes *lanes)
{
	size_t i;

	for (i = 0; i < TAP_LANES_MAX; i++)
		tap_vec_free(&lanes->all[i].places);
	tap_vec_free(&lanes->runs);
	tap_vec_free(&lanes->about);
	tap_table_free(&lanes->proofs);
}
