/* SPDX-License-Identifier: MIT */
/*
 * The operations of the two ranks are runs (net_run.h), each with the messages of its
 * kernel. A search begins with the run after the last one that is settled.
 */
#include "join/nccl/net_served.h"

#include "join/nccl/run_count.h"

/* What one search learns makes another one worthwhile, so many times. */
#define ROUNDS_MAX 8
/*
 * Kernels of one rank are reported nearly in their order: so many later ones have come
 * before a missing one is no longer expected.
 */
#define LATER_MAX 128

/* ---- Search ---- */

/* Whether all is known to have arrived that the last run has. */
static bool is_complete(const struct tap_candidate_world *world,
			const struct tap_serving *serving,
			const struct tap_net_route *route)
{
	size_t i;

	for (i = 0; i + 1 < serving->lanes.about.count; i++)
		if (!serving->lanes.about.items[i].from ||
		    !serving->lanes.about.items[i].to)
			return false;
	return world->is_whole && serving->lanes.runs.count <= TAP_SERVING_RUNS_MAX &&
	       serving->served.count == route->held;
}

static bool solve(const struct tap_candidate_world *world, struct tap_serving *serving,
		  const struct tap_net_route *route, bool has_counts, bool is_last)
{
	struct tap_net_run *runs = serving->lanes.runs.items;
	const size_t count = serving->lanes.runs.count, messages = serving->bounds.count;
	uint64_t latest;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct tap_served_run *about = &serving->lanes.about.items[i];

		runs[i].begin_least = 0;
		runs[i].begin_most = TAP_RUN_UNKNOWN;
		runs[i].least = 0;
		runs[i].most = TAP_RUN_UNKNOWN;
		if (!about->is_possible)
			runs[i].most = 0;
		else if (has_counts && about->count)
			tap_run_count_expect(about->count, &runs[i]);
	}
	runs[0].begin_least = route->order.begin_least;
	runs[0].begin_most = route->order.begin_most;
	/* Later messages may have been ascribed before earlier ones. */
	if (is_last && is_complete(world, serving, route)) {
		latest = serving->bounds.items[messages - 1].number +
			 serving->bounds.items[messages - 1].more;
		runs[count - 1].begin_most =
			(latest > route->gone ? latest : route->gone) + 1;
	}
	return tap_net_runs_solve(runs, count, serving->bounds.items, messages);
}

/* The protocol of a message that is of the run; *at is the first one that may be. */
static enum tap_ccl_protocol protocol_of(const struct tap_serving *serving,
					 const struct tap_net_run *run, size_t *at)
{
	size_t i;

	while (*at < serving->bounds.count &&
	       serving->bounds.items[*at].number < run->begin_most)
		++*at;
	for (i = *at; i < serving->bounds.count &&
		      serving->bounds.items[i].number < run[1].begin_least;
	     i++)
		if (serving->served.items[i].message->protocol)
			return serving->served.items[i].message->protocol;
	return TAP_CCL_NO_PROTOCOL;
}

static bool learn(struct tap_serving *serving)
{
	const struct tap_net_run *run = serving->lanes.runs.items;
	enum tap_ccl_protocol protocol;
	bool is_new = false;
	size_t i, at = 0;

	for (i = 0; i + 1 < serving->lanes.runs.count; i++, run++) {
		struct tap_run_count *count = serving->lanes.about.items[i].count;

		if (!count)
			continue;
		is_new |= tap_run_count_learn(count, run);
		if (!count->options_left)
			continue;
		protocol = protocol_of(serving, run, &at);
		if (protocol)
			is_new |= tap_run_count_show(count, protocol);
	}
	return is_new;
}

static bool blame(struct tap_serving *serving)
{
	bool is_found = false;
	size_t i;

	for (i = 0; i + 1 < serving->lanes.runs.count; i++)
		if (serving->lanes.about.items[i].count)
			is_found |=
				tap_run_count_blame(serving->lanes.about.items[i].count,
						    &serving->lanes.runs.items[i]);
	return is_found;
}

