/* SPDX-License-Identifier: MIT */
/* Tables by member; what is kept is forgotten in the order in which it came. */
#include "join/nccl/rank_ops.h"

#include <errno.h>
#include <stdlib.h>

/* Most series: a damaged trace cannot fill the memory. */
#define SERIES_MAX 262144

static uint64_t key(enum tap_op_series series, int64_t peer)
{
	return (uint64_t) peer << 2 | series;
}

struct tap_rank_ops *tap_rank_ops_of(struct tap_ranks_ops *ranks,
				     const struct tap_member *member)
{
	struct tap_rank_ops *rank = tap_table_find(&ranks->by_member, member->number, 0);

	if (rank)
		return rank;
	rank = calloc(1, sizeof(*rank));
	if (!rank || tap_table_set(&ranks->by_member, member->number, 0, rank)) {
		free(rank);
		return NULL;
	}
	rank->member = member;
	return rank;
}

struct tap_op_times *tap_rank_ops_find(const struct tap_ranks_ops *ranks,
				       const struct tap_member *member,
				       enum tap_op_series series, int64_t peer)
{
	return tap_table_find(&ranks->series, member->number, key(series, peer));
}

/* *ret_times is NULL where there are too many.  Returns 0 or -ENOMEM. */
static int times_of(struct tap_ranks_ops *ranks, const struct tap_member *member,
		    enum tap_op_series series, int64_t peer,
		    struct tap_op_times **ret_times)
{
	struct tap_op_times *times = tap_rank_ops_find(ranks, member, series, peer);

	*ret_times = times;
	ranks->is_cut |= !times && ranks->series.count >= SERIES_MAX;
	if (times || ranks->is_cut)
		return 0;
	times = calloc(1, sizeof(*times));
	if (!times ||
	    tap_table_set(&ranks->series, member->number, key(series, peer), times)) {
		free(times);
		return -ENOMEM;
	}
	*ret_times = times;
	return 0;
}

/* Notes that something is kept, and forgets the oldest where that is too much. */
static int keep(struct tap_ranks_ops *ranks, struct tap_op_times *times, bool is_call)
{
	const struct tap_op_fact fact = {times, is_call};
	const struct tap_op_fact *oldest;

	if (tap_vec_add(&ranks->kept, fact))
		return -ENOMEM;
	if (ranks->kept.count - ranks->first <= ranks->kept_max)
		return 0;
	oldest = &ranks->kept.items[ranks->first++];
	if (oldest->is_call)
		tap_op_times_forget_call(oldest->times);
	else
		tap_op_times_forget_kernel(oldest->times);
	if (ranks->first > 1024 && ranks->first > ranks->kept.count / 2) {
		ranks->kept.count -= ranks->first;
		memmove(ranks->kept.items, ranks->kept.items + ranks->first,
			ranks->kept.count * sizeof(*ranks->kept.items));
		ranks->first = 0;
	}
	return 0;
}

int tap_rank_ops_call(struct tap_ranks_ops *ranks, const struct tap_member *member,
		      enum tap_op_series series, int64_t peer, uint64_t number,
		      const struct tap_op_call *call)
{
	struct tap_op_times *times;
	int ret = times_of(ranks, member, series, peer, &times);

	if (ret || !times)
		return ret;
	ret = tap_op_times_call(times, number, call);
	return ret ? ret : keep(ranks, times, true);
}

int tap_rank_ops_captured(struct tap_ranks_ops *ranks, const struct tap_member *member,
			  enum tap_op_series series, int64_t peer, uint64_t number)
{
	struct tap_op_times *times;
	int ret = times_of(ranks, member, series, peer, &times);

	return ret || !times ? ret : tap_op_times_captured(times, number);
}

int tap_rank_ops_repeated(struct tap_ranks_ops *ranks, const struct tap_member *member,
			  enum tap_op_series series, int64_t peer,
			  const struct tap_op_call *call, uint64_t *ret_place)
{
	struct tap_op_times *times;
	int ret = times_of(ranks, member, series, peer, &times);

	*ret_place = 0;
	if (ret || !times)
		return ret;
	ret = tap_op_times_repeated(times, call, ret_place);
	return ret ? ret : keep(ranks, times, true);
}

int tap_rank_ops_kernel(struct tap_ranks_ops *ranks, const struct tap_member *member,
			enum tap_op_series series, int64_t peer,
			const struct tap_op_kernel *kernel, int64_t error_ns)
{
	struct tap_rank_ops *rank = tap_rank_ops_of(ranks, member);
	struct tap_op_times *times;
	size_t count;
	int ret;

	if (!rank)
		return -ENOMEM;
	ret = times_of(ranks, member, series, peer, &times);
	if (ret || !times)
		return ret;
	if (times->lowest && kernel->first >= times->lowest &&
	    (!rank->has_kernel || kernel->end_ns < rank->first_end_ns)) {
		rank->has_kernel = true;
		rank->first_end_ns = kernel->end_ns;
	}
	count = times->kernels.count;
	ret = tap_op_times_kernel(times, kernel, error_ns);
	return ret || times->kernels.count == count ? ret : keep(ranks, times, false);
}

void tap_ranks_ops_free(struct tap_ranks_ops *ranks)
{
	size_t i;

	for (i = 0; i < ranks->by_member.size; i++) {
		struct tap_rank_ops *rank = ranks->by_member.slots[i].value;

		if (rank)
			tap_vec_free(&rank->routes);
		free(rank);
	}
	for (i = 0; i < ranks->series.size; i++) {
		if (ranks->series.slots[i].value)
			tap_op_times_free(ranks->series.slots[i].value);
		free(ranks->series.slots[i].value);
	}
	tap_table_free(&ranks->by_member);
	tap_table_free(&ranks->series);
	tap_vec_free(&ranks->kept);
}
