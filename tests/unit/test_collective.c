/* SPDX-License-Identifier: MIT */
/*
 * Operations as they are collected, and their sums, against what made-up ranks really
 * did: calls, the link between them and kernels come in any order, and some kernels
 * never.
 */
#include "join/findings/breakdown.h"
#include "join/findings/collective.h"
#include "unit/draw.h"
#include "unit/tap.h"

#include <stdlib.h>
#include <string.h>

#define RANKS 4
#define OPERATIONS 200

/* What a rank's kernel of an operation is, and whether it is reported. */
struct truth {
	int64_t begin_ns, end_ns;
	bool is_reported;
};

struct world {
	struct tap_collectives *collectives;
	struct tap_context context;
	struct tap_trace trace;
	struct tap_process processes[RANKS];
	struct tap_member members[RANKS];
	struct tap_comm comm;
	struct tap_name name, launch, kernel;
	char words[3][16];
	struct truth truths[OPERATIONS + 1][RANKS];
	unsigned int given[OPERATIONS + 1];
	uint64_t works;
	bool is_right, has_all_kernels;
};

static void be(struct world *world, bool holds)
{
	if (!holds)
		world->is_right = false;
}

/* An operation has what its calls and kernels had. */
static int take(void *data, const struct tap_collective *collective)
{
	struct world *world = data;
	const uint64_t number = collective->number;
	bool are_all_reported = true;
	size_t i, last = 0;

	be(world, number >= 1 && number <= OPERATIONS && collective->count == RANKS);
	if (!world->is_right)
		return 0;
	world->given[number]++;
	for (i = 0; i < RANKS; i++) {
		const struct tap_arrival *arrival = &collective->arrivals[i];
		const struct truth *truth = &world->truths[number][i];

		are_all_reported &= truth->is_reported;
		be(world,
		   arrival->end.rank == (int64_t) i && arrival->end.call_id == number);
		be(world, arrival->end.facts.begin_ns == (int64_t) (number * 1000 + i));
		if (arrival->kernel_begin_ns >= 0)
			be(world,
			   truth->is_reported &&
				   arrival->kernel_begin_ns == truth->begin_ns &&
				   arrival->kernel_end_ns == truth->end_ns &&
				   arrival->launch_begin_ns == truth->begin_ns - 10 &&
				   !strcmp(collective->algorithm, "RING"));
		if (truth->begin_ns >= world->truths[number][last].begin_ns)
			last = i;
	}
	be(world, !collective->has_kernels || are_all_reported);
	if (world->has_all_kernels)
		be(world, collective->has_kernels && collective->is_timed &&
				  collective->last == last);
	return 0;
}

static struct world *make_world(size_t held)
{
	struct world *world = calloc(1, sizeof(*world));
	unsigned int i;

	if (!world)
		abort();
	world->is_right = true;
	world->collectives = tap_collectives_create(take, world);
	world->context.bounds.held_operations = held;
	world->trace.host = strcpy(world->words[0], "alpha");
	world->name.layer = strcpy(world->words[1], "nccl");
	world->name.name = strcpy(world->words[2], "ncclAllReduce");
	world->name.operation = &world->name;
	world->launch = world->kernel = world->name;
	for (i = 0; i < RANKS; i++) {
		world->processes[i].number = i;
		world->processes[i].trace = &world->trace;
		world->processes[i].host = world->trace.host;
		world->processes[i].rank = i;
		world->members[i].process = &world->processes[i];
		world->members[i].comm = &world->comm;
		world->members[i].device = i;
	}
	return world;
}

static void free_world(struct world *world)
{
	tap_collectives_destroy(world->collectives);
	free(world);
}

static void call(struct world *world, unsigned int rank, uint64_t number)
{
	struct tap_span span = {.state = TAP_SPAN_COMPLETE,
				.process = &world->processes[rank],
				.name = &world->name,
				.tid = 1,
				.call_id = number,
				.begin_ns = (int64_t) (number * 1000 + rank),
				.end_ns = (int64_t) (number * 1000 + rank + 50),
				.operation = TAP_OPERATION_NONE,
				.member = &world->members[rank]};

	span.operation.number = number;
	be(world, !tap_collectives_span(world->collectives, &world->context, &span));
}

