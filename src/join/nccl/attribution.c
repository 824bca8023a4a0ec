/* SPDX-License-Identifier: MIT */
/* Messages wait at their connection until kernels are reported; each kernel tries them.
 */
#include "join/nccl/attribution.h"

#include <errno.h>

#include "join/model/stream.h"
#include "join/model/work.h"
#include "join/nccl/candidate.h"
#include "join/nccl/expected.h"
#include "join/nccl/graph_ops.h"
#include "join/nccl/net_piece.h"
#include "join/nccl/net_route.h"
#include "join/nccl/net_served.h"
#include "join/nccl/net_total.h"
#include "join/nccl/node.h"
#include "join/nccl/rank_ops.h"
#include "join/nccl/proxy_op.h"
#include "join/nccl/sizes.h"
#include "join/nccl/thread.h"

/* A kernel tries so many messages of a connection of which it cannot decide any. */
#define TRIED_MAX 8

/*
 * Kernels of one rank are reported nearly in their order: so many later ones have come
 * before a missing one is no longer expected.
 */
#define TRIES_MAX 256

/* Which of several ranks a connection is for is looked for so often, for one message. */
#define SENDER_TRIES_MAX 8

/*
 * So many messages and kernels are new before the messages of a connection are looked at
 * again, and half as many as there are, so that each is looked at a few times only.
 */
#define FRESH_MIN 32

struct tap_attribution {
	struct tap_context *context; /* first: layer.h */

	struct tap_ranks_ops ranks;
	struct tap_net_routes routes;
	struct tap_graph_ops graphs;
	struct tap_serving serving;
	struct tap_net_totals totals;
	const struct tap_sizes *sizes;
	bool is_over;	  /* all events have been read */
	bool is_doubtful; /* a message was left out before it was known of which ranks */
	bool has_untried; /* kernels are of a release whose rules are not known */
};

/* ---- One message ---- */

/* The most by which GPUs' times were seen to be wrong. */
static int64_t error_of(const struct tap_attribution *attribution)
{
	const struct tap_gpu_times *times = &attribution->context->gpu_times;
	const int64_t residual_ns = times->residual_max_ns < INT32_MAX
					    ? (int64_t) times->residual_max_ns
					    : INT32_MAX;

	return times->clock_error_max_ns > residual_ns ? times->clock_error_max_ns
						       : residual_ns;
}

static bool is_whole(const struct tap_attribution *attribution)
{
	return tap_loss_is_none(&attribution->context->loss);
}

static struct tap_candidate_world world_of(const struct tap_attribution *attribution)
{
	return (struct tap_candidate_world){.ranks = &attribution->ranks,
					    .error_ns = error_of(attribution),
					    .is_whole = is_whole(attribution),
					    .is_over = attribution->is_over};
}

static struct tap_link_end kernel_end(const struct tap_member *member,
				      const struct tap_op_kernel *kernel)
{
	return (struct tap_link_end){.process = member->process,
				     .member = member,
				     .name = kernel->name,
				     .work = kernel->work,
				     .rank = member->rank};
}

static int emit_link(struct tap_attribution *attribution,
		     const struct tap_net_route *route, const struct tap_rank_pair *pair,
		     const struct tap_served *served)
{
	const struct tap_routed_message *message = served->message;
	const struct tap_op_kernel *from = served->from;
	const struct tap_link_end ends[4] = {kernel_end(pair->from, from),
					     {.process = route->from,
					      .name = message->send_name,
					      .work = message->send,
					      .rank = -1},
					     {.process = route->to,
					      .name = message->receive_name,
					      .work = message->receive,
					      .rank = -1},
					     kernel_end(pair->to, served->to)};
	const struct tap_link link = {
		.kind = TAP_LINK_MESSAGE_KERNEL,
		.known = served->known,
		.why = served->why,
		.is_complete = true,
		.peer = -1,
		.nranks = -1,
		.op_number =
			from->first == from->last && !served->is_mixed ? from->number : 0,
		.operation = served->is_mixed ? from->name : from->operation,
		.ends = ends,
		.count = 4,
		.begin_ns = from->begin_ns,
		.end_ns = served->to->end_ns,
		.bytes = message->bytes,
		.channel = message->facts.channel,
		.step = served->step == TAP_STEP_UNKNOWN ? -1 : (int64_t) served->step};
	int ret;

	tap_count_match(attribution->context, TAP_MATCH_MESSAGE_KERNEL, served->known,
			served->why);
	ret = tap_net_ledger_add(&attribution->totals.ledger, route->connection, from,
				 message->bytes, served->is_left_over);
	if (!ret)
		ret = tap_emit_link(attribution->context, &link);
	return ret ? ret
		   : tap_proxy_ops_add(tap_context_state(attribution->context,
							 &tap_proxy_ops_layer),
				       route, &link, &message->times);
}

