/* SPDX-License-Identifier: MIT */
/*
 * Each bound relates a run to the next one, or to a number: so one pass from the first
 * run to the last, and one back, find all that follows.
 */
#include "join/nccl/net_run.h"

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static void raise_to(uint64_t *bound, uint64_t value)
{
	if (*bound < value)
		*bound = value;
}

static void lower_to(uint64_t *bound, uint64_t value)
{
	if (*bound > value)
		*bound = value;
}

/* Messages that are certainly of an earlier run, or certainly not. */
static void take_messages(struct tap_net_run *runs, size_t run_count,
			  const struct tap_net_run_message *messages,
			  size_t message_count)
{
	size_t run, earlier = 0, later = 0;

	for (run = 0; run < run_count; run++) {
		while (earlier < message_count &&
		       messages[earlier].end <= runs[run].first)
			earlier++;
		while (later < message_count && messages[later].begin < runs[run].first)
			later++;
		if (earlier)
			raise_to(&runs[run].begin_least,
				 messages[earlier - 1].number +
					 messages[earlier - 1].more + 1);
		if (later < message_count)
			lower_to(&runs[run].begin_most, messages[later].number);
	}
}

bool tap_net_runs_solve(struct tap_net_run *runs, size_t run_count,
			const struct tap_net_run_message *messages, size_t message_count)
{
	struct tap_net_run *run;
	size_t i;

	take_messages(runs, run_count, messages, message_count);
	for (i = 1; i < run_count; i++) {
		run = &runs[i];
		raise_to(&run->begin_least, add(run[-1].begin_least, run[-1].least));
		lower_to(&run->begin_most, add(run[-1].begin_most, run[-1].most));
	}
	for (i = run_count; i-- > 1;) {
		run = &runs[i - 1];
		if (run->most < run[1].begin_least)
			raise_to(&run->begin_least, run[1].begin_least - run->most);
		if (run[1].begin_most < run->least)
			return false;
		if (run[1].begin_most != TAP_RUN_UNKNOWN)
			lower_to(&run->begin_most, run[1].begin_most - run->least);
	}
	for (i = 0; i < run_count; i++)
		if (runs[i].begin_least > runs[i].begin_most)
			return false;
	return true;
}
