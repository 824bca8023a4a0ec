/* SPDX-License-Identifier: MIT */
/*
 * Launches, of which CUPTI tells; or has CUPTI hand over records of kernels: told
 * driver|records BURSTS TURNS PAUSE-US.
 */
#include "../doubles/cuda.h"

#include <string.h>

#include "bursts.h"

static void driver(long turns)
{
	long i;

	for (i = 0; i < turns; i++)
		LAUNCH();
}

static void records(long turns)
{
	if (bench_cupti_kernels(turns))
		exit(1);
}

int main(int argc, char **argv)
{
	if (argc != 5 || cuInit(0))
		return 2;
	return bursts_print(strcmp(argv[1], "records") ? driver : records,
			    strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10),
			    strtol(argv[4], NULL, 10));
}
