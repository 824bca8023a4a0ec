/* SPDX-License-Identifier: MIT */
/*
 * Ranks that all sum up, one of which is late, in the way that is asked for; it writes
 * down how late it was.  Each rank also rests for a random time before each sum, as real
 * ranks do.
 *
 *     straggler RANKS SUMS JITTER_US SEED RANK MS FROM EVERY host|gpu
 *
 * The rank rests for MS before each EVERY-th sum from FROM on, counted from 0: on the
 * host, or on its stream.  It writes "late SUM NS" to stdout, NS being what it really
 * took.
 */
#include <cuda.h>
#include <nccl.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT 65536

#define CHECK(call) \
	do { \
		if ((call) != 0) { \
			fprintf(stderr, "straggler: %s failed\n", #call); \
			exit(1); \
		} \
	} while (0)

struct rest {
	long ms;
	int sum;
};

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t) time.tv_sec * 1000000000 + time.tv_nsec;
}

static void rest_us(long us)
{
	const struct timespec time = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&time, NULL);
}

static void rest(void *data)
{
	const struct rest *rest = data;
	const int64_t begin_ns = now_ns();
	char line[64];
	int length;

	rest_us(rest->ms * 1000);
	length = snprintf(line, sizeof(line), "late %d %lld\n", rest->sum,
			  (long long) (now_ns() - begin_ns));
	if (write(STDOUT_FILENO, line, (size_t) length) != length)
		_exit(1);
}

static void run(int rank, int ranks, ncclUniqueId id, char **argv)
{
	const int sums = atoi(argv[2]), late = atoi(argv[5]), from = atoi(argv[7]);
	const int every = atoi(argv[8]);
	const long jitter_us = atol(argv[3]);
	const bool is_gpu = !strcmp(argv[9], "gpu");
	const bool is_net = !strcmp(argv[9], "net");
	char faults[64];
	struct rest rests = {.ms = atol(argv[6])};
	CUdeviceptr from_memory, to_memory;
	CUcontext context;
	CUdevice device;
	CUstream stream;
	ncclComm_t comm;
	int i;

	if (is_net && rank == late) {
		snprintf(faults, sizeof(faults), "delay=%ld", rests.ms * 1000);
		setenv("SOFTVERBS_FAULTS", faults, 1);
	}
	srandom((unsigned int) (atoi(argv[4]) * 1000 + rank));
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, rank));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAlloc(&from_memory, COUNT * sizeof(float)));
	CHECK(cuMemAlloc(&to_memory, COUNT * sizeof(float)));
	CHECK(ncclCommInitRank(&comm, ranks, id, rank));
	for (i = 0; i < sums; i++) {
		if (jitter_us)
			rest_us(random() % jitter_us);
		rests.sum = i;
		if (rank == late && !is_net && i >= from && !((i - from) % every)) {
			if (is_gpu)
				CHECK(cuLaunchHostFunc(stream, rest, &rests));
			else
				rest(&rests);
		}
		CHECK(ncclAllReduce((void *) from_memory, (void *) to_memory, COUNT,
				    ncclFloat, ncclSum, comm, stream));
		CHECK(cuStreamSynchronize(stream));
	}
	CHECK(ncclCommDestroy(comm));
	exit(0);
}

int main(int argc, char **argv)
{
	const pid_t parent = getpid();
	int rank, ranks, status, result = 0;
	int pipes[2];
	ncclUniqueId id;

	if (argc != 10 || pipe(pipes))
		return 2;
	ranks = atoi(argv[1]);
	for (rank = 0; rank < ranks; rank++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			return 1;
		if (!rank) {
			int other;

			CHECK(ncclGetUniqueId(&id));
			for (other = 1; other < ranks; other++)
				CHECK(write(pipes[1], &id, sizeof(id)) !=
				      (ssize_t) sizeof(id));
		} else {
			CHECK(read(pipes[0], &id, sizeof(id)) != (ssize_t) sizeof(id));
		}
		run(rank, ranks, id, argv);
	}
	while (wait(&status) > 0)
		result |= status;
	return result != 0;
}
