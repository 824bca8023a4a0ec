/* SPDX-License-Identifier: MIT */
/*
 * What the tracer stands in the way of, in a loop: calls all-reduce|deep|dlsym BURSTS
 * TURNS PAUSE-US; deep makes the calls of all-reduce from eight frames.  The very same file runs bare and preloaded, so that both sides have the
 * same instructions at the same addresses.
 */
#include <dlfcn.h>
#include <string.h>

#include "bursts.h"
#include "../doubles/nccl.h"

static void *library;

static void all_reduce(long turns)
{
	long i;

	for (i = 0; i < turns; i++)
		ncclAllReduce(BENCH_ARGUMENTS(i));
}

/* Its own frames, all_reduce()'s, bursts_print()'s and main()'s are eight. */
__attribute__((noinline)) static void nest(long turns, int frames)
{
	if (frames)
		nest(turns, frames - 1);
	else
		all_reduce(turns);
	/* Not a jump: each frame stays. */
	__asm__ volatile("");
}

static void deep(long turns)
{
	nest(turns, 3);
}

static void look_up(long turns)
{
	long i;

	for (i = 0; i < turns; i++)
		if (!dlsym(library, "bench_unrelated"))
			abort();
}

int main(int argc, char **argv)
{
	void (*burst)(long turns) = all_reduce;

	if (argc != 5)
		return 2;
	library = dlopen("nccl.so", RTLD_NOW | RTLD_NOLOAD);
	if (!library)
		return 1;
	if (!strcmp(argv[1], "dlsym"))
		burst = look_up;
	else if (!strcmp(argv[1], "deep"))
		burst = deep;
	return bursts_print(burst, strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10),
			    strtol(argv[4], NULL, 10));
}
