/* SPDX-License-Identifier: MIT */
/*
 * Events of a program that had LTTng's macros in its own source, around a launch:
 * launched timed|pair BURSTS TURNS PAUSE-US.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "launched_tp.h"

#include <string.h>
#include <time.h>

#include "bursts.h"
#include "../doubles/cuda.h"

/* Who wants to know when the call began reads the clock once more. */
static void timed(long turns)
{
	struct timespec begin;
	long i;

	for (i = 0; i < turns; i++) {
		clock_gettime(CLOCK_MONOTONIC, &begin);
		LAUNCH();
		lttng_ust_tracepoint(ccltap_bench_launch, six,
				     (uint64_t) begin.tv_sec * 1000000000 +
					     (uint64_t) begin.tv_nsec,
				     2, 3, 4, 5, 6);
	}
}

static void pair(long turns)
{
	const struct bench_launch launch = {0x5000,	0x6000,	     0,	   0,
					    {24, 1, 1}, {512, 1, 1}, 82240};
	long i;

	for (i = 0; i < turns; i++) {
		lttng_ust_tracepoint(ccltap_bench_launch, entry, (uint64_t) i, &launch);
		LAUNCH();
		lttng_ust_tracepoint(ccltap_bench_launch, exit, (uint64_t) i, 0);
	}
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	return bursts_print(strcmp(argv[1], "timed") ? pair : timed,
			    strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10),
			    strtol(argv[4], NULL, 10));
}
