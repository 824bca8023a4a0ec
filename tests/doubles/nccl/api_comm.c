/* SPDX-License-Identifier: MIT */
/*
 * The exported functions of communicators: what they check and in which order,
 * when they write the new communicator, and which result a wrong argument has,
 * all as NCCL does it.
 */
#include "api.h"

#include "release.h"

#include <stdlib.h>
#include <string.h>

MINI_API ncclResult_t ncclGetUniqueId(ncclUniqueId *uniqueId)
{
	CHECK(check_pointer(uniqueId, "GetUniqueId", "out"));
	return mini_result(mini_bootstrap_create_root(uniqueId));
}

/* Since then the device is asked for before all else, and fails first. */
static bool asks_device_first(void)
{
	return mini_release() >= 22300;
}

/* What there is to tell of a communicator at the end of a call. */
static void tell_comm(struct mini_range *range, const struct ncclComm *comm)
{
	/* It may be in the making, and then nothing is known. */
	mini_range_tell(range, (const uint64_t[8]){comm->is_nonblocking ? 0 : comm->hash,
						   (uint64_t) comm->nranks,
						   (uint64_t) comm->rank,
						   (uint64_t) comm->device});
}

static ncclResult_t check_ids(int id_count, int nranks)
{
	if (id_count > 0 && id_count <= nranks)
		return ncclSuccess;
	return mini_fail(ncclInvalidArgument,
			 "improper usage of ncclCommInitRank: nId = %d, nranks=%d",
			 id_count, nranks);
}

static ncclResult_t create(ncclComm_t *newcomm, int nranks, const ncclUniqueId *ids,
			   int id_count, int rank, const ncclConfig_t *config,
			   bool is_undone)
{
	struct mini_comm_request *request;
	ncclResult_t result;

	CHECK(check_ids(id_count, nranks));
	CHECK(check_pointer(newcomm, "CommInitRank", "newcomm"));
	*newcomm = NULL;
	if (rank < 0 || rank >= nranks)
		return mini_fail(ncclInvalidArgument, "Invalid rank requested : %d/%d",
				 rank, nranks);
	CHECK(mini_config_check(config));
	request = mini_comm_request();
	if (!request)
		return mini_fail(ncclSystemError, "out of memory");
	result = mini_comm_request_ids(request, ids, id_count);
	if (result == ncclSuccess && rank == 0)
		result = mini_result(mini_bootstrap_serve(&ids[0]));
	if (result == ncclSuccess)
		result = mini_comm_create(&request->comm, nranks, rank, config, NULL);
	if (result != ncclSuccess) {
		mini_comm_request_free(request);
		return result;
	}
	request->newcomm = newcomm;
	request->is_undone = is_undone;
	/* Before the ranks have met, so that the program can abort it. */
	*newcomm = request->comm;
	return add_request(request->comm, request);
}

MINI_API ncclResult_t ncclCommInitRankScalable(ncclComm_t *newcomm, int nranks,
					       int myrank, int nId, ncclUniqueId *commIds,
					       ncclConfig_t *config)
{
	MINI_RANGE(CommInitRankScalable);
	ncclResult_t result;

	CHECK(mini_driver_load());
	mini_group_start();
	result = create(newcomm, nranks, commIds, nId, myrank, config, false);
	result = end_with_state(result == ncclSuccess ? *newcomm : NULL, result);
	if (newcomm && *newcomm)
		tell_comm(&range, *newcomm);
	return result;
}

MINI_API ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int nranks,
					     ncclUniqueId commId, int rank,
					     ncclConfig_t *config)
{
	MINI_RANGE(CommInitRankConfig);
	ncclResult_t result;

	CHECK(mini_driver_load());
	mini_group_start();
	result = create(comm, nranks, &commId, 1, rank, config, false);
	result = end_with_state(result == ncclSuccess ? *comm : NULL, result);
	if (comm && *comm)
		tell_comm(&range, *comm);
	return result;
}

MINI_API ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId commId,
				       int rank)
{
	MINI_RANGE(CommInitRank);
	/* For NCCL this one is no group when the program has none. */
	bool is_alone = mini_group_depth() == 0;

	CHECK(mini_driver_load());
	/* Nor does this fail a group. */
	CHECK(check_ids(1, nranks));
	mini_group_start();
	CHECK(end_after(create(comm, nranks, &commId, 1, rank, NULL, is_alone)));
	tell_comm(&range, *comm);
	return ncclSuccess;
}

static ncclResult_t init_on_device(ncclComm_t *comm, int ndev, int rank, int device,
				   const ncclUniqueId *id)
{
	CUcontext context;

	CHECK(mini_driver_check(mini_driver.PrimaryCtxRetain(&context, device)));
	CHECK(mini_driver_check(mini_driver.CtxSetCurrent(context)));
	mini_group_start();
	return end_after(create(comm, ndev, id, 1, rank, NULL, false));
}

