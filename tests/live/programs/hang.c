/* SPDX-License-Identifier: MIT */
/*
 * Ranks that stand where a job does that hangs, each in another way.
 *
 * usage: hang FOLDER STUCK [OFTEN]; prints a line "RANK PID" for each rank.
 *
 * Ranks 0 and 1 wait in ncclCommSplit() for rank 2, which stays out of it.  Rank 3 is
 * alone and in a call of the library STUCK that never returns.  Rank 4 is told of an
 * error, twice, aborts and ends well.  A rank makes FOLDER/at.RANK when it has come so
 * far; all others wait to be killed.  With OFTEN another thread of rank 3 calls so much
 * that no small buffer keeps how its call began, and the parent calls before it forks.
 */
#include <cuda.h>
#include <nccl.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { TOGETHER = 3, STUCK = TOGETHER, ENDS, RANKS };

static struct board {
	ncclUniqueId id;
	int has_id;
} * board;
static const char *folder;
static int rank;

static void need(int result, const char *call)
{
	if (!result)
		return;
	fprintf(stderr, "hang: rank %d: %s: %d\n", rank, call, result);
	_exit(1);
}
#define OK(call) need((int) (call), #call)

static void nap(long ms)
{
	const struct timespec pause = {.tv_sec = ms / 1000,
				       .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&pause, NULL);
}

static void arrive(void)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/at.%d", folder, rank);
	file = fopen(path, "w");
	OK(!file || fclose(file));
}

static void wait_for_ever(void)
{
	for (;;)
		nap(1000);
}

static ncclComm_t init(int nranks)
{
	CUstream stream;
	CUcontext context;
	CUdeviceptr memory;
	ncclUniqueId id;
	ncclComm_t comm;

	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&context, rank));
	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc(&memory, 4096));
	if (nranks == 1) {
		OK(ncclGetUniqueId(&id));
	} else {
		if (rank == 0) {
			OK(ncclGetUniqueId(&board->id));
			__atomic_store_n(&board->has_id, 1, __ATOMIC_RELEASE);
		}
		while (!__atomic_load_n(&board->has_id, __ATOMIC_ACQUIRE))
			nap(1);
		id = board->id;
	}
	OK(ncclCommInitRank(&comm, nranks, id, nranks == 1 ? 0 : rank));
	OK(ncclAllReduce((void *) memory, (void *) memory, 8, ncclFloat32, ncclSum, comm,
			 stream));
	OK(cuStreamSynchronize(stream));
	return comm;
}

static void *call_often(void *unused)
{
	int version;

	for (;;) {
		OK(ncclGetVersion(&version));
		nap(1);
	}
	return unused;
}

static void *find(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	void *found = handle ? dlsym(handle, name) : NULL;

	OK(!found);
	return found;
}

/* What one thread begins the other one then overwrites: buffers are a processor's own. */
static void stay_here(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET((size_t) sched_getcpu(), &here);
	OK(sched_setaffinity(0, sizeof(here), &here));
}

static void stick(const char *library, bool is_often)
{
	ncclResult_t (*alloc)(void **, size_t) =
		(ncclResult_t(*)(void **, size_t)) find(library, "ncclMemAlloc");
	pthread_t other;
	void *memory;

	if (is_often) {
		stay_here();
		OK(pthread_create(&other, NULL, call_often, NULL));
	}
	arrive();
	alloc(&memory, 4096);
}

static void end_well(const char *library, ncclComm_t comm)
{
	ncclResult_t (*ask)(ncclComm_t, ncclResult_t *) =
		(ncclResult_t(*)(ncclComm_t,
				 ncclResult_t *)) find(library, "ncclCommGetAsyncError");
	ncclResult_t error;

	OK(ask(comm, &error));
	OK(ask(comm, &error));
	OK(ncclCommAbort(comm));
	arrive();
	exit(0);
}

static void run(const char *library, bool is_often)
{
	ncclComm_t comm, child;
	char number[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(number, sizeof(number), "%d", rank);
	OK(setenv("RANK", number, 1));
	comm = init(rank < TOGETHER ? TOGETHER : 1);
	if (rank == STUCK)
		stick(library, is_often);
	if (rank == ENDS)
		end_well(library, comm);
	arrive();
	if (rank < TOGETHER - 1)
		OK(ncclCommSplit(comm, 0, rank, &child, NULL));
	wait_for_ever();
}

int main(int argc, char **argv)
{
	int version;
	pid_t pid;

	folder = argv[1];
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc < 3 || board == MAP_FAILED)
		return 2;
	rank = -1;
	if (argc > 3)
		OK(ncclGetVersion(&version));
	for (rank = 0; rank < RANKS; rank++) {
		pid = fork();
		if (!pid)
			run(argv[2], argc > 3);
		printf("%d %d\n", rank, (int) pid);
		fflush(stdout);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
