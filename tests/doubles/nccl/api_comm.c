/* SPDX-License-Identifier: MIT */
/*
 * The exported functions of communicators: what they check and in which order,
 * when they write the new communicator, and which result a wrong argument has,
 * all as NCCL does it.
 */
#include "api.h"

#include <stdlib.h>

MINI_API ncclResult_t ncclGetUniqueId(ncclUniqueId *uniqueId)
{
	CHECK(check_pointer(uniqueId, "GetUniqueId", "out"));
	return mini_result(mini_bootstrap_create_root(uniqueId));
}

static ncclResult_t init_rank(ncclComm_t *newcomm, int nranks, const ncclUniqueId *id,
			      int rank, const ncclConfig_t *config)
{
	struct mini_comm_request *request;
	ncclResult_t result;

	CHECK(mini_driver_load());
	if (nranks < 1 || rank < 0 || rank >= nranks)
		return mini_fail(ncclInvalidArgument, "Invalid rank requested : %d/%d",
				 rank, nranks);
	CHECK(check_pointer(newcomm, "CommInitRank", "newcomm"));
	CHECK(mini_config_check(config));
	request = calloc(1, sizeof(*request));
	if (!request)
		return mini_fail(ncclSystemError, "out of memory");
	result = mini_comm_create(&request->comm, nranks, rank, config);
	if (result != ncclSuccess) {
		free(request);
		return result;
	}
	request->id = *id;
	request->newcomm = newcomm;
	/* Before the ranks have met, so that the program can abort it. */
	*newcomm = request->comm;
	if (request->comm->is_nonblocking)
		mini_comm_begin_job(request->comm);
	return mini_group_add_job(request->comm, mini_comm_init, mini_comm_cancel,
				  request);
}

MINI_API ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int nranks,
					     ncclUniqueId commId, int rank,
					     ncclConfig_t *config)
{
	ncclResult_t result;
	ncclResult_t state;

	mini_group_start();
	result = end_after(init_rank(comm, nranks, &commId, rank, config));
	/* NCCL looks through its own exported function here. */
	if (result == ncclInProgress && mini_group_depth() == 0 &&
	    ncclCommGetAsyncError(*comm, &state) == ncclSuccess)
		result = state;
	return result;
}

MINI_API ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId commId,
				       int rank)
{
	mini_group_start();
	return end_after(init_rank(comm, nranks, &commId, rank, NULL));
}

static ncclResult_t init_on_device(ncclComm_t *comm, int ndev, int rank, int device,
				   const ncclUniqueId *id)
{
	CUcontext context;

	CHECK(mini_driver_check(mini_driver.PrimaryCtxRetain(&context, device)));
	CHECK(mini_driver_check(mini_driver.CtxSetCurrent(context)));
	mini_group_start();
	return end_after(init_rank(comm, ndev, id, rank, NULL));
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
	CUcontext before = NULL;
	ncclUniqueId id;
	ncclResult_t result = ncclSuccess;
	int i;

	CHECK(mini_driver_load());
	CHECK(check_pointer(comm, "CommInitAll", "comms"));
	if (ndev < 0)
		return mini_fail(ncclInvalidArgument,
				 "Invalid device count requested : %d", ndev);
	CHECK(check_devices(ndev, devlist));
	CHECK(ncclGetUniqueId(&id));
	mini_driver.CtxGetCurrent(&before);
	mini_group_start();
	for (i = 0; i < ndev && result == ncclSuccess; i++)
		result = init_on_device(&comm[i], ndev, i, devlist ? devlist[i] : i, &id);
	mini_driver.CtxSetCurrent(before);
	return end_after(result);
}

