/* SPDX-License-Identifier: MIT */
/*
 * Events of a program that had LTTng's macros in its own source, around the post of one
 * request: post six|timed|pair BURSTS TURNS PAUSE-US.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "post_tp.h"

#include <string.h>
#include <time.h>

#include "bursts.h"
#include "queue.h"

static struct queue queue;

static void six(long turns)
{
	long i;

	for (i = 0; i < turns; i++) {
		queue_post(&queue);
		lttng_ust_tracepoint(ccltap_bench_post, six, (uint64_t) i, 2, 3, 4, 5, 6);
	}
}

/* Who wants to know when the call began reads the clock once more. */
static void timed(long turns)
{
	struct timespec begin;
	long i;

	for (i = 0; i < turns; i++) {
		clock_gettime(CLOCK_MONOTONIC, &begin);
		queue_post(&queue);
		lttng_ust_tracepoint(ccltap_bench_post, six,
				     (uint64_t) begin.tv_sec * 1000000000 +
					     (uint64_t) begin.tv_nsec,
				     2, 3, 4, 5, 6);
	}
}

static void pair(long turns)
{
	long i;

	for (i = 0; i < turns; i++) {
		lttng_ust_tracepoint(ccltap_bench_post, entry, 1, (uint32_t) i, queue.wr);
		queue_post(&queue);
		lttng_ust_tracepoint(ccltap_bench_post, exit, 1, (uint32_t) i, 0);
	}
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	queue_make(&queue, IBV_WR_RDMA_WRITE, 1, 0);
	return bursts_print(!strcmp(argv[1], "six")     ? six
			    : !strcmp(argv[1], "timed") ? timed
							: pair,
			    strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10),
			    strtol(argv[4], NULL, 10));
}
