/* SPDX-License-Identifier: MIT */
/* A rank of the NCCL double whose GPU does nothing any more, and how the others find out.
 */
#include "ranks.h"

static bool is_waiting(void)
{
	return cuStreamQuery(stream) == CUDA_ERROR_NOT_READY;
}

static void sum(ncclComm_t comm, int rank)
{
	REQUIRE(ncclAllReduce(memory(), memory(), COUNT, ncclInt32, ncclSum, comm,
			      stream) == ncclSuccess);
}

/* What is called is good, nothing is wrong, and yet nothing ends. */
static void die_in_kernel(int rank)
{
	ncclComm_t comm = init(rank, 2, NULL);
	ncclResult_t state = ncclInternalError;

	REQUIRE(works(comm, 2, rank));
	sum(comm, rank);
	atomic_fetch_add(&board->done, 1);
	wait_for(&board->done, 2);
	REQUIRE(is_waiting());
	REQUIRE(ncclCommGetAsyncError(comm, &state) == ncclSuccess);
	REQUIRE(state == ncclSuccess);
	/* The calls after it are accepted as well. */
	sum(comm, rank);
	atomic_fetch_add(&board->done, 1);
	wait_for(&board->done, 4);
	REQUIRE(is_waiting());
	REQUIRE(ncclCommAbort(comm) == ncclSuccess);
	REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
}

/* A child has the same ranks, and the operations are counted in each communicator. */
static void die_in_child(int rank)
{
	ncclComm_t comm = init(rank, 2, NULL);
	ncclComm_t child = NULL;

	REQUIRE(works(comm, 2, rank));
	REQUIRE(ncclCommSplit(comm, 0, rank, &child, NULL) == ncclSuccess);
	REQUIRE(works(child, 2, rank));
	sum(child, rank);
	REQUIRE(ncclCommAbort(child) == ncclSuccess);
	REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
	leave(comm, rank, 2);
}

static void live(int rank)
{
	ncclComm_t comm = init(rank, 2, NULL);

	REQUIRE(works(comm, 2, rank));
	REQUIRE(works(comm, 2, rank));
	leave(comm, rank, 2);
}

int main(void)
{
	if (!prepare_ranks())
		return 1;
	setenv("MININCCL_DEAD_OP", "1", 1);
	ok(in_processes(2, live), "without a dead rank all goes on");
	setenv("MININCCL_DEAD_RANK", "1", 1);
	ok(in_processes(2, die_in_kernel),
	   "a kernel that does nothing stops all ranks until they abort");
	ok(in_processes(2, die_in_child), "and so it is with a child");
	return tap_done();
}
