/* SPDX-License-Identifier: MIT */
/* Bounds the number of the operation, and looks at what is between the bounds. */
#include "join/nccl/candidate.h"

#include "join/nccl/transfer.h"

/* More operations between the bounds are not looked at. */
#define BETWEEN_MAX 64

struct tap_rank_series tap_rank_series_find(const struct tap_ranks_ops *ranks,
					    const struct tap_rank_pair *pair,
					    bool is_messages)
{
	struct tap_rank_series series = {.pair = pair, .is_messages = is_messages};

	series.from = tap_rank_ops_find(ranks, pair->from,
					is_messages ? TAP_OPS_SEND : TAP_OPS_COLLECTIVE,
					is_messages ? pair->to->rank : -1);
	series.to = tap_rank_ops_find(ranks, pair->to,
				      is_messages ? TAP_OPS_RECEIVE : TAP_OPS_COLLECTIVE,
				      is_messages ? pair->from->rank : -1);
	return series;
}

/* ---- Bounds ---- */

/* Whether a call that is not in the trace was not made. */
static bool is_every_call_known(const struct tap_candidate_world *world)
{
	return world->is_whole && !world->ranks->is_cut;
}

/* The lowest number that the message's operation cannot have. */
static uint64_t find_end(const struct tap_candidate_world *world,
			 const struct tap_rank_series *series,
			 const struct tap_message_facts *message)
{
	const struct tap_op_times *from = series->from;
	const bool has_last = (series->pair->from->is_made || (from && from->lowest)) &&
			      (!from || !from->shifts.count || world->is_over);
	const uint64_t last = from ? from->last : 0;
	uint64_t end = UINT64_MAX;

	if (from)
		end = tap_op_times_begun_after(from, message->posted_ns, world->error_ns);
	if (series->to) {
		const uint64_t later =
			tap_op_times_called_after(series->to, message->awaited_ns);

		end = later < end ? later : end;
	}
	/*
	 * A call is in the trace before anything that is done for it; but the launch of a
	 * graph is there when it is over.
	 */
	return has_last && last < end && is_every_call_known(world) ? last + 1 : end;
}

/*
 * Whether what was called before the recording is over, so that the message is of an
 * operation that was called later, if of any.
 */
static bool is_all_old_over(const struct tap_candidate_world *world,
			    const struct tap_rank_pair *pair,
			    const struct tap_message_facts *message)
{
	const struct tap_rank_ops *to =
		tap_table_find(&world->ranks->by_member, pair->to->number, 0);

	return to && to->has_kernel &&
	       to->first_end_ns < message->arrived_ns - world->error_ns;
}

/* The lowest number that the operation may have; false: not known. */
static bool find_begin(const struct tap_candidate_world *world,
		       const struct tap_rank_series *series,
		       const struct tap_message_facts *message, uint64_t *ret_begin)
{
	const struct tap_rank_pair *pair = series->pair;
	const struct tap_op_times *to = series->to;
	uint64_t ended =
		to ? tap_op_times_ended_before(to, message->arrived_ns, world->error_ns)
		   : 0;

	*ret_begin = ended + 1;
	if (ended || pair->from->is_made || pair->to->is_made)
		return true;
	if (!is_all_old_over(world, pair, message))
		return false;
	if (to && to->lowest) {
		*ret_begin = to->lowest;
		return true;
	}
	*ret_begin = UINT64_MAX;
	return is_every_call_known(world);
}

/* ---- Between the bounds ---- */

static const struct tap_op_kernel *find_kernel(const struct tap_rank_series *series,
					       uint64_t number)
{
	const struct tap_op_kernel *kernel =
		series->from ? tap_op_times_find_kernel(series->from, number) : NULL;

	return kernel || !series->to ? kernel
				     : tap_op_times_find_kernel(series->to, number);
}

static const struct tap_op_call *find_call(const struct tap_rank_series *series,
					   uint64_t number)
{
	const struct tap_op_call *call =
		series->from ? tap_op_times_find_call(series->from, number) : NULL;

	return call || !series->to ? call : tap_op_times_find_call(series->to, number);
}

/* Whether operations of this kind use connections of this index. */
static bool is_kind_possible(bool is_messages, int64_t index)
{
	return index < 0 || index > 1 || is_messages == (index == 1);
}

static bool is_sent(const struct tap_op_transfer *transfer,
		    const struct tap_rank_pair *pair)
{
	return (transfer->from < 0 || transfer->from == pair->from->rank) &&
	       (transfer->to < 0 || transfer->to == pair->to->rank);
}

/*
 * A send of no bytes is one message without any, and no other send has such a message
 * (NCCL 2.28.9, enqueue.cc: addP2pToPlan; 2.18.3 to 2.30.7: likewise).
 */
