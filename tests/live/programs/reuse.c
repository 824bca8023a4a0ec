/* SPDX-License-Identifier: MIT */
/*
 * Two ranks that make a communicator, use it and destroy it, ROUNDS times, so that its
 * address comes again and again; then one that is aborted and one that is never freed.
 *
 * usage: reuse ROUNDS; both print the addresses they had, one in a line.
 */
#include <cuda.h>
#include <nccl.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define OK(call) \
	do { \
		const int not_ok = (int) (call); \
		if (not_ok) { \
			fprintf(stderr, "reuse: rank %d: %s: %d\n", rank, #call, not_ok); \
			exit(1); \
		} \
	} while (0)

static int rank;
static CUstream stream;
static CUdeviceptr memory;

static ncclComm_t make(const int ids[2])
{
	ncclUniqueId id;
	ncclComm_t comm;

	if (rank == 0) {
		OK(ncclGetUniqueId(&id));
		OK(write(ids[1], &id, sizeof(id)) != sizeof(id));
	} else {
		OK(read(ids[0], &id, sizeof(id)) != sizeof(id));
	}
	OK(ncclCommInitRank(&comm, 2, id, rank));
	printf("%p\n", (void *) comm);
	return comm;
}

static void use(ncclComm_t comm, int times)
{
	for (; times; times--)
		OK(ncclAllReduce((void *) memory, (void *) memory, 4, ncclFloat32, ncclSum, comm,
				 stream));
	OK(cuStreamSynchronize(stream));
}

static void run_rank(const int ids[2], int rounds)
{
	CUcontext context;
	ncclComm_t comm;

	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&context, rank));
	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&stream, 0));
	OK(cuMemAlloc(&memory, 64));
	for (; rounds; rounds--) {
		comm = make(ids);
		use(comm, 1 + rounds % 3);
		OK(ncclCommDestroy(comm));
	}
	comm = make(ids);
	use(comm, 1);
	OK(ncclCommAbort(comm));
	use(make(ids), 2);
	exit(fflush(stdout) ? 1 : 0);
}

int main(int argc, char **argv)
{
	int ids[2], status, failed = 0, i;

	if (argc != 2) {
		fprintf(stderr, "usage: reuse ROUNDS\n");
		return 2;
	}
	if (pipe(ids))
		return 1;
	for (rank = 0; rank < 2; rank++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			run_rank(ids, atoi(argv[1]));
		}
	for (i = 0; i < 2; i++) {
		wait(&status);
		failed |= status != 0;
	}
	return failed;
}