/*
 * Whether NCCL divides nothing that the kernel sends from rank to rank: sends of either
 * kind of numbers, and where it has both, both are known.
 */
static bool is_undivided(const struct tap_attribution *attribution,
			 const struct tap_rank_pair *pair,
			 const struct tap_op_kernel *kernel, bool is_mixed)
{
	unsigned int is_messages, found = 0;

	for (is_messages = 0; is_messages < 2; is_messages++) {
		const struct tap_rank_series series =
			tap_rank_series_find(&attribution->ranks, pair, is_messages);
		const struct tap_op_kernel *own =
			series.from ? tap_op_times_find_one(series.from, kernel) : NULL;

		if (own && own->has_messages && !tap_candidate_is_undivided(own, pair))
			return false;
		found += own != NULL;
	}
	return found > is_mixed;
}

/*
 * A message tells over which connection its rank sends the other one what is not divided,
 * and so what has no bytes.
 */
static int note_undivided(struct tap_attribution *attribution,
			  const struct tap_net_route *route,
			  const struct tap_rank_pair *pair,
			  const struct tap_served *served,
			  const struct tap_op_kernel *sends)
{
	const struct tap_routed_message *message = served->message;
	const struct tap_op_kernel *from = served->from;
	const bool is_empty = !message->bytes;

	if (message->is_guess || !from->has_messages ||
	    (from->has_others && message->facts.index != 1))
		return 0;
	if (!is_empty && !is_undivided(attribution, pair, from, served->is_mixed))
		return 0;
	return tap_net_empties_add(&attribution->routes.empties, &attribution->ranks,
				   pair, route->connection, is_empty ? sends : NULL,
				   message->number);
}

static int emit_by_times(struct tap_attribution *attribution,
			 const struct tap_net_route *route,
			 struct tap_routed_message *message,
			 const struct tap_candidate *candidate)
{
	const struct tap_rank_pair pair = {.from = candidate->from_member,
					   .to = candidate->to_member};
	const struct tap_served served = {.message = message,
					  .from = candidate->from,
					  .to = candidate->to,
					  .is_mixed = candidate->is_mixed,
					  .step = TAP_STEP_UNKNOWN,
					  .known = TAP_KNOWN_INFERRED,
					  .why = TAP_WHY_TIMES};
	const int ret =
		note_undivided(attribution, route, &pair, &served, candidate->sends);

	return ret ? ret : emit_link(attribution, route, &pair, &served);
}

/* Whether graphs hide what the process does at this time. */
static bool is_hidden(const struct tap_attribution *attribution,
		      const struct tap_process *process, int64_t time_ns)
{
	return tap_graph_ops_hide(&attribution->graphs, process, time_ns,
				  is_whole(attribution));
}

static enum tap_why why_not(enum tap_candidates found)
{
	switch (found) {
	case TAP_CANDIDATES_BEFORE:
		return TAP_WHY_BEFORE;
	case TAP_CANDIDATES_MISSING:
		return TAP_WHY_NOT_RECORDED;
	default:
		return TAP_WHY_AMBIGUOUS;
	}
}

/* Whether they hide it in a process of a rank that may have sent, or received. */
static bool are_hidden(const struct tap_attribution *attribution,
		       const struct tap_net_route *route, int64_t from_ns, int64_t to_ns)
{
	size_t i;

	if (is_hidden(attribution, route->from, from_ns) ||
	    is_hidden(attribution, route->to, to_ns))
		return true;
	for (i = 0; i < route->pairs.count; i++) {
		const struct tap_process *from = route->pairs.items[i].from->process;

		if (from != route->from && is_hidden(attribution, from, from_ns))
			return true;
	}
	return false;
}