bool tap_candidate_may_be_sent(const struct tap_op_transfer *transfer,
			       const struct tap_rank_pair *pair,
			       const struct tap_message_facts *message)
{
	return is_sent(transfer, pair) && (transfer->bytes == TAP_BYTES_UNKNOWN ||
					   message->bytes == TAP_BYTES_UNKNOWN ||
					   !transfer->bytes == !message->bytes);
}

/*
 * Whether any of the operations that are made of sends has one between the ranks of which
 * the message may be.
 */
static bool has_sends(const struct tap_op_kernel *kernel,
		      const struct tap_rank_pair *pair,
		      const struct tap_message_facts *message)
{
	unsigned int i;

	for (i = 0; i < kernel->transfers.count; i++)
		if (tap_candidate_may_be_sent(&kernel->transfers.items[i], pair, message))
			return true;
	return kernel->transfers.is_cut;
}

bool tap_candidate_is_undivided(const struct tap_op_kernel *kernel,
				const struct tap_rank_pair *pair)
{
	const struct tap_op_transfers *transfers = &kernel->transfers;
	unsigned int i;

	for (i = 0; i < transfers->count; i++)
		if (is_sent(&transfers->items[i], pair) &&
		    !tap_send_is_undivided(transfers->items[i].bytes,
					   &kernel->asked.sizes))
			return false;
	return transfers->count && !transfers->is_cut;
}

bool tap_candidate_is_possible(const struct tap_op_kernel *kernel,
			       const struct tap_rank_pair *pair,
			       const struct tap_message_facts *message)
{
	const uint64_t mask = kernel->asked.channel_mask;

	if (!(kernel->has_messages && is_kind_possible(true, message->index) &&
	      has_sends(kernel, pair, message)) &&
	    !(kernel->has_others && is_kind_possible(false, message->index)))
		return false;
	/* A mask has the first 64 channels; NCCL has no more. */
	return !mask || message->channel < 0 || message->channel > 63 ||
	       mask >> message->channel & 1;
}

/*
 * The operations from *number on, before `end`: steps over those of one kernel, or over
 * one whose kernel is not known.  Returns whether they are possible.
 */
static bool step(const struct tap_rank_series *series,
		 const struct tap_message_facts *message, uint64_t *number,
		 const struct tap_op_kernel **ret_kernel)
{
	const struct tap_op_call *call;

	*ret_kernel = find_kernel(series, *number);
	if (*ret_kernel) {
		*number = (*ret_kernel)->last + 1;
		return tap_candidate_is_possible(*ret_kernel, series->pair, message);
	}
	call = find_call(series, (*number)++);
	return !call ||
	       (!call->is_empty && is_kind_possible(call->is_messages, message->index) &&
		(!call->is_messages ||
		 tap_candidate_may_be_sent(&call->transfer, series->pair, message)));
}

static enum tap_candidates look_between(const struct tap_rank_series *series,
					const struct tap_message_facts *message,
					uint64_t begin, uint64_t end,
					struct tap_candidate *candidate)
{
	const struct tap_op_kernel *kernel;
	uint64_t number = begin, found = 0, at;
	unsigned int steps = 0;

	while (number < end) {
		at = number;
		if (++steps > BETWEEN_MAX)
			return TAP_CANDIDATES_SEVERAL;
		if (!step(series, message, &number, &kernel))
			continue;
		if (found)
			return TAP_CANDIDATES_SEVERAL;
		found = at;
	}
	if (!found)
		return TAP_CANDIDATES_NONE;
	candidate->from =
		series->from ? tap_op_times_find_kernel(series->from, found) : NULL;
	candidate->to = series->to ? tap_op_times_find_kernel(series->to, found) : NULL;
	candidate->sends = series->is_messages ? candidate->from : NULL;
	if (!candidate->from || !candidate->to)
		return TAP_CANDIDATES_MISSING;
	return tap_op_kernels_are_same(candidate->from, candidate->to)
		       ? TAP_CANDIDATES_ONE
		       : TAP_CANDIDATES_NONE;
}

static enum tap_candidates look_at(const struct tap_candidate_world *world,
				   const struct tap_rank_pair *pair, bool is_messages,
				   const struct tap_message_facts *message,
				   struct tap_candidate *candidate)
{
	const struct tap_rank_series series =
		tap_rank_series_find(world->ranks, pair, is_messages);
	uint64_t begin, end = find_end(world, &series, message);

