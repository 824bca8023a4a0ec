/* SPDX-License-Identifier: MIT */
/*
 * Posts and polls, in a loop: verbs send|sends|write|writes|both|poll-0|poll-1|poll-16|
 * received-16 BURSTS TURNS PAUSE-US; or at a rate, for as long as something else can keep up with it or not:
 * verbs storm PER-SECOND SECONDS COMPLETIONS prints how many requests were posted, each
 * of which was followed by a poll that found one if COMPLETIONS is 1.
 */
#include <stdbool.h>
#include <string.h>

#include "bursts.h"
#include "queue.h"

static struct queue queue;

static void post(long turns)
{
	long i;

	for (i = 0; i < turns; i++)
		queue_post(&queue);
}

static void poll(long turns)
{
	long i;

	for (i = 0; i < turns; i++)
		if (queue_poll(&queue) < 0)
			abort();
}

/* Each post has a completion, which the next poll finds. */
static void post_and_poll(long turns)
{
	long i;

	queue.wr[0].send_flags = IBV_SEND_SIGNALED;
	for (i = 0; i < turns; i++) {
		queue_post(&queue);
		if (queue_poll(&queue) < 0)
			abort();
	}
}

/* In steps so small that no buffer fills in one. */
#define STEP 64

static int storm(double per_second, double seconds, int completions)
{
	const double begin = bursts_now_ns();
	long posted = 0;
	int i;

	queue_make(&queue, IBV_WR_RDMA_WRITE, 1, 1);
	while ((double) posted < per_second * seconds) {
		for (i = 0; i < STEP; i++) {
			queue_post(&queue);
			if (completions)
				queue_poll(&queue);
		}
		posted += STEP;
		while (bursts_now_ns() < begin + (double) posted / per_second * 1e9)
			;
	}
	printf("%ld %.3f\n", posted, (bursts_now_ns() - begin) / 1e9);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*burst)(long turns);
		enum ibv_wr_opcode opcode;
		int count, found;
		bool receives; /* polls find completions of receives with a number */
	} kinds[] = {
		{"send", post, IBV_WR_SEND, 1, 0, false},
		{"sends", post, IBV_WR_SEND, QUEUE_LIST, 0, false},
		{"write", post, IBV_WR_RDMA_WRITE, 1, 0, false},
		{"writes", post, IBV_WR_RDMA_WRITE, QUEUE_LIST, 0, false},
		{"both", post_and_poll, IBV_WR_RDMA_WRITE, 1, 1, false},
		{"poll-0", poll, IBV_WR_SEND, 1, 0, false},
		{"poll-1", poll, IBV_WR_SEND, 1, 1, false},
		{"poll-16", poll, IBV_WR_SEND, 1, QUEUE_LIST, false},
		{"received-16", poll, IBV_WR_SEND, 1, QUEUE_LIST, true},
	};
	size_t i;

	if (argc != 5)
		return 2;
	if (!strcmp(argv[1], "storm"))
		return storm(strtod(argv[2], NULL), strtod(argv[3], NULL), atoi(argv[4]));
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(argv[1], kinds[i].name))
			continue;
		queue_make(&queue, kinds[i].opcode, kinds[i].count, kinds[i].found);
		if (kinds[i].receives)
			queue_receives(&queue);
		return bursts_print(kinds[i].burst, strtol(argv[2], NULL, 10),
				    strtol(argv[3], NULL, 10), strtol(argv[4], NULL, 10));
	}
	return 2;
}
