/* SPDX-License-Identifier: MIT */
/* Sums by communicator, function and size, and by GPU. */
#include "join/findings/breakdown.h"

#include "common/vec.h"
#include "join/base/table.h"
#include "join/base/time.h"
#include "join/findings/collective.h"
#include "join/findings/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The most rows of each kind: a damaged trace cannot fill the memory. */
#define ROWS_MAX 65536

/* The sums of one row while the trace is read. */
struct operation {
	struct tap_breakdown_operation sum;
	struct tap_sample lasted, transfers;
	struct tap_sample calls, launches, queues; /* of each rank */
	int64_t nranks;
};

struct interval {
	int64_t begin_ns, end_ns;
};

/* As many pieces of a GPU's time wait for others that overlap with them. */
#define INTERVALS 32

/*
 * The time in which one kernel at least was running.  Kernels of a GPU are reported
 * nearly in order.
 */
struct busy {
	struct interval intervals[INTERVALS]; /* in order, apart from each other */
	size_t count;
	int64_t summed_ns;
	int64_t until_ns; /* up to here all is summed, INT64_MIN: nothing is */
};

struct rank {
	struct tap_breakdown_rank sum;
	struct busy busy;
	uint64_t nranks; /* of the communicator that names the rank */
	bool has_kernels;
};

