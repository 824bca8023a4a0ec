/* SPDX-License-Identifier: MIT */
/*
 * A program whose ranks, each a process of its own, do collectives in one group and check
 * what they got.
 *
 * usage: collectives RANKS CALL...
 *
 * A call is a letter and a number of elements of 4 bytes, of one rank's part where there
 * are parts: r all-reduce, g all-gather, s reduce-scatter, b broadcast and d reduce, both
 * with rank 0 as the root.
 */
#include <cuda.h>
#include <nccl.h>

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_RANKS 16

struct board {
	ncclUniqueId id;
	atomic_bool has_id;
};

static int rank;
static int nranks;

#define REQUIRE(call) \
	do { \
		if (!(call)) { \
			fprintf(stderr, "collectives: rank %d: line %d: %s\n", rank, \
				__LINE__, #call); \
			exit(1); \
		} \
	} while (0)
#define NCCL(call) REQUIRE((call) == ncclSuccess)

struct call {
	char letter;
	size_t count;
	int *send;
	int *recv;
};

static int value(int from, size_t i)
{
	return (int) (i % 1009) + 7 * from;
}

static int sum(size_t i)
{
	return nranks * value(0, i) + 7 * nranks * (nranks - 1) / 2;
}

static void prepare(struct call *call, const char *text)
{
	CUdeviceptr memory;
	size_t all;
	size_t i;

	call->letter = text[0];
	call->count = strtoul(text + 1, NULL, 10);
	all = call->count * (size_t) nranks;
	REQUIRE(cuMemAlloc(&memory, 2 * all * sizeof(int)) == CUDA_SUCCESS);
	/* The GPU is of the host's memory. */
	call->send = (int *) (uintptr_t) memory;
	call->recv = call->send + all;
	for (i = 0; i < all; i++)
		call->send[i] = value(rank, i);
}

static void start(const struct call *call, ncclComm_t comm, CUstream stream)
{
	const int *from = call->send;
	int *to = call->recv;
	size_t count = call->count;

	switch (call->letter) {
	case 'r':
		NCCL(ncclAllReduce(from, to, count, ncclInt32, ncclSum, comm, stream));
		break;
	case 'g':
		NCCL(ncclAllGather(from, to, count, ncclInt32, comm, stream));
		break;
	case 's':
		NCCL(ncclReduceScatter(from, to, count, ncclInt32, ncclSum, comm,
				       stream));
		break;
	case 'b':
		NCCL(ncclBroadcast(from, to, count, ncclInt32, 0, comm, stream));
		break;
	default:
		REQUIRE(call->letter == 'd');
		NCCL(ncclReduce(from, to, count, ncclInt32, ncclSum, 0, comm, stream));
	}
}

static void check(const struct call *call)
{
	size_t n = (size_t) nranks;
	size_t count = call->letter == 'g' ? call->count * n : call->count;
	size_t begin = call->letter == 's' ? call->count * (size_t) rank : 0;
	size_t i;

	if (call->letter == 'd' && rank != 0)
		return;
	for (i = 0; i < count; i++) {
		int expected = sum(begin + i);

		if (call->letter == 'g')
			expected = value((int) (i / call->count), i % call->count);
		else if (call->letter == 'b')
			expected = value(0, i);
		REQUIRE(call->recv[i] == expected);
	}
}

static void run(struct board *board, char **texts, int count)
{
	struct call *calls = calloc((size_t) count, sizeof(*calls));
	CUcontext context;
	CUstream stream;
	ncclComm_t comm;
	int i;

	REQUIRE(calls);
	cuInit(0);
	cuDevicePrimaryCtxRetain(&context, rank);
	cuCtxSetCurrent(context);
	cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
	if (rank == 0) {
		NCCL(ncclGetUniqueId(&board->id));
		atomic_store(&board->has_id, true);
	}
	while (!atomic_load(&board->has_id))
		sched_yield();
	NCCL(ncclCommInitRank(&comm, nranks, board->id, rank));
	for (i = 0; i < count; i++)
		prepare(&calls[i], texts[i]);
	NCCL(ncclGroupStart());
	for (i = 0; i < count; i++)
		start(&calls[i], comm, stream);
	NCCL(ncclGroupEnd());
	cuStreamSynchronize(stream);
	for (i = 0; i < count; i++)
		check(&calls[i]);
	NCCL(ncclCommDestroy(comm));
	free(calls);
}

int main(int argc, char **argv)
{
	struct board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int failed = 0;
	int status;

	nranks = argc > 2 ? atoi(argv[1]) : 0;
	if (nranks < 2 || nranks > MAX_RANKS || board == MAP_FAILED) {
		fprintf(stderr, "usage: collectives RANKS CALL...\n");
		return 2;
	}
	/* Nothing of the libraries has run yet, so that each child is as if it were new.
	 */
	for (rank = 0; rank < nranks; rank++) {
		if (fork() == 0) {
			run(board, argv + 2, argc - 2);
			exit(0);
		}
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
