/* SPDX-License-Identifier: MIT */
/*
 * Prints what the NCCL double launches the kernels of one rank of two with, read by what
 * is known of NCCL's argument buffers and, until 2.21, of its works; and whether the
 * values that came of it are right.
 *
 * usage: forms MINOR BYTES FUNCTION_BITS: of the release the second number, of a
 * collective in a buffer the bytes, and of a function's number the bits
 */
#include "met_launch.h"

#include <nccl.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 2, COUNT = 1000, RING_WORK = 512, RING_COLL = 56, RING_SIDE = 28 };

static int minor;
static size_t coll_bytes;
static int function_bits;
/* Of the rank that is shown. */
static CUstream shown;

static ncclComm_t comms[RANKS];
static CUcontext contexts[RANKS];
static CUstream streams[RANKS];
static CUdeviceptr data[RANKS][2];

#define REQUIRE(call) \
	do { \
		if (call) { \
			fprintf(stderr, "forms: line %d: %s\n", __LINE__, #call); \
			exit(1); \
		} \
	} while (0)

static uint64_t number(const char *at, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, at, size);
	return value;
}

/* NCCL's ncclDevWorkColl: the padding of 2.30 and 2.31 is before the buffers. */
static void show_coll(const char *work)
{
	size_t counts = coll_bytes == 64 ? 24 : coll_bytes == 128 ? 80 : 56;
	unsigned int channels = (unsigned int) (work[1] - work[0] + 1);
	uint64_t count = number(work + counts, 8) + number(work + counts + 16, 8);

	if (channels > 2)
		count += number(work + counts + 8, 8) * (channels - 2);
	printf(" [coll warps %d root %d recv %d count %d]", work[2],
	       (int) number(work + 4, 4),
	       number(work + (coll_bytes == 128 ? 24 : 8), 8) == data[0][1], (int) count);
}

static void show_p2p(const char *work)
{
	printf(" [p2p %d to %d, %d from %d]", (int) number(work + 16, 8),
	       (int) number(work + 32, 4), (int) number(work + 24, 8),
	       (int) number(work + 36, 4));
}

static void show_batches(const char *buffer, unsigned int channels)
{
	uint64_t flags;
	uint64_t offset;
	uint64_t bits;
	unsigned int i;

	for (i = 0; i < channels; i++) {
		const char *batch = buffer + 32 + 16 * i;

		flags = number(batch, 4);
		offset = number(batch + 4, 4);
		bits = number(batch + 8, 8);
		printf(" function %u",
		       (unsigned int) (flags >> 17) & ((1U << function_bits) - 1));
		/* The first of the batch, where works are in the buffer. */
		if (i > 0 || buffer[16] != 0)
			continue;
		offset += (unsigned int) __builtin_ctzll(bits) *
			  (flags >> 15 & 3 ? coll_bytes : 48);
		(flags >> 15 & 3 ? show_coll : show_p2p)(buffer + offset);
	}
}

static void show_ring_coll(const char *elem)
{
	/* 2.21 has one byte more before the warps; the root moved in 2.20. */
	printf(" [coll warps %d root %d recv %d count %d]", elem[minor == 21 ? 2 : 1],
	       (int) number(elem + (minor < 20 ? 40 : 4), 4),
	       number(elem + 16, 8) == data[0][1], (int) number(elem + 24, 8));
}

static void show_ring_p2p(const char *sides)
{
	int i;

	for (i = 0; i < 2; i++) {
		const char *side = sides + i * RING_SIDE;

		printf(" [%s %d with %d]",
		       side[4] == 1   ? "send"
		       : side[4] == 2 ? "recv"
				      : "none",
		       (int) number(side + 20, 4), (int) number(side, 4) & 0x3fffffff);
	}
}

static void show_works(const char *head, unsigned int channels)
{
	unsigned int i;

	for (i = 0; i < channels; i++) {
		const char *work = head + RING_WORK * i;

		while (!(work[6] & 1))
			work = head + RING_WORK * (int32_t) number(work, 4);
		work = head + RING_WORK * i;
		printf(" function %u", (unsigned int) number(work + 4, 2));
		if (i == 0)
			(work[7] == 1 ? show_ring_coll : show_ring_p2p)(work + 8);
	}
}

static void meet_launch(const CUlaunchConfig *config, CUfunction f, void **parameters,
			void **extra)
{
	const char *name = "";
	char *head;

	if (config->hStream != shown)
		return;
	cuFuncGetName(&name, f);
	printf("%s", name);
	if (parameters) {
		memcpy(&head, parameters[2], sizeof(head));
		printf(" channels %x", (unsigned int) number(parameters[1], 8));
		show_works(head, config->gridDimX);
	} else {
		printf(" channels %x", (unsigned int) number((char *) extra[1] + 8, 8));
		show_batches(extra[1], config->gridDimX);
	}
	printf("\n");
}

