/* SPDX-License-Identifier: MIT */
/* Sums by communicator, function and size, and by GPU. */
#include "join/findings/breakdown.h"

#include "common/vec.h"

struct tap_breakdown {
	struct tap_analysis_state state;
	TAP_VEC(struct tap_breakdown_operation) operations;
	TAP_VEC(struct tap_breakdown_rank) ranks;
};

/* ---- Bandwidth ---- */

/* What nccl-tests reckons with, for a function. */
static const struct factor {
	const char *name;
	bool is_of_all; /* S is the count of all ranks together */
	int64_t times;	/* busbw is algbw * times * (n - 1) / n; 0: busbw is algbw */
} factors[] = {
	{"ncclAllReduce", false, 2}, {"ncclReduceScatter", true, 1},
	{"ncclAllGather", true, 1},  {"ncclAlltoAll", true, 1},
	{"ncclGather", true, 1},     {"ncclScatter", true, 1},
	{"ncclBroadcast", false, 0}, {"ncclReduce", false, 0},
	{"ncclSend", false, 0},	     {"ncclRecv", false, 0},
};

bool tap_breakdown_bandwidth(const struct tap_name *name, int64_t bytes, int64_t nranks,
			     int64_t time_ns, int64_t *ret_algorithm, int64_t *ret_bus)
{
	double algorithm, bus;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(factors); i++)
		if (!strcmp(factors[i].name, name->name))
			break;
	if (i == ARRAY_SIZE(factors) || bytes < 0 || time_ns <= 0 ||
	    (nranks < 1 && (factors[i].is_of_all || factors[i].times)))
		return false;
	algorithm = (double) bytes * 1e9 / (double) time_ns;
	if (factors[i].is_of_all)
		algorithm *= (double) nranks;
	bus = algorithm;
	if (factors[i].times)
		bus *= (double) (factors[i].times * (nranks - 1)) / (double) nranks;
	*ret_algorithm = (int64_t) algorithm;
	*ret_bus = (int64_t) bus;
	return true;
}

/* ---- What it gives ---- */

size_t tap_breakdown_operations(const struct tap_breakdown *breakdown,
				const struct tap_breakdown_operation **ret_first)
{
	*ret_first = breakdown->operations.items;
	return breakdown->operations.count;
}

size_t tap_breakdown_ranks(const struct tap_breakdown *breakdown,
			   const struct tap_breakdown_rank **ret_first)
{
	*ret_first = breakdown->ranks.items;
	return breakdown->ranks.count;
}

static void free_all(void *state)
{
	struct tap_breakdown *breakdown = state;

	tap_vec_free(&breakdown->operations);
	tap_vec_free(&breakdown->ranks);
}

const struct tap_analysis tap_breakdown_analysis = {
	.name = "breakdown",
	.size = sizeof(struct tap_breakdown),
	.free = free_all,
};