/* Whether any kernel of one of the communicators has been reported, on both ranks. */
static bool has_kernels(const struct tap_attribution *attribution,
			const struct tap_net_route *route)
{
	const struct tap_rank_ops *from, *to;
	size_t i;

	for (i = 0; i < route->pairs.count; i++) {
		from = tap_table_find(&attribution->ranks.by_member,
				      route->pairs.items[i].from->number, 0);
		to = tap_table_find(&attribution->ranks.by_member,
				    route->pairs.items[i].to->number, 0);
		if (from && from->kernels && to && to->kernels)
			return true;
	}
	return false;
}

static int leave_out(struct tap_attribution *attribution, struct tap_net_route *route,
		     struct tap_routed_message *message, enum tap_why why)
{
	tap_count_unmatched(attribution->context, TAP_MATCH_MESSAGE_KERNEL, why);
	tap_net_route_leave(&attribution->routes, route, message);
	return 0;
}

/*
 * The kernels of which a message may be: of one or, where a part without bytes has
 * several requests, of as many ranks.
 */
struct kernels {
	struct tap_candidate items[TAP_NET_REQUESTS_MAX];
	unsigned int count;
};

/* Of what one rank has without bytes, as far as it is not found yet. */
static enum tap_candidates find_empty_of(const struct tap_attribution *attribution,
					 const struct tap_routed_message *message,
					 const struct tap_member *sender,
					 struct tap_candidate *candidate)
{
	const struct tap_candidate_world world = world_of(attribution);
	const struct tap_net_route *route = message->route;
	struct tap_message_facts facts = tap_net_route_facts(message);
	enum tap_candidates all = TAP_CANDIDATES_NONE, one;
	struct tap_candidate found;
	size_t i;

	for (i = 0; i < route->pairs.count; i++) {
		const struct tap_rank_pair *pair = &route->pairs.items[i];

		if (pair->made_for != sender ||
		    !tap_net_route_may_have_empty(&attribution->routes, route, pair))
			continue;
		facts.after = facts.before = 0;
		tap_net_empties_bound(&attribution->routes.empties, pair, message->number,
				      &facts);
		one = tap_candidates_find(&world, pair, 1, &facts, &found);
		if (one == TAP_CANDIDATES_NONE ||
		    (one == TAP_CANDIDATES_ONE &&
		     tap_net_empties_are_found(&attribution->routes.empties, pair,
					       &found)))
			continue;
		if (all != TAP_CANDIDATES_NONE)
			return TAP_CANDIDATES_SEVERAL;
		all = one;
		*candidate = found;
	}
	return all;
}

/*
 * Of what has no bytes over a connection that several ranks share.  Each request of one
 * message is of another rank: the receiver asks at once for what one batch of its kernel
 * receives, and there each rank sends once (NCCL 2.28.9, enqueue.cc: addWorkBatchToPlan;
 * transport/net.cc: recvProxyProgress).
 */
static enum tap_candidates find_empty(const struct tap_attribution *attribution,
				      const struct tap_routed_message *message,
				      struct kernels *ret)
{
	const struct tap_net_route *route = message->route;
	const struct tap_member *sender = tap_net_route_sender(route, NULL);
	enum tap_candidates all = TAP_CANDIDATES_NONE, one;
	struct tap_candidate found;

	ret->count = 0;
	for (; sender; sender = tap_net_route_sender(route, sender)) {
		if (tap_net_route_has_other(message, sender))
			continue;
		one = find_empty_of(attribution, message, sender, &found);
		if (one == TAP_CANDIDATES_NONE)
			continue;
		if (ret->count == message->requests)
			return TAP_CANDIDATES_SEVERAL;
		if (all == TAP_CANDIDATES_NONE || all == TAP_CANDIDATES_ONE)
			all = one;
		ret->items[ret->count++] = found;
	}
	return ret->count && ret->count < message->requests ? TAP_CANDIDATES_SEVERAL
							    : all;
}

/* By times, and of what has no bytes by what else is known of the ranks. */
static enum tap_candidates find_kernel(const struct tap_attribution *attribution,
				       const struct tap_net_route *route,
				       const struct tap_routed_message *message,
				       struct kernels *ret)
{
	const struct tap_message_facts facts = tap_net_route_facts(message);
	const struct tap_candidate_world world = world_of(attribution);

	if (!facts.bytes && route->is_shared)
		return find_empty(attribution, message, ret);
	ret->count = 1;
	return tap_candidates_find(&world, route->pairs.items, route->pairs.count, &facts,
				   ret->items);
}

