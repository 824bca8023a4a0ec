/* SPDX-License-Identifier: MIT */
/* One record for each two ranks. */
#include "join/nccl/net_empty.h"

#include <errno.h>
#include <stdlib.h>

struct empties {
	uint64_t connection;	  /* its number; 0: not known */
	uint64_t first;		  /* place of the first send of the latest kernel */
	unsigned int nr_messages; /* found of it */
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

int tap_net_empties_add(struct tap_net_empties *empties, const struct tap_rank_pair *pair,
			uint64_t connection, const struct tap_op_kernel *sends)
{
	struct empties *found = find_or_make(empties, pair);

	if (!found)
		return -ENOMEM;
	if (!found->connection)
		found->connection = connection;
	if (!sends || sends->first < found->first)
		return 0;
	if (sends->first > found->first)
		found->nr_messages = 0;
	found->first = sends->first;
	found->nr_messages++;
	return 0;
}

bool tap_net_empties_may_be_on(const struct tap_net_empties *empties,
			       const struct tap_rank_pair *pair, uint64_t connection)
{
	const struct empties *found = find(empties, pair);

	return !found || found->connection == connection;
}

bool tap_net_empties_are_found(const struct tap_net_empties *empties,
			       const struct tap_ranks_ops *ranks,
			       const struct tap_rank_pair *pair,
			       const struct tap_candidate *candidate)
{
	const struct tap_op_times *times = tap_rank_series_find(ranks, pair, true).from;
	const struct tap_op_kernel *sends = candidate->sends;
	const struct empties *found = find(empties, pair);
	const struct tap_op_call *call;
	unsigned int nr_sends = 0;
	uint64_t place;

	if (!found || !times || !sends || found->first != sends->first)
		return false;
	for (place = sends->first; place <= sends->last; place++) {
		call = tap_op_times_find_call(times, place);
		if (!call || !call->is_messages ||
		    call->transfer.bytes == TAP_BYTES_UNKNOWN)
			return false;
		nr_sends += !call->transfer.bytes;
	}
	return found->nr_messages >= nr_sends;
}

void tap_net_empties_free(struct tap_net_empties *empties)
{
	size_t i;

	for (i = 0; i < empties->pairs.size; i++)
		free(empties->pairs.slots[i].value);
	tap_table_free(&empties->pairs);
}
