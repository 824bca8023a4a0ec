/* SPDX-License-Identifier: MIT */
/*
 * Two ranks that reduce together once, and then the first one again: the second comes
 * only when FOLDER/go is there, so the kernel of the first waits for what is not sent,
 * and the first for its stream.
 *
 * usage: absent FOLDER; prints a line "RANK PID" for each rank.
 */
#include <cuda.h>
#include <nccl.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 2 };

static struct board {
	ncclUniqueId id;
	int has_id;
} * board;
static int rank;

static void need(int result, const char *call)
{
	if (!result)
		return;
	fprintf(stderr, "absent: rank %d: %s: %d\n", rank, call, result);
	_exit(1);
}
#define OK(call) need((int) (call), #call)

static void nap(void)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	nanosleep(&pause, NULL);
}

static ncclUniqueId agree(void)
{
	if (rank == 0) {
		OK(ncclGetUniqueId(&board->id));
		__atomic_store_n(&board->has_id, 1, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(&board->has_id, __ATOMIC_ACQUIRE))
		nap();
	return board->id;
}

static void run(const char *folder)
{
	CUdeviceptr memory;
	CUcontext context;
	CUstream stream;
	ncclComm_t comm;
	char path[512];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	OK(setenv("RANK", rank ? "1" : "0", 1));
	snprintf(path, sizeof(path), "%s/go", folder);
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&context, rank));
	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc(&memory, 4096));
	OK(ncclCommInitRank(&comm, RANKS, agree(), rank));
#define REDUCE \
	OK(ncclAllReduce((void *) memory, (void *) memory, 8, ncclFloat32, ncclSum, \
			 comm, stream))
	REDUCE;
	OK(cuStreamSynchronize(stream));
	while (rank && access(path, F_OK))
		nap();
	REDUCE;
	OK(cuStreamSynchronize(stream));
	OK(ncclCommDestroy(comm));
	exit(0);
}

int main(int argc, char **argv)
{
	pid_t pid;

	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc != 2 || board == MAP_FAILED)
		return 2;
	for (rank = 0; rank < RANKS; rank++) {
		pid = fork();
		if (!pid)
			run(argv[1]);
		printf("%d %d\n", rank, (int) pid);
		fflush(stdout);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
