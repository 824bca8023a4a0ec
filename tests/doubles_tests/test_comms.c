/* SPDX-License-Identifier: MIT */
/*
 * The ways to make a communicator of the NCCL double other than by one id, each
 * rank in a process of its own.
 */
#include "ranks.h"

#include <netinet/in.h>
#include <sys/socket.h>

/* Each id from another rank, and the roots of all of them come to their end. */
static void init_by_ids(int rank, int nranks, int id_count)
{
	ncclComm_t comm = NULL;
	int before = thread_count();

	if (rank < id_count) {
		ncclGetUniqueId(&board->ids[rank]);
		atomic_fetch_add(&board->id_count, 1);
	}
	wait_for(&board->id_count, id_count);
	REQUIRE(ncclCommInitRankScalable(&comm, nranks, rank, id_count, board->ids,
					 NULL) == ncclSuccess);
	REQUIRE(works(comm, nranks, rank));
	REQUIRE(ncclCommDestroy(comm) == ncclSuccess);
	while (thread_count() > before)
		sched_yield();
}

static void init_by_two(int rank)
{
	init_by_ids(rank, 5, 2);
}

static void init_by_four(int rank)
{
	init_by_ids(rank, 4, 4);
}

static void init_by_one(int rank)
{
	init_by_ids(rank, 3, 1);
}

/* Each makes the same id by itself, and uses it again and again. */
static void init_by_environment(int rank)
{
	ncclUniqueId ids[2];
	ncclComm_t comm = NULL;
	int i;

	for (i = 0; i < 3; i++) {
		REQUIRE(ncclGetUniqueId(&ids[i > 0]) == ncclSuccess);
		REQUIRE(i == 0 || memcmp(&ids[0], &ids[1], sizeof(ids[0])) == 0);
		REQUIRE(ncclCommInitRank(&comm, 3, ids[0], rank) == ncclSuccess);
		REQUIRE(works(comm, 3, rank));
		REQUIRE(ncclCommDestroy(comm) == ncclSuccess);
	}
}

/* A port that is free and that nobody is given who wants any. */
static void set_address(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int port = 10000 + getpid() % 20000;
	char text[32];

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	do
		address.sin_port = htons((uint16_t) ++port);
	while (bind(fd, (struct sockaddr *) &address, sizeof(address)));
	close(fd);
	snprintf(text, sizeof(text), "127.0.0.1:%d", port);
	setenv("NCCL_COMM_ID", text, 1);
}

static void init_wrongly(int rank)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclUniqueId ids[2];
	ncclComm_t comm = NULL;
	ncclResult_t state;

	ncclGetUniqueId(&ids[0]);
	ncclGetUniqueId(&ids[1]);
	REQUIRE(ncclCommInitRankScalable(&comm, 1, 0, 2, ids, NULL) ==
		ncclInvalidArgument);
	REQUIRE(ncclCommInitRankScalable(&comm, 1, 0, 0, ids, NULL) ==
		ncclInvalidArgument);
	REQUIRE(ncclCommInitRankScalable(&comm, 2, 2, 2, ids, NULL) ==
			ncclInvalidArgument &&
		!comm);
	config.blocking = 0;
	REQUIRE(ncclCommInitRankScalable(&comm, 2, 0, 2, ids, &config) ==
			ncclInProgress &&
		comm);
	REQUIRE(ncclCommGetAsyncError(comm, &state) == ncclSuccess &&
		state == ncclInProgress);
	REQUIRE(ncclCommAbort(comm) == ncclSuccess);
}

static void test_scalable(void)
{
	ok(in_processes(5, init_by_two), "five ranks meet at two roots");
	ok(in_processes(4, init_by_four), "four at as many");
	ok(in_processes(3, init_by_one), "or three at one");
	set_address();
	ok(in_processes(3, init_by_environment), "the environment has an id for all");
	unsetenv("NCCL_COMM_ID");
	ok(in_processes(1, init_wrongly), "there are ids, and no more than ranks");
}

