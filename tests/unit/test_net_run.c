/* SPDX-License-Identifier: MIT */
/* Messages of a connection are divided into runs, and never wrongly. */
#include "join/nccl/net_run.h"
#include "unit/draw.h"
#include "unit/tap.h"

#include <string.h>

#define RUNS 40
#define MESSAGES 400

static struct tap_net_run runs[RUNS + 1];
static struct tap_net_run_message messages[MESSAGES];
static uint64_t begins[RUNS + 1];

/* Runs of operations 1, 2, ... with as many messages as are known, or not (-1). */
static void make(const int *counts, size_t count)
{
	size_t i;

	memset(runs, 0, sizeof(runs));
	for (i = 0; i <= count; i++) {
		runs[i].first = i + 1;
		runs[i].least = i < count && counts[i] >= 0 ? (uint64_t) counts[i] : 0;
		runs[i].most = i < count && counts[i] >= 0 ? (uint64_t) counts[i]
							   : TAP_RUN_UNKNOWN;
		runs[i].begin_least = 1;
		runs[i].begin_most = TAP_RUN_UNKNOWN;
	}
}

/* A message that may be of these operations. */
static struct tap_net_run_message may_be(uint64_t number, uint64_t first, uint64_t last)
{
	return (struct tap_net_run_message){number, first, last + 1, 0};
}

static bool begins_at(size_t run, uint64_t number)
{
	return runs[run].begin_least == number && runs[run].begin_most == number;
}

static bool by_times(void)
{
	bool is_passed = true;

	make((int[]){-1, -1}, 2);
	messages[0] = may_be(1, 1, 1);
	messages[1] = may_be(2, 1, 2);
	messages[2] = may_be(3, 2, 2);
	CHECK(tap_net_runs_solve(runs, 2, messages, 3));
	CHECK(begins_at(0, 1));
	CHECK(runs[1].begin_least == 2 && runs[1].begin_most == 3);
	return is_passed;
}

static bool by_counts(void)
{
	bool is_passed = true;

	make((int[]){2, 3, 1}, 3);
	messages[0] = may_be(1, 1, 3);
	messages[1] = may_be(2, 1, 3);
	messages[2] = may_be(3, 1, 3);
	CHECK(tap_net_runs_solve(runs, 4, messages, 3));
	CHECK(begins_at(0, 1) && begins_at(1, 3) && begins_at(2, 6) && begins_at(3, 7));
	return is_passed;
}

static bool backwards(void)
{
	bool is_passed = true;

	/* The first is of before, of unknown length; the third's first message is known.
	 */
	make((int[]){-1, 3, 1}, 3);
	messages[0] = may_be(20, 1, 3);
	messages[1] = may_be(21, 1, 3);
	messages[2] = may_be(22, 3, 3);
	messages[3] = may_be(23, 4, 4);
	CHECK(tap_net_runs_solve(runs, 4, messages, 4));
	CHECK(begins_at(2, 22) && begins_at(1, 19) && begins_at(3, 23));
	return is_passed;
}

static bool gap(void)
{
	bool is_passed = true;

	/* 2 and 3 are not there. */
	make((int[]){2, 2}, 2);
	messages[0] = may_be(1, 1, 1);
	messages[1] = may_be(4, 1, 3);
	CHECK(tap_net_runs_solve(runs, 3, messages, 2));
	CHECK(begins_at(1, 3) && begins_at(2, 5));
	return is_passed;
}

static bool none(void)
{
	bool is_passed = true;

	make((int[]){0, 2}, 2);
	messages[0] = may_be(1, 1, 2);
	CHECK(tap_net_runs_solve(runs, 3, messages, 1));
	CHECK(begins_at(0, 1) && begins_at(1, 1) && begins_at(2, 3));
	return is_passed;
}

static bool contradiction(void)
{
	bool is_passed = true;

	make((int[]){2, 2}, 2);
	messages[0] = may_be(1, 1, 1);
	messages[1] = may_be(2, 2, 2);
	messages[2] = may_be(3, 2, 2);
	CHECK(!tap_net_runs_solve(runs, 3, messages, 3));
	return is_passed;
}

/* Runs by chance, of which little is told: what is said is true, and all that follows. */
static bool chance(void)
{
	int counts[RUNS];
	bool is_passed = true;
	unsigned int round;

	for (round = 0; round < 2000; round++) {
		uint64_t number = 1, begin[MESSAGES + 1], end[MESSAGES + 1];
		size_t i, at, count = 0;

		for (i = 0; i < RUNS; i++) {
			const uint64_t length = draw(6);

			begins[i] = number;
			counts[i] = draw(3) ? (int) length : -1;
			for (at = 0; at < length; at++, number++) {
				begin[number] = i + 1 - draw(i + 1 < 3 ? i + 1 : 3);
				end[number] = i + 2 + draw(3);
			}
		}
		begins[RUNS] = number;
		make(counts, RUNS);
		for (at = 1; at < number; at++) {
			if (at > 1 && begin[at] < begin[at - 1])
				begin[at] = begin[at - 1];
		}
		for (at = number - 1; at > 1; at--)
			if (end[at - 1] > end[at])
				end[at - 1] = end[at];
		for (at = 1; at < number; at++)
			if (draw(10))
				messages[count++] =
					(struct tap_net_run_message){at, begin[at],
								     end[at], 0};
		CHECK(tap_net_runs_solve(runs, RUNS + 1, messages, count));
		for (i = 0; i <= RUNS; i++)
			CHECK(runs[i].begin_least <= begins[i] &&
			      begins[i] <= runs[i].begin_most);
		for (i = 0; i < RUNS; i++)
			CHECK(counts[i] < 0 || runs[i].begin_most == TAP_RUN_UNKNOWN ||
			      (runs[i + 1].begin_least >=
				       runs[i].begin_least + (uint64_t) counts[i] &&
			       runs[i + 1].begin_most <=
				       runs[i].begin_most + (uint64_t) counts[i]));
	}
	return is_passed;
}

int main(void)
{
	printf("1..7\n");
	report("times alone bound where a run begins", by_times);
	report("known lengths say where runs begin that times do not", by_counts);
	report("a later run says where earlier ones began", backwards);
	report("messages that are missing do no harm", gap);
	report("a run without messages has none", none);
	report("lengths that times contradict are refused", contradiction);
	report("of runs by chance, all bounds are true", chance);
	return 0;
}