/*
 * Ascribes the message, or counts why not, and drops it; keeps it where more may become
 * known, unless is_last.
 */
static int try_one(struct tap_attribution *attribution, struct tap_net_route *route,
		   struct tap_routed_message *message, bool is_last, bool *ret_is_gone)
{
	const struct tap_candidate_world world = world_of(attribution);
	const struct tap_message_facts facts = tap_net_route_facts(message);
	struct kernels kernels;
	enum tap_candidates found;
	unsigned int i;
	int ret = 0;

	*ret_is_gone = true;
	if (!route->pairs.count)
		return leave_out(attribution, route, message, TAP_WHY_PEER_UNKNOWN);
	if (are_hidden(attribution, route, message->facts.posted_ns,
		       message->facts.arrived_ns))
		return leave_out(attribution, route, message, TAP_WHY_GRAPH);
	found = find_kernel(attribution, route, message, &kernels);
	if (found == TAP_CANDIDATES_ONE) {
		for (i = 0; i < kernels.count && !ret; i++)
			ret = emit_by_times(attribution, route, message,
					    &kernels.items[i]);
		tap_net_route_drop(&attribution->routes, route, message);
		return ret;
	}
	if (!is_last && found != TAP_CANDIDATES_NONE &&
	    tap_candidates_are_reported(&world, &route->pairs.items[0], &facts))
		is_last = ++message->tries > TRIES_MAX;
	if (found == TAP_CANDIDATES_NONE)
		return leave_out(attribution, route, message, TAP_WHY_CONTRADICTED);
	if (is_last)
		return leave_out(attribution, route, message,
				 has_kernels(attribution, route) ? why_not(found)
								 : TAP_WHY_NOT_RECORDED);
	*ret_is_gone = false;
	return 0;
}

/* ---- The messages of a connection ---- */

/* Each by itself. */
static int try_each(struct tap_attribution *attribution, struct tap_net_route *route,
		    bool is_last)
{
	struct tap_routed_message *message, *after;
	unsigned int tried = 0;
	bool is_gone, tells_of_others;
	int ret = 0;

	for (message = route->messages.first;
	     message && !ret && (is_last || tried < TRIED_MAX); message = after) {
		tells_of_others =
			!message->bytes && route->is_shared && message->of_route.before;
		after = message->of_route.after;
		ret = try_one(attribution, route, message, is_last, &is_gone);
		tried += !is_gone;
		/* Its kernel may have all of its own now: earlier ones are of others. */
		if (is_gone && tells_of_others)
			after = route->messages.first;
	}
	return ret;
}

static int serve(struct tap_attribution *attribution, const struct tap_served *served)
{
	struct tap_net_route *route = served->message->route;
	int ret = note_undivided(attribution, route, &served->pair, served, NULL);

	if (!ret)
		ret = emit_link(attribution, route, &served->pair, served);
	tap_net_route_drop(&attribution->routes, route, served->message);
	return ret;
}

/* What may_give_up forbids stays where it is, and sets *ret_is_waiting. */
static int carry_out(struct tap_attribution *attribution, struct tap_net_route *route,
		     bool may_give_up, bool *ret_is_any, bool *ret_is_waiting)
{
	struct tap_serving *serving = &attribution->serving;
	bool is_gone;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < serving->served.count; i++) {
		const struct tap_served *served = &serving->served.items[i];

		if (served->verdict == TAP_VERDICT_GIVEN_UP && !may_give_up) {
			*ret_is_waiting = true;
			continue;
		}
		*ret_is_any |= served->verdict != TAP_VERDICT_OPEN;
		switch (served->verdict) {
		case TAP_VERDICT_SERVED:
			ret = serve(attribution, served);
			break;
		case TAP_VERDICT_CONTRADICTED:
			ret = leave_out(attribution, route, served->message,
					TAP_WHY_CONTRADICTED);
			break;
		case TAP_VERDICT_GIVEN_UP:
			ret = try_one(attribution, route, served->message, true,
				      &is_gone);
			break;
		case TAP_VERDICT_OPEN:
			break;
		}
	}
	return ret;
}

/* ---- Which rank a connection is for ---- */

