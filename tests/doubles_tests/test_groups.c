/* SPDX-License-Identifier: MIT */
/*
 * Groups of the NCCL double with both ranks in one process: what happens at their
 * end and not before, what a failure takes with it, and who learns of it.
 */
#include "../lib/tap.h"

#include <cuda.h>
#include <nccl.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 2
#define COUNT 1000
#define BYTES (COUNT * sizeof(int32_t))

static CUcontext contexts[RANKS];
static CUstream streams[RANKS];
static CUdeviceptr sends[RANKS];
static CUdeviceptr recvs[RANKS];
static ncclComm_t comms[RANKS];

static void *at(CUdeviceptr memory)
{
	return (void *) (uintptr_t) memory;
}

static void clear(void)
{
	int r;

	for (r = 0; r < RANKS; r++) {
		cuCtxSetCurrent(contexts[r]);
		cuMemsetD32(sends[r], (unsigned int) r + 1, COUNT);
		cuMemsetD32(recvs[r], 0, COUNT);
	}
}

static ncclResult_t all_reduce(int r)
{
	return ncclAllReduce(at(sends[r]), at(recvs[r]), COUNT, ncclInt32, ncclSum,
			     comms[r], streams[r]);
}

/* Whether every element that the ranks have received is `value`. */
static bool all_hold(int32_t value)
{
	int32_t host[COUNT];
	int i;
	int r;

	for (r = 0; r < RANKS; r++) {
		cuCtxSetCurrent(contexts[r]);
		cuStreamSynchronize(streams[r]);
		cuMemcpyDtoH(host, recvs[r], BYTES);
		for (i = 0; i < COUNT; i++) {
			if (host[i] != value)
				return false;
		}
	}
	return true;
}

static bool group_works(void)
{
	int r;

	clear();
	ncclGroupStart();
	for (r = 0; r < RANKS; r++)
		all_reduce(r);
	return ncclGroupEnd() == ncclSuccess && all_hold(3);
}

static void test_depth(void)
{
	int r;

	ok(ncclGroupEnd() == ncclInvalidUsage, "an end without a start is wrong usage");
	clear();
	ncclGroupStart();
	ncclGroupStart();
	for (r = 0; r < RANKS; r++)
		all_reduce(r);
	ok(ncclGroupEnd() == ncclSuccess && all_hold(0), "the inner end runs nothing");
	ok(ncclGroupEnd() == ncclSuccess && all_hold(3), "the outer one does");
	ok(ncclGroupEnd() == ncclInvalidUsage, "and then there is none left");
}

static void test_failure(void)
{
	int r;

	clear();
	ncclGroupStart();
	for (r = 0; r < RANKS; r++)
		all_reduce(r);
	ncclGroupStart();
	ok(ncclSend(at(sends[0]), 1, ncclInt32, RANKS, comms[0], streams[0]) ==
		   ncclInvalidArgument,
	   "an operation fails inside a group");
	ok(ncclGroupEnd() == ncclSuccess, "the inner end does not fail");
	ok(ncclGroupEnd() == ncclInvalidArgument, "the outer one does");
	ok(all_hold(0), "and drops all operations of the group");
	ok(ncclGroupEnd() == ncclInvalidUsage, "the depth is decremented all the same");
	ok(group_works(), "the next group knows nothing of it");
	ncclGroupStart();
	ncclSend(at(sends[0]), 1, ncclInt32, RANKS, comms[0], streams[0]);
	ok(all_reduce(0) == ncclSuccess && ncclGroupEnd() == ncclInvalidArgument,
	   "what succeeds after a failure does not mend the group");

	ncclGroupStart();
	ncclAllReduce(at(sends[0]), at(recvs[0]), COUNT, ncclInt32, ncclSum, NULL,
		      streams[0]);
	ok(ncclGroupEnd() == ncclInvalidArgument,
	   "an operation of no communicator fails its group");
	ncclGroupStart();
	ncclCommCount(NULL, &r);
	ok(ncclGroupEnd() == ncclSuccess, "a question about none does not");
	ncclGroupStart();
	ncclSend(at(sends[0]), 1, ncclInt32, 0, comms[0], streams[0]);
	ok(ncclGroupEnd() == ncclInvalidUsage && group_works(),
	   "what fails only at the end fails it too, and nothing after it");
}

static ncclResult_t wait_for(ncclComm_t comm)
{
	ncclResult_t state;

	do
		ncclCommGetAsyncError(comm, &state);
	while (state == ncclInProgress);
	return state;
}

