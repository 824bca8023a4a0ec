/* SPDX-License-Identifier: MIT */
/*
 * mini-NCCL as a librccl.so.1: ranks in a process each, over a HIP that has a GPU.  Data
 * is right on every rank, and all of it is done by HIP.
 */
#include "../doubles/hip/hip.h"
#include "../lib/tap.h"

#include <nccl.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 3, COUNT = 70000 };

static ncclUniqueId *id;
static int32_t host[COUNT];

static void require(bool is_right, int rank, int line)
{
	if (is_right)
		return;
	printf("# rank %d: line %d: %s\n", rank, line, ncclGetLastError(NULL));
	fflush(stdout);
	_exit(1);
}
#define REQUIRE(condition) require(condition, rank, __LINE__)

static bool is_all(const void *memory, int32_t value)
{
	int i;

	hipMemcpy(host, memory, sizeof(host), 2);
	for (i = 0; i < COUNT; i++) {
		if (host[i] != value)
			return false;
	}
	return true;
}

static void fill(void *memory, int32_t value)
{
	int i;

	for (i = 0; i < COUNT; i++)
		host[i] = value;
	hipMemcpy(memory, host, sizeof(host), 1);
}

static void sum(ncclComm_t comm, void *memory, hipStream_t stream, int rank)
{
	fill(memory, 1 << rank);
	REQUIRE(ncclAllReduce(memory, memory, COUNT, ncclInt32, ncclSum, comm,
			      (cudaStream_t) stream) == ncclSuccess);
	REQUIRE(hipStreamSynchronize(stream) == hipSuccess);
	REQUIRE(is_all(memory, (1 << RANKS) - 1));
}

/* Each launch of the graph sums once more. */
static void sum_in_graph(ncclComm_t comm, void *memory, hipStream_t stream, int rank)
{
	hipGraphExec_t exec;
	hipGraph_t graph;

	REQUIRE(hipStreamBeginCapture(stream, 0) == hipSuccess);
	REQUIRE(ncclAllReduce(memory, memory, COUNT, ncclInt32, ncclSum, comm,
			      (cudaStream_t) stream) == ncclSuccess);
	REQUIRE(hipStreamEndCapture(stream, &graph) == hipSuccess);
	REQUIRE(hipGraphInstantiate(&exec, graph, NULL, NULL, 0) == hipSuccess);
	fill(memory, 1);
	REQUIRE(hipGraphLaunch(exec, stream) == hipSuccess);
	REQUIRE(hipGraphLaunch(exec, stream) == hipSuccess);
	REQUIRE(hipStreamSynchronize(stream) == hipSuccess);
	REQUIRE(is_all(memory, RANKS * RANKS));
}

static void pass_on(ncclComm_t comm, void *memory, void *other, hipStream_t stream,
		    int rank)
{
	fill(memory, rank);
	ncclGroupStart();
	ncclSend(memory, COUNT, ncclInt32, (rank + 1) % RANKS, comm,
		 (cudaStream_t) stream);
	ncclRecv(other, COUNT, ncclInt32, (rank + RANKS - 1) % RANKS, comm,
		 (cudaStream_t) stream);
	REQUIRE(ncclGroupEnd() == ncclSuccess);
	REQUIRE(hipStreamSynchronize(stream) == hipSuccess);
	REQUIRE(is_all(other, (rank + RANKS - 1) % RANKS));
}

static void be_rank(int rank)
{
	hipStream_t stream;
	ncclComm_t comm;
	ncclComm_t child;
	void *memory;
	void *other;
	int device = -1;

	REQUIRE(hipSetDevice(rank) == hipSuccess);
	REQUIRE(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking) == hipSuccess);
	REQUIRE(hipMalloc(&memory, sizeof(host)) == hipSuccess);
	REQUIRE(hipMalloc(&other, sizeof(host)) == hipSuccess);
	REQUIRE(ncclCommInitRank(&comm, RANKS, *id, rank) == ncclSuccess);
	REQUIRE(ncclCommCuDevice(comm, &device) == ncclSuccess && device == rank);
	sum(comm, memory, stream, rank);
	sum_in_graph(comm, memory, stream, rank);
	pass_on(comm, memory, other, stream, rank);
	REQUIRE(ncclCommSplit(comm, 0, rank, &child, NULL) == ncclSuccess);
	sum(child, memory, stream, rank);
	REQUIRE(ncclCommDestroy(child) == ncclSuccess);
	REQUIRE(ncclCommDestroy(comm) == ncclSuccess);
	REQUIRE(hipFree(memory) == hipSuccess && hipFree(other) == hipSuccess);
}

/* As the real one: it needs HIP, and knows nothing of CUDA. */
static bool is_mapped(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	bool is_there = false;
	char line[512];

	while (fgets(line, sizeof(line), maps))
		is_there |= strstr(line, name) != NULL;
	fclose(maps);
	return is_there;
}

int main(void)
{
	bool is_right = true;
	pid_t pids[RANKS];
	int status;
	int r;

	setenv("NCCL_IB_DISABLE", "1", 1);
	id = mmap(NULL, sizeof(*id), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		  -1, 0);
	/* The one who has the root outlives the ranks. */
	if (id == MAP_FAILED || ncclGetUniqueId(id))
		return 1;
	for (r = 0; r < RANKS; r++) {
		pids[r] = fork();
		if (pids[r] == 0) {
			be_rank(r);
			_exit(0);
		}
	}
	for (r = 0; r < RANKS; r++) {
		waitpid(pids[r], &status, 0);
		is_right &= status == 0;
	}
	ok(is_right, "sums, graphs, sends and a split have the right data over HIP");
	ok(is_mapped("libamdhip64.so.6") && !is_mapped("libcuda"),
	   "it is HIP that it uses, and nothing of CUDA");
	return tap_done();
}
