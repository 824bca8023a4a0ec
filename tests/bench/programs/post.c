/* SPDX-License-Identifier: MIT */
/*
 * Events of a program that had LTTng's macros in its own source, around the post of one
 * request: post six|pair BURSTS TURNS PAUSE-US.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "post_tp.h"

#include <string.h>

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
	return bursts_print(strcmp(argv[1], "six") ? pair : six,
			    strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10),
			    strtol(argv[4], NULL, 10));
}
