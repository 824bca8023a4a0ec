/* SPDX-License-Identifier: MIT */
/*
 * Calls NCCL so that the counters of `record --metrics` can be compared with what it
 * knows itself: two threads with a communicator each, calls that NCCL refuses, a group
 * that fails, communicators that go, and a child that calls NCCL, too.
 *
 * usage: counts FOLDER; writes FOLDER/truth, "FUNCTION CALLS FAILURES BYTES" in each
 * line, then makes FOLDER/at and ends when FOLDER/go is there.
 */
#include <cuda.h>
#include <nccl.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 1000
#define REFUSED 5
#define COMMS_GONE 300 /* more than have room */
#define NO_TYPE ((ncclDataType_t) 99)

static CUcontext context;
static CUdeviceptr memory;

static void need(int is_right, const char *what, int line)
{
	if (is_right)
		return;
	fprintf(stderr, "counts: line %d: %s\n", line, what);
	_exit(1);
}

#define IS(condition) need(condition, #condition, __LINE__)

/* ---- What it knows ---- */

enum function { INIT, ALL_REDUCE, ALL_GATHER, GROUP_END, DESTROY, ABORT, FUNCTIONS };

static const char *const names[FUNCTIONS] = {"ncclCommInitRank", "ncclAllReduce",
					     "ncclAllGather",	 "ncclGroupEnd",
					     "ncclCommDestroy",	 "ncclCommAbort"};
static unsigned long calls[FUNCTIONS], failures[FUNCTIONS], bytes[FUNCTIONS];

static int did(enum function function, int result, unsigned long size)
{
	calls[function]++;
	if (result)
		failures[function]++;
	else
		bytes[function] += size;
	return result;
}

static void write_truth(const char *folder)
{
	char path[512];
	FILE *file;
	int i;

	snprintf(path, sizeof(path), "%s/truth", folder);
	file = fopen(path, "w");
	IS(file != NULL);
	for (i = 0; i < FUNCTIONS; i++)
		fprintf(file, "%s %lu %lu %lu\n", names[i], calls[i], failures[i],
			bytes[i]);
	IS(!fclose(file));
}

/* ---- What it does ---- */

static ncclComm_t make(void)
{
	ncclUniqueId id;
	ncclComm_t comm;

	IS(!ncclGetUniqueId(&id));
	IS(!did(INIT, ncclCommInitRank(&comm, 1, id, 0), 0));
	return comm;
}

static int all_reduce(ncclComm_t comm, size_t count, ncclDataType_t type, size_t size)
{
	return did(ALL_REDUCE,
		   ncclAllReduce((void *) memory, (void *) memory, count, type, ncclSum,
				 comm, NULL),
		   count * size);
}

static void *reduce(void *comm)
{
	int i;

	IS(!cuCtxSetCurrent(context));
	for (i = 0; i < ROUNDS; i++)
		IS(!all_reduce(comm, 100, ncclInt32, 4));
	for (i = 0; i < REFUSED; i++)
		IS(all_reduce(comm, 100, NO_TYPE, 0));
	return NULL;
}

static void *gather(void *comm)
{
	int i;

	IS(!cuCtxSetCurrent(context));
	for (i = 0; i < ROUNDS; i++)
		IS(!did(ALL_GATHER,
			ncclAllGather((void *) memory, (void *) memory, 7, ncclBfloat16,
				      comm, NULL),
			7 * 2));
	return NULL;
}

static void use_threads(ncclComm_t comms[2])
{
	pthread_t threads[2];

	IS(!pthread_create(&threads[0], NULL, reduce, comms[0]));
	IS(!pthread_create(&threads[1], NULL, gather, comms[1]));
	IS(!pthread_join(threads[0], NULL));
	IS(!pthread_join(threads[1], NULL));
}

/* Its end fails, and drops the operation that was accepted. */
static void fail_in_group(void)
{
	ncclComm_t comm = make();

	IS(!ncclGroupStart());
	IS(!all_reduce(comm, 3, ncclFloat64, 8));
	IS(all_reduce(comm, 3, NO_TYPE, 0));
	IS(did(GROUP_END, ncclGroupEnd(), 0));
	IS(!did(ABORT, ncclCommAbort(comm), 0));
}

static void make_many(void)
{
	int i;

	for (i = 0; i < COMMS_GONE; i++) {
		ncclComm_t comm = make();

		IS(!all_reduce(comm, 1, ncclFloat16, 2));
		IS(!did(DESTROY, ncclCommDestroy(comm), 0));
	}
}

/* The child counts on its own: what it does changes nothing of its parent's. */
static void fork_child(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		IS(!ncclGroupStart());
		IS(!ncclGroupEnd());
		_exit(0);
	}
	IS(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
	did(GROUP_END, 0, 0);
}

static void wait_at(const char *folder)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/at", folder);
	file = fopen(path, "w");
	IS(file != NULL);
	fprintf(file, "%d\n", getpid());
	IS(!fclose(file));
	snprintf(path, sizeof(path), "%s/go", folder);
	while (access(path, F_OK))
		nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
	ncclComm_t comms[2];

	if (argc != 2)
		return 2;
	IS(!cuInit(0));
	IS(!cuDevicePrimaryCtxRetain(&context, 0));
	IS(!cuCtxSetCurrent(context));
	IS(!cuMemAlloc(&memory, 4096));
	comms[0] = make();
	comms[1] = make();
	IS(!ncclGroupStart());
	IS(!did(GROUP_END, ncclGroupEnd(), 0));
	fork_child();
	use_threads(comms);
	fail_in_group();
	make_many();
	write_truth(argv[1]);
	wait_at(argv[1]);
	IS(!ncclCommDestroy(comms[0]) && !ncclCommDestroy(comms[1]));
	return 0;
}
