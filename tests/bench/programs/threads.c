/* SPDX-License-Identifier: MIT */
/*
 * Threads that do nothing, of the program's own or with a routine of a NCCL's: threads
 * create|live own|nccl BURSTS TURNS prints the ns that a thread takes of its creator, in
 * pthread_create(), or in all, until it is joined; the least of all bursts.  On one
 * processor the new thread runs when its creator waits for it.  One call of NCCL comes
 * first, so that LTTng has started.
 */
#include <pthread.h>
#include <string.h>

#include "../doubles/nccl.h"
#include "../doubles/threads.h"
#include "bursts.h"

static void *run_own(void *argument)
{
	return argument;
}

static double make(void *(*routine)(void *), int lives)
{
	static long argument[2];
	const double begin = bursts_now_ns();
	pthread_t thread;
	double created;

	if (pthread_create(&thread, NULL, routine, argument))
		abort();
	created = bursts_now_ns();
	if (pthread_join(thread, NULL))
		abort();
	return (lives ? bursts_now_ns() : created) - begin;
}

int main(int argc, char **argv)
{
	long i, j, bursts, turns;
	double took, least = 0;

	if (argc != 5)
		return 2;
	ncclAllReduce(BENCH_ARGUMENTS(0));
	bursts = strtol(argv[3], NULL, 10);
	turns = strtol(argv[4], NULL, 10);
	if (bursts <= 0 || turns <= 0)
		return 2;
	for (i = 0; i <= bursts; i++) {
		for (took = 0, j = 0; j < turns; j++)
			took += make(strcmp(argv[2], "own") ? bench_idle : run_own,
				     !strcmp(argv[1], "live"));
		if (i == 1 || (i && took < least))
			least = took;
	}
	printf("%.4f\n", least / (double) turns);
	return 0;
}