struct tap_breakdown {
	struct tap_analysis_state state;
	struct tap_table operation_rows; /* by (communicator, function and size class) */
	struct tap_table rank_rows;	 /* by (process, device) */
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

/* ---- Ranks ---- */

/* Gets the row into *ret, NULL when there are too many.  Returns 0 or -ENOMEM. */
static int get_row(struct tap_table *rows, uint64_t a, uint64_t b, size_t size,
		   void **ret)
{
	*ret = tap_table_find(rows, a, b);
	if (*ret || rows->count == ROWS_MAX)
		return 0;
	*ret = calloc(1, size);
	if (*ret && !tap_table_set(rows, a, b, *ret))
		return 0;
	free(*ret);
	return -ENOMEM;
}

static int get_rank(struct tap_breakdown *breakdown, const struct tap_process *process,
		    int64_t device, struct rank **ret)
{
	void *row;
	int error = get_row(&breakdown->rank_rows, process->number, (uint64_t) device,
			    sizeof(**ret), &row);

	*ret = row;
	if (error || !row || (*ret)->sum.process)
		return error;
	(*ret)->sum = (struct tap_breakdown_rank){.process = process,
						  .rank = process->rank,
						  .device = device,
						  .waited_known = TAP_KNOWN_EXACT,
						  .kernels_ns = -1};
	(*ret)->busy.until_ns = INT64_MIN;
	return 0;
}

static int64_t device_of(const struct tap_member *member)
{
	return member ? member->device : -1;
}

static int count_arrival(struct tap_breakdown *breakdown,
			 const struct tap_collective *collective, size_t i)
{
	const struct tap_arrival *arrival = &collective->arrivals[i];
	const int64_t wait_ns = tap_collective_wait_ns(collective, arrival);
	struct rank *rank;
	int ret = get_rank(breakdown, arrival->end.process,
			   device_of(arrival->end.member), &rank);

	if (ret || !rank)
		return ret;
	/* Of several communicators the largest one's numbers are those of the job. */
	if (arrival->end.process->rank < 0 && collective->nranks >= 0 &&
	    (uint64_t) collective->nranks > rank->nranks) {
		rank->nranks = (uint64_t) collective->nranks;
		rank->sum.rank = arrival->end.rank;
	}
	if (collective->is_message || wait_ns < 0)
		return 0;
	/* What kernels show is not mixed with what calls show. */
	if (!collective->has_kernels && rank->has_kernels)
		return 0;
	if (collective->has_kernels && !rank->has_kernels) {
		rank->has_kernels = true;
		rank->sum.collectives = rank->sum.times_last = 0;
		rank->sum.waited_ns = 0;
		rank->sum.waited_known = TAP_KNOWN_EXACT;
	}
	rank->sum.collectives++;
	rank->sum.times_last += collective->last == i;
	rank->sum.waited_ns += wait_ns;
	if (!collective->has_kernels)
		rank->sum.waited_known = TAP_KNOWN_INFERRED;
	return 0;
}

/* ---- Kernels that overlap ---- */

static void sum_first(struct busy *busy)
{
	const struct interval first = busy->intervals[0];

	busy->summed_ns += tap_since_ns(first.end_ns, first.begin_ns);
	busy->until_ns = first.end_ns;
	busy->count--;
	memmove(busy->intervals, busy->intervals + 1,
		busy->count * sizeof(*busy->intervals));
}

/* Adds a kernel's time, but for what is summed already. */
static void add_busy(struct busy *busy, int64_t begin_ns, int64_t end_ns)
{
	struct interval *all = busy->intervals;
	size_t first, behind;

	if (begin_ns < busy->until_ns)
		begin_ns = busy->until_ns;
	if (begin_ns >= end_ns)
		return;
	/* Those from `first` up to `behind` touch the new one. */
	for (first = busy->count; first && all[first - 1].end_ns >= begin_ns; first--)
		continue;
	for (behind = first; behind < busy->count && all[behind].begin_ns <= end_ns;
	     behind++)
		continue;
	if (first < behind) {
		if (all[first].begin_ns < begin_ns)
			begin_ns = all[first].begin_ns;
		if (all[behind - 1].end_ns > end_ns)
			end_ns = all[behind - 1].end_ns;
		memmove(all + first + 1, all + behind,
			(busy->count - behind) * sizeof(*all));
		busy->count -= behind - first - 1;
		all[first] = (struct interval){begin_ns, end_ns};
		return;
	}
	if (busy->count == INTERVALS) {
		if (!first) {
			busy->summed_ns += tap_since_ns(end_ns, begin_ns);
			busy->until_ns = end_ns;
			return;
		}
		sum_first(busy);
		first--;
	}
	memmove(all + first + 1, all + first, (busy->count - first) * sizeof(*all));
	all[first] = (struct interval){begin_ns, end_ns};
	busy->count++;
}

static int note_kernel(void *state, struct tap_span *span)
{
	struct rank *rank;
	int ret;

	if (!span->gpu.is_nccl || span->state != TAP_SPAN_COMPLETE)
		return 0;
	ret = get_rank(state, span->process, (int64_t) span->work.run.device, &rank);
	if (!ret && rank) {
		rank->sum.kernels_ns = 0;
		add_busy(&rank->busy, span->begin_ns, span->end_ns);
	}
	return ret;
}

/* ---- Operations ---- */

static unsigned int size_class(int64_t bytes)
{
	return bytes < 0 ? 127
	       : bytes	 ? 64 - (unsigned int) __builtin_clzll((uint64_t) bytes)
			 : 0;
}

static void merge_word(char *word, const char *other)
{
	if (!*word)
		strcpy(word, other);
	else if (*other && strcmp(word, other) != 0)
		strcpy(word, "various");
}

/* The way of each rank from its call to its kernel. */
static void count_ways(struct operation *operation,
		       const struct tap_collective *collective)
{
	size_t i;

	for (i = 0; i < collective->count; i++) {
		const struct tap_arrival *arrival = &collective->arrivals[i];
		const int64_t call_ns = arrival->end.facts.begin_ns;

		if (arrival->launch_begin_ns < 0)
			continue;
		if (call_ns >= 0)
			tap_sample_add(&operation->calls,
				       tap_since_ns(arrival->launch_begin_ns, call_ns));
		tap_sample_add(&operation->launches,
			       tap_since_ns(arrival->launch_end_ns,
					    arrival->launch_begin_ns));
		tap_sample_add(&operation->queues,
			       tap_since_ns(arrival->kernel_begin_ns,
					    arrival->launch_begin_ns));
	}
}

static void count_times(struct operation *operation,
			const struct tap_collective *collective)
{
	const int64_t first_ns = collective->arrivals[collective->first].start_ns;
	const int64_t last_ns = collective->arrivals[collective->last].start_ns;
	struct tap_breakdown_operation *sum = &operation->sum;

	if (!collective->has_kernels) {
		/* Operations with kernels say it better. */
		if (!sum->timed)
			sum->waiting_ns += tap_since_ns(last_ns, first_ns);
		return;
	}
	if (!sum->timed++) {
		sum->total_ns = 0;
		sum->waiting_ns = 0;
		sum->waiting_known = TAP_KNOWN_EXACT;
	}
	sum->total_ns += tap_since_ns(collective->end_ns, first_ns);
	sum->waiting_ns += tap_since_ns(last_ns, first_ns);
	count_ways(operation, collective);
	tap_sample_add(&operation->lasted, tap_since_ns(collective->end_ns, first_ns));
	tap_sample_add(&operation->transfers, tap_since_ns(collective->end_ns, last_ns));
}

static int get_operation(struct tap_breakdown *breakdown,
			 const struct tap_collective *collective, struct operation **ret)
{
	const uint64_t key =
		(uint64_t) collective->name->number << 8 | size_class(collective->bytes);
	void *row;
	int error = get_row(&breakdown->operation_rows, collective->comm->number, key,
			    sizeof(**ret), &row);

	*ret = row;
	if (error || !row || (*ret)->sum.comm)
		return error;
	(*ret)->sum = (struct tap_breakdown_operation){
		.comm = collective->comm,
		.name = collective->name,
		.is_message = collective->is_message,
		.min_bytes = collective->bytes,
		.max_bytes = collective->bytes,
		.total_ns = -1,
		.waiting_known = TAP_KNOWN_INFERRED,
	};
	return 0;
}

static int count_collective(void *state, const struct tap_collective *collective)
{
	struct tap_breakdown *breakdown = state;
	struct operation *operation;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < collective->count; i++)
		ret = count_arrival(breakdown, collective, i);
	if (ret || !collective->name)
		return ret;
	ret = get_operation(breakdown, collective, &operation);
	if (ret || !operation)
		return ret;
	operation->sum.count++;
	operation->nranks = collective->nranks;
	if (collective->bytes < operation->sum.min_bytes)
		operation->sum.min_bytes = collective->bytes;
	if (collective->bytes > operation->sum.max_bytes)
		operation->sum.max_bytes = collective->bytes;
	merge_word(operation->sum.algorithm, collective->algorithm);
	merge_word(operation->sum.protocol, collective->protocol);
	if (collective->is_complete && collective->is_timed)
		count_times(operation, collective);
	return 0;
}

