/* SPDX-License-Identifier: MIT */
/*
 * What the kernels of the NCCL double are launched with, read as a tracer would: by what
 * is known of NCCL's argument buffer.
 */
#include "programs/met_launch.h"

#include "../lib/tap.h"

#include <nccl.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 2, MAX_LAUNCHES = 4096, MAX_BATCHES = 256 };

struct seen {
	char kernel[128];
	uint64_t communicator;
	uint64_t mask;
	unsigned int grid;
	unsigned int cluster;
	size_t size;
	int storage;
	/* Of the lists of all channels. */
	unsigned int functions[MAX_BATCHES];
	unsigned int types[MAX_BATCHES];
	unsigned int works[MAX_BATCHES];
	unsigned int count;
};

static struct seen launches[MAX_LAUNCHES];
static unsigned int launch_count;

/* The list of one channel, which begins where the channel stands among those in use. */
static void read_channel(const char *buffer, unsigned int place, struct seen *seen)
{
	uint32_t flags;
	uint64_t bits;

	do {
		memcpy(&flags, buffer + 32 + 16 * place, 4);
		memcpy(&bits, buffer + 32 + 16 * place + 8, 8);
		seen->types[seen->count] = flags >> 15 & 3;
		seen->works[seen->count] = (unsigned int) __builtin_popcountll(bits);
		seen->functions[seen->count++] = flags >> 17;
		place += flags & 0x3fff;
	} while ((flags & 0x3fff) && seen->count < MAX_BATCHES);
}

static void read_batches(const char *buffer, struct seen *seen)
{
	unsigned int channel;

	for (channel = 0; channel < seen->grid; channel++)
		read_channel(buffer, channel, seen);
}

static void meet_launch(const CUlaunchConfig *config, CUfunction f, void **parameters,
			void **extra)
{
	struct seen *seen = &launches[launch_count % MAX_LAUNCHES];
	const char *buffer = extra ? extra[1] : NULL;
	const char *name = "";

	memset(seen, 0, sizeof(*seen));
	cuFuncGetName(&name, f);
	strncpy(seen->kernel, name, sizeof(seen->kernel) - 1);
	seen->grid = config->gridDimX;
	seen->cluster = config->numAttrs ? config->attrs[0].value.clusterDim.x : 0;
	if (buffer && extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER && !parameters) {
		seen->size = *(size_t *) extra[3];
		memcpy(&seen->communicator, buffer, 8);
		memcpy(&seen->mask, buffer + 8, 8);
		seen->storage = buffer[16];
		read_batches(buffer, seen);
	}
	launch_count++;
}

static ncclComm_t comms[RANKS];
static CUstream streams[RANKS];
static CUcontext contexts[RANKS];
static CUdeviceptr buffers[RANKS][2];

enum { BUFFER_BYTES = 4 << 20 };

static void *data(int rank, int which)
{
	return (void *) (uintptr_t) buffers[rank][which];
}

static void set_up(void)
{
	int rank;

	for (rank = 0; rank < RANKS; rank++) {
		cuDevicePrimaryCtxRetain(&contexts[rank], rank);
		cuCtxSetCurrent(contexts[rank]);
		cuStreamCreate(&streams[rank], CU_STREAM_NON_BLOCKING);
		cuMemAlloc(&buffers[rank][0], BUFFER_BYTES);
		cuMemAlloc(&buffers[rank][1], BUFFER_BYTES);
		cuMemsetD8(buffers[rank][0], 1, BUFFER_BYTES);
	}
	ok(ncclCommInitAll(comms, RANKS, NULL) == ncclSuccess, "there are communicators");
	ok(ask_count > 440, "the library's runtime asked for all it wants");
}

static void wait_for_all(void)
{
	int rank;

	for (rank = 0; rank < RANKS; rank++) {
		cuCtxSetCurrent(contexts[rank]);
		cuStreamSynchronize(streams[rank]);
	}
}

static void all_reduce(size_t count, ncclDataType_t type, ncclRedOp_t op)
{
	int rank;

	launch_count = 0;
	ncclGroupStart();
	for (rank = 0; rank < RANKS; rank++)
		ncclAllReduce(data(rank, 0), data(rank, 1), count, type, op, comms[rank],
			      streams[rank]);
	ncclGroupEnd();
	wait_for_all();
}