static void link_launch(struct world *world, unsigned int rank, uint64_t number)
{
	const struct tap_link_end ends[2] = {{.process = &world->processes[rank],
					      .call_id = number},
					     {.process = &world->processes[rank]}};
	const struct tap_link link = {.kind = TAP_LINK_API_LAUNCH,
				      .ends = ends,
				      .count = 2};

	be(world, !tap_collectives_link(world->collectives, &world->context, &link));
}

static void link_ranks(struct world *world, uint64_t number)
{
	struct tap_link_end ends[RANKS];
	const struct tap_link link = {.kind = TAP_LINK_COLLECTIVE_RANKS,
				      .is_complete = true,
				      .comm = &world->comm,
				      .op_number = number,
				      .operation = &world->name,
				      .nranks = RANKS,
				      .ends = ends,
				      .count = RANKS};
	unsigned int i;

	for (i = 0; i < RANKS; i++) {
		ends[i] = (struct tap_link_end){.process = &world->processes[i],
						.member = &world->members[i],
						.name = &world->name,
						.call_id = number,
						.rank = i};
		ends[i].facts.begin_ns = (int64_t) (number * 1000 + i);
		ends[i].facts.operation = TAP_OPERATION_NONE;
	}
	be(world, !tap_collectives_link(world->collectives, &world->context, &link));
}

static void report_kernel(struct world *world, unsigned int rank, uint64_t number)
{
	struct truth *truth = &world->truths[number][rank];
	struct tap_span span = {.state = TAP_SPAN_COMPLETE,
				.process = &world->processes[rank],
				.name = &world->kernel,
				.tid = -1,
				.begin_ns = truth->begin_ns,
				.end_ns = truth->end_ns};
	struct tap_link_end ends[2] = {{.process = &world->processes[rank]},
				       {.process = &world->processes[rank],
					.call_id = number}};
	const struct tap_link link = {.kind = TAP_LINK_KERNEL_COLLECTIVE,
				      .ends = ends,
				      .count = 2};

	span.work.kind = TAP_WORK_GPU;
	span.work.run.number = ++world->works;
	span.gpu = (struct tap_run){.has_launch = true,
				    .has_call = true,
				    .is_nccl = true,
				    .launch_ns = 5,
				    .queue_ns = 10,
				    .call = &world->name};
	tap_fields_add_string(&span.entry, "algorithm", "RING", 4);
	ends[0].work = span.work;
	truth->is_reported = true;
	be(world, !tap_collectives_span(world->collectives, &world->context, &span));
	be(world, !tap_collectives_link(world->collectives, &world->context, &link));
	tap_fields_free(&span.entry);
}

/*
 * Each rank calls in order; kernels are reported at any time after the call, before or
 * after the link, or, where some are lost, never.
 */
static void run(struct world *world, unsigned int loss)
{
	unsigned int called[RANKS] = {0}, linked = 0, reported[RANKS] = {0}, rank, i;
	unsigned int steps = 0;

	for (i = 1; i <= OPERATIONS; i++)
		for (rank = 0; rank < RANKS; rank++) {
			world->truths[i][rank].begin_ns =
				(int64_t) (i * 1000 + 100 + draw(300));
			world->truths[i][rank].end_ns = (int64_t) (i * 1000 + 900);
		}
	while (linked < OPERATIONS || steps++ < 100000) {
		unsigned int least = OPERATIONS;

		rank = (unsigned int) draw(RANKS);
		if (called[rank] < OPERATIONS && called[rank] < linked + 5 && draw(2)) {
			link_launch(world, rank, ++called[rank]);
			call(world, rank, called[rank]);
		} else if (reported[rank] < called[rank] && draw(2)) {
			reported[rank]++;
			if (!loss || draw(loss))
				report_kernel(world, rank, reported[rank]);
		}
		for (i = 0; i < RANKS; i++)
			if (called[i] < least)
				least = called[i];
		while (linked < least)
			link_ranks(world, ++linked);
	}
}

static bool test_all(void)
{
	bool is_passed = true;
	unsigned int i, j;

	for (i = 0; i < 20; i++) {
		struct world *world = make_world(100000);

		world->has_all_kernels = true;
		run(world, 0);
		for (j = 1; j <= OPERATIONS; j++)
			CHECK(world->given[j] == 1);
		CHECK(!tap_collectives_finish(world->collectives));
		CHECK(world->is_right);
		free_world(world);
	}
	return is_passed;
}

