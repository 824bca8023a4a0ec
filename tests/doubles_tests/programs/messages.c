/* SPDX-License-Identifier: MIT */
/*
 * A program whose ranks talk in every way that NCCL has, each a process of its own with
 * other addresses, and check what they got: collectives of less and of more than one loop
 * of a ring, and several sends of unlike sizes to one peer in one group.
 *
 * usage: messages RANKS [ROUNDS]
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

/* Of an all-reduce of two ranks more than two loops. */
#define MOST 700001
#define MAX_RANKS 16
/* More than may share one request. */
#define SENDS 10

struct board {
	ncclUniqueId id;
	atomic_bool has_id;
};

static int rank;
static int nranks;
static ncclComm_t comm;
static CUstream stream;
static CUdeviceptr send;
static CUdeviceptr recv;
static int *host;

#define REQUIRE(call) \
	do { \
		if (!(call)) { \
			fprintf(stderr, "messages: rank %d: line %d: %s\n", rank, \
				__LINE__, #call); \
			exit(1); \
		} \
	} while (0)
#define NCCL(call) REQUIRE((call) == ncclSuccess)

static int *at(CUdeviceptr memory, size_t element)
{
	return (int *) (uintptr_t) memory + element;
}

static int value(int from, size_t i)
{
	return (int) (i % 1009) + 7 * from;
}

static int sum(size_t i)
{
	return nranks * value(0, i) + 7 * nranks * (nranks - 1) / 2;
}

static void fill(size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		host[i] = value(rank, i);
	cuMemcpyHtoD(send, host, count * sizeof(*host));
	cuMemsetD8(recv, 0x5a, count * sizeof(*host));
}

static void fetch(size_t count)
{
	cuStreamSynchronize(stream);
	cuMemcpyDtoH(host, recv, count * sizeof(*host));
}

static void test_all_reduce(size_t count)
{
	size_t i;

	fill(count);
	NCCL(ncclAllReduce(at(send, 0), at(recv, 0), count, ncclInt32, ncclSum, comm,
			   stream));
	fetch(count);
	for (i = 0; i < count; i++)
		REQUIRE(host[i] == sum(i));
}

static void test_parts(size_t part)
{
	size_t i;
	int r;

	fill(part * (size_t) nranks);
	NCCL(ncclAllGather(at(send, 0), at(recv, 0), part, ncclInt32, comm, stream));
	fetch(part * (size_t) nranks);
	for (r = 0; r < nranks; r++) {
		for (i = 0; i < part; i++)
			REQUIRE(host[(size_t) r * part + i] == value(r, i));
	}
	fill(part * (size_t) nranks);
	NCCL(ncclReduceScatter(at(send, 0), at(recv, 0), part, ncclInt32, ncclSum, comm,
			       stream));
	fetch(part);
	for (i = 0; i < part; i++)
		REQUIRE(host[i] == sum((size_t) rank * part + i));
	fill(part * (size_t) nranks);
	NCCL(ncclAlltoAll(at(send, 0), at(recv, 0), part, ncclInt32, comm, stream));
	fetch(part * (size_t) nranks);
	for (r = 0; r < nranks; r++) {
		for (i = 0; i < part; i++)
			REQUIRE(host[(size_t) r * part + i] ==
				value(r, (size_t) rank * part + i));
	}
}

static void test_rooted(size_t count, int root)
{
	size_t i;

	fill(count);
	NCCL(ncclBroadcast(at(send, 0), at(recv, 0), count, ncclInt32, root, comm,
			   stream));
	fetch(count);
	for (i = 0; i < count; i++)
		REQUIRE(host[i] == value(root, i));
	fill(count);
	NCCL(ncclReduce(at(send, 0), at(recv, 0), count, ncclInt32, ncclSum, root, comm,
			stream));
	fetch(count);
	for (i = 0; rank == root && i < count; i++)
		REQUIRE(host[i] == sum(i));
}

/* Nothing, little, and more than one message. */
static size_t send_count(int number)
{
	static const size_t counts[] = {1, 0, 300000, 1000, 17};

	return counts[number % 5];
}

static void test_group(void)
{
	int next = (rank + 1) % nranks;
	int previous = (rank + nranks - 1) % nranks;
	size_t place = 0;
	size_t i;
	int k;

	fill(MOST);
	NCCL(ncclGroupStart());
	for (k = 0; k < SENDS; k++) {
		NCCL(ncclSend(at(send, (size_t) k), send_count(k), ncclInt32, next, comm,
			      stream));
		NCCL(ncclRecv(at(recv, place), send_count(k), ncclInt32, previous, comm,
			      stream));
		place += send_count(k);
	}
	NCCL(ncclGroupEnd());
	fetch(place);
	place = 0;
	for (k = 0; k < SENDS; k++) {
		for (i = 0; i < send_count(k); i++)
			REQUIRE(host[place + i] == value(previous, (size_t) k + i));
		place += send_count(k);
	}
}

static void run(struct board *board, int rounds)
{
	CUcontext context;
	size_t bytes = MOST * sizeof(*host);

	cuInit(0);
	cuDevicePrimaryCtxRetain(&context, rank);
	cuCtxSetCurrent(context);
	cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
	cuMemAlloc(&send, bytes);
	cuMemAlloc(&recv, bytes);
	host = malloc(bytes);
	REQUIRE(host);
	if (rank == 0) {
		NCCL(ncclGetUniqueId(&board->id));
		atomic_store(&board->has_id, true);
	}
	while (!atomic_load(&board->has_id))
		sched_yield();
	NCCL(ncclCommInitRank(&comm, nranks, board->id, rank));
	for (; rounds > 0; rounds--) {
		test_all_reduce(1);
		test_all_reduce(1000);
		test_all_reduce(MOST);
		test_parts(MOST / (size_t) nranks);
		test_parts(100);
		test_rooted(MOST, rounds % nranks);
		test_group();
	}
	NCCL(ncclCommDestroy(comm));
	free(host);
}

/* As a launcher does it, so that no address means the same in two of them. */
static void start(char **argv, int fd, int number)
{
	char number_text[16];
	char fd_text[16];

	snprintf(number_text, sizeof(number_text), "%d", number);
	snprintf(fd_text, sizeof(fd_text), "%d", fd);
	execl("/proc/self/exe", argv[0], argv[1], argv[2] ? argv[2] : "1", number_text,
	      fd_text, NULL);
	_exit(127);
}

int main(int argc, char **argv)
{
	int fd = argc == 5 ? atoi(argv[4]) : memfd_create("board", 0);
	struct board *board;
	int status;
	int failed = 0;

	nranks = argc > 1 ? atoi(argv[1]) : 0;
	if (nranks < 2 || nranks > MAX_RANKS || fd < 0 || ftruncate(fd, sizeof(*board))) {
		fprintf(stderr, "usage: messages RANKS [ROUNDS]\n");
		return 2;
	}
	if (argc == 5) {
		board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			     0);
		REQUIRE(board != MAP_FAILED);
		rank = atoi(argv[3]);
		run(board, atoi(argv[2]));
		return 0;
	}
	for (rank = 0; rank < nranks; rank++) {
		if (fork() == 0)
			start(argv, fd, rank);
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
