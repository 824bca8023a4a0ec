/* SPDX-License-Identifier: MIT */
/* One record for each two ranks. */
#include "join/nccl/net_empty.h"

#include <errno.h>
#include <stdlib.h>

/* Two connections: one of them was taken for this by mistake. */
#define CONTRADICTED UINT64_MAX

struct empties {
	uint64_t connection; /* its number, or CONTRADICTED */
	/* Of the latest kernel. */
	uint64_t first, last;	 /* places of its sends */
	uint64_t nr_sends;	 /* without bytes; UINT64_MAX unknown */
	uint64_t nr_messages;	 /* found */
	uint64_t oldest, latest; /* of these, by their numbers */
};

static struct empties *find(const struct tap_net_empties *empties,
			    const struct tap_rank_pair *pair)
{
	return tap_table_find(&empties->pairs, pair->from->number + UINT64_C(1),
			      pair->to->number);
}

/* Made when new; NULL: memory is short. */
static struct empties *find_or_make(struct tap_net_empties *empties,
				    const struct tap_rank_pair *pair)
{
	struct empties *found = find(empties, pair);

	if (found)
		return found;
	found = calloc(1, sizeof(*found));
	if (found && tap_table_set(&empties->pairs, pair->from->number + UINT64_C(1),
				   pair->to->number, found)) {
		free(found);
		return NULL;
	}
	return found;
}

static uint64_t count_sends(const struct tap_ranks_ops *ranks,
			    const struct tap_rank_pair *pair,
			    const struct tap_op_kernel *sends)
{
	const struct tap_op_times *times = tap_rank_series_find(ranks, pair, true).from;
	const struct tap_op_call *call;
	uint64_t place, count = 0;

	for (place = sends->first; place <= sends->last; place++) {
		call = times ? tap_op_times_find_call(times, place) : NULL;
		if (!call || !call->is_messages ||
		    call->transfer.bytes == TAP_BYTES_UNKNOWN)
			return UINT64_MAX;
		count += !call->transfer.bytes;
	}
	return count;
}

int tap_net_empties_add(struct tap_net_empties *empties,
			const struct tap_ranks_ops *ranks,
			const struct tap_rank_pair *pair, uint64_t connection,
			const struct tap_op_kernel *sends, uint64_t number)
{
	struct empties *found = find_or_make(empties, pair);

	if (!found)
		return -ENOMEM;
	if (found->connection && found->connection != connection)
		found->connection = CONTRADICTED;
	else
		found->connection = connection;
	if (!sends || sends->first < found->first)
		return 0;
	if (sends->first > found->first) {
		found->first = sends->first;
		found->last = sends->last;
		found->oldest = found->latest = number;
		found->nr_sends = count_sends(ranks, pair, sends);
		found->nr_messages = 0;
	}
	found->nr_messages++;
	if (number > found->latest)
		found->latest = number;
	if (number < found->oldest)
		found->oldest = number;
	return 0;
}

bool tap_net_empties_may_be_on(const struct tap_net_empties *empties,
			       const struct tap_rank_pair *pair, uint64_t connection)
{
	const struct empties *found = find(empties, pair);

	return !found || found->connection == connection ||
	       found->connection == CONTRADICTED;
}

bool tap_net_empties_are_found(const struct tap_net_empties *empties,
			       const struct tap_rank_pair *pair,
			       const struct tap_candidate *candidate)
{
	const struct empties *found = find(empties, pair);

	return found && candidate->sends && found->first == candidate->sends->first &&
	       found->nr_messages >= found->nr_sends;
}

void tap_net_empties_bound(const struct tap_net_empties *empties,
			   const struct tap_rank_pair *pair, uint64_t number,
			   struct tap_message_facts *facts)
{
	const struct empties *found = find(empties, pair);

	if (!found || !found->first || found->connection == CONTRADICTED ||
	    found->nr_messages < found->nr_sends)
		return;
	if (number > found->latest)
		facts->after = found->last;
	else if (number < found->oldest)
		facts->before = found->first;
}

void tap_net_empties_free(struct tap_net_empties *empties)
{
	size_t i;

	for (i = 0; i < empties->pairs.size; i++)
		free(empties->pairs.slots[i].value);
	tap_table_free(&empties->pairs);
}
