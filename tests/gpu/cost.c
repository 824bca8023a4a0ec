/* SPDX-License-Identifier: MIT */
/*
 * How long launches and all-reduces take, for the comparison of runs with and without a
 * tracer: the medians of this run, a line each.  A collective is timed from the call to
 * the end of its stream, alone; a launch as one of a burst that the GPU's queue has room
 * for.  With -c a bare client of CUPTI is in the process (bare_cupti.h).
 */
#include "bare_cupti.h"
#include "ranks.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST 8192
#define BURST 200
#define MOST_TIMES 10000

static struct {
	long most_bytes;
	int times;
	const char *cupti;
} options = {.most_bytes = 64 << 20, .times = 200};

static int64_t times[MOST_TIMES];

static int compare(const void *a, const void *b)
{
	const int64_t left = *(const int64_t *) a, right = *(const int64_t *) b;

	return (left > right) - (left < right);
}

/* What the sorted times say; of rank 0 alone, as all wait for each other. */
static void tell(const char *what, long bytes, int count, double divisor)
{
	qsort(times, (size_t) count, sizeof(times[0]), compare);
	if (gpu_rank)
		return;
	printf("{\"what\":\"%s\",\"bytes\":%ld,\"count\":%d,\"median_ns\":%.1f,"
	       "\"p10_ns\":%.1f,\"p90_ns\":%.1f}\n",
	       what, bytes, count, (double) times[count / 2] / divisor,
	       (double) times[count / 10] / divisor,
	       (double) times[count * 9 / 10] / divisor);
}

static void time_launches(CUstream stream)
{
	struct kernels kernels;
	const int bursts = options.times;
	CUdeviceptr data;
	int64_t begin;
	int i, j;

	load_kernels(&kernels);
	CUDA(cuMemAlloc(&data, sizeof(float)));
	CUDA(cuMemsetD8(data, 0, sizeof(float)));
	CUDA(cuCtxSynchronize());
	for (i = -3; i < bursts; i++) {
		begin = now_ns();
		for (j = 0; j < BURST; j++)
			check_cuda(launch_add(&kernels, data, 1, 1, stream),
				   "launch_add");
		if (i >= 0)
			times[i] = now_ns() - begin;
		CUDA(cuStreamSynchronize(stream));
	}
	CUDA(cuMemFree(data));
	tell("launch", 0, bursts, BURST);
}

/* Four times as much each time, and the largest in any case. */
static long next_size(long bytes)
{
	return bytes < options.most_bytes && bytes * 4 > options.most_bytes
		       ? options.most_bytes
		       : bytes * 4;
}

static void time_collectives(ncclComm_t comm, CUstream stream)
{
	CUdeviceptr send, recv;
	int64_t begin;
	long bytes;
	int i;

	CUDA(cuMemAlloc(&send, (size_t) options.most_bytes));
	CUDA(cuMemAlloc(&recv, (size_t) options.most_bytes));
	CUDA(cuMemsetD8(send, 0, (size_t) options.most_bytes));
	CUDA(cuCtxSynchronize());
	for (bytes = SMALLEST; bytes <= options.most_bytes; bytes = next_size(bytes)) {
		/* The large ones take long, and vary less. */
		const int count = bytes <= 128 << 10 ? options.times
				  : bytes <= 2 << 20 ? (options.times + 3) / 4
						     : (options.times + 19) / 20;

		for (i = -5; i < count; i++) {
			begin = now_ns();
			NCCL(ncclAllReduce((void *) (uintptr_t) send,
					   (void *) (uintptr_t) recv,
					   (size_t) bytes / sizeof(float), ncclFloat,
					   ncclSum, comm, stream));
			CUDA(cuStreamSynchronize(stream));
			if (i >= 0)
				times[i] = now_ns() - begin;
		}
		tell("collective", bytes, count, 1);
	}
	CUDA(cuMemFree(recv));
	CUDA(cuMemFree(send));
}

static void run(int rank, int ranks, ncclUniqueId id)
{
	CUdevice device;
	CUstream stream;
	ncclComm_t comm;
	unsigned long bytes;

	if (options.cupti)
		begin_bare_cupti(options.cupti);
	open_device(rank, &device);
	CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	if (ranks == 1)
		time_launches(stream);
	NCCL(ncclCommInitRank(&comm, ranks, id, rank));
	time_collectives(comm, stream);
	NCCL(ncclCommDestroy(comm));
	CUDA(cuStreamDestroy(stream));
	if (options.cupti) {
		bytes = end_bare_cupti();
		if (!bytes)
			fail("CUPTI handed over nothing");
		if (!rank)
			printf("{\"what\":\"records\",\"bytes\":%lu}\n", bytes);
	}
	CUDA(cuDevicePrimaryCtxRelease(device));
}

static const char help[] =
	"usage: cost [-n RANKS] [-b BYTES] [-i TIMES] [-c LIBCUPTI]\n"
	"\n"
	"  -n RANKS     how many processes, one for each rank (2); launches are timed with 1\n"
	"  -b BYTES     up to which size (67108864)\n"
	"  -i TIMES     how often each (200)\n"
	"  -c LIBCUPTI  with a client of CUPTI that throws away what it gets\n";

int main(int argc, char **argv)
{
	int ranks = 2;
	int option;

	gpu_program = "cost";
	while ((option = getopt(argc, argv, "n:b:i:c:h")) != -1) {
		switch (option) {
		case 'n':
			ranks = (int) number_of(optarg, 1, 64, "number of ranks");
			break;
		case 'b':
			options.most_bytes =
				number_of(optarg, SMALLEST, 1L << 32, "size");
			break;
		case 'i':
			options.times = (int) number_of(optarg, 1, MOST_TIMES, "number");
			break;
		case 'c':
			options.cupti = optarg;
			break;
		default:
			fputs(help, option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	return run_ranks(ranks, run);
}
