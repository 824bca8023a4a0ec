/* SPDX-License-Identifier: MIT */
/*
 * Three collectives captured into a graph, which is replayed often: what CUDA calls of
 * each replay is one launch, and the kernels are of collectives that were called once.
 */
#include "ranks.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	int replays;
	size_t count;
	const char *log;
} options = {.replays = 1000, .count = 4096};

/* The buffers of a rank, and its three calls. */
struct calls {
	ncclComm_t comm;
	CUstream stream;
	CUdeviceptr send;
	CUdeviceptr sum;
	CUdeviceptr first;
	CUdeviceptr all;
};

#define CALL(name, ...) \
	do { \
		NCCL(name(__VA_ARGS__)); \
		log_line("{\"op\":\"%s\",\"count\":%zu,\"captured\":%s}", #name, \
			 options.count, is_captured ? "true" : "false"); \
	} while (0)

static void call(const struct calls *calls, bool is_captured)
{
	const size_t count = options.count;

	CALL(ncclAllReduce, (void *) (uintptr_t) calls->send,
	     (void *) (uintptr_t) calls->sum, count, ncclFloat, ncclSum, calls->comm,
	     calls->stream);
	CALL(ncclBroadcast, (void *) (uintptr_t) calls->send,
	     (void *) (uintptr_t) calls->first, count, ncclFloat, 0, calls->comm,
	     calls->stream);
	CALL(ncclAllGather, (void *) (uintptr_t) calls->send,
	     (void *) (uintptr_t) calls->all, count, ncclFloat, calls->comm,
	     calls->stream);
}

static void verify(CUdeviceptr data, float *host, size_t count, float expected,
		   const char *what)
{
	size_t i;

	CUDA(cuMemcpyDtoH(host, data, count * sizeof(float)));
	for (i = 0; i < count; i++)
		if (host[i] != expected)
			fail("%s: element %zu is %g, not %g", what, i, (double) host[i],
			     (double) expected);
}

static void run(int rank, int ranks, ncclUniqueId id)
{
	const size_t count = options.count;
	const size_t bytes = count * sizeof(float);
	struct calls calls;
	CUgraphExec exec;
	CUdevice device;
	CUgraph graph;
	float *host;
	size_t i;
	int replay;

	open_log(options.log);
	open_device(rank, &device);
	CUDA(cuStreamCreate(&calls.stream, CU_STREAM_NON_BLOCKING));
	CUDA(cuMemAlloc(&calls.send, bytes));
	CUDA(cuMemAlloc(&calls.sum, bytes));
	CUDA(cuMemAlloc(&calls.first, bytes));
	CUDA(cuMemAlloc(&calls.all, bytes * (size_t) ranks));
	host = malloc(bytes);
	if (!host)
		fail("no memory");
	for (i = 0; i < count; i++)
		host[i] = (float) (rank + 1);
	CUDA(cuMemcpyHtoD(calls.send, host, bytes));
	CUDA(cuCtxSynchronize());
	NCCL(ncclCommInitRank(&calls.comm, ranks, id, rank));

	/* Once before: what NCCL makes at the first call is not to be captured. */
	call(&calls, false);
	wait_for(calls.stream, calls.comm);
	CUDA(cuMemsetD8(calls.sum, 0xff, bytes));
	CUDA(cuMemsetD8(calls.first, 0xff, bytes));
	CUDA(cuMemsetD8(calls.all, 0xff, bytes * (size_t) ranks));
	CUDA(cuCtxSynchronize()); /* the stream does not wait for these */

	CUDA(cuStreamBeginCapture(calls.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	call(&calls, true);
	CUDA(cuStreamEndCapture(calls.stream, &graph));
	CUDA(cuGraphInstantiate(&exec, graph, 0));

	for (replay = 0; replay < options.replays; replay++) {
		CUDA(cuGraphLaunch(exec, calls.stream));
		if (replay % 16 == 15)
			wait_for(calls.stream, calls.comm);
	}
	wait_for(calls.stream, calls.comm);
	log_line("{\"launch\":\"graph\",\"times\":%d}", options.replays);
	verify(calls.sum, host, count, (float) (ranks * (ranks + 1) / 2),
	       "ncclAllReduce");
	verify(calls.first, host, count, 1, "ncclBroadcast");
	verify(calls.all + bytes * (size_t) (ranks - 1), host, count, (float) ranks,
	       "ncclAllGather");

	CUDA(cuGraphExecDestroy(exec));
	CUDA(cuGraphDestroy(graph));
	NCCL(ncclCommDestroy(calls.comm));
	free(host);
	CUDA(cuMemFree(calls.all));
	CUDA(cuMemFree(calls.first));
	CUDA(cuMemFree(calls.sum));
	CUDA(cuMemFree(calls.send));
	CUDA(cuStreamDestroy(calls.stream));
	CUDA(cuDevicePrimaryCtxRelease(device));
	printf("rank %d of %d: %d replays, values right\n", rank, ranks, options.replays);
}

static const char help[] =
	"usage: graphs [-n RANKS] [-r REPLAYS] [-c COUNT] [-l FOLDER]\n"
	"\n"
	"  -n RANKS    how many processes, one for each rank (2)\n"
	"  -r REPLAYS  how often the graph is launched (1000)\n"
	"  -c COUNT    how many floats in a buffer (4096)\n"
	"  -l FOLDER   write log.RANK there: what was called\n";

int main(int argc, char **argv)
{
	int ranks = 2;
	int option;

	gpu_program = "graphs";
	while ((option = getopt(argc, argv, "n:r:c:l:h")) != -1) {
		switch (option) {
		case 'n':
			ranks = (int) number_of(optarg, 1, 64, "number of ranks");
			break;
		case 'r':
			options.replays = (int) number_of(optarg, 1, 1000000, "number");
			break;
		case 'c':
			options.count = (size_t) number_of(optarg, 1, 1 << 28,
							   "number of floats");
			break;
		case 'l':
			options.log = optarg;
			break;
		default:
			fputs(help, option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	return run_ranks(ranks, run);
}
