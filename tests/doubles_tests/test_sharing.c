/* SPDX-License-Identifier: MIT */
/*
 * Children of the NCCL double that share their parent's resources: they have no threads
 * and no connections of their own, outlive it, and are aborted with it.
 */
#include "ranks.h"

/* Of the bootstrap, which each communicator has for itself. */
#define RING_SOCKETS 3

static int descriptor_count(void)
{
	DIR *descriptors = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(descriptors))
		count++;
	closedir(descriptors);
	return count;
}

static ncclComm_t init_sharing(int rank, int nranks)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclComm_t comm;

	config.splitShare = 1;
	config.shrinkShare = 1;
	comm = init(rank, nranks, &config);
	REQUIRE(works(comm, nranks, rank));
	return comm;
}

static ncclComm_t split(ncclComm_t parent, int color, int key, int rank)
{
	ncclComm_t child = NULL;

	REQUIRE(ncclCommSplit(parent, color, key, &child, NULL) == ncclSuccess);
	return child;
}

static void share_a_split(int rank)
{
	int before = thread_count();
	ncclComm_t parent = init_sharing(rank, 4);
	int threads = thread_count();
	ncclComm_t child = split(parent, rank % 2, -rank, rank);
	ncclComm_t grandchild;

	/* The other way round in each: rank 2 comes before rank 0. */
	REQUIRE(works(child, 2, 1 - rank / 2));
	REQUIRE(works(parent, 4, rank));
	grandchild = split(child, 0, rank, rank);
	REQUIRE(works(grandchild, 2, rank / 2));
	REQUIRE(thread_count() == threads);
	/* Whoever made the threads goes first. */
	REQUIRE(ncclCommDestroy(parent) == ncclSuccess);
	REQUIRE(works(child, 2, 1 - rank / 2));
	REQUIRE(ncclCommDestroy(child) == ncclSuccess);
	REQUIRE(thread_count() == threads);
	leave(grandchild, rank, 4);
	while (thread_count() > before)
		sched_yield();
}

static void share_connections(int rank)
{
	ncclComm_t parent = init_sharing(rank, 2);
	int descriptors = descriptor_count();
	ncclComm_t child = split(parent, 0, -rank, rank);

	REQUIRE(works(child, 2, 1 - rank));
	REQUIRE(descriptor_count() == descriptors + RING_SOCKETS);
	REQUIRE(works(parent, 2, rank));
	REQUIRE(ncclCommDestroy(child) == ncclSuccess);
	REQUIRE(descriptor_count() == descriptors);
	leave(parent, rank, 2);
}

/* The connections of the child that the parent had no use for are the parent's then. */
static void share_later(int rank)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclComm_t parent;
	ncclComm_t child;

	config.splitShare = 1;
	parent = init(rank, 3, &config);
	child = split(parent, 0, -rank, rank);
	REQUIRE(works(child, 3, 2 - rank));
	REQUIRE(works(parent, 3, rank));
	REQUIRE(works(child, 3, 2 - rank));
	REQUIRE(ncclCommDestroy(parent) == ncclSuccess);
	leave(child, rank, 3);
}

static void share_by_environment(int rank)
{
	ncclComm_t parent;
	ncclComm_t child;
	int threads;

	setenv("NCCL_COMM_SPLIT_SHARE_RESOURCES", "1", 1);
	parent = init(rank, 2, NULL);
	threads = thread_count();
	child = split(parent, 0, rank, rank);
	REQUIRE(thread_count() == threads);
	REQUIRE(works(child, 2, rank));
	REQUIRE(ncclCommDestroy(child) == ncclSuccess);
	leave(parent, rank, 2);
}

static void share_nothing(int rank)
{
	ncclComm_t parent = init(rank, 2, NULL);
	int threads = thread_count();
	ncclComm_t child = split(parent, 0, rank, rank);

	/* A service thread and the one for UDS. */
	REQUIRE(thread_count() == threads + 2);
	REQUIRE(works(child, 2, rank));
	REQUIRE(ncclCommDestroy(child) == ncclSuccess);
	leave(parent, rank, 2);
}

static void share_a_shrink(int rank)
{
	ncclComm_t parent = init_sharing(rank, 3);
	ncclComm_t child = NULL;
	int excluded[1] = {1};
	int threads = thread_count();

	if (rank == 1) {
		leave(parent, rank, 3);
		return;
	}
	REQUIRE(ncclCommShrink(parent, excluded, 1, &child, NULL, NCCL_SHRINK_DEFAULT) ==
		ncclSuccess);
	REQUIRE(thread_count() == threads);
	REQUIRE(works(child, 2, rank / 2));
	REQUIRE(ncclCommDestroy(child) == ncclSuccess);
	/* What was interrupted is not shared. */
	REQUIRE(ncclCommShrink(parent, excluded, 1, &child, NULL, NCCL_SHRINK_ABORT) ==
		ncclSuccess);
	REQUIRE(thread_count() == threads + 2);
	REQUIRE(works(child, 2, rank / 2));
	REQUIRE(ncclCommDestroy(child) == ncclSuccess);
	leave(parent, rank, 3);
}

/* To the other rank and from it, or a sum: connections of different kinds. */
static void use(ncclComm_t comm, int rank, bool is_sum, CUdeviceptr values, CUstream own)
{
	void *data = (void *) (uintptr_t) values;

	if (is_sum) {
		REQUIRE(ncclAllReduce(data, data, COUNT, ncclInt32, ncclSum, comm, own) ==
			ncclSuccess);
		return;
	}
	ncclGroupStart();
	ncclSend(data, COUNT, ncclInt32, 1 - rank, comm, own);
	ncclRecv((int32_t *) data + COUNT, COUNT, ncclInt32, 1 - rank, comm, own);
	REQUIRE(ncclGroupEnd() == ncclSuccess);
}

