/* SPDX-License-Identifier: MIT */
/*
 * Each kind of operation that NCCL has, alone and in groups, in several sizes, every
 * value of every result looked at.  The log has what was called, in order.
 */
#include "ranks.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SIZES 16

static struct {
	long sizes[MOST_SIZES];
	int nr_sizes;
	int rounds;
	bool is_all_reduce_only;
	const char *log;
} options = {.rounds = 1};

static struct {
	int ranks;
	ncclComm_t comm;
	CUstream stream;
	CUdeviceptr send;
	CUdeviceptr recv;
	float *host;
	size_t size; /* of the send buffer; the other has that of all ranks */
	int group;
} at;

/* Whole numbers, small enough that a sum over all ranks is exact. */
static float value(int rank, size_t i)
{
	return (float) (i % 509 + (size_t) rank);
}

static void fill(size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		at.host[i] = value(gpu_rank, i);
	CUDA(cuMemcpyHtoD(at.send, at.host, count * sizeof(float)));
	CUDA(cuMemsetD8(at.recv, 0xff, at.size * (size_t) at.ranks));
	CUDA(cuCtxSynchronize()); /* the stream does not wait for these */
}

typedef float expected_function(size_t i, size_t count);

static void verify(const char *what, size_t results, size_t count,
		   expected_function *expected)
{
	size_t i;

	wait_for(at.stream, at.comm);
	CUDA(cuMemcpyDtoH(at.host, at.recv, results * sizeof(float)));
	for (i = 0; i < results; i++)
		if (at.host[i] != expected(i, count))
			fail("%s of %zu: element %zu is %g, not %g", what, count, i,
			     (double) at.host[i], (double) expected(i, count));
}

static float sum(size_t i, size_t count)
{
	float total = 0;
	int rank;

	(void) count;
	for (rank = 0; rank < at.ranks; rank++)
		total += value(rank, i);
	return total;
}

static float of_first(size_t i, size_t count)
{
	(void) count;
	return value(0, i);
}

static float of_last(size_t i, size_t count)
{
	(void) count;
	return value(at.ranks - 1, i);
}

static float of_previous(size_t i, size_t count)
{
	(void) count;
	return value((gpu_rank + at.ranks - 1) % at.ranks, i);
}

static float gathered(size_t i, size_t count)
{
	return value((int) (i / count), i % count);
}

static float scattered(size_t i, size_t count)
{
	return sum((size_t) gpu_rank * count + i, count);
}

static float summed_twice(size_t i, size_t count)
{
	return sum(i % count, count);
}

/* A call as it is logged: its name, and with how many elements. */
#define CALL(name, count, ...) \
	do { \
		const int64_t begin_ns = now_ns(); \
		NCCL(name(__VA_ARGS__)); \
		log_line("{\"op\":\"%s\",\"count\":%zu,\"group\":%d,\"begin_ns\":%lld," \
			 "\"end_ns\":%lld}", \
			 #name, (size_t) (count), at.group, (long long) begin_ns, \
			 (long long) now_ns()); \
	} while (0)

static void begin_group(void)
{
	static int groups;

	at.group = ++groups;
	NCCL(ncclGroupStart());
}

static void end_group(void)
{
	NCCL(ncclGroupEnd());
	at.group = 0;
}

static void *pointer(CUdeviceptr base, size_t elements)
{
	return (void *) (uintptr_t) (base + elements * sizeof(float));
}

static void all_reduce(size_t count)
{
	fill(count);
	CALL(ncclAllReduce, count, pointer(at.send, 0), pointer(at.recv, 0), count,
	     ncclFloat, ncclSum, at.comm, at.stream);
	verify("ncclAllReduce", count, count, sum);
}