static bool is_kernel(unsigned int launch, const char *name)
{
	char whole[128];

	snprintf(whole, sizeof(whole),
		 "_Z%zuncclDevKernel_%s24ncclDevKernelArgsStorageILm4096EE",
		 strlen(name) + strlen("ncclDevKernel_"), name);
	return strcmp(launches[launch].kernel, whole) == 0;
}

static void test_one(void)
{
	all_reduce(1, ncclInt32, ncclSum);
	ok(launch_count == RANKS && is_kernel(0, "AllReduce_Sum_u32_RING_LL") &&
		   launches[0].grid == 1 && launches[0].mask == 1,
	   "a small collective has a channel for each element at most");
	/* Numbers of NCCL 2.28.9, as its own table has them. */
	ok(launches[0].count == 1 && launches[0].functions[0] == 296 &&
		   launches[0].types[0] == 1 && launches[0].works[0] == 1 &&
		   launches[0].size == 32 + 16 + 96 + 16,
	   "the number in the arguments is that of the function");
	ok(launches[0].communicator && launches[1].communicator &&
		   launches[0].communicator != launches[1].communicator,
	   "each communicator is told apart by its address");
	all_reduce(1 << 20, ncclFloat32, ncclMax);
	ok(is_kernel(0, "AllReduce_Sum_f32_RING_LL") && launches[0].mask == 0xf &&
		   launches[0].grid == 4 && launches[0].cluster == 4,
	   "a large one has more channels, and the kernel of another function");
	ok(launches[0].functions[0] != 296 && launches[0].count == 4 &&
		   launches[0].storage == 0,
	   "which its number tells");
}

static void test_fused(void)
{
	int rank;

	launch_count = 0;
	ncclGroupStart();
	for (rank = 0; rank < RANKS; rank++) {
		ncclSend(data(rank, 0), 10, ncclInt8, 1 - rank, comms[rank],
			 streams[rank]);
		ncclRecv(data(rank, 1), 10, ncclInt8, 1 - rank, comms[rank],
			 streams[rank]);
		ncclAllGather(data(rank, 0), (char *) data(rank, 1) + 64, 2000000,
			      ncclInt8, comms[rank], streams[rank]);
		ncclBroadcast(data(rank, 0), data(rank, 1), 8, ncclInt8, 0, comms[rank],
			      streams[rank]);
	}
	ncclGroupEnd();
	wait_for_all();
	ok(launch_count == RANKS && launches[0].count >= 3,
	   "a group is one kernel for each communicator");
	ok(is_kernel(0, "SendRecv"), "that of the only function that has one of its own");
}

static void test_many(void)
{
	int rank;
	int i;

	launch_count = 0;
	ncclGroupStart();
	for (rank = 0; rank < RANKS; rank++) {
		for (i = 0; i < 300; i++)
			ncclAllReduce(data(rank, 0), data(rank, 1), 1,
				      i % 2 ? ncclInt32 : ncclFloat32, ncclSum,
				      comms[rank], streams[rank]);
	}
	ncclGroupEnd();
	wait_for_all();
	ok(launch_count >= RANKS && launches[0].storage == 1 && launches[0].size <= 4096,
	   "works that do not fit lie elsewhere");
}

