/* SPDX-License-Identifier: MIT */
/*
 * Windows of the NCCL double: who gets one, what becomes of it, and what a collective
 * between windows does when it goes wrong.  That the data is right test_matrix.sh shows.
 */
#include "ranks.h"

#define BYTES (COUNT * sizeof(float))

static float *send_memory;
static float *recv_memory;

/* Both as windows. */
static void open_windows(ncclComm_t comm, ncclWindow_t windows[2], int rank)
{
	REQUIRE(ncclMemAlloc((void **) &send_memory, BYTES) == ncclSuccess);
	REQUIRE(ncclMemAlloc((void **) &recv_memory, BYTES) == ncclSuccess);
	REQUIRE(ncclGroupStart() == ncclSuccess);
	windows[0] = windows[1] = NULL;
	REQUIRE(ncclCommWindowRegister(comm, send_memory, BYTES, &windows[0],
				       NCCL_WIN_COLL_SYMMETRIC) == ncclSuccess);
	REQUIRE(ncclCommWindowRegister(comm, recv_memory, BYTES, &windows[1],
				       NCCL_WIN_COLL_SYMMETRIC) == ncclSuccess);
	/* It is not there before the ranks have met. */
	REQUIRE(!windows[0] && !windows[1]);
	REQUIRE(ncclGroupEnd() == ncclSuccess);
	wait_until_ready(comm, rank);
	REQUIRE(windows[0] && windows[1] && windows[0] != windows[1]);
}

static bool adds_up(ncclComm_t comm, int nranks, int rank)
{
	int i;

	for (i = 0; i < COUNT; i++)
		send_memory[i] = (float) (i + rank);
	if (ncclAllReduce(send_memory, recv_memory, COUNT, ncclFloat, ncclSum, comm,
			  stream))
		return false;
	if (cuStreamSynchronize(stream))
		return false;
	for (i = 0; i < COUNT; i++) {
		if (recv_memory[i] != (float) (nranks * i + nranks * (nranks - 1) / 2))
			return false;
	}
	return true;
}

static void close_windows(ncclComm_t comm, const ncclWindow_t windows[2], int rank)
{
	REQUIRE(ncclCommWindowDeregister(comm, windows[0]) == ncclSuccess);
	REQUIRE(ncclCommWindowDeregister(comm, windows[1]) == ncclSuccess);
	/* It is none any more. */
	REQUIRE(ncclCommWindowDeregister(comm, windows[0]) == ncclInternalError);
	REQUIRE(ncclMemFree(send_memory) == ncclSuccess);
	REQUIRE(ncclMemFree(recv_memory) == ncclSuccess);
	REQUIRE(ncclMemFree(recv_memory) == ncclUnhandledCudaError);
}

static void register_all(int rank)
{
	ncclComm_t comm = init(rank, 3, NULL);
	ncclWindow_t windows[2];
	void *address = NULL;
	int threads = thread_count();
	int i;

	for (i = 0; i < 3; i++) {
		open_windows(comm, windows, rank);
		REQUIRE(adds_up(comm, 3, rank));
		REQUIRE(ncclWinGetUserPtr(comm, windows[0], &address) == ncclSuccess &&
			address == send_memory);
		close_windows(comm, windows, rank);
	}
	/* No progress thread was needed. */
	REQUIRE(thread_count() == threads);
	leave(comm, rank, 3);
}

static void register_in_background(int rank)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclWindow_t windows[2];
	ncclComm_t comm;

	config.blocking = 0;
	comm = init(rank, 2, &config);
	REQUIRE(ncclMemAlloc((void **) &send_memory, BYTES) == ncclSuccess);
	windows[0] = NULL;
	/* The call itself says nothing of it. */
	REQUIRE(ncclCommWindowRegister(comm, send_memory, BYTES, &windows[0], 0) ==
		ncclSuccess);
	wait_until_ready(comm, rank);
	REQUIRE(windows[0]);
	REQUIRE(ncclCommWindowDeregister(comm, windows[0]) == ncclSuccess);
	leave(comm, rank, 2);
}

static void register_wrongly(int rank)
{
	ncclComm_t comm = init(rank, 2, NULL);
	ncclWindow_t window = NULL;
	char *memory = NULL;
	CUdeviceptr plain;

	REQUIRE(ncclMemAlloc((void **) &memory, 4 * BYTES) == ncclSuccess);
	/* Nothing is asked for, and nothing is said. */
	REQUIRE(ncclCommWindowRegister(comm, NULL, BYTES, &window, 0) == ncclSuccess);
	REQUIRE(ncclCommWindowRegister(comm, memory, 0, &window, 0) == ncclSuccess);
	REQUIRE(!window);
	REQUIRE(ncclCommWindowRegister(comm, memory + 64, BYTES, &window, 0) ==
			ncclInvalidArgument &&
		!window);
	/* Memory that is no object of the driver's. */
	cuMemAlloc(&plain, 4096);
	REQUIRE(ncclCommWindowRegister(comm, memory, 4096, &window, 0) == ncclSuccess);
	REQUIRE(ncclCommWindowDeregister(comm, window) == ncclSuccess);
	REQUIRE(ncclCommWindowRegister(comm, (void *) (uintptr_t) plain, 4096, &window,
				       0) == ncclUnhandledCudaError);
	REQUIRE(ncclCommWindowDeregister(comm, NULL) == ncclSuccess);
	leave(comm, rank, 2);
}