static void set_up(void)
{
	int rank;

	REQUIRE(cuInit(0));
	for (rank = 0; rank < RANKS; rank++) {
		REQUIRE(cuDevicePrimaryCtxRetain(&contexts[rank], rank));
		REQUIRE(cuCtxSetCurrent(contexts[rank]));
		REQUIRE(cuStreamCreate(&streams[rank], CU_STREAM_NON_BLOCKING));
		REQUIRE(cuMemAlloc(&data[rank][0], COUNT * sizeof(int)));
		REQUIRE(cuMemAlloc(&data[rank][1], COUNT * sizeof(int)));
	}
	REQUIRE(ncclCommInitAll(comms, RANKS, NULL));
	shown = streams[0];
}

static void fill(void)
{
	int host[COUNT];
	int rank;
	int i;

	for (rank = 0; rank < RANKS; rank++) {
		for (i = 0; i < COUNT; i++)
			host[i] = rank ? 10 * i : i;
		cuCtxSetCurrent(contexts[rank]);
		cuMemcpyHtoD(data[rank][0], host, sizeof(host));
		cuMemsetD8(data[rank][1], 0, sizeof(host));
	}
}

static void *at(int rank, int which)
{
	return (void *) (uintptr_t) data[rank][which];
}

/* Whether each rank has so many times what the number of the element is. */
static void check(const char *what, int first, int second)
{
	const int factors[RANKS] = {first, second};
	int host[COUNT];
	int wrong = 0;
	int rank;
	int i;

	for (rank = 0; rank < RANKS; rank++) {
		cuCtxSetCurrent(contexts[rank]);
		cuStreamSynchronize(streams[rank]);
		cuMemcpyDtoH(host, data[rank][1], sizeof(host));
		for (i = 0; i < COUNT; i++)
			wrong += host[i] != factors[rank] * i;
	}
	printf("%s: %s\n", what, wrong ? "wrong" : "right");
}

static void all_reduce(ncclRedOp_t op)
{
	int rank;

	REQUIRE(ncclGroupStart());
	for (rank = 0; rank < RANKS; rank++)
		REQUIRE(ncclAllReduce(at(rank, 0), at(rank, 1), COUNT, ncclInt32, op,
				      comms[rank], streams[rank]));
	REQUIRE(ncclGroupEnd());
}

static void broadcast(void)
{
	int rank;

	REQUIRE(ncclGroupStart());
	for (rank = 0; rank < RANKS; rank++)
		REQUIRE(ncclBroadcast(at(rank, 0), at(rank, 1), COUNT, ncclInt32, 1,
				      comms[rank], streams[rank]));
	REQUIRE(ncclGroupEnd());
}

static void exchange(void)
{
	int rank;

	REQUIRE(ncclGroupStart());
	for (rank = 0; rank < RANKS; rank++) {
		REQUIRE(ncclSend(at(rank, 0), COUNT, ncclInt32, 1 - rank, comms[rank],
				 streams[rank]));
		REQUIRE(ncclRecv(at(rank, 1), COUNT, ncclInt32, 1 - rank, comms[rank],
				 streams[rank]));
	}
	REQUIRE(ncclGroupEnd());
}

static void replay(void)
{
	CUgraphExec exec[RANKS];
	CUgraph graphs[RANKS];
	int rank;
	int i;

	for (rank = 0; rank < RANKS; rank++) {
		cuCtxSetCurrent(contexts[rank]);
		cuStreamBeginCapture(streams[rank], CU_STREAM_CAPTURE_MODE_RELAXED);
	}
	all_reduce(ncclSum);
	for (rank = 0; rank < RANKS; rank++) {
		cuCtxSetCurrent(contexts[rank]);
		REQUIRE(cuStreamEndCapture(streams[rank], &graphs[rank]));
		REQUIRE(cuGraphInstantiate(&exec[rank], graphs[rank], 0));
	}
	for (i = 0; i < 3 * RANKS; i++) {
		cuCtxSetCurrent(contexts[i % RANKS]);
		REQUIRE(cuGraphLaunch(exec[i % RANKS], streams[i % RANKS]));
	}
}

int main(int argc, char **argv)
{
	int rank;

	if (argc != 4)
		return 2;
	minor = atoi(argv[1]);
	coll_bytes = (size_t) atoi(argv[2]);
	function_bits = atoi(argv[3]);
	set_up();
	fill();
	all_reduce(ncclSum);
	check("sum", 11, 11);
	all_reduce(ncclMax);
	check("most", 10, 10);
	all_reduce(ncclMin);
	check("least", 1, 1);
	broadcast();
	check("broadcast", 10, 10);
	exchange();
	check("exchange", 10, 1);
	replay();
	check("graph", 11, 11);
	for (rank = 0; rank < RANKS; rank++)
		ncclCommDestroy(comms[rank]);
	return 0;
}
