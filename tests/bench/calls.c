/* SPDX-License-Identifier: MIT */
/*
 * What the tracer stands in the way of, in a loop: calls all-reduce|dlsym BURSTS TURNS
 * PAUSE-US.  The very same file runs bare and preloaded, so that both sides have the
 * same instructions at the same addresses.
 */
#include <dlfcn.h>
#include <string.h>

#include "bursts.h"
#include "fake.h"

static void *library;

static void all_reduce(long turns)
{
	long i;

	for (i = 0; i < turns; i++)
		ncclAllReduce(BENCH_ARGUMENTS(i));
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
	if (argc != 5)
		return 2;
	library = dlopen("fake.so", RTLD_NOW | RTLD_NOLOAD);
	if (!library)
		return 1;
	return bursts_print(strcmp(argv[1], "dlsym") ? all_reduce : look_up,
			    strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10),
			    strtol(argv[4], NULL, 10));
}
