/* SPDX-License-Identifier: MIT */
/*
 * Ranks of which the last does not come to an operation until it is told.
 *
 * usage: missing RANKS; reads lines and prints one when it has done what the line says.
 *
 * At first, all ranks have called ncclAllReduce() twice, and "ready" is printed.
 * "hang": all but the last call it and wait; "come": the last calls it too, and all have
 * returned; at the end of the input all end well.
 */
#include <cuda.h>
#include <nccl.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum stage { START, HANG, COME, END };

static struct board {
	ncclUniqueId id;
	atomic_int has_id, stage, arrived;
} * board;
static int rank, nranks;

static void need(int result, const char *call)
{
	if (!result)
		return;
	fprintf(stderr, "missing: rank %d: %s: %d\n", rank, call, result);
	kill(getppid(), SIGTERM);
	_exit(1);
}
#define OK(call) need((int) (call), #call)

static void nap(void)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	nanosleep(&pause, NULL);
}

static void wait_for(atomic_int *number, int least)
{
	while (atomic_load(number) < least)
		nap();
}

static void run(void)
{
	CUstream stream;
	CUcontext context;
	CUdeviceptr memory;
	ncclComm_t comm;
	char text[16];
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(text, sizeof(text), "%d", rank);
	OK(setenv("RANK", text, 1));
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&context, rank));
	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc(&memory, 4096));
	if (!rank) {
		OK(ncclGetUniqueId(&board->id));
		atomic_store(&board->has_id, 1);
	}
	wait_for(&board->has_id, 1);
	OK(ncclCommInitRank(&comm, nranks, board->id, rank));
	for (i = 0; i < 3; i++) {
		if (i == 2) {
			atomic_fetch_add(&board->arrived, 1);
			wait_for(&board->stage, rank == nranks - 1 ? COME : HANG);
		}
		/* Told to end without having been told to hang: of one mind. */
		if (i == 2 && atomic_load(&board->stage) == END)
			break;
		OK(ncclAllReduce((void *) memory, (void *) memory, 8, ncclFloat32,
				 ncclSum, comm, stream));
		OK(cuStreamSynchronize(stream));
	}
	atomic_fetch_add(&board->arrived, 1);
	wait_for(&board->stage, END);
	OK(ncclCommDestroy(comm));
	exit(0);
}

static void say(const char *text)
{
	puts(text);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int pid, status, worst = 0;
	char line[16];

	nranks = argc > 1 ? atoi(argv[1]) : 2;
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		return 2;
	for (rank = 0; rank < nranks; rank++) {
		pid = fork();
		if (!pid)
			run();
	}
	wait_for(&board->arrived, nranks);
	say("ready");
	while (fgets(line, sizeof(line), stdin)) {
		atomic_store(&board->stage, strcmp(line, "hang\n") ? COME : HANG);
		if (atomic_load(&board->stage) == COME)
			wait_for(&board->arrived, 2 * nranks);
		say("done");
	}
	atomic_store(&board->stage, END);
	while (wait(&status) > 0)
		worst |= status;
	return worst ? 1 : 0;
}