void tap_served_restart(struct tap_net_route *route)
{
	route->order.begin_least = 1;
	route->order.begin_most = TAP_RUN_UNKNOWN;
}

/* ---- Sizes ---- */

static bool is_exact(const struct tap_net_run *run)
{
	return run->begin_least == run->begin_most &&
	       run[1].begin_least == run[1].begin_most;
}

/* The messages that are here of a run that begins and ends at known numbers. */
struct found_run {
	size_t count;
	uint64_t first, last; /* numbers */
	uint64_t bytes, largest_bytes;
	bool has_certain; /* times alone say of one that it is of this run */
};

static bool is_certain(const struct tap_net_run_message *bounds,
		       const struct tap_net_run *run)
{
	return bounds->begin >= run->first && bounds->end <= run[1].first;
}

static struct found_run look_at_run(const struct tap_serving *serving, size_t at,
				    const struct tap_net_run *run)
{
	struct found_run found = {.first = serving->bounds.items[at].number};

	for (; at < serving->served.count &&
	       serving->bounds.items[at].number < run[1].begin_least;
	     at++) {
		const struct tap_routed_message *message =
			serving->served.items[at].message;

		found.count += message->requests;
		found.last = message->number + message->requests - 1;
		found.bytes += message->bytes;
		if (message->largest > found.largest_bytes)
			found.largest_bytes = message->largest;
		found.has_certain |= is_certain(&serving->bounds.items[at], run);
	}
	return found;
}

static bool has_right_bytes(const struct tap_expected *rule,
			    const struct found_run *found)
{
	return found->bytes >= rule->least_bytes && found->bytes <= rule->most_bytes &&
	       found->largest_bytes <= rule->largest_bytes;
}

/* Whether all messages are here of a run that begins and ends at known numbers. */
static bool has_all(const struct tap_net_run *run, const struct found_run *found)
{
	return found->count == run[1].begin_least - run->begin_least;
}

/*
 * Drops the rules whose messages are of other sizes: the buffers are not those that the
 * rule is for.  Returns whether there were any.
 */
static bool drop_rules(struct tap_serving *serving)
{
	const struct tap_net_run *run = serving->lanes.runs.items;
	size_t i, at = 0;
	bool is_any = false;

	for (i = 0; i + 1 < serving->lanes.runs.count; i++, run++) {
		struct tap_run_count *count = serving->lanes.about.items[i].count;
		struct found_run found;

		if (!count ||
		    !(count->has_rule || count->is_tried || count->sends.count) ||
		    !is_exact(run) || run->begin_least == run[1].begin_least)
			continue;
		while (at < serving->bounds.count &&
		       serving->bounds.items[at].number < run->begin_least)
			at++;
		if (at == serving->bounds.count)
			break;
		found = look_at_run(serving, at, run);
		if (has_all(run, &found) &&
		    tap_run_count_measure(count, found.count, found.bytes)) {
			is_any = true;
			continue;
		}
		if (count->is_tried) {
			is_any |=
				found.bytes && has_all(run, &found) &&
				tap_run_count_prove(count,
						    found.count == count->rule.messages &&
							    has_right_bytes(&count->rule,
									    &found));
			continue;
		}
		if (!count->has_rule || found.count != count->rule.messages ||
		    has_right_bytes(&count->rule, &found))
			continue;
		tap_run_count_drop_rule(count);
		is_any = true;
	}
	return is_any;
}

/* Drops the rules, of which none alone is to blame.  Returns whether there were any. */
static bool drop_all(struct tap_serving *serving)
{
	bool is_any = false;
	size_t i;

	for (i = 0; i + 1 < serving->lanes.about.count; i++) {
		struct tap_run_count *count = serving->lanes.about.items[i].count;

		is_any |= count && tap_run_count_drop_used(count);
	}
	return is_any;
}

/* ---- Rounds ---- */

enum search { FOUND, BY_TIMES, CONTRADICTED };

