/* SPDX-License-Identifier: MIT */
/*
 * Two ranks that carry out one of each kind of operation, one after the other: no rank
 * begins one before the one before is over on both, messages and all.
 */
#include <cuda.h>
#include <nccl.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RANKS 2
#define COUNT 4096

/* A sender may see that a message has gone after its stream is done. */
#define REST_NS 20000000

#define CHECK(call) \
	do { \
		if ((call) != 0) { \
			fprintf(stderr, "flows: %s failed\n", #call); \
			exit(1); \
		} \
	} while (0)

struct rank {
	int number;
	int other; /* a socket to the other rank */
	void *from, *to;
	CUstream stream;
	ncclComm_t comm;
};

static void meet(const struct rank *rank)
{
	const struct timespec time = {.tv_nsec = REST_NS};
	char byte = 0;

	CHECK(cuStreamSynchronize(rank->stream));
	nanosleep(&time, NULL);
	CHECK(write(rank->other, &byte, 1) != 1);
	CHECK(read(rank->other, &byte, 1) != 1);
}

static void send_or_receive(const struct rank *rank)
{
	if (rank->number)
		CHECK(ncclRecv(rank->to, COUNT, ncclFloat, 0, rank->comm, rank->stream));
	else
		CHECK(ncclSend(rank->from, COUNT, ncclFloat, 1, rank->comm,
			       rank->stream));
}

static void exchange(const struct rank *rank)
{
	const int peer = !rank->number;

	CHECK(ncclGroupStart());
	CHECK(ncclSend(rank->from, COUNT, ncclFloat, peer, rank->comm, rank->stream));
	CHECK(ncclRecv(rank->to, COUNT, ncclFloat, peer, rank->comm, rank->stream));
	CHECK(ncclGroupEnd());
}

static void run_flows(const struct rank *rank)
{
	CHECK(ncclAllReduce(rank->from, rank->to, COUNT, ncclFloat, ncclSum, rank->comm,
			    rank->stream));
	meet(rank);
	CHECK(ncclAllGather(rank->from, rank->to, COUNT / RANKS, ncclFloat, rank->comm,
			    rank->stream));
	meet(rank);
	CHECK(ncclBroadcast(rank->from, rank->to, COUNT, ncclFloat, 0, rank->comm,
			    rank->stream));
	meet(rank);
	CHECK(ncclReduce(rank->from, rank->to, COUNT, ncclFloat, ncclSum, 0, rank->comm,
			 rank->stream));
	meet(rank);
	CHECK(ncclReduceScatter(rank->from, rank->to, COUNT / RANKS, ncclFloat, ncclSum,
				rank->comm, rank->stream));
	meet(rank);
	send_or_receive(rank);
	meet(rank);
	exchange(rank);
	meet(rank);
}

static void run(struct rank *rank)
{
	CUdeviceptr memory;
	CUcontext context;
	CUdevice device;
	ncclUniqueId id;

	if (!rank->number) {
		CHECK(ncclGetUniqueId(&id));
		CHECK(write(rank->other, &id, sizeof(id)) != (ssize_t) sizeof(id));
	} else {
		CHECK(read(rank->other, &id, sizeof(id)) != (ssize_t) sizeof(id));
	}
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, rank->number));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuStreamCreate(&rank->stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAlloc(&memory, COUNT * sizeof(float)));
	rank->from = (void *) memory;
	CHECK(cuMemAlloc(&memory, COUNT * sizeof(float)));
	rank->to = (void *) memory;
	CHECK(ncclCommInitRank(&rank->comm, RANKS, id, rank->number));
	run_flows(rank);
	CHECK(ncclCommDestroy(rank->comm));
	exit(0);
}

int main(void)
{
	const pid_t parent = getpid();
	int sockets[RANKS], status, result = 0;
	struct rank rank = {0};

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		return 2;
	for (; rank.number < RANKS; rank.number++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			return 1;
		rank.other = sockets[rank.number];
		close(sockets[!rank.number]);
		run(&rank);
	}
	while (wait(&status) > 0)
		result |= status;
	return result != 0;
}