static bool test_loss(void)
{
	bool is_passed = true;
	unsigned int i, j;

	for (i = 0; i < 20; i++) {
		struct world *world = make_world(40 + draw(400));

		run(world, 2 + (unsigned int) draw(20));
		CHECK(!tap_collectives_finish(world->collectives));
		for (j = 1; j <= OPERATIONS; j++)
			CHECK(world->given[j] == 1);
		CHECK(world->is_right);
		free_world(world);
	}
	return is_passed;
}

/* ---- Sums ---- */

static bool test_bandwidth(void)
{
	static const struct {
		const char *name;
		int64_t algorithm, bus;
	} all[] = {
		/* Of 1000 bytes of a rank's count in 1 us, on 4 ranks. */
		{"ncclAllReduce", 1000000000, 1500000000},
		{"ncclReduceScatter", 4000000000, 3000000000},
		{"ncclAllGather", 4000000000, 3000000000},
		{"ncclAlltoAll", 4000000000, 3000000000},
		{"ncclGather", 4000000000, 3000000000},
		{"ncclScatter", 4000000000, 3000000000},
		{"ncclBroadcast", 1000000000, 1000000000},
		{"ncclReduce", 1000000000, 1000000000},
		{"ncclSend", 1000000000, 1000000000},
	};
	bool is_passed = true;
	int64_t algorithm, bus;
	struct tap_name name = {0};
	char word[32];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		name.name = strcpy(word, all[i].name);
		CHECK(tap_breakdown_bandwidth(&name, 1000, 4, 1000, &algorithm, &bus));
		CHECK(algorithm == all[i].algorithm && bus == all[i].bus);
		CHECK(!tap_breakdown_bandwidth(&name, -1, 4, 1000, &algorithm, &bus));
		CHECK(!tap_breakdown_bandwidth(&name, 1000, 4, 0, &algorithm, &bus));
	}
	name.name = strcpy(word, "ncclOther");
	CHECK(!tap_breakdown_bandwidth(&name, 1000, 4, 1000, &algorithm, &bus));
	return is_passed;
}

/* The time with a kernel on the GPU, counted in an array of all moments. */
#define MOMENTS 20000

static bool test_overlap(void)
{
	bool is_passed = true;
	unsigned int round, i, j;

	for (round = 0; round < 200; round++) {
		struct world *world = make_world(100);
		struct tap_analysis_state *state = calloc(1, tap_breakdown_analysis.size);
		unsigned char *is_busy = calloc(1, MOMENTS);
		const struct tap_breakdown_rank *ranks;
		const struct tap_loss loss = {0};
		int64_t expected = 0;

		if (!state || !is_busy)
			abort();
		for (i = 0; i < 500; i++) {
			const int64_t begin = (int64_t) (i * 30 + draw(200));
			const int64_t end = begin + (int64_t) draw(round % 2 ? 20 : 300);
			struct tap_span span = {.state = TAP_SPAN_COMPLETE,
						.process = &world->processes[0],
						.name = &world->kernel,
						.begin_ns = begin,
						.end_ns = end};

			span.work.kind = TAP_WORK_GPU;
			span.gpu.is_nccl = true;
			for (j = (unsigned int) begin; j < (unsigned int) end; j++)
				is_busy[j] = 1;
			CHECK(!tap_breakdown_analysis.takes.span_ended(state, &span));
		}
		for (i = 0; i < MOMENTS; i++)
			expected += is_busy[i];
		CHECK(!tap_breakdown_analysis.conclude(state, &loss));
		CHECK(tap_breakdown_ranks((const struct tap_breakdown *) state, &ranks) ==
		      1);
		CHECK(ranks->kernels_ns == expected);
		tap_breakdown_analysis.free(state);
		free(state);
		free(is_busy);
		free_world(world);
	}
	return is_passed;
}

int main(void)
{
	printf("1..4\n");
	report("each operation is given once, with all its kernels", test_all);
	report("where kernels are lost, or few calls are held, none is wrong", test_loss);
	report("bandwidths are those of nccl-tests", test_bandwidth);
	report("kernels that overlap are not summed twice", test_overlap);
	return 0;
}
