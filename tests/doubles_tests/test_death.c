/* SPDX-License-Identifier: MIT */
/*
 * What a rank of the NCCL double sees when another process is gone: a kernel that
 * never ends, an asynchronous error, and an abort that ends both.
 */
#include "../lib/tap.h"

#include <cuda.h>
#include <nccl.h>

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT 100000

static CUstream stream;
static CUdeviceptr buffer;

static ncclResult_t all_reduce(ncclComm_t comm)
{
	void *memory = (void *) (uintptr_t) buffer;

	return ncclAllReduce(memory, memory, COUNT, ncclFloat, ncclSum, comm, stream);
}

static void open_device(int number)
{
	CUcontext context;

	cuInit(0);
	cuDevicePrimaryCtxRetain(&context, number);
	cuCtxSetCurrent(context);
	cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
	cuMemAlloc(&buffer, COUNT * sizeof(float));
}

/* The other rank: on the device that is given, one sum, and then no more. */
static pid_t start_other(int number, const char *host_id, int id_pipe[2])
{
	ncclUniqueId id;
	ncclComm_t comm;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	if (host_id)
		setenv("NCCL_HOSTID", host_id, 1);
	if (read(id_pipe[0], &id, sizeof(id)) != (ssize_t) sizeof(id))
		_exit(1);
	open_device(number);
	if (ncclCommInitRank(&comm, 2, id, 1) != ncclSuccess)
		_exit(2);
	all_reduce(comm);
	cuStreamSynchronize(stream);
	raise(SIGKILL);
	_exit(3);
}

static int entries(const char *folder)
{
	DIR *dir = opendir(folder);
	int count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* Leaves by its own exit() with a communicator that nobody destroys, in use or not. */
static bool exits(bool is_in_use)
{
	ncclUniqueId id;
	ncclComm_t comm;
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		open_device(0);
		ncclGetUniqueId(&id);
		ncclCommInitRank(&comm, 1, id, 0);
		if (is_in_use) {
			ncclGroupStart();
			ncclSend(NULL, 0, ncclInt8, 0, comm, stream);
			ncclRecv(NULL, 0, ncclInt8, 0, comm, stream);
			ncclGroupEnd();
		}
		exit(7);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static void wait_for_threads(int count)
{
	/* Those that are joined stay listed for a moment. */
	while (entries("/proc/self/task") > count)
		sched_yield();
}

int main(void)
{
	ncclResult_t state;
	ncclComm_t comm;
	ncclUniqueId id;
	int id_pipe[2];
	int status;
	int files;
	int threads;
	pid_t pid;

	/* Over TCP wherever this runs: verbs take a minute to find a peer dead. */
	setenv("NCCL_IB_DISABLE", "1", 1);
	ok(exits(false) && exits(true),
	   "a communicator that is never destroyed does no harm at the exit");

	if (pipe(id_pipe))
		return 1;
	/* The same device: two ranks on one GPU, as NCCL_HOSTID permits it. */
	pid = start_other(0, "another host", id_pipe);
	open_device(0);
	/* So that both streams have their threads. */
	cuMemsetD8(buffer, 0, 1);
	cuMemsetD8Async(buffer, 0, 1, stream);
	threads = entries("/proc/self/task");
	files = entries("/proc/self/fd");
	ncclGetUniqueId(&id);
	if (write(id_pipe[1], &id, sizeof(id)) != (ssize_t) sizeof(id))
		return 1;
	ok(ncclCommInitRank(&comm, 2, id, 0) == ncclSuccess,
	   "two ranks can share a GPU when they claim to be on two hosts");
	ok(all_reduce(comm) == ncclSuccess && cuStreamSynchronize(stream) == CUDA_SUCCESS,
	   "a collective ends while both are there");
	waitpid(pid, &status, 0);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
	   "the other rank is killed");
	ok(all_reduce(comm) == ncclSuccess, "the next call knows nothing of it");
	do {
		sched_yield();
		ncclCommGetAsyncError(comm, &state);
	} while (state == ncclSuccess);
	ok(state == ncclRemoteError, "the communicator has a remote error");
	ok(all_reduce(comm) == ncclRemoteError &&
		   ncclCommDestroy(comm) == ncclRemoteError,
	   "which is the result of whatever is asked of it");
	ok(cuStreamQuery(stream) == CUDA_ERROR_NOT_READY, "and its kernel does not end");
	ok(ncclCommAbort(comm) == ncclSuccess &&
		   cuStreamSynchronize(stream) == CUDA_SUCCESS,
	   "until the communicator is aborted");
	wait_for_threads(threads);
	ok(entries("/proc/self/fd") == files,
	   "which leaves no thread and no file behind");
	cuMemFree(buffer);
	return tap_done();
}
