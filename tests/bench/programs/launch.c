/* SPDX-License-Identifier: MIT */
/* Launches, or waits through a runtime: launch driver|runtime BURSTS TURNS PAUSE-US. */
#include "../doubles/cuda.h"

#include <string.h>

#include "bursts.h"

static void driver(long turns)
{
	long i;

	for (i = 0; i < turns; i++)
		LAUNCH();
}

static void runtime(long turns)
{
	long i;

	for (i = 0; i < turns; i++)
		cudaStreamSynchronize(LAUNCH_STREAM);
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	return bursts_print(strcmp(argv[1], "runtime") ? driver : runtime,
			    strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10),
			    strtol(argv[4], NULL, 10));
}