/* The ranks 1 and 2 of four are left out, and know nothing of it. */
static void shrink(int rank)
{
	ncclComm_t comm = init(rank, 4, NULL);
	int excluded[] = {2, 1};
	ncclComm_t child = comm;

	if (rank == 0 || rank == 3) {
		ncclGroupStart();
		REQUIRE(ncclCommShrink(comm, excluded, 2, &child, NULL,
				       NCCL_SHRINK_DEFAULT) == ncclSuccess);
		/* It is not there before the ranks have met. */
		REQUIRE(!child);
		REQUIRE(ncclGroupEnd() == ncclSuccess && child);
		/* NCCL sorts the program's own list. */
		REQUIRE(excluded[0] == 1);
		REQUIRE(works(child, 2, rank != 0));
		REQUIRE(ncclCommDestroy(child) == ncclSuccess);
		/* A second one, which has the hash of the first. */
		REQUIRE(ncclCommShrink(comm, excluded, 2, &child, NULL,
				       NCCL_SHRINK_DEFAULT) == ncclSuccess);
		REQUIRE(works(child, 2, rank != 0));
		REQUIRE(ncclCommDestroy(child) == ncclSuccess);
	}
	REQUIRE(works(comm, 4, rank));
	leave(comm, rank, 4);
}

/* The others are in a collective that rank 2 never comes to. */
static void shrink_stuck(int rank)
{
	ncclComm_t comm = init(rank, 3, NULL);
	ncclComm_t child = NULL;
	int excluded = 2;

	/* Afterwards all are connected, so that a call does not wait for a peer. */
	REQUIRE(works(comm, 3, rank));
	if (rank != 2) {
		REQUIRE(ncclAllReduce(memory(), memory(), COUNT, ncclInt32, ncclSum, comm,
				      stream) == ncclSuccess);
		REQUIRE(cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
		REQUIRE(ncclCommShrink(comm, &excluded, 1, &child, NULL,
				       NCCL_SHRINK_ABORT) == ncclSuccess);
		REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
		REQUIRE(works(child, 2, rank));
		REQUIRE(ncclCommDestroy(child) == ncclSuccess);
	}
	atomic_fetch_add(&board->done, 1);
	wait_for(&board->done, 3);
	REQUIRE(ncclCommAbort(comm) == ncclSuccess);
}

static void shrink_wrongly(int rank)
{
	ncclComm_t comm = init(rank, 2, NULL);
	ncclComm_t child = comm;
	int all[] = {1, 0};

	REQUIRE(ncclCommShrink(NULL, all, 1, &child, NULL, 0) == ncclInvalidArgument);
	REQUIRE(ncclCommShrink(comm, all, 1, NULL, NULL, 0) == ncclInvalidArgument);
	REQUIRE(ncclCommShrink(comm, NULL, 1, &child, NULL, 0) == ncclInvalidArgument);
	REQUIRE(ncclCommShrink(comm, all, 0, &child, NULL, 0) == ncclInvalidArgument);
	REQUIRE(ncclCommShrink(comm, all, 2, &child, NULL, 0) == ncclInvalidArgument);
	/* None of them has come to where it is written. */
	REQUIRE(child == comm);
	leave(comm, rank, 2);
}

static void shrink_in_background(int rank)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclComm_t child = NULL;
	ncclComm_t comm;
	int excluded = 1;

	config.blocking = 0;
	comm = init(rank, 2, &config);
	if (rank == 0) {
		REQUIRE(ncclCommShrink(comm, &excluded, 1, &child, NULL, 0) ==
			ncclSuccess);
		wait_until_ready(comm, rank);
		REQUIRE(child);
		REQUIRE(ncclCommDestroy(child) == ncclSuccess);
	}
	leave(comm, rank, 2);
}

static void test_shrink(void)
{
	ok(in_processes(4, shrink), "those that are not excluded are left, in order");
	ok(in_processes(3, shrink_stuck), "what hangs can be aborted before");
	ok(in_processes(2, shrink_wrongly), "at least one other rank is excluded");
	ok(in_processes(2, shrink_in_background),
	   "a nonblocking parent's state says when the child is there");
}

