/* SPDX-License-Identifier: MIT */
/*
 * The ways to make a communicator of the NCCL double other than by one id, each
 * rank in a process of its own.
 */
#include "tap.h"

#include <cuda.h>
#include <nccl.h>

#include <dirent.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_RANKS 5
#define COUNT 1000

/* What the processes of one test share. */
struct board {
	ncclUniqueId ids[MAX_RANKS];
	atomic_int id_count;
};

static struct board *board;
static CUstream stream;
static CUdeviceptr buffer;

static void *memory(void)
{
	return (void *) (uintptr_t) buffer;
}

/* A wrong rank says where it was wrong and ends its process. */
static void require(bool is_right, int rank, int line)
{
	if (is_right)
		return;
	printf("# rank %d: line %d: %s\n", rank, line, ncclGetLastError(NULL));
	fflush(stdout);
	_exit(1);
}
#define REQUIRE(condition) require(condition, rank, __LINE__)

static void open_device(int device)
{
	CUcontext context;

	cuInit(0);
	cuDevicePrimaryCtxRetain(&context, device);
	cuCtxSetCurrent(context);
	cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
	cuMemAlloc(&buffer, COUNT * sizeof(int32_t));
	/* So that all streams have their threads. */
	cuMemsetD32(buffer, 0, COUNT);
	cuMemsetD32Async(buffer, 0, COUNT, stream);
}

/* Whether all ranks of the communicator are in it, and their sum arrives. */
static bool works(ncclComm_t comm, int nranks, int rank)
{
	int32_t host[COUNT];
	int count = -1;
	int own = -1;
	int i;

	ncclCommCount(comm, &count);
	ncclCommUserRank(comm, &own);
	if (count != nranks || own != rank)
		return false;
	cuMemsetD32(buffer, 1u << (4 * rank), COUNT);
	if (ncclAllReduce(memory(), memory(), COUNT, ncclInt32, ncclSum, comm, stream))
		return false;
	cuStreamSynchronize(stream);
	cuMemcpyDtoH(host, buffer, sizeof(host));
	for (i = 0; i < COUNT; i++) {
		if (host[i] != (1 << (4 * nranks)) / 15)
			return false;
	}
	return true;
}

static int thread_count(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int count = 0;

	while (readdir(tasks))
		count++;
	closedir(tasks);
	return count;
}

static void wait_for(atomic_int *value, int wanted)
{
	while (atomic_load(value) < wanted)
		sched_yield();
}

/* Whether body(rank) is reached to its end in as many processes. */
static bool in_processes(int count, void (*body)(int rank))
{
	bool is_right = true;
	pid_t pids[MAX_RANKS];
	int status;
	int r;

	memset(board, 0, sizeof(*board));
	for (r = 0; r < count; r++) {
		pids[r] = fork();
		if (pids[r] == 0) {
			open_device(r);
			body(r);
			exit(0);
		}
	}
	for (r = 0; r < count; r++) {
		waitpid(pids[r], &status, 0);
		is_right &= status == 0;
	}
	return is_right;
}

/* Each id from another rank, and the roots of all of them come to their end. */
static void init_by_ids(int rank, int nranks, int id_count)
{
	ncclComm_t comm = NULL;
	int before = thread_count();

	if (rank < id_count) {
		ncclGetUniqueId(&board->ids[rank]);
		atomic_fetch_add(&board->id_count, 1);
	}
	wait_for(&board->id_count, id_count);
	REQUIRE(ncclCommInitRankScalable(&comm, nranks, rank, id_count, board->ids,
					 NULL) == ncclSuccess);
	REQUIRE(works(comm, nranks, rank));
	REQUIRE(ncclCommDestroy(comm) == ncclSuccess);
	while (thread_count() > before)
		sched_yield();
}

static void init_by_two(int rank)
{
	init_by_ids(rank, 5, 2);
}

static void init_by_four(int rank)
{
	init_by_ids(rank, 4, 4);
}

static void init_by_one(int rank)
{
	init_by_ids(rank, 3, 1);
}

static void init_wrongly(int rank)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclUniqueId ids[2];
	ncclComm_t comm = NULL;
	ncclResult_t state;

	ncclGetUniqueId(&ids[0]);
	ncclGetUniqueId(&ids[1]);
	REQUIRE(ncclCommInitRankScalable(&comm, 1, 0, 2, ids, NULL) ==
		ncclInvalidArgument);
	REQUIRE(ncclCommInitRankScalable(&comm, 1, 0, 0, ids, NULL) ==
		ncclInvalidArgument);
	REQUIRE(ncclCommInitRankScalable(&comm, 2, 2, 2, ids, NULL) ==
			ncclInvalidArgument &&
		!comm);
	config.blocking = 0;
	REQUIRE(ncclCommInitRankScalable(&comm, 2, 0, 2, ids, &config) ==
			ncclInProgress &&
		comm);
	REQUIRE(ncclCommGetAsyncError(comm, &state) == ncclSuccess &&
		state == ncclInProgress);
	REQUIRE(ncclCommAbort(comm) == ncclSuccess);
}

static void test_scalable(void)
{
	ok(in_processes(5, init_by_two), "five ranks meet at two roots");
	ok(in_processes(4, init_by_four), "four at as many");
	ok(in_processes(3, init_by_one), "or three at one");
	ok(in_processes(1, init_wrongly), "there are ids, and no more than ranks");
}

int main(void)
{
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		return 1;
	test_scalable();
	return tap_done();
}
