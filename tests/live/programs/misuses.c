/* SPDX-License-Identifier: MIT */
/*
 * Two ranks that misuse their collective library in ways that are known, or, as "clean",
 * do the same work as it should be done.
 *
 *     misuses bad|clean
 *
 * bad: each rank has another NCCL_NTHREADS, which it sets between its first call and the
 * making of the communicator; uses a registered buffer in some operations and not in
 * others; sums up 16 numbers SMALL times, each by itself; waits inside WAITS groups;
 * polls POLLS times in a row; copies to the host COPIES times; and destroys nothing but
 * two communicators of its own; before the making of the second it sets NCCL_LATER.
 */
#include <cuda.h>
#include <nccl.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANKS 2
#define SMALL 300
#define WAITS 3
#define POLLS 2000
#define COPIES 20
#define COUNT 16384

#define CHECK(call) \
	do { \
		if ((call) != 0) { \
			fprintf(stderr, "misuses: %s failed\n", #call); \
			exit(1); \
		} \
	} while (0)

static ncclComm_t comm;
static CUstream stream;
static CUdeviceptr other;
static void *registered, *handle;

static void sum(void *buffer, size_t count)
{
	CHECK(ncclAllReduce(buffer, buffer, count, ncclFloat, ncclSum, comm, stream));
}

static void begin(int rank, ncclUniqueId id)
{
	CUcontext context;
	CUdevice device;

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, rank));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAlloc(&other, COUNT * sizeof(float)));
	CHECK(ncclCommInitRank(&comm, RANKS, id, rank));
	CHECK(ncclMemAlloc(&registered, COUNT * sizeof(float)));
	CHECK(ncclCommRegister(comm, registered, COUNT * sizeof(float), &handle));
}

/* The second time these calls are known, so only a look after one can see the variable.
 */
static void set_later(void)
{
	ncclUniqueId id;
	ncclComm_t own;
	int i;

	for (i = 0; i < 2; i++) {
		CHECK(ncclGetUniqueId(&id));
		if (i)
			setenv("NCCL_LATER", "yes", 1);
		CHECK(ncclCommInitRank(&own, 1, id, 0));
		CHECK(ncclCommDestroy(own));
	}
}

static void misuse(void)
{
	float number;
	ncclResult_t error;
	int i;

	for (i = 0; i < 4; i++)
		sum(registered, COUNT);
	for (i = 0; i < SMALL; i++)
		sum((void *) other, 16);
	for (i = 0; i < WAITS; i++) {
		CHECK(ncclGroupStart());
		sum((void *) other, COUNT);
		CHECK(cuStreamSynchronize(stream));
		CHECK(ncclGroupEnd());
	}
	CHECK(cuStreamSynchronize(stream));
	for (i = 0; i < POLLS; i++)
		CHECK(ncclCommGetAsyncError(comm, &error));
	for (i = 0; i < COPIES; i++)
		CHECK(cuMemcpyDtoH(&number, other, sizeof(number)));
}

static void use(void)
{
	int i;

	CHECK(ncclGroupStart());
	for (i = 0; i < 4; i++)
		sum(registered, COUNT);
	CHECK(ncclGroupEnd());
	CHECK(cuStreamSynchronize(stream));
	CHECK(ncclCommDeregister(comm, handle));
	CHECK(ncclMemFree(registered));
	CHECK(ncclCommDestroy(comm));
}

static void run(int rank, ncclUniqueId id, int is_bad)
{
	char text[301];
	int version;

	CHECK(ncclGetVersion(&version));
	if (is_bad) {
		memset(text, 'x', sizeof(text) - 1);
		text[sizeof(text) - 1] = '\0';
		setenv("NCCL_NTHREADS", rank ? "256" : "512", 1);
		setenv("NCCL_LONG", text, 1);
		setenv("NCCL_TEST_TOKEN", "hush", 1);
	}
	begin(rank, id);
	if (is_bad) {
		misuse();
		set_later();
	} else {
		use();
	}
	exit(0);
}

int main(int argc, char **argv)
{
	const pid_t parent = getpid();
	int rank, status, result = 0;
	int pipes[2];
	ncclUniqueId id;

	if (argc != 2 || pipe(pipes))
		return 2;
	for (rank = 0; rank < RANKS; rank++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			return 1;
		if (!rank) {
			CHECK(ncclGetUniqueId(&id));
			CHECK(write(pipes[1], &id, sizeof(id)) != (ssize_t) sizeof(id));
		} else {
			CHECK(read(pipes[0], &id, sizeof(id)) != (ssize_t) sizeof(id));
		}
		run(rank, id, !strcmp(argv[1], "bad"));
	}
	while (wait(&status) > 0)
		result |= status;
	return result != 0;
}