static ncclResult_t check_devices(int ndev, const int *devlist)
{
	int count;
	int i;
	int j;

	CHECK(mini_driver_check(mini_driver.DeviceGetCount(&count)));
	for (i = 0; i < ndev; i++) {
		int device = devlist ? devlist[i] : i;

		if (device < 0 || device >= count)
			return mini_fail(ncclUnhandledCudaError,
					 "Invalid device number requested: %d", device);
		for (j = 0; devlist && j < i; j++) {
			if (devlist[j] == device)
				return mini_fail(ncclInvalidUsage,
						 "Device %d is used more than once",
						 device);
		}
	}
	return ncclSuccess;
}

MINI_API ncclResult_t ncclCommInitAll(ncclComm_t *comm, int ndev, const int *devlist)
{
	MINI_RANGE(CommInitAll);
	CUcontext before = NULL;
	ncclUniqueId id;
	ncclResult_t result = ncclSuccess;
	int i;

	if (asks_device_first())
		CHECK(mini_driver_load());
	CHECK(check_pointer(comm, "CommInitAll", "comms"));
	if (ndev < 0)
		return mini_fail(ncclInvalidArgument,
				 "Invalid device count requested : %d", ndev);
	CHECK(mini_driver_load());
	CHECK(check_devices(ndev, devlist));
	CHECK(ncclGetUniqueId(&id));
	mini_driver.CtxGetCurrent(&before);
	mini_group_start();
	for (i = 0; i < ndev && result == ncclSuccess; i++)
		result = init_on_device(&comm[i], ndev, i, devlist ? devlist[i] : i, &id);
	mini_driver.CtxSetCurrent(before);
	CHECK(end_after(result));
	if (ndev > 0)
		mini_range_tell(&range,
				(const uint64_t[8]){comm[0]->hash, (uint64_t) ndev});
	return ncclSuccess;
}

/* As NCCL: what is broken is not shared. */
static bool shares(const struct mini_comm_request *request)
{
	const struct ncclComm *parent = request->parent;

	if (parent->is_revoked)
		return false;
	if (!request->excluded)
		return parent->shares_splits;
	return parent->shares_shrinks && !request->is_after_abort;
}

/* A child has the device of its parent and, without one of its own, its configuration. */
static ncclResult_t create_child(struct mini_comm_request *request,
				 const ncclConfig_t *config)
{
	ncclConfig_t inherited = NCCL_CONFIG_INITIALIZER;
	struct ncclComm *parent = request->parent;

	CHECK(mini_config_check(config));
	inherited.blocking = !parent->is_nonblocking;
	inherited.splitShare = parent->shares_splits;
	inherited.shrinkShare = parent->shares_shrinks;
	inherited.CTAPolicy = parent->cta_policy;
	inherited.commName = parent->profile.name;
	CHECK(mini_comm_create(&request->comm, 1, 0, config ? config : &inherited,
			       shares(request) ? parent : NULL));
	request->comm->context = parent->context;
	request->comm->device = parent->device;
	return ncclSuccess;
}

static int compare_ints(const void *a, const void *b)
{
	int first = *(const int *) a;
	int second = *(const int *) b;

	return (first > second) - (first < second);
}

/* Like NCCL's, sorts the list where the program has it. */
static ncclResult_t exclude(struct mini_comm_request *request, int *ranks, int count)
{
	size_t size = sizeof(*ranks);

	CHECK(check_pointer(ranks, "CommShrink", "excludeRanksList"));
	if (count <= 0)
		return mini_fail(ncclInvalidArgument, "CommShrink : nothing to exclude");
	qsort(ranks, (size_t) count, size, compare_ints);
	if (bsearch(&request->parent->rank, ranks, (size_t) count, size, compare_ints))
		return mini_fail(ncclInvalidArgument,
				 "CommShrink : rank %d is to be excluded",
				 request->parent->rank);
	request->excluded = malloc((size_t) count * size);
	if (!request->excluded)
		return mini_fail(ncclSystemError, "out of memory");
	memcpy(request->excluded, ranks, (size_t) count * size);
	request->excluded_count = count;
	return ncclSuccess;
}

