/* SPDX-License-Identifier: MIT */
#include "ranks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_RANKS 64

static void be_on_a_host_of_its_own(int rank)
{
	char number[16];
	char name[32];

	snprintf(number, sizeof(number), "%d", rank);
	snprintf(name, sizeof(name), "check-gpu-%d", rank);
	setenv("NCCL_HOSTID", name, 1);
	setenv("SOFTVERBS_HOST", number, 1);
}

static void __attribute__((noreturn))
be(int rank, int ranks, rank_function *run, const int id_pipe[2])
{
	ncclUniqueId id;
	int i;

	gpu_rank = rank;
	be_on_a_host_of_its_own(rank);
	load_cuda();
	load_nccl();
	if (rank == 0) {
		NCCL(ncclGetUniqueId(&id));
		/* Written whole, so read whole, one for each other rank. */
		for (i = 1; i < ranks; i++)
			if (write(id_pipe[1], &id, sizeof(id)) != (ssize_t) sizeof(id))
				fail("cannot hand over the id: %s", strerror(errno));
	}
	close(id_pipe[1]);
	if (rank != 0 && read(id_pipe[0], &id, sizeof(id)) != (ssize_t) sizeof(id))
		fail("rank 0 ended before it made an id");
	close(id_pipe[0]);
	run(rank, ranks, id);
	exit(0);
}

/* The first that fails takes the others with it: they would wait for it. */
static int wait_for_ranks(pid_t *pids, int ranks)
{
	int result = 0;
	int status;
	pid_t pid;
	int i;

	while ((pid = wait(&status)) > 0) {
		for (i = 0; i < ranks; i++)
			if (pids[i] == pid)
				pids[i] = 0;
		if (!status || result)
			continue;
		result = WIFEXITED(status) && WEXITSTATUS(status) == 77 ? 77 : 1;
		if (WIFSIGNALED(status))
			fprintf(stderr, "%s: a rank was killed by signal %d\n",
				gpu_program, WTERMSIG(status));
		for (i = 0; i < ranks; i++)
			if (pids[i] > 0)
				kill(pids[i], SIGTERM);
	}
	return result;
}

int run_ranks(int ranks, rank_function *run)
{
	const pid_t parent = getpid();
	pid_t pids[MOST_RANKS] = {0};
	int id_pipe[2];
	int rank;

	if (ranks > MOST_RANKS || pipe(id_pipe))
		fail("%d ranks cannot be started", ranks);
	for (rank = 0; rank < ranks; rank++) {
		pids[rank] = fork();
		if (pids[rank] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGTERM);
			if (getppid() != parent)
				exit(1);
			be(rank, ranks, run, id_pipe);
		}
		if (pids[rank] < 0) {
			while (rank-- > 0)
				kill(pids[rank], SIGTERM);
			fail("fork: %s", strerror(errno));
		}
	}
	close(id_pipe[0]);
	close(id_pipe[1]);
	return wait_for_ranks(pids, ranks);
}

void wait_for(CUstream stream, ncclComm_t comm)
{
	const struct timespec a_while = {.tv_nsec = 1000000};
	ncclResult_t state = ncclSuccess;
	CUresult result;

	while ((result = cuda.cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY) {
		NCCL(ncclCommGetAsyncError(comm, &state));
		if (state != ncclSuccess && state != ncclInProgress) {
			nccl.ncclCommAbort(comm);
			fail("communication failed: %s", nccl.ncclGetErrorString(state));
		}
		nanosleep(&a_while, NULL);
	}
	check_cuda(result, "cuStreamQuery");
}