/* ---- The end ---- */

static void finish_operation(struct operation *operation)
{
	struct tap_breakdown_operation *sum = &operation->sum;

	sum->comm = tap_comm_root((struct tap_comm *) sum->comm);
	sum->median_ns = tap_sample_median(&operation->lasted);
	sum->deviation_ns = tap_sample_deviation(&operation->lasted);
	sum->transfer_ns = tap_sample_median(&operation->transfers);
	sum->call_ns = tap_sample_median(&operation->calls);
	sum->launch_ns = tap_sample_median(&operation->launches);
	sum->queue_ns = tap_sample_median(&operation->queues);
	sum->waiting_percent = sum->total_ns > 0
				       ? (int64_t) (100.0 * (double) sum->waiting_ns /
							    (double) sum->total_ns +
						    0.5)
				       : -1;
	sum->algorithm_bandwidth = sum->bus_bandwidth = -1;
	/* Sizes of one class differ by less than a factor of two. */
	tap_breakdown_bandwidth(sum->name,
				sum->min_bytes + (sum->max_bytes - sum->min_bytes) / 2,
				operation->nranks, sum->transfer_ns,
				&sum->algorithm_bandwidth, &sum->bus_bandwidth);
}

static void finish_rank(struct rank *rank)
{
	while (rank->busy.count)
		sum_first(&rank->busy);
	if (rank->sum.kernels_ns >= 0)
		rank->sum.kernels_ns = rank->busy.summed_ns;
	if (!rank->sum.collectives)
		rank->sum.waited_ns = -1;
	if (rank->sum.process->rank >= 0)
		rank->sum.rank = rank->sum.process->rank;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_operations(const void *left, const void *right)
{
	const struct tap_breakdown_operation *a = left, *b = right;
	int order =
		compare_numbers((uint64_t) b->total_ns + 1, (uint64_t) a->total_ns + 1);

	if (!order)
		order = compare_numbers((uint64_t) b->waiting_ns,
					(uint64_t) a->waiting_ns);
	if (!order)
		order = compare_numbers(a->comm->number, b->comm->number);
	if (!order)
		order = strcmp(a->name->name, b->name->name);
	return order ? order
		     : compare_numbers((uint64_t) a->min_bytes, (uint64_t) b->min_bytes);
}

/* An unknown rank, -1, is the largest unsigned one. */
static int compare_ranks(const void *left, const void *right)
{
	const struct tap_breakdown_rank *a = left, *b = right;
	int order = compare_numbers((uint64_t) a->rank, (uint64_t) b->rank);

	if (!order)
		order = compare_numbers(a->process->number, b->process->number);
	return order ? order
		     : compare_numbers((uint64_t) a->device, (uint64_t) b->device);
}

/*
 * A process whose member of a communicator does not say its GPU has one row for calls and
 * one for kernels: they are one where it has one GPU.
 */
static void unite_devices(struct tap_breakdown *breakdown)
{
	struct tap_breakdown_rank *all = breakdown->ranks.items;
	size_t i, j, others, other = 0, kept = 0;

	for (i = 0; i < breakdown->ranks.count; i++) {
		others = 0;
		for (j = 0; all[i].device < 0 && j < breakdown->ranks.count; j++)
			if (all[j].process == all[i].process && j != i) {
				others++;
				other = j;
			}
		if (others != 1)
			continue;
		all[other].collectives += all[i].collectives;
		all[other].times_last += all[i].times_last;
		if (all[i].waited_ns >= 0)
			all[other].waited_ns =
				all[i].waited_ns +
				(all[other].waited_ns < 0 ? 0 : all[other].waited_ns);
		all[other].waited_known = all[i].waited_known;
		if (all[other].rank < 0)
			all[other].rank = all[i].rank;
		all[i].process = NULL;
	}
	for (i = 0; i < breakdown->ranks.count; i++)
		if (all[i].process)
			all[kept++] = all[i];
	breakdown->ranks.count = kept;
}

static int conclude(void *state, const struct tap_loss *loss)
{
	struct tap_breakdown *breakdown = state;
	const struct tap_table *operations = &breakdown->operation_rows;
	const struct tap_table *ranks = &breakdown->rank_rows;
	size_t i;

	(void) loss;
	for (i = 0; i < operations->size; i++) {
		struct operation *operation = operations->slots[i].value;

		if (!operation)
			continue;
		finish_operation(operation);
		if (tap_vec_add(&breakdown->operations, operation->sum))
			return -ENOMEM;
	}
	for (i = 0; i < ranks->size; i++) {
		struct rank *rank = ranks->slots[i].value;

		if (!rank)
			continue;
		finish_rank(rank);
		if (tap_vec_add(&breakdown->ranks, rank->sum))
			return -ENOMEM;
	}
	unite_devices(breakdown);
	if (breakdown->operations.count)
		qsort(breakdown->operations.items, breakdown->operations.count,
		      sizeof(*breakdown->operations.items), compare_operations);
	if (breakdown->ranks.count)
		qsort(breakdown->ranks.items, breakdown->ranks.count,
		      sizeof(*breakdown->ranks.items), compare_ranks);
	return 0;
}

static void free_rows(struct tap_table *rows)
{
	size_t i;

	for (i = 0; i < rows->size; i++)
		free(rows->slots[i].value);
	tap_table_free(rows);
}

static void free_all(void *state)
{
	struct tap_breakdown *breakdown = state;

	free_rows(&breakdown->operation_rows);
	free_rows(&breakdown->rank_rows);
	tap_vec_free(&breakdown->operations);
	tap_vec_free(&breakdown->ranks);
}

const struct tap_analysis tap_breakdown_analysis = {
	.name = "breakdown",
	.size = sizeof(struct tap_breakdown),
	.takes = {.span_ended = note_kernel},
	.collective = count_collective,
	.conclude = conclude,
	.free = free_all,
};