/* Takes the request, in which all that is the caller's own is set. */
static ncclResult_t add_child(struct mini_comm_request *request, const char *name,
			      const ncclConfig_t *config)
{
	struct ncclComm *parent = request->parent;
	bool is_split = !request->excluded;
	ncclResult_t result = mini_comm_ensure_ready(parent, name);

	if (result == ncclSuccess) {
		/* And so it stays until the child is there. */
		*request->newcomm = NULL;
		if (!is_split || request->color != NCCL_SPLIT_NOCOLOR)
			result = create_child(request, config);
	}
	if (result != ncclSuccess) {
		mini_comm_request_free(request);
		return result;
	}
	/* All that a parent is shrunk to have one hash. */
	parent->child_count += is_split;
	if (request->comm)
		request->comm->hash =
			mini_comm_child_hash(parent, is_split ? parent->child_count : 0,
					     request->color);
	return add_request(parent, request);
}

static ncclResult_t split(struct ncclComm *parent, int color, int key,
			  ncclComm_t *newcomm, const ncclConfig_t *config)
{
	struct mini_comm_request *request;

	if (asks_device_first())
		CHECK(mini_driver_load());
	CHECK(mini_comm_check(parent, "CommSplit"));
	CHECK(check_pointer(newcomm, "CommSplit", "newcomm"));
	CHECK(mini_driver_load());
	request = mini_comm_request();
	if (!request)
		return mini_fail(ncclSystemError, "out of memory");
	request->parent = parent;
	request->newcomm = newcomm;
	request->color = color;
	request->key = key;
	return add_child(request, "CommSplit", config);
}

/* Once there is a child: of a shrink the parent's hash is all that NCCL tells. */
static void tell_child(struct mini_range *range, const struct ncclComm *parent,
		       ncclComm_t *newcomm, const int *numbers, int count)
{
	struct ncclComm *child = __atomic_load_n(newcomm, __ATOMIC_ACQUIRE);
	uint64_t values[8] = {0};
	int n = 0;
	int i;

	if (!child)
		return;
	if (range->name == MINI_RANGE_CommSplit)
		values[n++] = child->hash;
	values[n++] = parent->hash;
	values[n++] = (uint64_t) parent->nranks;
	values[n++] = (uint64_t) parent->rank;
	values[n++] = (uint64_t) parent->device;
	for (i = 0; i < count; i++)
		values[n++] = (uint64_t) numbers[i];
	mini_range_tell(range, values);
}

MINI_API ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key,
				    ncclComm_t *newcomm, ncclConfig_t *config)
{
	MINI_RANGE(CommSplit);
	/* In these it is no failure of a group. */
	if (mini_release() >= 22300 && mini_release() < 22700)
		CHECK(mini_driver_load());
	mini_group_start();
	CHECK(end_after(split(comm, color, key, newcomm, config)));
	tell_child(&range, comm, newcomm, (const int[]){color, key}, 2);
	return ncclSuccess;
}

static ncclResult_t shrink(struct ncclComm *parent, int *ranks, int count,
			   ncclComm_t *newcomm, const ncclConfig_t *config, int flags)
{
	struct mini_comm_request *request;
	ncclResult_t result;

	CHECK(mini_driver_load());
	CHECK(mini_comm_check(parent, "CommShrink"));
	if (flags & NCCL_SHRINK_ABORT) {
		mini_comm_stop(parent);
		mini_comm_restart(parent);
	}
	CHECK(check_pointer(newcomm, "CommShrink", "newcomm"));
	request = mini_comm_request();
	if (!request)
		return mini_fail(ncclSystemError, "out of memory");
	request->parent = parent;
	request->newcomm = newcomm;
	request->is_after_abort = flags & NCCL_SHRINK_ABORT;
	result = exclude(request, ranks, count);
	if (result != ncclSuccess) {
		mini_comm_request_free(request);
		return result;
	}
	return add_child(request, "CommShrink", config);
}

MINI_API ncclResult_t ncclCommShrink(ncclComm_t comm, int *excludeRanksList,
				     int excludeRanksCount, ncclComm_t *newcomm,
				     ncclConfig_t *config, int shrinkFlags)
{
	MINI_RANGE(CommShrink);
	mini_group_start();
	CHECK(end_after(shrink(comm, excludeRanksList, excludeRanksCount, newcomm, config,
			       shrinkFlags)));
	tell_child(&range, comm, newcomm, &excludeRanksCount, 1);
	return ncclSuccess;
}

/* Ends what is under way; what is left is good for children and for its end. */
MINI_API ncclResult_t ncclCommRevoke(ncclComm_t comm, int revokeFlags)
{
	MINI_RANGE(CommRevoke);
	if (!comm)
		return ncclSuccess;
	CHECK(mini_comm_check(comm, "CommRevoke"));
	if (revokeFlags != NCCL_REVOKE_DEFAULT)
		return mini_fail(ncclInvalidArgument, "CommRevoke : unknown flags");
	if (comm->is_destroyed || comm->is_finalized || comm->is_revoked)
		return mini_fail(ncclInvalidArgument,
				 "CommRevoke : already finalized or revoked");
	tell_comm(&range, comm);
	mini_group_start();
	mini_comm_stop(comm);
	comm->is_revoked = true;
	comm->is_finalized = true;
	return end_with_state(comm,
			      mini_group_add_job(comm, mini_comm_quiesce, NULL, comm));
}