static void all_others(size_t count)
{
	const int next = (gpu_rank + 1) % at.ranks;
	const int previous = (gpu_rank + at.ranks - 1) % at.ranks;
	const int last = at.ranks - 1;
	const size_t part = count / (size_t) at.ranks;

	fill(count);
	CALL(ncclBroadcast, count, pointer(at.send, 0), pointer(at.recv, 0), count,
	     ncclFloat, last, at.comm, at.stream);
	verify("ncclBroadcast", count, count, of_last);

	fill(count);
	CALL(ncclReduce, count, pointer(at.send, 0), pointer(at.recv, 0), count,
	     ncclFloat, ncclSum, 0, at.comm, at.stream);
	verify("ncclReduce", gpu_rank == 0 ? count : 0, count, sum);

	fill(count);
	CALL(ncclAllGather, count, pointer(at.send, 0), pointer(at.recv, 0), count,
	     ncclFloat, at.comm, at.stream);
	verify("ncclAllGather", count * (size_t) at.ranks, count, gathered);

	fill(count);
	CALL(ncclReduceScatter, part, pointer(at.send, 0), pointer(at.recv, 0), part,
	     ncclFloat, ncclSum, at.comm, at.stream);
	verify("ncclReduceScatter", part, part, scattered);

	fill(count);
	begin_group();
	CALL(ncclSend, count, pointer(at.send, 0), count, ncclFloat, next, at.comm,
	     at.stream);
	CALL(ncclRecv, count, pointer(at.recv, 0), count, ncclFloat, previous, at.comm,
	     at.stream);
	end_group();
	verify("ncclSend and ncclRecv", count, count, of_previous);

	/* Of two kinds, which NCCL sorts and may carry out by one kernel. */
	fill(count);
	begin_group();
	CALL(ncclBroadcast, part, pointer(at.send, 0), pointer(at.recv, 0), part,
	     ncclFloat, 0, at.comm, at.stream);
	CALL(ncclAllReduce, part, pointer(at.send, 0), pointer(at.recv, part), part,
	     ncclFloat, ncclSum, at.comm, at.stream);
	end_group();
	verify("ncclBroadcast in a group", part, part, of_first);

	fill(count);
	begin_group();
	CALL(ncclAllReduce, part, pointer(at.send, 0), pointer(at.recv, 0), part,
	     ncclFloat, ncclSum, at.comm, at.stream);
	CALL(ncclAllReduce, part, pointer(at.send, 0), pointer(at.recv, part), part,
	     ncclFloat, ncclSum, at.comm, at.stream);
	end_group();
	verify("two ncclAllReduce in a group", 2 * part, part, summed_twice);
}

static void run(int rank, int ranks, ncclUniqueId id)
{
	CUdevice device;
	int version;
	int round;
	int i;

	open_log(options.log);
	open_device(rank, &device);
	at.ranks = ranks;
	for (i = 0; i < options.nr_sizes; i++)
		if ((size_t) options.sizes[i] > at.size)
			at.size = (size_t) options.sizes[i];
	CUDA(cuStreamCreate(&at.stream, CU_STREAM_NON_BLOCKING));
	CUDA(cuMemAlloc(&at.send, at.size));
	CUDA(cuMemAlloc(&at.recv, at.size * (size_t) ranks));
	at.host = malloc(at.size * (size_t) ranks);
	if (!at.host)
		fail("no memory");
	NCCL(ncclGetVersion(&version));
	NCCL(ncclCommInitRank(&at.comm, ranks, id, rank));
	for (round = 0; round < options.rounds; round++)
		for (i = 0; i < options.nr_sizes; i++) {
			const size_t count = (size_t) options.sizes[i] / sizeof(float);

			all_reduce(count);
			if (!options.is_all_reduce_only)
				all_others(count);
		}
	NCCL(ncclCommDestroy(at.comm));
	free(at.host);
	CUDA(cuMemFree(at.recv));
	CUDA(cuMemFree(at.send));
	CUDA(cuStreamDestroy(at.stream));
	CUDA(cuDevicePrimaryCtxRelease(device));
	printf("rank %d of %d, NCCL %d: values right\n", rank, ranks, version);
}

static const char help[] =
	"usage: collectives [-n RANKS] [-s BYTES,...] [-i ROUNDS] [-a] [-l FOLDER]\n"
	"\n"
	"  -n RANKS      how many processes, one for each rank (2)\n"
	"  -s BYTES,...  sizes, multiples of 64 (8192,1048576)\n"
	"  -i ROUNDS     how often all sizes (1)\n"
	"  -a            all-reduces alone\n"
	"  -l FOLDER     write log.RANK there: what was called\n";

int main(int argc, char **argv)
{
	char standard[] = "8192,1048576";
	char *sizes = standard;
	char *size;
	int ranks = 2;
	int option;

	gpu_program = "collectives";
	while ((option = getopt(argc, argv, "n:s:i:al:h")) != -1) {
		switch (option) {
		case 'n':
			ranks = (int) number_of(optarg, 1, 64, "number of ranks");
			break;
		case 's':
			sizes = optarg;
			break;
		case 'i':
			options.rounds = (int) number_of(optarg, 1, 1000000, "number");
			break;
		case 'a':
			options.is_all_reduce_only = true;
			break;
		case 'l':
			options.log = optarg;
			break;
		default:
			fputs(help, option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	for (size = strtok(sizes, ","); size; size = strtok(NULL, ",")) {
		if (options.nr_sizes == MOST_SIZES)
			fail("no more than %d sizes", MOST_SIZES);
		options.sizes[options.nr_sizes++] =
			number_of(size, 256, 1L << 32, "size") / 64 * 64;
	}
	return run_ranks(ranks, run);
}
