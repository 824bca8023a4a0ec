/* SPDX-License-Identifier: MIT */
/*
 * Makes communicators, each of one rank, and then calls as fast as it can.
 *
 * usage: storm COMMUNICATORS SECONDS; prints how many calls it made.
 */
#include <cuda.h>
#include <nccl.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

int main(int argc, char **argv)
{
	long calls = 0;
	CUcontext context;
	time_t end;
	int i, version;

	if (argc != 3 || cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) ||
	    cuCtxSetCurrent(context))
		return 1;
	for (i = 0; i < atoi(argv[1]); i++) {
		ncclUniqueId id;
		ncclComm_t comm;

		if (ncclGetUniqueId(&id) || ncclCommInitRank(&comm, 1, id, 0))
			return 2;
	}
	puts("ready");
	fflush(stdout);
	for (end = now() + atoi(argv[2]); now() < end;)
		for (i = 0; i < 1000; i++, calls++)
			ncclGetVersion(&version);
	printf("%ld\n", calls);
	return 0;
}
