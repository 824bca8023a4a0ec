/* SPDX-License-Identifier: MIT */
/*
 * Whether a rank is late, against what made-up ranks really did.  They sum up again and
 * again, each after a random time; in some runs one of them is late always, since some
 * moment, each so many sums, or once.  Thousands of healthy runs must have no finding
 * above a note.
 */
#include "join/findings/analysis.h"
#include "join/findings/collective.h"
#include "join/findings/findings.h"
#include "join/findings/lateness.h"
#include "join/join.h"
#include "join/views/view.h"
#include "unit/draw.h"
#include "unit/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX 16
#define COMMS 2
#define MS 1000000

enum jitter { UNIFORM, EXPONENTIAL, HEAVY, JITTERS };

/* What is to happen in one communicator. */
struct plan {
	unsigned int ranks, sums;
	enum jitter jitter;
	int64_t jitter_ns, work_ns, transfer_ns;
	/* How often a rank at random pauses, of 1000 sums, and how long at most. */
	unsigned int pauses;
	int64_t pause_ns;
	/* Who is late by how much, -1 nobody: from a sum on, each so many, up to another.
	 */
	int late;
	int64_t late_ns;
	unsigned int from, every, until;
	bool has_kernels;
};

struct world {
	struct tap_join *join;
	struct tap_view view;
	struct tap_findings *findings;
	struct tap_analysis_state *state;
	struct tap_process processes[RANKS_MAX];
	struct tap_trace trace;
	struct tap_comm comms[COMMS];
	struct tap_name name;
	char words[3][16];
	bool is_right;
};

static const struct tap_consumer nobody = {0};

static struct world *make_world(void)
{
	struct world *world = calloc(1, sizeof(*world));
	const struct tap_bounds bounds = {100, 1000};
	unsigned int i;

	if (!world)
		abort();
	world->is_right = true;
	world->join = tap_join_create(&nobody, NULL, &bounds);
	world->view.context = tap_join_context(world->join);
	world->findings = tap_findings_create(&world->view);
	world->state = calloc(1, tap_late_analysis.size);
	if (!world->state || !world->findings)
		abort();
	world->state->findings = world->findings;
	world->name.layer = strcpy(world->words[0], "nccl");
	world->name.name = strcpy(world->words[1], "ncclAllReduce");
	world->name.operation = &world->name;
	world->trace.host = strcpy(world->words[2], "alpha");
	for (i = 0; i < RANKS_MAX; i++) {
		world->processes[i].number = i;
		world->processes[i].trace = &world->trace;
		world->processes[i].host = "alpha";
		world->processes[i].rank = i;
	}
	for (i = 0; i < COMMS; i++) {
		world->comms[i].number = i;
		world->comms[i].key = 0x77 + i;
	}
	return world;
}

static void free_world(struct world *world)
{
	tap_late_analysis.free(world->state);
	free(world->state);
	tap_findings_destroy(world->findings);
	tap_join_destroy(world->join);
	free(world);
}

/* Above 0, up to 1. */
static double draw_real(void)
{
	return ((double) draw(1u << 30) + 1) / (1u << 30);
}

static int64_t draw_jitter(const struct plan *plan)
{
	const double x = draw_real();

	switch (plan->jitter) {
	case UNIFORM:
		return (int64_t) (x * (double) plan->jitter_ns);
	case EXPONENTIAL:
		return (int64_t) (-log(x) * (double) plan->jitter_ns);
	default:
		/* Mostly short, at times very long, as what a busy machine makes of a
		 * sleep. */
		return (int64_t) fmin((pow(x, -0.7) - 1) * (double) plan->jitter_ns,
				      190.0 * MS);
	}
}

static bool is_late(const struct plan *plan, unsigned int rank, unsigned int sum)
{
	return (int) rank == plan->late && sum >= plan->from && sum < plan->until &&
	       !((sum - plan->from) % plan->every);
}