static ncclResult_t split(struct ncclComm *parent, int color, int key,
			  ncclComm_t *newcomm, const ncclConfig_t *config)
{
	ncclConfig_t inherited = NCCL_CONFIG_INITIALIZER;
	struct mini_comm_request *request;
	ncclResult_t result;

	/* Before all else NCCL asks for the device, so that fails first. */
	CHECK(mini_driver_load());
	CHECK(mini_comm_check(parent, "CommSplit"));
	CHECK(check_pointer(newcomm, "CommSplit", "newcomm"));
	CHECK(mini_comm_ensure_ready(parent, "CommSplit"));
	CHECK(mini_config_check(config));
	*newcomm = NULL;
	/* Without a configuration of its own the child has its parent's. */
	inherited.blocking = !parent->is_nonblocking;
	request = calloc(1, sizeof(*request));
	if (!request)
		return mini_fail(ncclSystemError, "out of memory");
	result = mini_comm_create(&request->comm, 1, 0, config ? config : &inherited);
	if (result != ncclSuccess) {
		free(request);
		return result;
	}
	request->comm->context = parent->context;
	request->comm->device = parent->device;
	request->parent = parent;
	request->newcomm = newcomm;
	request->color = color;
	request->key = key;
	request->is_outside = color == NCCL_SPLIT_NOCOLOR;
	if (!request->is_outside)
		*newcomm = request->comm;
	if (!request->is_outside && request->comm->is_nonblocking)
		mini_comm_begin_job(request->comm);
	return mini_group_add_job(parent, mini_comm_init, mini_comm_cancel, request);
}

MINI_API ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key,
				    ncclComm_t *newcomm, ncclConfig_t *config)
{
	mini_group_start();
	return end_after(split(comm, color, key, newcomm, config));
}

static ncclResult_t finalize(struct ncclComm *comm)
{
	CHECK(mini_comm_check(comm, "CommFinalize"));
	CHECK(mini_comm_ensure_ready(comm, "CommFinalize"));
	if (comm->is_finalized)
		return mini_fail(ncclInvalidArgument, "CommFinalize : already finalized");
	comm->is_finalized = true;
	return mini_group_add_job(comm, mini_comm_finish, NULL, comm);
}

MINI_API ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
	if (!comm)
		return ncclSuccess;
	mini_group_start();
	return end_after(finalize(comm));
}

MINI_API ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
	if (!comm)
		return ncclSuccess;
	CHECK(mini_comm_check(comm, "CommDestroy"));
	mini_comm_destroy(comm);
	return ncclSuccess;
}

MINI_API ncclResult_t ncclCommAbort(ncclComm_t comm)
{
	if (!comm)
		return ncclSuccess;
	CHECK(mini_comm_check(comm, "CommAbort"));
	mini_comm_abort(comm);
	return ncclSuccess;
}

MINI_API ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *asyncError)
{
	CHECK(mini_comm_check(comm, "ncclGetAsyncError"));
	CHECK(check_pointer(asyncError, "ncclGetAsyncError", "asyncError"));
	*asyncError = (ncclResult_t) atomic_load(&comm->async_result);
	return ncclSuccess;
}

MINI_API ncclResult_t ncclCommCount(const ncclComm_t comm, int *count)
{
	CHECK(mini_comm_check(comm, "CommCount"));
	CHECK(check_pointer(count, "CommCount", "count"));
	CHECK(mini_comm_ensure_ready(comm, "CommCount"));
	*count = comm->nranks;
	return ncclSuccess;
}

MINI_API ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device)
{
	CHECK(mini_comm_check(comm, "CommCuDevice"));
	CHECK(check_pointer(device, "CommCuDevice", "devid"));
	CHECK(mini_comm_ensure_ready(comm, "CommCuDevice"));
	*device = comm->device;
	return ncclSuccess;
}

MINI_API ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)
{
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
MINI_ALIAS(CommInitAll);
MINI_ALIAS(CommSplit);
MINI_ALIAS(CommFinalize);
MINI_ALIAS(CommDestroy);
MINI_ALIAS(CommAbort);
MINI_ALIAS(CommGetAsyncError);
MINI_ALIAS(CommCount);
MINI_ALIAS(CommCuDevice);
MINI_ALIAS(CommUserRank);