static enum search search(const struct tap_candidate_world *world,
			  struct tap_serving *serving, struct tap_net_route *route,
			  bool is_last)
{
	unsigned int round;

	for (round = 0; round < ROUNDS_MAX; round++) {
		if (solve(world, serving, route, true, is_last)) {
			if (!learn(serving) && !drop_rules(serving))
				return FOUND;
			continue;
		}
		tap_served_restart(route);
		if (!solve(world, serving, route, false, is_last))
			return CONTRADICTED;
		if (!blame(serving) && !drop_all(serving))
			return BY_TIMES;
	}
	return solve(world, serving, route, true, is_last) ||
			       solve(world, serving, route, false, is_last)
		       ? FOUND
		       : CONTRADICTED;
}

/* ---- Verdicts ---- */

/* How certain all that is claimed of the run's messages is. */
static enum tap_known judge(const struct tap_candidate_world *world,
			    const struct tap_net_route *route,
			    const struct tap_served_run *about,
			    const struct tap_net_run *run, const struct found_run *found)
{
	const struct tap_expected *rule = about->count ? &about->count->rule : NULL;

	return rule && !route->is_inferred && !route->is_part && world->is_whole &&
			       is_exact(run) && found->has_certain &&
			       about->from->is_decoded && about->to->is_decoded &&
			       route->messages.first->facts.channel >= 0 &&
			       tap_run_count_is_ruled(about->count) &&
			       found->count == rule->messages && !rule->is_vague &&
			       has_right_bytes(rule, found)
		       ? TAP_KNOWN_DECODED
		       : TAP_KNOWN_INFERRED;
}

/* Whether the rest of a run, of which all that came before is here, will come. */
static bool is_awaited(const struct tap_served_run *about, const struct tap_net_run *run,
		       const struct found_run *found)
{
	return about->count && tap_run_count_is_ruled(about->count) && is_exact(run) &&
	       found->first == run->begin_least && found->last + 1 < run[1].begin_least &&
	       found->count == found->last + 1 - found->first;
}

static bool has_both(const struct tap_served_run *about)
{
	return about->from && about->to &&
	       tap_op_kernels_are_same(about->from, about->to);
}

/* The first run that is not so old that what is missing of it will not come. */
static size_t find_due(const struct tap_serving *serving)
{
	size_t at = serving->lanes.about.count, later = 0;

	while (at && later < LATER_MAX)
		later += has_both(&serving->lanes.about.items[--at]);
	return at;
}

static bool is_of(const struct tap_net_run *run, uint64_t number)
{
	return run->begin_most <= number && number < run[1].begin_least;
}

static struct tap_served served_by(const struct tap_served *open,
				   const struct tap_net_run_message *bounds,
				   const struct tap_served_run *about,
				   const struct tap_net_run *run, enum tap_known known)
{
	struct tap_served served = *open;

	served.verdict = TAP_VERDICT_SERVED;
	served.pair = about->pair;
	served.from = about->from;
	served.to = about->to;
	served.is_mixed = about->is_mixed;
	served.known = known;
	if (known != TAP_KNOWN_DECODED)
		served.why = is_certain(bounds, run) ? TAP_WHY_TIMES : TAP_WHY_ORDER;
	/* Of a shared connection's messages a step would be of this rank's alone. */
	if (run->begin_least == run->begin_most && !open->message->route->is_part)
		served.step = bounds->number - run->begin_least;
	return served;
}

