/* SPDX-License-Identifier: MIT */
/* One record for each two ranks, with their latest kernels that have such messages. */
#include "join/nccl/net_empty.h"

#include <errno.h>
#include <stdlib.h>

/* Two connections: one of them was taken for this by mistake. */
#define CONTRADICTED UINT64_MAX

/* So many kernels of two ranks are kept. */
#define KERNELS 4

struct kernel {
	uint64_t first, last;	 /* places of its sends; 0: there is no kernel here */
	uint64_t nr_sends;	 /* without bytes; UINT64_MAX unknown */
	uint64_t nr_messages;	 /* found */
	uint64_t oldest, latest; /* of these, by their numbers */
};

struct empties {
	uint64_t connection; /* its number, or CONTRADICTED */
	struct kernel kernels[KERNELS];
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

/* Takes the place of the oldest one; NULL: it is older than all. */
static struct kernel *find_or_make_kernel(struct empties *empties,
					  const struct tap_ranks_ops *ranks,
					  const struct tap_rank_pair *pair,
					  const struct tap_op_kernel *sends)
{
	struct kernel *oldest = empties->kernels;
	size_t i;

	for (i = 0; i < KERNELS; i++) {
		if (empties->kernels[i].first == sends->first)
			return &empties->kernels[i];
		if (empties->kernels[i].first < oldest->first)
			oldest = &empties->kernels[i];
	}
	if (oldest->first > sends->first)
		return NULL;
	*oldest = (struct kernel){.first = sends->first,
				  .last = sends->last,
				  .nr_sends = count_sends(ranks, pair, sends),
				  .oldest = UINT64_MAX};
	return oldest;
}

static void add_message(struct kernel *kernel, uint64_t number)
{
	if (!kernel)
		return;
	kernel->nr_messages++;
	if (number > kernel->latest)
		kernel->latest = number;
	if (number < kernel->oldest)
		kernel->oldest = number;
}

static bool has_all(const struct kernel *kernel)
{
	return kernel->first && kernel->nr_messages >= kernel->nr_sends;
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
	if (sends)
		add_message(find_or_make_kernel(found, ranks, pair, sends), number);
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
	size_t i;

	for (i = 0; found && candidate->sends && i < KERNELS; i++)
		if (found->kernels[i].first == candidate->sends->first)
			return has_all(&found->kernels[i]);
	return false;
}

void tap_net_empties_bound(const struct tap_net_empties *empties,
			   const struct tap_rank_pair *pair, uint64_t number,
			   struct tap_message_facts *facts)
{
	const struct empties *found = find(empties, pair);
	size_t i;

	if (!found || found->connection == CONTRADICTED)
		return;
	for (i = 0; i < KERNELS; i++) {
		const struct kernel *kernel = &found->kernels[i];

		if (!has_all(kernel))
			continue;
		if (number > kernel->latest && kernel->last > facts->after)
			facts->after = kernel->last;
		if (number < kernel->oldest &&
		    (!facts->before || kernel->first < facts->before))
			facts->before = kernel->first;
	}
}

void tap_net_empties_free(struct tap_net_empties *empties)
{
	size_t i;

	for (i = 0; i < empties->pairs.size; i++)
		free(empties->pairs.slots[i].value);
	tap_table_free(&empties->pairs);
}