/* Notes the connection at each rank that it may be of: the rank's kernels try it. */
static int note_route(struct tap_attribution *attribution, struct tap_net_route *route)
{
	size_t i, end;

	for (i = 0; i < route->pairs.count; i++)
		for (end = 0; end < 2; end++) {
			const struct tap_rank_pair *pair = &route->pairs.items[i];
			struct tap_rank_ops *rank =
				tap_rank_ops_of(&attribution->ranks,
						end ? pair->to : pair->from);
			size_t at = 0;

			if (!rank)
				return -ENOMEM;
			while (at < rank->routes.count && rank->routes.items[at] != route)
				at++;
			if (at == rank->routes.count && tap_vec_add(&rank->routes, route))
				return -ENOMEM;
		}
	return 0;
}

/* Whether the messages cannot be of the rank. */
static bool is_contradicted(const struct tap_attribution *attribution,
			    const struct tap_net_route *route,
			    const struct tap_member *sender)
{
	const struct tap_candidate_world world = world_of(attribution);
	const struct tap_routed_message *message;
	struct tap_candidate candidate;
	size_t i;

	for (message = route->messages.first; message;
	     message = message->of_route.after) {
		const struct tap_message_facts facts = tap_net_route_facts(message);
		bool is_possible = false;

		for (i = 0; !is_possible && i < route->pairs.count; i++)
			is_possible = route->pairs.items[i].made_for == sender &&
				      tap_candidates_find(&world, &route->pairs.items[i],
							  1, &facts, &candidate) !=
					      TAP_CANDIDATES_NONE;
		if (!is_possible)
			return true;
	}
	return false;
}

/*
 * Refutes the ranks that the messages contradict, where the connection may be for one of
 * several.  *ret_is_one: it is for one.
 */
static int find_sender(struct tap_attribution *attribution, struct tap_net_route *route,
		       bool *ret_is_one)
{
	const struct tap_member *sender = tap_net_route_sender(route, NULL), *next;
	size_t left = 0;
	int ret = 0;

	for (; sender && !ret; sender = next) {
		next = tap_net_route_sender(route, sender);
		if (!is_contradicted(attribution, route, sender))
			left++;
		else
			ret = tap_net_route_refute(&attribution->routes, route, sender);
	}
	sender = tap_net_route_sender(route, NULL);
	*ret_is_one = left == 1 && sender && tap_net_route_settle(route, sender);
	return ret;
}

/* Whether all ranks that it may be of have reported their kernels from its time on. */
static bool is_reported(const struct tap_attribution *attribution,
			const struct tap_net_route *route,
			const struct tap_routed_message *message)
{
	const struct tap_candidate_world world = world_of(attribution);
	size_t i;

	for (i = 0; i < route->pairs.count; i++)
		if (!tap_candidates_are_reported(&world, &route->pairs.items[i],
						 &message->facts))
			return false;
	return true;
}

/* Leaves out what may be of any of several ranks, unless more may become known of it. */
static int leave_ambiguous(struct tap_attribution *attribution,
			   struct tap_net_route *route, bool is_last)
{
	struct tap_routed_message *message, *after;

	for (message = route->messages.first; message; message = after) {
		after = message->of_route.after;
		if (!is_last && (!is_reported(attribution, route, message) ||
				 ++message->tries <= SENDER_TRIES_MAX))
			break;
		leave_out(attribution, route, message,
			  route->pairs.count ? TAP_WHY_AMBIGUOUS : TAP_WHY_PEER_UNKNOWN);
	}
	return 0;
}

/* ---- The messages of a connection, in their order ---- */

/* Whether they may be of ranks that run their operations in a known order. */
static bool is_ordered(const struct tap_attribution *attribution,
		       const struct tap_net_route *route)
{
	return route->pairs.count && !route->is_shared &&
	       !are_hidden(attribution, route, INT64_MAX, INT64_MAX);
}

/*
 * What may be of another rank after all is looked at by itself, as all that has no bytes
 * is where several ranks use a connection; the rest is left out.
 */
static int share_guesses(struct tap_attribution *attribution, struct tap_net_route *route)
{
	struct tap_routed_message *message, *after;
	struct tap_net_route *shared;
	bool is_new;
	int ret = 0;

	for (message = route->messages.first; message && !ret; message = after) {
		after = message->of_route.after;
		if (!message->is_guess)
			continue;
		if (message->bytes) {
			ret = leave_out(attribution, route, message, TAP_WHY_AMBIGUOUS);
			continue;
		}
		ret = tap_net_route_share(&attribution->routes, message, &shared,
					  &is_new);
		if (!ret && is_new)
			ret = note_route(attribution, shared);
	}
	return ret;
}