static void test_graph(void)
{
	CUgraphExec exec[RANKS];
	CUgraph graphs[RANKS];
	uint8_t host[4] = "";
	int rank;
	int i;

	launch_count = 0;
	for (rank = 0; rank < RANKS; rank++) {
		cuCtxSetCurrent(contexts[rank]);
		cuStreamBeginCapture(streams[rank], CU_STREAM_CAPTURE_MODE_RELAXED);
	}
	ncclGroupStart();
	for (rank = 0; rank < RANKS; rank++)
		ncclAllReduce(data(rank, 1), data(rank, 1), 4, ncclUint8, ncclSum,
			      comms[rank], streams[rank]);
	ncclGroupEnd();
	for (rank = 0; rank < RANKS; rank++) {
		cuCtxSetCurrent(contexts[rank]);
		cuMemsetD8(buffers[rank][1], 1, 4);
		cuStreamEndCapture(streams[rank], &graphs[rank]);
		cuGraphInstantiate(&exec[rank], graphs[rank], 0);
	}
	ok(launch_count == RANKS, "a collective is captured");
	for (i = 0; i < 5; i++) {
		for (rank = 0; rank < RANKS; rank++) {
			cuCtxSetCurrent(contexts[rank]);
			cuGraphLaunch(exec[rank], streams[rank]);
		}
	}
	wait_for_all();
	cuMemcpyDtoH(host, buffers[1][1], 4);
	ok(launch_count == RANKS && host[0] == 32,
	   "and carried out at every launch of the graph");
	for (rank = 0; rank < RANKS; rank++) {
		cuGraphExecDestroy(exec[rank]);
		cuGraphDestroy(graphs[rank]);
	}
}

/* What does not go through a stream in order is found by doing it over and over. */
static void capture_exchange(CUgraphExec *exec, CUgraph *graphs)
{
	int rank;

	for (rank = 0; rank < RANKS; rank++) {
		cuCtxSetCurrent(contexts[rank]);
		cuStreamBeginCapture(streams[rank], CU_STREAM_CAPTURE_MODE_RELAXED);
	}
	ncclGroupStart();
	for (rank = 0; rank < RANKS; rank++) {
		ncclSend(data(rank, 0), 300000, ncclUint8, 1 - rank, comms[rank],
			 streams[rank]);
		ncclRecv(data(rank, 1), 300000, ncclUint8, 1 - rank, comms[rank],
			 streams[rank]);
		ncclSend(data(rank, 0), 10, ncclUint8, rank, comms[rank], streams[rank]);
		ncclRecv((char *) data(rank, 1) + 300000, 10, ncclUint8, rank,
			 comms[rank], streams[rank]);
	}
	ncclGroupEnd();
	ncclGroupStart();
	for (rank = 0; rank < RANKS; rank++)
		ncclAllReduce(data(rank, 1), data(rank, 0), 300010, ncclUint8, ncclSum,
			      comms[rank], streams[rank]);
	ncclGroupEnd();
	for (rank = 0; rank < RANKS; rank++) {
		cuStreamEndCapture(streams[rank], &graphs[rank]);
		cuCtxSetCurrent(contexts[rank]);
		cuGraphInstantiate(&exec[rank], graphs[rank], 0);
	}
}

static void test_exchange(void)
{
	CUgraphExec exec[RANKS];
	CUgraph graphs[RANKS];
	uint8_t host[300010];
	bool is_right = true;
	int rank;
	int i;

	capture_exchange(exec, graphs);
	for (rank = 0; rank < RANKS; rank++)
		cuMemsetD8(buffers[rank][0], (unsigned char) (rank + 1), BUFFER_BYTES);
	for (i = 0; i < 6; i++) {
		for (rank = 0; rank < RANKS; rank++) {
			cuCtxSetCurrent(contexts[rank]);
			cuGraphLaunch(exec[rank], streams[rank]);
		}
	}
	wait_for_all();
	cuMemcpyDtoH(host, buffers[0][0], sizeof(host));
	/* The sum of both doubles what is the same on both: 3, 6 and so on, modulo 256.
	 */
	for (i = 0; i < 300010; i++)
		is_right &= host[i] == 3 * 32;
	ok(is_right, "transfers, one of them to itself, and what uses them are repeated");
	for (rank = 0; rank < RANKS; rank++) {
		cuGraphExecDestroy(exec[rank]);
		cuGraphDestroy(graphs[rank]);
	}
}

int main(void)
{
	int rank;

	setenv("NCCL_MIN_NCHANNELS", "4", 1);
	setenv("NCCL_ALGO", "ring", 1);
	setenv("NCCL_PROTO", "simple", 1);
	cuInit(0);
	set_up();
	test_one();
	test_fused();
	test_many();
	test_graph();
	test_exchange();
	for (rank = 0; rank < RANKS; rank++)
		ncclCommDestroy(comms[rank]);
	return tap_done();
}