/* On two nodes it is a registration of the rank's own. */
static void register_apart(int rank)
{
	ncclWindow_t windows[2];
	ncclComm_t comm;

	setenv("MININCCL_RANKS_PER_NODE", "1", 1);
	comm = init(rank, 2, NULL);
	open_windows(comm, windows, rank);
	REQUIRE(adds_up(comm, 2, rank));
	REQUIRE(ncclCommWindowDeregister(comm, windows[0]) == ncclSuccess);
	REQUIRE(ncclCommWindowDeregister(comm, windows[1]) == ncclSuccess);
	leave(comm, rank, 2);
}

/* With neither of them deregistered. */
static void destroy_with_windows(int rank)
{
	ncclWindow_t windows[2];
	ncclComm_t comm;
	int i;

	for (i = 0; i < 2; i++) {
		atomic_store(&board->done, 0);
		comm = init(rank, 1, NULL);
		open_windows(comm, windows, rank);
		REQUIRE(ncclCommDestroy(comm) == ncclSuccess);
		REQUIRE(ncclMemFree(send_memory) == ncclSuccess);
		REQUIRE(ncclMemFree(recv_memory) == ncclSuccess);
	}
}

static void test_registration(void)
{
	ok(in_processes(3, register_all),
	   "windows are made by all ranks, used, and taken away");
	ok(in_processes(2, register_in_background), "without blocking as well");
	ok(in_processes(2, register_wrongly), "of what they can be made of");
	ok(in_processes(2, register_apart), "on two nodes nothing is shared");
	ok(in_processes(1, destroy_with_windows), "they end with their communicator");
	setenv("MININCCL_RELEASE", "2.27.7", 1);
	ok(in_processes(3, register_all), "as in 2.27");
	setenv("MININCCL_RELEASE", "2.32.3", 1);
	ok(in_processes(3, register_all), "and as in 2.32");
	unsetenv("MININCCL_RELEASE");
}

static void capture(int rank)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclWindow_t windows[2];
	CUgraphExec program;
	ncclComm_t comm;
	CUgraph graph;
	uint32_t bits;
	float own;
	int i;

	config.CTAPolicy = NCCL_CTA_POLICY_ZERO;
	comm = init(rank, 2, &config);
	open_windows(comm, windows, rank);
	cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
	/* By copies, and then by a kernel. */
	REQUIRE(ncclAllGather(send_memory, recv_memory, COUNT / 2, ncclFloat, comm,
			      stream) == ncclSuccess);
	REQUIRE(ncclAllReduce(recv_memory, recv_memory, COUNT, ncclFloat, ncclSum, comm,
			      stream) == ncclSuccess);
	REQUIRE(!cuStreamEndCapture(stream, &graph) &&
		!cuGraphInstantiate(&program, graph, 0));
	for (i = 0; i < 5; i++) {
		own = (float) (i + 10 * rank);
		memcpy(&bits, &own, sizeof(bits));
		cuMemsetD32((uintptr_t) send_memory, bits, COUNT);
		REQUIRE(!cuGraphLaunch(program, stream) && !cuStreamSynchronize(stream));
		REQUIRE(recv_memory[0] == (float) (2 * i));
		REQUIRE(recv_memory[COUNT / 2] == (float) (2 * (i + 10)));
		/* Between the launches of the graph, too. */
		REQUIRE(ncclAllGather(send_memory, recv_memory, COUNT / 2, ncclFloat,
				      comm, stream) == ncclSuccess);
		REQUIRE(!cuStreamSynchronize(stream));
		REQUIRE(recv_memory[COUNT / 2] == (float) (i + 10));
	}
	cuGraphExecDestroy(program);
	cuGraphDestroy(graph);
	leave(comm, rank, 2);
}

/* The GPU of rank 1 does nothing, nothing is wrong, and nothing ends. */
static ncclComm_t hang(int rank)
{
	ncclResult_t state = ncclInternalError;
	ncclComm_t comm = init(rank, 2, NULL);
	ncclWindow_t windows[2];

	open_windows(comm, windows, rank);
	REQUIRE(adds_up(comm, 2, rank));
	REQUIRE(ncclAllReduce(send_memory, recv_memory, COUNT, ncclFloat, ncclSum, comm,
			      stream) == ncclSuccess);
	atomic_fetch_add(&board->done, 1);
	wait_for(&board->done, 2);
	REQUIRE(cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
	REQUIRE(ncclCommGetAsyncError(comm, &state) == ncclSuccess &&
		state == ncclSuccess);
	return comm;
}

static void abort_kernel(int rank)
{
	REQUIRE(ncclCommAbort(hang(rank)) == ncclSuccess);
	REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
}

static void revoke_kernel(int rank)
{
	ncclComm_t comm = hang(rank);

	REQUIRE(ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT) == ncclSuccess);
	REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
	REQUIRE(ncclAllReduce(send_memory, recv_memory, COUNT, ncclFloat, ncclSum, comm,
			      stream) == ncclInvalidUsage);
	REQUIRE(ncclCommDestroy(comm) == ncclSuccess);
}

static void test_failures(void)
{
	setenv("MININCCL_DEAD_RANK", "1", 1);
	setenv("MININCCL_DEAD_OP", "1", 1);
	ok(in_processes(2, abort_kernel), "a kernel that waits for another is aborted");
	ok(in_processes(2, revoke_kernel), "or ended by a revocation");
	unsetenv("MININCCL_DEAD_RANK");
}

int main(void)
{
	if (!prepare_ranks())
		return 1;
	setenv("MININCCL_RANKS_PER_NODE", "0", 1);
	test_registration();
	ok(in_processes(2, capture),
	   "copies and kernels can be captured and launched again");
	test_failures();
	return tap_done();
}