static void revoke_stuck(int rank)
{
	ncclComm_t comm = init(rank, 2, NULL);
	ncclComm_t child = NULL;

	REQUIRE(ncclCommRevoke(NULL, 0) == ncclSuccess);
	REQUIRE(ncclCommRevoke(comm, 1) == ncclInvalidArgument);
	REQUIRE(works(comm, 2, rank));
	if (rank == 0)
		REQUIRE(ncclAllReduce(memory(), memory(), COUNT, ncclInt32, ncclSum, comm,
				      stream) == ncclSuccess);
	REQUIRE(ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT) == ncclSuccess);
	REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
	REQUIRE(ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT) == ncclInvalidArgument);
	REQUIRE(ncclCommFinalize(comm) == ncclInvalidArgument);
	ncclGroupStart();
	REQUIRE(ncclAllReduce(memory(), memory(), COUNT, ncclInt32, ncclSum, comm,
			      stream) == ncclInvalidUsage);
	REQUIRE(ncclGroupEnd() == ncclInvalidUsage);
	REQUIRE(ncclCommSplit(comm, 0, 0, &child, NULL) == ncclSuccess);
	REQUIRE(works(child, 2, rank));
	leave(child, rank, 2);
	REQUIRE(ncclCommDestroy(comm) == ncclSuccess);
}

static void revoke_in_background(int rank)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclResult_t state;
	ncclComm_t comm;

	config.blocking = 0;
	comm = init(rank, 2, &config);
	state = ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT);
	REQUIRE(state == ncclSuccess || state == ncclInProgress);
	while (state == ncclInProgress)
		REQUIRE(ncclCommGetAsyncError(comm, &state) == ncclSuccess);
	REQUIRE(state == ncclSuccess);
	leave(comm, rank, 2);
}

static void test_revoke(void)
{
	ok(in_processes(2, revoke_stuck),
	   "a revoked communicator has nothing to do and can only have children");
	ok(in_processes(2, revoke_in_background), "a nonblocking one gets there too");
}

/* From `old` ranks to `all`, invited by the rank `host`. */
static void grow(int rank, int old, int all, int host, ncclConfig_t *config)
{
	ncclComm_t comm = NULL;
	ncclComm_t grown = NULL;
	ncclUniqueId *id = NULL;

	if (rank < old)
		comm = init(rank, old, config);
	if (rank == host) {
		REQUIRE(ncclCommGetUniqueId(comm, &board->ids[1]) == ncclSuccess);
		id = &board->ids[1];
		atomic_store(&board->id_count, 2);
	} else if (rank >= old) {
		wait_for(&board->id_count, 2);
		id = &board->ids[1];
	}
	REQUIRE(ncclCommGrow(comm, all, id, comm ? -1 : rank, &grown, config) ==
		ncclSuccess);
	wait_until_ready(grown, rank);
	if (!config) {
		REQUIRE(works(grown, all, rank));
		REQUIRE(!comm || works(comm, old, rank));
	}
	if (comm)
		REQUIRE(ncclCommDestroy(comm) == ncclSuccess);
	leave(grown, rank, all);
}

static void grow_from_one(int rank)
{
	grow(rank, 1, 3, 0, NULL);
}

static void grow_from_two(int rank)
{
	grow(rank, 2, 3, 0, NULL);
}

static void grow_from_three(int rank)
{
	grow(rank, 3, 5, 1, NULL);
}

static void grow_in_background(int rank)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;

	config.blocking = 0;
	grow(rank, 2, 4, 1, &config);
}

static void grow_wrongly(int rank)
{
	ncclComm_t comm = init(rank, 1, NULL);
	ncclComm_t grown = comm;
	ncclUniqueId id;

	REQUIRE(ncclCommGetUniqueId(NULL, &id) == ncclInvalidArgument);
	REQUIRE(ncclCommGetUniqueId(comm, NULL) == ncclInvalidArgument);
	REQUIRE(ncclCommGrow(comm, 1, &id, -1, &grown, NULL) == ncclInvalidArgument);
	REQUIRE(ncclCommGrow(comm, 0, &id, -1, &grown, NULL) == ncclInvalidArgument);
	/* The number of ranks comes before all else. */
	REQUIRE(grown == comm);
	REQUIRE(ncclCommGrow(comm, 2, &id, 0, &grown, NULL) == ncclInvalidArgument);
	REQUIRE(!grown);
	REQUIRE(ncclCommGrow(NULL, 2, &id, -1, &grown, NULL) == ncclInvalidArgument);
	REQUIRE(ncclCommGrow(NULL, 2, NULL, 1, &grown, NULL) == ncclInvalidArgument);
	REQUIRE(ncclCommGrow(NULL, 2, &id, 2, &grown, NULL) == ncclInvalidArgument);
	REQUIRE(ncclCommGrow(comm, 2, &id, -1, NULL, NULL) == ncclInvalidArgument);
	leave(comm, rank, 1);
}

