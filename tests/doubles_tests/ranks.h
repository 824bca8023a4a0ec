/* SPDX-License-Identifier: MIT */
/*
 * Ranks of the NCCL double in a process each, for tests of how communicators come and go.
 * Hides what the processes share, how they wait for each other, and how a rank that finds
 * something wrong ends its test.
 */
#ifndef DOUBLES_TESTS_RANKS_H
#define DOUBLES_TESTS_RANKS_H

#include "../lib/tap.h"

#include <cuda.h>
#include <nccl.h>

#include <dirent.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
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
	/* Ranks that are done, for those that have to outlive them. */
	atomic_int done;
};

static struct board *board;
static CUstream stream;
static CUdeviceptr buffer;

static inline void *memory(void)
{
	return (void *) (uintptr_t) buffer;
}

/* A wrong rank says where it was wrong and ends its process. */
static inline void require(bool is_right, int rank, int line)
{
	if (is_right)
		return;
	printf("# rank %d: line %d: %s\n", rank, line, ncclGetLastError(NULL));
	fflush(stdout);
	_exit(1);
}
#define REQUIRE(condition) require(condition, rank, __LINE__)

static inline void open_device(int device)
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
	/* Nothing else orders it before what is done outside of the stream. */
	cuStreamSynchronize(stream);
}

/* Whether all ranks of the communicator are in it, and their sum arrives. */
static inline bool works(ncclComm_t comm, int nranks, int rank)
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

/*
 * Whether the thread ends: who waited for it may go on before the kernel takes it off the list.
 * The ninth field of its stat are its flags (proc(5)), of which PF_EXITING is 4 (Linux,
 * include/linux/sched.h); the second, its name, is the only one with a parenthesis.
 */
static inline bool is_ending(const char *id)
{
	char path[64];
	char line[256] = "";
	unsigned flags = 0;
	const char *rest;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", id);
	file = fopen(path, "r");
	if (!file)
		return true;
	rest = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	return !rest || sscanf(rest, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1 || flags & 4;
}

static inline int thread_count(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	int count = 0;

	while ((task = readdir(tasks)))
		count += task->d_name[0] != '.' && !is_ending(task->d_name);
	closedir(tasks);
	return count;
}

static inline bool has_root(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	bool is_there = false;
	char path[64];
	char name[32];
	FILE *file;

	while ((task = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", task->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file))
			is_there |= strcmp(name, "NCCL BootstrapR\n") == 0;
		fclose(file);
	}
	closedir(tasks);
	return is_there;
}

/*
 * The root of a communicator ends by itself once all have met, and no rank waits for that: until
 * then it is a thread and some descriptors more.
 */
static inline void wait_for_root(void)
{
	while (has_root())
		sched_yield();
}

static inline void wait_for(atomic_int *value, int wanted)
{
	while (atomic_load(value) < wanted)
		sched_yield();
}

/* Whether body(rank) is reached to its end in as many processes. */
static inline bool in_processes(int count, void (*body)(int rank))
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

/* From the rank that has the root. */
static inline ncclUniqueId shared_id(int rank)
{
	if (rank == 0) {
		ncclGetUniqueId(&board->ids[0]);
		atomic_store(&board->id_count, 1);
	}
	wait_for(&board->id_count, 1);
	return board->ids[0];
}

static inline void wait_until_ready(ncclComm_t comm, int rank)
{
	ncclResult_t state;

	do
		REQUIRE(ncclCommGetAsyncError(comm, &state) == ncclSuccess);
	while (state == ncclInProgress);
	REQUIRE(state == ncclSuccess);
}

static inline ncclComm_t init(int rank, int nranks, ncclConfig_t *config)
{
	ncclComm_t comm = NULL;

	ncclCommInitRankConfig(&comm, nranks, shared_id(rank), rank, config);
	wait_until_ready(comm, rank);
	wait_for_root();
	return comm;
}

/* No rank goes before all have come. */
static inline void leave(ncclComm_t comm, int rank, int nranks)
{
	atomic_fetch_add(&board->done, 1);
	wait_for(&board->done, nranks);
	REQUIRE(ncclCommDestroy(comm) == ncclSuccess);
}

/* Softverbs have to be found by who opens libibverbs: the program begins anew. */
static inline void begin_with_softverbs(char **argv)
{
	char path[4096];
	char *slash;
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 32);
	int i;

	if (getenv("SOFTVERBS_FABRIC") || size < 0)
		return;
	path[size] = '\0';
	for (i = 0; i < 2; i++) {
		slash = strrchr(path, '/');
		if (slash)
			*slash = '\0';
	}
	strcat(path, "/doubles/verbs");
	setenv("LD_LIBRARY_PATH", path, 1);
	snprintf(path, sizeof(path), "ranks.%d", (int) getpid());
	setenv("SOFTVERBS_FABRIC", path, 1);
	execv("/proc/self/exe", argv);
}

/* Before all tests. */
static inline bool prepare_ranks(void)
{
	/* Over TCP wherever this runs: an adapter has a thread that stays. */
	setenv("NCCL_IB_DISABLE", "1", 1);
	/* By which wait_for_root() knows one. */
	setenv("NCCL_SET_THREAD_NAME", "1", 1);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return board != MAP_FAILED;
}

#endif