/* One sum, which all ranks begin when the one before is over; returns its end. */
static int64_t sum_up(struct world *world, const struct plan *plan, unsigned int comm,
		      unsigned int sum, int64_t now_ns)
{
	struct tap_arrival arrivals[RANKS_MAX];
	struct tap_collective collective = {.comm = &world->comms[comm],
					    .name = &world->name,
					    .number = sum + 1,
					    .nranks = plan->ranks,
					    .is_complete = true,
					    .bytes = 1024,
					    .has_kernels = plan->has_kernels,
					    .arrivals = arrivals,
					    .count = plan->ranks,
					    .is_timed = true};
	const unsigned int pausing =
		draw(1000) < plan->pauses ? draw(plan->ranks) : RANKS_MAX;
	unsigned int i;
	int64_t end_ns;

	for (i = 0; i < plan->ranks; i++) {
		int64_t start_ns = now_ns + plan->work_ns + draw_jitter(plan);

		if (i == pausing)
			start_ns += (int64_t) (draw_real() * (double) plan->pause_ns);
		if (is_late(plan, i, sum))
			start_ns += plan->late_ns;
		arrivals[i] =
			(struct tap_arrival){.end = {.process = &world->processes[i],
						     .name = &world->name,
						     .rank = i},
					     .gap_ns = start_ns - now_ns,
					     .launch_begin_ns = start_ns,
					     .launch_end_ns = start_ns,
					     .kernel_begin_ns = start_ns,
					     .start_ns = start_ns,
					     .is_comparable = true};
		arrivals[i].end.facts.begin_ns = start_ns;
		if (start_ns < arrivals[collective.first].start_ns)
			collective.first = i;
		if (start_ns >= arrivals[collective.last].start_ns)
			collective.last = i;
	}
	end_ns = arrivals[collective.last].start_ns + plan->transfer_ns;
	collective.end_ns = plan->has_kernels ? end_ns : -1;
	if (tap_late_analysis.collective(world->state, &collective))
		world->is_right = false;
	return end_ns;
}

static void run(struct world *world, const struct plan *plan, unsigned int comm)
{
	int64_t now_ns = 1000000000;
	unsigned int i;

	for (i = 0; i < plan->sums; i++)
		now_ns = sum_up(world, plan, comm, i, now_ns);
}

static void conclude(struct world *world)
{
	const struct tap_loss loss = {0};

	if (tap_late_analysis.conclude(world->state, &loss) ||
	    tap_findings_conclude(world->findings, &loss))
		world->is_right = false;
}

/* Ranks that are well. */
static struct plan draw_plan(void)
{
	static const unsigned int ranks[] = {2, 3, 4, 8, 16};
	static const int64_t jitters[] = {20000, 500000, 5 * MS, 40 * MS};
	static const int64_t works[] = {0, MS, 20 * MS, 200 * MS};

	return (struct plan){.ranks = ranks[draw(5)],
			     .sums = 5 + draw(draw(3) ? 60 : 900),
			     .jitter = (enum jitter) draw(JITTERS),
			     .jitter_ns = jitters[draw(4)],
			     .work_ns = works[draw(4)],
			     .transfer_ns = draw(5 * MS),
			     .pauses = draw(3) ? 0 : draw(50),
			     .pause_ns = 100 * MS,
			     .late = -1,
			     .every = 1,
			     .until = UINT32_MAX,
			     .has_kernels = draw(2)};
}

static bool is_finding_above_note(const struct world *world)
{
	return tap_findings_verdict(world->findings) == TAP_VERDICT_FOUND;
}

static bool test_healthy(void)
{
	bool is_passed = true;
	unsigned int i, wrong = 0;

	for (i = 0; i < 6000; i++) {
		struct plan plan = draw_plan(), other = draw_plan();
		struct world *world = make_world();

		/* A single long pause is a finding, and rightly. */
		run(world, &plan, 0);
		if (draw(2))
			run(world, &other, 1);
		conclude(world);
		CHECK(world->is_right);
		if (is_finding_above_note(world)) {
			const struct tap_finding *finding =
				tap_findings_at(world->findings, 0);

			wrong++;
			printf("# run %u: %u ranks, %u sums, jitter %d of %ld, work %ld: %.*s\n",
			       i, plan.ranks, plan.sums, (int) plan.jitter,
			       (long) plan.jitter_ns, (long) plan.work_ns,
			       (int) finding->headline.used, finding->headline.data);
		}
		free_world(world);
	}
	CHECK(!wrong);
	return is_passed;
}

static void describe(const struct world *world, const struct plan *plan)
{
	const struct tap_buffer *text = &tap_findings_at(world->findings, 0)->headline;

	printf("# %u ranks, %u sums, jitter %d of %ld, from %u, each %u, late %d by %ld: "
	       "%.*s\n",
	       plan->ranks, plan->sums, (int) plan->jitter, (long) plan->jitter_ns,
	       plan->from, plan->every, plan->late, (long) plan->late_ns,
	       (int) text->used, text->data);
}

