/* SPDX-License-Identifier: MIT */
/*
 * A rank of the NCCL double is gone, and how the others find out and go on without it,
 * over each transport: over a network there is an asynchronous error; between ranks of a
 * node nothing tells of it, as with NCCL, and only who waits too long knows.
 */
#include "ranks.h"

enum { RANKS = 3, GONE = 2 };

static bool has_error;

static void all_reduce(ncclComm_t comm, int rank)
{
	REQUIRE(ncclAllReduce(memory(), memory(), COUNT, ncclInt32, ncclSum, comm,
			      stream) == ncclSuccess);
}

/* Its process has nothing any more: what is written to it is not taken. */
static bool is_gone(pid_t pid)
{
	char path[64];
	char state = 'Z';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
	file = fopen(path, "r");
	if (!file)
		return true;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 'Z';
	fclose(file);
	return state == 'Z' || state == 'X';
}

/* The others are in an operation that has no end. */
static ncclComm_t lose(int rank)
{
	ncclComm_t comm = init(rank, RANKS, NULL);
	/* Where no id is. */
	pid_t *gone = (pid_t *) (void *) &board->ids[1];
	ncclResult_t state = ncclSuccess;
	int tries;

	REQUIRE(works(comm, RANKS, rank));
	if (rank == GONE)
		*gone = getpid();
	atomic_fetch_add(&board->done, 1);
	wait_for(&board->done, RANKS);
	if (rank == GONE)
		_exit(0);
	while (!is_gone(*gone))
		usleep(1000);
	all_reduce(comm, rank);
	for (tries = 0; has_error ? state == ncclSuccess : tries < 200; tries++) {
		REQUIRE(ncclCommGetAsyncError(comm, &state) == ncclSuccess);
		usleep(1000);
	}
	REQUIRE(state == (has_error ? ncclRemoteError : ncclSuccess));
	REQUIRE(cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
	return comm;
}

static void abort_all(int rank)
{
	ncclComm_t comm = lose(rank);

	/* The error is the result of whatever is asked for. */
	if (has_error)
		REQUIRE(ncclAllReduce(memory(), memory(), COUNT, ncclInt32, ncclSum, comm,
				      stream) == ncclRemoteError);
	REQUIRE(ncclCommAbort(comm) == ncclSuccess);
	REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
}

/*
 * Where there was an error it stays, and so NCCL makes no child of the communicator
 * (2.28.9: init.cc:373, proxy.cc:964, never cleared).
 */
static void shrink(ncclComm_t comm, int rank, int flags)
{
	ncclComm_t child = NULL;
	int gone = GONE;

	REQUIRE(ncclCommShrink(comm, &gone, 1, &child, NULL, flags) ==
		(has_error ? ncclRemoteError : ncclSuccess));
	REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
	REQUIRE(!child == has_error);
	if (!has_error) {
		REQUIRE(works(child, RANKS - 1, rank));
		REQUIRE(ncclCommDestroy(child) == ncclSuccess);
	}
	REQUIRE(ncclCommAbort(comm) == ncclSuccess);
}

static void shrink_with_abort(int rank)
{
	ncclComm_t comm = lose(rank);

	shrink(comm, rank, NCCL_SHRINK_ABORT);
}

static void revoke_before(int rank)
{
	ncclComm_t comm = lose(rank);

	REQUIRE(ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT) == ncclSuccess);
	REQUIRE(ncclAllReduce(memory(), memory(), COUNT, ncclInt32, ncclSum, comm,
			      stream) == ncclInvalidUsage);
	shrink(comm, rank, NCCL_SHRINK_DEFAULT);
}

static void run(const char *transport, void (*body)(int rank), const char *what)
{
	char sentence[128];

	snprintf(sentence, sizeof(sentence), "%s: %s", transport, what);
	ok(in_processes(RANKS, body), sentence);
}

static void test_loss(const char *transport)
{
	run(transport, abort_all, "who waits for a rank that is gone aborts");
	run(transport, shrink_with_abort,
	    has_error ? "there is no child after an error"
		      : "the others go on in a shrunken one");
	run(transport, revoke_before,
	    has_error ? "not even of what is revoked" : "or after they have revoked it");
}

int main(int argc, char **argv)
{
	(void) argc;
	begin_with_softverbs(argv);
	if (!prepare_ranks())
		return 1;
	has_error = true;
	test_loss("NET/Socket");
	setenv("NCCL_IB_DISABLE", "0", 1);
	/* So that a queue pair gives up soon. */
	setenv("NCCL_IB_TIMEOUT", "8", 1);
	setenv("NCCL_IB_RETRY_CNT", "2", 1);
	test_loss("NET/IB");
	has_error = false;
	setenv("MININCCL_RANKS_PER_NODE", "0", 1);
	test_loss("P2P");
	setenv("NCCL_P2P_DISABLE", "1", 1);
	test_loss("SHM");
	return tap_done();
}