static ncclResult_t finalize(struct ncclComm *comm)
{
	CHECK(mini_comm_ensure_ready(comm, "CommFinalize"));
	if (comm->is_finalized)
		return mini_fail(ncclInvalidArgument, "CommFinalize : already finalized");
	comm->is_finalized = true;
	return mini_group_add_job(comm, mini_comm_finish, NULL, comm);
}

MINI_API ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
	MINI_RANGE(CommFinalize);
	if (!comm)
		return ncclSuccess;
	CHECK(mini_comm_check(comm, "CommFinalize"));
	mini_range_tell(&range, (const uint64_t[8]){comm->hash});
	mini_group_start();
	return end_with_state(comm, finalize(comm));
}

static ncclResult_t destroy(struct ncclComm *comm)
{
	CHECK(mini_comm_ensure_ready(comm, "CommDestroy"));
	comm->is_destroyed = true;
	return mini_group_add_job(comm, mini_comm_destroy, NULL, comm);
}

static ncclResult_t destroy_nothing(void)
{
	MINI_RANGE(CommDestroy);
	return ncclSuccess;
}

static ncclResult_t destroy_in_group(struct ncclComm *comm)
{
	MINI_RANGE_WITH(CommDestroy, comm->hash, (uint64_t) comm->nranks,
			(uint64_t) comm->rank, (uint64_t) comm->device);
	mini_group_start();
	return end_after(destroy(comm));
}

/* The other calls tell what it was at their end; this one at its beginning. */
MINI_API ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
	if (!comm)
		return destroy_nothing();
	CHECK(mini_comm_check(comm, "CommDestroy"));
	return destroy_in_group(comm);
}

MINI_API ncclResult_t ncclCommAbort(ncclComm_t comm)
{
	MINI_RANGE(CommAbort);
	if (!comm)
		return ncclSuccess;
	CHECK(mini_comm_check(comm, "CommAbort"));
	tell_comm(&range, comm);
	mini_group_start();
	/* At once, even inside a group; what is left is taken away at its end. */
	mini_comm_stop(comm);
	comm->is_destroyed = true;
	return end_after(mini_group_add_job(comm, mini_comm_destroy, NULL, comm));
}

MINI_API ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *asyncError)
{
	CHECK(mini_comm_check(comm, "ncclGetAsyncError"));
	CHECK(check_pointer(asyncError, "ncclGetAsyncError", "asyncError"));
	*asyncError = mini_comm_state(comm);
	return ncclSuccess;
}

MINI_API ncclResult_t ncclCommCount(const ncclComm_t comm, int *count)
{
	MINI_RANGE(CommCount);
	CHECK(mini_comm_check(comm, "CommCount"));
	CHECK(check_pointer(count, "CommCount", "count"));
	CHECK(mini_comm_ensure_ready(comm, "CommCount"));
	*count = comm->nranks;
	return ncclSuccess;
}

MINI_API ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device)
{
	MINI_RANGE(CommCuDevice);
	CHECK(mini_comm_check(comm, "CommCuDevice"));
	CHECK(check_pointer(device, "CommCuDevice", "devid"));
	CHECK(mini_comm_ensure_ready(comm, "CommCuDevice"));
	*device = comm->device;
	return ncclSuccess;
}

MINI_API ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)
{
	MINI_RANGE(CommUserRank);
	CHECK(mini_comm_check(comm, "CommUserRank"));
	CHECK(check_pointer(rank, "CommUserRank", "rank"));
	CHECK(mini_comm_ensure_ready(comm, "CommUserRank"));
	*rank = comm->rank;
	return ncclSuccess;
}

/* The other name of each. */

MINI_ALIAS(GetUniqueId);
MINI_ALIAS(CommInitRankConfig);
MINI_ALIAS(CommInitRank);
MINI_ALIAS(CommInitRankScalable);
MINI_ALIAS(CommInitAll);
MINI_ALIAS(CommSplit);
MINI_ALIAS(CommShrink);
MINI_ALIAS(CommRevoke);
MINI_ALIAS(CommFinalize);
MINI_ALIAS(CommDestroy);
MINI_ALIAS(CommAbort);
MINI_ALIAS(CommGetAsyncError);
MINI_ALIAS(CommCount);
MINI_ALIAS(CommCuDevice);
MINI_ALIAS(CommUserRank);