/* What must be found: the rank, what it lost, and when. */
static bool check_found(const struct world *world, const struct plan *plan, double within)
{
	const struct tap_finding *finding = tap_findings_at(world->findings, 0);
	const struct tap_evidence *lateness = finding->evidence.items;
	bool is_passed = true;
	double wrong;

	CHECK(finding->kind == TAP_FINDING_LATE &&
	      finding->severity == TAP_SEVERITY_WARNING);
	if (!is_passed)
		return false;
	CHECK(finding->ranks.count == 1 && finding->ranks.items[0] == plan->late);
	CHECK(finding->waiting.count == plan->ranks - 1);
	CHECK(finding->evidence.count > 4 && !strcmp(lateness->name, "lateness_ns"));
	CHECK(lateness->known ==
		      (plan->has_kernels ? TAP_KNOWN_EXACT : TAP_KNOWN_INFERRED) ||
	      plan->sums > 256);
	wrong = (double) (lateness->value - plan->late_ns) / (double) plan->late_ns;
	CHECK(wrong > -within && wrong < within);
	return is_passed;
}

/* A rank that is late, by much more than the ranks differ anyway. */
static struct plan draw_late_plan(void)
{
	struct plan plan = draw_plan();

	if (plan.ranks == 3)
		plan.ranks = 4;
	plan.sums = 12 + draw(100);
	plan.late = (int) draw(plan.ranks);
	plan.late_ns = (20 + draw(300)) * MS;
	plan.jitter_ns = plan.late_ns / 200;
	plan.jitter = (enum jitter) draw(2);
	plan.work_ns = draw(20 * MS);
	plan.pauses = 0;
	return plan;
}

/* The headline of the first finding has these words. */
static bool says(const struct world *world, const char *words)
{
	const struct tap_buffer *text = &tap_findings_at(world->findings, 0)->headline;

	return memmem(text->data, text->used, words, strlen(words));
}

static bool test_kind(void (*change)(struct plan *plan), const char *words)
{
	bool is_passed = true;
	unsigned int i;

	for (i = 0; i < 500 && is_passed; i++) {
		struct plan plan = draw_late_plan(), other = draw_plan();
		struct world *world = make_world();

		change(&plan);
		run(world, &plan, i % 2);
		/* The other communicator is well. */
		if (draw(2))
			run(world, &other, (i + 1) % 2);
		conclude(world);
		CHECK(world->is_right);
		is_passed &= check_found(world, &plan, 0.05);
		CHECK(says(world, words));
		if (!is_passed)
			describe(world, &plan);
		free_world(world);
	}
	return is_passed;
}

static void make_always(struct plan *plan)
{
	plan->from = draw(2);
}

static bool test_always(void)
{
	return test_kind(make_always, " is late: last to start ");
}

static void make_since(struct plan *plan)
{
	plan->sums += 30;
	plan->from = plan->sums / 2;
	plan->late_ns *= 2;
}

static bool test_since(void)
{
	return test_kind(make_since, " is late since ");
}

static void make_until(struct plan *plan)
{
	plan->sums += 30;
	plan->until = plan->sums / 2;
	plan->late_ns *= 2;
}

static bool test_until(void)
{
	return test_kind(make_until, " is late until ");
}

static void make_periodic(struct plan *plan)
{
	/* Of two ranks it takes eight. */
	plan->sums += 90 + (draw(4) ? 0 : 3000);
	plan->every = 2 + draw(9);
	plan->from = draw(10);
	plan->late_ns *= 5;
}

static bool test_periodic(void)
{
	return test_kind(make_periodic, " is late to every ");
}

static void make_once(struct plan *plan)
{
	plan->from = 1 + draw(plan->sums - 1);
	plan->every = UINT32_MAX;
	plan->work_ns = 10 * MS;
	plan->late_ns = 1500 * (int64_t) MS + draw(MS);
}

static bool test_once(void)
{
	return test_kind(make_once, " was late once: ");
}

/* The first sum of all waits for whatever each rank sets up. */
static bool test_first(void)
{
	struct plan plan = {.ranks = 4,
			    .sums = 20,
			    .jitter_ns = MS,
			    .late = 2,
			    .late_ns = 2000 * (int64_t) MS,
			    .every = UINT32_MAX,
			    .until = UINT32_MAX,
			    .has_kernels = true};
	struct world *world = make_world();
	bool is_passed = true;

	run(world, &plan, 0);
	conclude(world);
	CHECK(!is_finding_above_note(world));
	free_world(world);
	return is_passed;
}

/* An argument is another beginning of the numbers by chance. */
int main(int argc, char **argv)
{
	if (argc > 1)
		draw_state ^= strtoull(argv[1], NULL, 0) * UINT64_C(0x9e3779b97f4a7c15);
	printf("1..7\n");
	report("ranks that are well have no finding above a note", test_healthy);
	report("a rank that is always late is found", test_always);
	report("one that is late since some moment", test_since);
	report("one that was late until some moment", test_until);
	report("one that is late each so many sums", test_periodic);
	report("one that was late once", test_once);
	report("to be late to the first sum of all is no finding", test_first);
	return 0;
}