/* Those that bytes tell apart, of this connection and others of its ranks. */
static int try_totals(struct tap_attribution *attribution, struct tap_net_route *route)
{
	const struct tap_candidate_world world = world_of(attribution);
	size_t i;
	int ret;

	if (attribution->is_doubtful || !route->messages.first ||
	    !is_ordered(attribution, route))
		return 0;
	ret = tap_net_totals_find(&attribution->totals, &attribution->serving, &world,
				  route);
	for (i = 0; !ret && i < attribution->totals.found.count; i++)
		ret = serve(attribution, &attribution->totals.found.items[i]);
	return ret;
}

/* All of them, in their order. */
static int try_route(struct tap_attribution *attribution, struct tap_net_route *route,
		     bool is_last)
{
	bool is_any = true, is_one = true, has_changed;
	const bool may_sum = is_last || !attribution->is_over;
	bool is_waiting = false, is_summed = false;
	int ret = 0;

	route->order.fresh = 0;
	if (route->is_part)
		ret = share_guesses(attribution, route);
	if (!ret)
		ret = tap_net_route_refresh(&attribution->routes, route, &has_changed);
	if (!ret && has_changed)
		ret = note_route(attribution, route);
	if (!ret && !route->is_shared && route->messages.first &&
	    tap_net_route_sender(route, NULL))
		ret = find_sender(attribution, route, &is_one);
	if (ret || !is_one)
		return ret ? ret : leave_ambiguous(attribution, route, is_last);
	if (!is_ordered(attribution, route))
		return try_each(attribution, route, is_last);
	while (!ret && is_any && route->messages.first) {
		const struct tap_candidate_world world = world_of(attribution);

		is_any = false;
		ret = tap_served_find(&attribution->serving, &world, route,
				      is_last || world.is_over);
		if (ret == -EAGAIN)
			return try_each(attribution, route, is_last);
		if (!ret)
			ret = carry_out(attribution, route, is_summed, &is_any,
					&is_waiting);
		/* Bytes are looked at where all else is not enough. */
		if (!ret && may_sum && !is_summed &&
		    (is_waiting || (is_last && !is_any))) {
			ret = try_totals(attribution, route);
			is_summed = is_any = true;
		}
	}
	return ret || !is_last ? ret : try_each(attribution, route, true);
}

/* Gives up the older half of the messages, of which there are too many. */
static int give_up(struct tap_attribution *attribution, struct tap_net_route *route)
{
	size_t count = route->held / 2 + 1;
	bool is_gone;
	int ret = 0;

	while (!ret && count-- && route->messages.first)
		ret = try_one(attribution, route, route->messages.first, true, &is_gone);
	tap_served_restart(route);
	return ret;
}

/* ---- Messages ---- */

/* In a reading for the clocks nobody asks which kernels messages served. */
static bool is_idle(const struct tap_attribution *attribution)
{
	return attribution->context->consumer->is_of_clocks;
}

int tap_attribution_message(struct tap_attribution *attribution,
			    const struct tap_net_passed *message)
{
	const size_t held_max = attribution->context->bounds.held_operations;
	struct tap_net_route *route;
	bool has_changed = false;
	int ret;

	if (is_idle(attribution))
		return 0;
	ret = tap_net_routes_add(&attribution->routes, message, &route, &has_changed);
	if (!ret && has_changed)
		ret = note_route(attribution, route);
	if (ret || attribution->routes.held <= held_max)
		return ret;
	route = attribution->routes.messages.first->route;
	ret = try_route(attribution, route, false);
	return ret || attribution->routes.held <= held_max ? ret
							   : give_up(attribution, route);
}

void tap_attribution_doubtful(struct tap_attribution *attribution, enum tap_why why)
{
	attribution->is_doubtful = true;
	tap_count_unmatched(attribution->context, TAP_MATCH_MESSAGE_KERNEL, why);
}

/* ---- Kernels and calls ---- */

