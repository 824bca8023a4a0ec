/* SPDX-License-Identifier: MIT */
/*
 * Three collectives of two ranks, captured once and repeated: replay TIMES.  It prints
 * what the last of them left.
 */
#include "program.h"

#include <cuda.h>
#include <nccl.h>

enum { RANKS = 2, COUNT = 4 };

static CUcontext contexts[RANKS];
static CUstream streams[RANKS];
static ncclComm_t comms[RANKS];
static CUdeviceptr sums[RANKS];
static CUdeviceptr ones[RANKS];
static CUgraphExec execs[RANKS];
static CUgraph graphs[RANKS];

static void *place(CUdeviceptr address)
{
	return (void *) (uintptr_t) address;
}

static void start(void)
{
	int32_t one[COUNT] = {1, 1, 1, 1};
	int devices[RANKS] = {0, 1};
	int rank;

	must(cuInit(0));
	for (rank = 0; rank < RANKS; rank++) {
		must(cuDevicePrimaryCtxRetain(&contexts[rank], rank));
		must(cuCtxSetCurrent(contexts[rank]));
		must(cuStreamCreate(&streams[rank], CU_STREAM_NON_BLOCKING));
		must(cuMemAlloc(&ones[rank], sizeof(one)));
		must(cuMemAlloc(&sums[rank], sizeof(one)));
		must(cuMemcpyHtoD(ones[rank], one, sizeof(one)));
	}
	must(ncclCommInitAll(comms, RANKS, devices));
}

/* Each by a call of its own, so that a kernel is told by the call that it was captured
 * in. */
static void collectives(int rank)
{
	must(ncclAllReduce(place(ones[rank]), place(sums[rank]), COUNT, ncclInt32,
			   ncclSum, comms[rank], streams[rank]));
	must(ncclBroadcast(place(sums[rank]), place(sums[rank]), COUNT, ncclInt32, 0,
			   comms[rank], streams[rank]));
	must(ncclReduce(place(sums[rank]), place(sums[rank]), COUNT, ncclInt32, ncclSum,
			1, comms[rank], streams[rank]));
}

int main(int argc, char **argv)
{
	int times = argc == 2 ? atoi(argv[1]) : 1;
	int32_t result[COUNT] = {0};
	int rank;
	int i;

	start();
	/* Ranks are connected when they are first used, all in one group. */
	must(ncclGroupStart());
	for (rank = 0; rank < RANKS; rank++)
		collectives(rank);
	must(ncclGroupEnd());
	for (rank = 0; rank < RANKS; rank++)
		must(cuStreamBeginCapture(streams[rank], CU_STREAM_CAPTURE_MODE_RELAXED));
	for (rank = 0; rank < RANKS; rank++) {
		collectives(rank);
		must(cuStreamEndCapture(streams[rank], &graphs[rank]));
		must(cuGraphInstantiate(&execs[rank], graphs[rank], 0));
	}
	for (i = 0; i < times; i++) {
		for (rank = 0; rank < RANKS; rank++)
			must(cuGraphLaunch(execs[rank], streams[rank]));
	}
	for (rank = 0; rank < RANKS; rank++) {
		must(cuStreamSynchronize(streams[rank]));
		must(cuCtxSetCurrent(contexts[rank]));
		must(cuMemcpyDtoH(result, sums[rank], sizeof(result)));
		printf("rank %d: %d\n", rank, result[COUNT - 1]);
		must(cuGraphExecDestroy(execs[rank]));
		must(cuGraphDestroy(graphs[rank]));
	}
	for (rank = 0; rank < RANKS; rank++)
		must(ncclCommDestroy(comms[rank]));
	return 0;
}