static void give_verdicts(const struct tap_candidate_world *world,
			  struct tap_serving *serving, const struct tap_net_route *route,
			  bool is_last)
{
	const bool is_all = serving->served.count == route->held;
	const struct tap_net_run *runs = serving->lanes.runs.items, *run = NULL;
	const size_t due = find_due(serving);
	enum tap_known known = TAP_KNOWN_INFERRED;
	struct found_run found;
	size_t at = 0, i;
	bool is_open = false;

	for (i = 0; i < serving->served.count; i++) {
		struct tap_served *served = &serving->served.items[i];
		const struct tap_net_run_message *bounds = &serving->bounds.items[i];
		const struct tap_served_run *about;

		while (at + 1 < serving->lanes.runs.count &&
		       runs[at + 1].begin_most <= bounds->number)
			at++;
		about = &serving->lanes.about.items[at];
		if (served->verdict || at + 1 == serving->lanes.runs.count)
			continue;
		if (!is_of(&runs[at], bounds->number) || !has_both(about)) {
			if (at < due)
				served->verdict = TAP_VERDICT_GIVEN_UP;
			continue;
		}
		if (run != &runs[at]) {
			run = &runs[at];
			found = look_at_run(serving, i, run);
			is_open = !is_last && is_all && is_awaited(about, run, &found);
			known = judge(world, route, about, run, &found);
		}
		if (!is_open)
			*served = served_by(served, bounds, about, run, known);
	}
}

/*
 * The next search begins with the run of the first message that is still open, or that
 * bytes may tell of before it is given up.
 */
static void advance(const struct tap_serving *serving, struct tap_net_route *route)
{
	const struct tap_served *served = serving->served.items;
	const struct tap_net_run *runs = serving->lanes.runs.items;
	uint64_t open;
	size_t i = 0, at;

	while (i < serving->served.count && served[i].verdict &&
	       served[i].verdict != TAP_VERDICT_GIVEN_UP)
		i++;
	open = i < serving->served.count
		       ? served[i].message->number
		       : served[i - 1].message->number + served[i - 1].message->requests;
	for (at = serving->lanes.runs.count; at--;)
		if (runs[at].begin_most <= open)
			break;
	if (at != SIZE_MAX)
		tap_net_lanes_pass(&serving->lanes, &route->order, at);
}

static void contradict(struct tap_serving *serving)
{
	size_t i;

	for (i = 0; i < serving->served.count; i++)
		if (!serving->served.items[i].verdict)
			serving->served.items[i].verdict = TAP_VERDICT_CONTRADICTED;
}

/* ---- All of it ---- */

static bool has_tried(const struct tap_serving *serving)
{
	size_t i;

	for (i = 0; i + 1 < serving->lanes.about.count; i++)
		if (serving->lanes.about.items[i].count &&
		    serving->lanes.about.items[i].count->is_tried)
			return true;
	return false;
}

int tap_served_learn(struct tap_serving *serving, const struct tap_candidate_world *world,
		     struct tap_net_route *route)
{
	const uint64_t least = route->order.begin_least, most = route->order.begin_most;
	const int ret = tap_serving_fill(serving, world, route);

	if (ret || !serving->served.count || !has_tried(serving))
		return ret == -EAGAIN ? 0 : ret;
	search(world, serving, route, true);
	route->order.begin_least = least;
	route->order.begin_most = most;
	return 0;
}

int tap_served_bound(struct tap_serving *serving, const struct tap_candidate_world *world,
		     struct tap_net_route *route)
{
	const uint64_t least = route->order.begin_least, most = route->order.begin_most;
	int ret = tap_serving_fill(serving, world, route);

	if (ret || !serving->served.count)
		return ret;
	if (search(world, serving, route, world->is_over) != FOUND)
		ret = -EAGAIN;
	route->order.begin_least = least;
	route->order.begin_most = most;
	return ret;
}

int tap_served_find(struct tap_serving *serving, const struct tap_candidate_world *world,
		    struct tap_net_route *route, bool is_last)
{
	enum search found;
	int ret = tap_serving_fill(serving, world, route);

	if (ret || !serving->served.count)
		return ret;
	found = search(world, serving, route, is_last);
	if (found == CONTRADICTED) {
		tap_served_restart(route);
		return -EAGAIN;
	}
	give_verdicts(world, serving, route, is_last);
	/* Where counts contradict times, only what times prove is claimed. */
	if (found == BY_TIMES)
		contradict(serving);
	advance(serving, route);
	return 0;
}