int tap_attribution_kernel(struct tap_attribution *attribution,
			   const struct tap_attribution_kernel *kernel)
{
	const struct tap_process *process = kernel->member->process;
	struct tap_ccl_sizes sizes;
	struct tap_rank_ops *rank;
	uint32_t version;
	size_t i;
	int ret;

	if (is_idle(attribution))
		return 0;
	sizes = tap_sizes_of(attribution->sizes, process);
	rank = tap_rank_ops_of(&attribution->ranks, kernel->member);
	/* A graph may run a part of itself more than once. */
	if (kernel->graph_launch_id &&
	    !tap_graph_ops_place(&attribution->graphs, process, kernel->graph_launch_id,
				 kernel->operations, kernel->count))
		return tap_attribution_unknown(attribution, process);
	version = (uint32_t) tap_fields_number(kernel->about, "nccl_version");
	attribution->has_untried |= version && !tap_expected_has_rule(version);
	ret = rank ? tap_kernel_ops_add(&attribution->ranks, kernel, &sizes,
					error_of(attribution))
		   : -ENOMEM;
	if (ret)
		return ret;
	rank->kernels++;
	for (i = 0; !ret && i < rank->routes.count; i++) {
		struct tap_net_route *route = rank->routes.items[i];

		if (!is_ordered(attribution, route) ||
		    ++route->order.fresh > FRESH_MIN + route->held / 2)
			ret = try_route(attribution, route, false);
	}
	return ret;
}

void tap_attribution_copied(struct tap_attribution *attribution,
			    const struct tap_name *name, const struct tap_member *member,
			    uint64_t number)
{
	struct tap_op_times *times = tap_rank_ops_find(&attribution->ranks, member,
						       tap_kernel_ops_series(name), -1);

	/* A kernel's launch may be missing. */
	if (times && is_whole(attribution))
		tap_op_times_empty(times, number);
}

int tap_attribution_graph(struct tap_attribution *attribution,
			  const struct tap_graph_launch *launch)
{
	return is_idle(attribution) ? 0
				    : tap_graph_ops_launched(&attribution->graphs,
							     &attribution->ranks, launch);
}

int tap_attribution_unknown(struct tap_attribution *attribution,
			    const struct tap_process *process)
{
	return is_idle(attribution)
		       ? 0
		       : tap_graph_ops_unknown(&attribution->graphs, process,
					       attribution->context->last_ns);
}

enum tap_series tap_attribution_series(const struct tap_attribution *attribution,
				       const struct tap_process *process, uint64_t net_id)
{
	const struct tap_net_route *route =
		tap_table_find(&attribution->routes.by_receiver, process->number, net_id);

	/* Where several ranks share a connection, it is not for collectives. */
	return route && !route->other ? route->order.series : TAP_SERIES_UNKNOWN;
}

/* ---- The layer ---- */

static int span_begun(void *state, struct tap_span *span, const struct tap_event *event)
{
	struct tap_attribution *attribution = state;
	const struct tap_operation *operation = &span->operation;
	const enum tap_op_series series = tap_kernel_ops_series(span->name);
	const int64_t peer = tap_kernel_ops_peer(span->name, operation->peer);
	struct tap_op_call call = {.begin_ns = span->begin_ns,
				   .is_messages = tap_kernel_ops_are_messages(span->name),
				   .is_empty = series == TAP_OPS_COLLECTIVE &&
					       operation->has_count && !operation->count};
	int ret;

	(void) event;
	if (!operation->number || !span->member || span->is_inner || span->is_from_nvtx ||
	    span->work.kind)
		return 0;
	tap_kernel_ops_transfer(span->name, operation, &call.transfer);
	if (!tap_cuda_is_captured(span))
		return tap_rank_ops_call(&attribution->ranks, span->member, series, peer,
					 operation->number, &call);
	ret = tap_graph_ops_captured(&attribution->graphs, span->process, span->begin_ns);
	return ret ? ret
		   : tap_rank_ops_captured(&attribution->ranks, span->member, series,
					   peer, operation->number);
}

static void begin(void *state)
{
	struct tap_attribution *attribution = state;
	struct tap_context *context = attribution->context;

	attribution->ranks.kept_max = 2 * context->bounds.held_operations;
	attribution->graphs.held_max = attribution->ranks.kept_max;
	attribution->totals.ledger.kept_max = attribution->ranks.kept_max;
	attribution->routes.context = context;
	attribution->sizes = tap_context_state(context, &tap_sizes_layer);
	attribution->routes.nodes = tap_context_state(context, &tap_nodes_layer);
	attribution->routes.threads = tap_context_state(context, &tap_threads_layer);
}