	if (is_messages && message->before && message->before < end)
		end = message->before;
	candidate->is_mixed = false;
	candidate->from_member = pair->from;
	candidate->to_member = pair->to;
	if ((series.from && series.from->is_irregular) ||
	    (series.to && series.to->is_irregular))
		return TAP_CANDIDATES_SEVERAL;
	if (!find_begin(world, &series, message, &begin)) {
		if (!is_messages || !message->after)
			return TAP_CANDIDATES_BEFORE;
		begin = message->after + 1;
	}
	if (is_messages && begin <= message->after)
		begin = message->after + 1;
	return look_between(&series, message, begin, end, candidate);
}

/* Whether the operation before `end` is possible, and the first one of its kernel. */
static bool step_back(const struct tap_rank_series *series,
		      const struct tap_message_facts *message, uint64_t *end)
{
	const struct tap_op_kernel *kernel = find_kernel(series, *end - 1);
	uint64_t number = kernel ? kernel->first : *end - 1;

	*end = number;
	return step(series, message, &number, &kernel);
}

/* Leaves out the operations at both bounds that cannot have the message. */
static void narrow(const struct tap_rank_series *series,
		   const struct tap_message_facts *message, uint64_t *begin,
		   uint64_t *end)
{
	const struct tap_op_kernel *kernel;
	unsigned int steps;
	uint64_t at;

	for (steps = 0; *begin && *begin < *end && steps < BETWEEN_MAX; steps++) {
		at = *begin;
		if (step(series, message, &at, &kernel))
			break;
		*begin = at;
	}
	for (steps = 0; *end != UINT64_MAX && *begin < *end && steps < BETWEEN_MAX;
	     steps++) {
		at = *end;
		if (step_back(series, message, &at))
			break;
		*end = at;
	}
}

bool tap_candidates_bounds(const struct tap_candidate_world *world,
			   const struct tap_rank_pair *pair, bool is_messages,
			   const struct tap_message_facts *message, uint64_t *ret_begin,
			   uint64_t *ret_end)
{
	const struct tap_rank_series series =
		tap_rank_series_find(world->ranks, pair, is_messages);

	if ((series.from && series.from->is_irregular) ||
	    (series.to && series.to->is_irregular))
		return false;
	*ret_end = find_end(world, &series, message);
	if (!find_begin(world, &series, message, ret_begin))
		*ret_begin = 0;
	if (message->bytes != TAP_BYTES_UNKNOWN)
		narrow(&series, message, ret_begin, ret_end);
	return true;
}

bool tap_candidates_have(const struct tap_candidate_world *world,
			 const struct tap_rank_pair *pair, bool is_messages,
			 const struct tap_message_facts *message)
{
	struct tap_candidate candidate;

	return look_at(world, pair, is_messages, message, &candidate) !=
	       TAP_CANDIDATES_NONE;
}

/* Whether two kinds of operations lead to one kernel: it carries out both. */
static bool are_of_one_kernel(const struct tap_candidate *a,
			      const struct tap_candidate *b)
{
	return a->from_member == b->from_member && a->to_member == b->to_member &&
	       tap_op_kernels_are_one(a->from, b->from) &&
	       tap_op_kernels_are_one(a->to, b->to);
}

enum tap_candidates tap_candidates_find(const struct tap_candidate_world *world,
					const struct tap_rank_pair *pairs, size_t count,
					const struct tap_message_facts *message,
					struct tap_candidate *candidate)
{
	enum tap_candidates all = TAP_CANDIDATES_NONE, one;
	struct tap_candidate found;
	size_t i;

	for (i = 0; i < 2 * count; i++) {
		if (i % 2 && !is_kind_possible(true, message->index))
			continue;
		one = look_at(world, &pairs[i / 2], i % 2, message, &found);
		if (one == TAP_CANDIDATES_NONE)
			continue;
		if (all == TAP_CANDIDATES_ONE && one == all &&
		    are_of_one_kernel(candidate, &found)) {
			candidate->is_mixed = true;
			candidate->sends = NULL; /* or it is of the others */
			continue;
		}
		if (all != TAP_CANDIDATES_NONE)
			return TAP_CANDIDATES_SEVERAL;
		all = one;
		*candidate = found;
	}
	return all;
}

static bool is_reported(const struct tap_rank_series *series,
			const struct tap_message_facts *message, int64_t error_ns)
{
	return series->from && series->to &&
	       tap_op_times_has_begun_after(series->from, message->posted_ns, error_ns) &&
	       tap_op_times_has_ended_after(series->to, message->arrived_ns);
}

bool tap_candidates_are_reported(const struct tap_candidate_world *world,
				 const struct tap_rank_pair *pair,
				 const struct tap_message_facts *message)
{
	const struct tap_rank_series collectives =
		tap_rank_series_find(world->ranks, pair, false);
	const struct tap_rank_series messages =
		tap_rank_series_find(world->ranks, pair, true);

	return is_reported(&collectives, message, world->error_ns) ||
	       is_reported(&messages, message, world->error_ns);
}