static ncclComm_t alone(int blocking)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclComm_t comm = NULL;
	ncclUniqueId id;

	config.blocking = blocking;
	ncclGetUniqueId(&id);
	cuCtxSetCurrent(contexts[0]);
	ncclCommInitRankConfig(&comm, 1, id, 0, &config);
	wait_for(comm);
	return comm;
}

static void test_nonblocking(void)
{
	ncclComm_t patient = alone(1);
	ncclComm_t other = alone(0);
	ncclResult_t state;
	ncclComm_t child = other;

	ok(ncclCommSplit(other, 0, 0, &child, NULL) == ncclSuccess && child != other,
	   "a nonblocking split returns success at once");
	ok(wait_for(other) == ncclSuccess && child, "and the parent's state says when");
	ncclGroupStart();
	ok(ncclCommFinalize(patient) == ncclSuccess &&
		   ncclCommFinalize(other) == ncclInvalidArgument,
	   "blocking and nonblocking communicators cannot meet in a group");
	ok(ncclGroupEnd() == ncclInvalidArgument, "which fails it");
	ok(wait_for(other) == ncclInvalidArgument, "and is the state of the latter");
	ok(ncclCommDestroy(other) == ncclInvalidArgument &&
		   ncclCommAbort(other) == ncclSuccess,
	   "which can only be aborted then");

	ncclGroupStart();
	ncclSend(at(sends[0]), 1, ncclInt32, 0, child, streams[0]);
	ok(ncclSend(at(sends[0]), 1, ncclInt32, 1, child, streams[0]) ==
			   ncclInvalidArgument &&
		   ncclCommGetAsyncError(child, &state) == ncclSuccess &&
		   state == ncclInvalidArgument,
	   "a failed call is the state of its nonblocking communicator at once");
	ok(ncclGroupEnd() == ncclInvalidArgument, "its group fails at the end");
	ncclCommAbort(child);
	ncclCommDestroy(patient);
}

static void test_destroy(void)
{
	ncclComm_t one = alone(1);
	ncclComm_t two = alone(1);
	int count = 0;

	ncclGroupStart();
	ncclCommDestroy(one);
	ncclCommAbort(two);
	ok(ncclCommCount(one, &count) == ncclSuccess && count == 1,
	   "a communicator that is destroyed inside a group is there until its end");
	ok(ncclGroupEnd() == ncclSuccess, "where both ways of taking it away succeed");
}

static void test_simulation(void)
{
	ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
	ncclComm_t comm = NULL;
	ncclUniqueId id;
	int r;

	ok(ncclGroupSimulateEnd(&info) == ncclInvalidUsage,
	   "without a start there is nothing to simulate");
	clear();
	ncclGetUniqueId(&id);
	ncclGroupStart();
	ncclGroupStart();
	ncclCommInitRank(&comm, 1, id, 0);
	for (r = 0; r < RANKS; r++)
		all_reduce(r);
	ok(ncclGroupSimulateEnd(&info) == ncclSuccess && info.estimatedTime < 0,
	   "an inner end simulates nothing");
	ok(ncclGroupSimulateEnd(&info) == ncclSuccess && info.estimatedTime > 0,
	   "the outer one says how long it would take");
	ok(all_hold(0) && ncclGroupEnd() == ncclInvalidUsage,
	   "ends the group, and runs no operation");
	ok(ncclCommCount(comm, &r) == ncclSuccess && r == 1,
	   "communicators are made all the same");
	ncclCommDestroy(comm);
	ok(group_works(), "the next group is a real one");
	clear();
	ncclGroupStart();
	for (r = 0; r < RANKS; r++)
		all_reduce(r);
	ok(ncclGroupSimulateEnd(NULL) == ncclSuccess && all_hold(3),
	   "and so is one that is simulated without telling how it went");
	info.magic = 0;
	ncclGroupStart();
	ok(ncclGroupSimulateEnd(&info) == ncclInvalidArgument,
	   "what is to be filled has to be initialised");
}

static void set_up(void)
{
	int r;

	cuInit(0);
	for (r = 0; r < RANKS; r++) {
		cuDevicePrimaryCtxRetain(&contexts[r], r);
		cuCtxSetCurrent(contexts[r]);
		cuStreamCreate(&streams[r], CU_STREAM_NON_BLOCKING);
		cuMemAlloc(&sends[r], BYTES);
		cuMemAlloc(&recvs[r], BYTES);
	}
	ncclCommInitAll(comms, RANKS, NULL);
}

int main(void)
{
	set_up();
	test_depth();
	test_failure();
	test_nonblocking();
	test_destroy();
	test_simulation();
	ncclGroupStart();
	ncclCommDestroy(comms[0]);
	ncclCommDestroy(comms[1]);
	ok(ncclGroupEnd() == ncclSuccess, "all are destroyed in one group");
	return tap_done();
}