/*
 * A message becomes part of a ProxyOp when it is ascribed; the oldest one began first, or
 * nearly so.
 */
static int64_t horizon(const void *state)
{
	const struct tap_attribution *attribution = state;
	const struct tap_routed_message *oldest = attribution->routes.messages.first;

	if (!oldest || !has_kernels(attribution, oldest->route))
		return INT64_MAX;
	return oldest->times.send_begin_ns < oldest->times.receive_begin_ns
		       ? oldest->times.send_begin_ns
		       : oldest->times.receive_begin_ns;
}

/*
 * What one connection has without bytes, others do not have: tries those that several
 * ranks use until nothing more is found.
 */
static int try_shared(struct tap_attribution *attribution)
{
	const struct tap_net_routes *routes = &attribution->routes;
	struct tap_net_route *route;
	size_t before;
	int ret = 0;

	for (route = routes->all; route && !ret; route = route->next)
		if (!route->is_shared)
			ret = try_route(attribution, route, true);
	do {
		before = routes->held;
		for (route = routes->all; route && !ret; route = route->next)
			if (route->is_shared)
				ret = try_each(attribution, route, false);
	} while (!ret && routes->held < before);
	return ret;
}

/* Whether all its messages are of this connection, as far as others show it now. */
static int is_certain(struct tap_attribution *attribution, struct tap_net_route *route,
		      bool *ret_is)
{
	const struct tap_routed_message *message;
	bool has_changed;
	int ret = tap_net_route_refresh(&attribution->routes, route, &has_changed);

	if (!ret && has_changed)
		ret = note_route(attribution, route);
	*ret_is = route->messages.first && is_ordered(attribution, route) &&
		  !tap_net_route_sender(route, NULL);
	for (message = route->messages.first; *ret_is && message;
	     message = message->of_route.after)
		*ret_is = !message->is_guess;
	return ret;
}

/* What one connection shows of a rule others use, also those that are looked at before.
 */
static int learn_rules(struct tap_attribution *attribution)
{
	const struct tap_candidate_world world = world_of(attribution);
	struct tap_net_route *route =
		attribution->has_untried ? attribution->routes.all : NULL;
	bool is_one;
	int ret = 0;

	for (; route && !ret; route = route->next) {
		if (!route->messages.first)
			continue;
		ret = is_certain(attribution, route, &is_one);
		if (!ret && is_one)
			ret = tap_served_learn(&attribution->serving, &world, route);
	}
	return ret;
}

/*
 * Ascribes what can be now that all has been read, and gives up nothing else: bytes, of
 * which nothing is asked before, say more where little else is open.
 */
static int try_all(struct tap_attribution *attribution)
{
	struct tap_routed_message *message = attribution->routes.messages.first, *after;
	struct tap_net_route *route;
	int ret = 0;

	for (; message && !ret; message = after) {
		route = message->route;
		route->is_tried = true;
		after = message->of_all.after;
		while (after && after->route->is_tried)
			after = after->of_all.after;
		if (is_ordered(attribution, route) && !tap_net_route_sender(route, NULL))
			ret = try_route(attribution, route, false);
	}
	return ret;
}

static int finish(void *state)
{
	struct tap_attribution *attribution = state;
	const struct tap_net_route *route = attribution->routes.all;
	int ret;

	attribution->is_over = true;
	ret = learn_rules(attribution);
	if (!ret)
		ret = try_all(attribution);
	while (route && !(route->is_shared && route->messages.first))
		route = route->next;
	if (!ret && route)
		ret = try_shared(attribution);
	while (!ret && attribution->routes.messages.first)
		ret = try_route(attribution, attribution->routes.messages.first->route,
				true);
	return ret;
}

static void free_all(void *state)
{
	struct tap_attribution *attribution = state;

	tap_net_routes_free(&attribution->routes);
	tap_ranks_ops_free(&attribution->ranks);
	tap_serving_free(&attribution->serving);
	tap_net_totals_free(&attribution->totals);
	tap_graph_ops_free(&attribution->graphs);
}

const struct tap_layer tap_attribution_layer = {
	.name = "attribution",
	.size = sizeof(struct tap_attribution),
	.is_of_views = true,
	.begin = begin,
	.span_begun = span_begun,
	.horizon = horizon,
	.finish = finish,
	.free = free_all,
};