static void test_grow(void)
{
	ok(in_processes(3, grow_from_one), "one rank takes two others in");
	ok(in_processes(3, grow_from_two), "two take one in");
	ok(in_processes(5, grow_from_three), "three take two in, invited by any of them");
	ok(in_processes(4, grow_in_background), "without blocking as well");
	ok(in_processes(1, grow_wrongly), "who is there and who is new do not mix");
}

static void suspend(int rank)
{
	ncclCommProperties_t properties = NCCL_COMM_PROPERTIES_INITIALIZER;
	ncclComm_t comm = init(rank, 2, NULL);
	uint64_t parts[2] = {0, 0};
	uint64_t value = 0;

	REQUIRE(ncclCommResume(comm) == ncclInvalidUsage);
	REQUIRE(ncclCommSuspend(comm, 0) == ncclSuccess);
	REQUIRE(ncclCommMemStats(comm, ncclStatGpuMemSuspended, &value) == ncclSuccess &&
		value == 0);
	REQUIRE(ncclCommSuspend(comm, NCCL_SUSPEND_MEM) == ncclSuccess);
	REQUIRE(ncclCommMemStats(comm, ncclStatGpuMemSuspended, &value) == ncclSuccess &&
		value == 1);
	REQUIRE(ncclCommSuspend(comm, NCCL_SUSPEND_MEM) == ncclInvalidUsage);
	REQUIRE(ncclCommResume(comm) == ncclSuccess);
	REQUIRE(works(comm, 2, rank));
	ncclCommMemStats(comm, ncclStatGpuMemSuspend, &parts[0]);
	ncclCommMemStats(comm, ncclStatGpuMemPersist, &parts[1]);
	REQUIRE(ncclCommMemStats(comm, ncclStatGpuMemTotal, &value) == ncclSuccess &&
		value == parts[0] + parts[1]);
	REQUIRE(ncclCommMemStats(comm, (ncclCommMemStat_t) 4, &value) ==
		ncclInvalidArgument);
	REQUIRE(ncclCommMemStats(comm, ncclStatGpuMemTotal, NULL) == ncclInvalidArgument);

	REQUIRE(ncclCommQueryProperties(comm, &properties) == ncclSuccess);
	REQUIRE(properties.rank == rank && properties.nRanks == 2 &&
		properties.cudaDev == rank);
	properties.magic = 0;
	REQUIRE(ncclCommQueryProperties(comm, &properties) == ncclInvalidUsage);
	leave(comm, rank, 2);
}

static void test_state(void)
{
	ok(in_processes(2, suspend),
	   "a communicator says what it is, and is suspended by all its ranks");
}

/* Ten thousand small sums, in groups whose sizes are random and the same everywhere. */
static void sum_often(int rank)
{
	ncclComm_t comm = init(rank, 4, NULL);
	unsigned int seed = 1;
	int32_t host[16];
	int left = 10000;

	cuMemsetD32(buffer, 1, 16);
	while (left > 0) {
		int size = 1 + rand_r(&seed) % 16;

		size = size < left ? size : left;
		left -= size;
		ncclGroupStart();
		while (size-- > 0)
			REQUIRE(ncclAllReduce(memory(), memory(), 16, ncclInt32, ncclMax,
					      comm, stream) == ncclSuccess);
		REQUIRE(ncclGroupEnd() == ncclSuccess);
	}
	REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
	cuMemcpyDtoH(host, buffer, sizeof(host));
	REQUIRE(host[0] == 1 && host[15] == 1);
	leave(comm, rank, 4);
}

static void test_many(void)
{
	ok(in_processes(4, sum_often), "four ranks do ten thousand small operations");
}

int main(void)
{
	if (!prepare_ranks())
		return 1;
	test_scalable();
	test_shrink();
	test_revoke();
	test_grow();
	test_state();
	test_many();
	return tap_done();
}