/*
 * One progress thread for both: what comes first on one rank may come last on the other,
 * in streams of their own, unless it goes over one connection.
 */
static void share_out_of_order(int rank)
{
	ncclComm_t parent = init_sharing(rank, 2);
	ncclComm_t comms[2] = {parent, split(parent, 0, rank, rank)};
	CUdeviceptr values[2];
	CUstream own[2];
	int32_t host[COUNT];
	int round;
	int i;

	for (i = 0; i < 2; i++) {
		cuStreamCreate(&own[i], CU_STREAM_NON_BLOCKING);
		cuMemAlloc(&values[i], 2 * sizeof(host));
		cuMemsetD32(values[i], 1, COUNT);
		/* What connects waits for the other rank. */
		use(comms[i], rank, i, values[i], own[i]);
	}
	for (round = 1; round < 10; round++) {
		for (i = 0; i < 2; i++)
			use(comms[rank ^ i], rank, rank ^ i, values[rank ^ i],
			    own[rank ^ i]);
	}
	for (i = 0; i < 2; i++) {
		REQUIRE(cuStreamSynchronize(own[i]) == CUDA_SUCCESS);
		cuMemcpyDtoH(host, values[i] + (i ? 0 : sizeof(host)), sizeof(host));
		REQUIRE(host[0] == (i ? 1 << 10 : 1) && host[COUNT - 1] == host[0]);
	}
	REQUIRE(ncclCommDestroy(comms[1]) == ncclSuccess);
	leave(parent, rank, 2);
}

/* The other rank never comes: what the parent waits for ends with the child. */
static void abort_together(int rank)
{
	ncclComm_t parent = init_sharing(rank, 2);
	ncclComm_t child = split(parent, 0, rank, rank);

	if (rank == 0) {
		REQUIRE(ncclAllReduce(memory(), memory(), COUNT, ncclInt32, ncclSum,
				      parent, stream) == ncclSuccess);
		REQUIRE(cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
		REQUIRE(ncclCommAbort(child) == ncclSuccess);
		REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
		atomic_store(&board->done, 1);
		REQUIRE(ncclCommAbort(parent) == ncclSuccess);
		return;
	}
	wait_for(&board->done, 1);
	REQUIRE(ncclCommAbort(child) == ncclSuccess);
	REQUIRE(ncclCommAbort(parent) == ncclSuccess);
}

/* All ranks in one process, each with a thread of its own while they split. */
static void share_in_one_process(int rank)
{
	enum { RANKS = 3 };
	ncclComm_t parents[RANKS];
	ncclComm_t children[RANKS] = {NULL};
	ncclResult_t state;
	int threads;
	int r;

	setenv("NCCL_COMM_SPLIT_SHARE_RESOURCES", "1", 1);
	REQUIRE(ncclCommInitAll(parents, RANKS, NULL) == ncclSuccess);
	wait_for_root();
	threads = thread_count();
	ncclGroupStart();
	for (r = 0; r < RANKS; r++)
		REQUIRE(ncclCommSplit(parents[r], 0, -r, &children[r], NULL) ==
			ncclSuccess);
	REQUIRE(ncclGroupEnd() == ncclSuccess);
	REQUIRE(thread_count() == threads);
	for (r = 0; r < RANKS; r++) {
		int own = -1;

		REQUIRE(ncclCommUserRank(children[r], &own) == ncclSuccess);
		REQUIRE(own == RANKS - 1 - r);
		REQUIRE(ncclCommGetAsyncError(children[r], &state) == ncclSuccess);
		REQUIRE(state == ncclSuccess);
	}
	for (r = 0; r < RANKS; r++) {
		REQUIRE(ncclCommDestroy(parents[r]) == ncclSuccess);
		REQUIRE(ncclCommDestroy(children[r]) == ncclSuccess);
	}
}

static void refuse_nonsense(int rank)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclComm_t comm = NULL;

	config.splitShare = 2;
	REQUIRE(ncclCommInitRankConfig(&comm, 1, shared_id(rank), 0, &config) ==
		ncclInvalidArgument);
	config.splitShare = 1;
	config.shrinkShare = -1;
	REQUIRE(ncclCommInitRankConfig(&comm, 1, shared_id(rank), 0, &config) ==
		ncclInvalidArgument);
	/* A program of a release without the second says nothing of it. */
	config.size = 56;
	REQUIRE(ncclCommInitRankConfig(&comm, 1, shared_id(rank), 0, &config) ==
		ncclSuccess);
	REQUIRE(ncclCommDestroy(comm) == ncclSuccess);
}

int main(void)
{
	if (!prepare_ranks())
		return 1;
	ok(in_processes(4, share_a_split),
	   "children use their parent's threads, and outlive it");
	ok(in_processes(2, share_connections), "and its connections");
	ok(in_processes(3, share_later), "which it gets when they have need of them");
	ok(in_processes(2, share_by_environment), "the environment may say so");
	ok(in_processes(2, share_nothing), "else they have their own");
	ok(in_processes(3, share_a_shrink), "a shrink shares unless it interrupts");
	ok(in_processes(2, share_out_of_order),
	   "neither waits for the other, whatever the order");
	ok(in_processes(2, abort_together), "who aborts a child aborts its parent");
	ok(in_processes(1, share_in_one_process),
	   "ranks of one process share each its own");
	ok(in_processes(1, refuse_nonsense), "what is neither yes nor no is refused");
	return tap_done();
}
