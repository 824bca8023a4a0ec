/* SPDX-License-Identifier: MIT */
/* Ranks of the NCCL double that post for each other, and how that ends in the middle. */
#include "ranks.h"

enum { RANKS = 4 };

static CUdeviceptr there;

/* A number of each rank's to each, which tells the round, too. */
static void exchange(ncclComm_t comm, int rank, int round)
{
	int sent[RANKS];
	int i;

	for (i = 0; i < RANKS; i++)
		sent[i] = 100 * round + 10 * rank + i;
	REQUIRE(cuMemcpyHtoD(buffer, sent, sizeof(sent)) == CUDA_SUCCESS);
	REQUIRE(ncclAlltoAll(memory(), (void *) (uintptr_t) there, 1, ncclInt32, comm,
			     stream) == ncclSuccess);
}

static bool has_all(int rank, int round)
{
	int got[RANKS];
	int i;

	cuStreamSynchronize(stream);
	cuMemcpyDtoH(got, there, sizeof(got));
	for (i = 0; i < RANKS && got[i] == 100 * round + 10 * i + rank; i++)
		;
	return i == RANKS;
}

static ncclComm_t begin(int rank)
{
	ncclComm_t comm = init(rank, RANKS, NULL);

	REQUIRE(cuMemAlloc(&there, RANKS * sizeof(int)) == CUDA_SUCCESS);
	exchange(comm, rank, 0);
	REQUIRE(has_all(rank, 0));
	return comm;
}

/*
 * One rank's kernel does nothing any more, so nobody's comes to its end.  All have begun
 * before anybody aborts, so that something is posted for somebody.
 */
static void begin_and_hang(ncclComm_t comm, int rank)
{
	exchange(comm, rank, 1);
	atomic_fetch_add(&board->done, 1);
	wait_for(&board->done, RANKS);
	REQUIRE(cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
}

static void abort_all(int rank)
{
	ncclComm_t comm = begin(rank);

	begin_and_hang(comm, rank);
	REQUIRE(ncclCommAbort(comm) == ncclSuccess);
	REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
}

static void revoke_all(int rank)
{
	ncclComm_t comm = begin(rank);

	begin_and_hang(comm, rank);
	REQUIRE(ncclCommRevoke(comm, 0) == ncclSuccess);
	REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
	leave(comm, rank, 2 * RANKS);
}

static void go_on(int rank)
{
	ncclComm_t comm = begin(rank);
	int round;

	for (round = 1; round < 20; round++) {
		exchange(comm, rank, round);
		REQUIRE(has_all(rank, round));
	}
	leave(comm, rank, RANKS);
}

int main(void)
{
	if (!prepare_ranks())
		return 1;
	setenv("MININCCL_NVLINK", "1", 1);
	setenv("MININCCL_RANKS_PER_NODE", "2", 1);
	ok(in_processes(RANKS, go_on), "what is posted for others arrives");
	setenv("MININCCL_DEAD_RANK", "1", 1);
	setenv("MININCCL_DEAD_OP", "1", 1);
	ok(in_processes(RANKS, abort_all),
	   "what is posted for others ends with an abort");
	ok(in_processes(RANKS, revoke_all), "and with a revocation");
	return tap_done();
}
