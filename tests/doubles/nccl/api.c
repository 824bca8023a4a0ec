/* SPDX-License-Identifier: MIT */
/*
 * The exported functions: what they check and in which order, and which result
 * a wrong argument has, all as NCCL does it.
 */
#include "comm.h"
#include "group.h"
#include "reduce.h"
#include "result.h"

#include <stdlib.h>

/*
 * readelf shows ncclX weak and pncclX global at the same address in every
 * NCCL: two names of one function.  Since ncclX can be interposed, a call of it
 * from inside the library goes through the PLT, and NCCL makes a few of those.
 */
#define MINI_API __attribute__((visibility("default"), weak))
#define MINI_ALIAS(name) \
	extern __typeof__(nccl##name) pnccl##name \
		__attribute__((visibility("default"), alias("nccl" #name)))

#define CHECK(call) \
	do { \
		ncclResult_t check_result = (call); \
\
		if (check_result != ncclSuccess) \
			return check_result; \
	} while (0)

static ncclResult_t check_pointer(const void *pointer, const char *function,
				  const char *name)
{
	if (pointer)
		return ncclSuccess;
	return mini_fail(ncclInvalidArgument, "%s : %s argument is NULL", function, name);
}

/* Versions and errors. */

MINI_API ncclResult_t ncclGetVersion(int *version)
{
	CHECK(check_pointer(version, "GetVersion", "version"));
	*version = NCCL_VERSION_CODE;
	return ncclSuccess;
}

MINI_API const char *ncclGetErrorString(ncclResult_t result)
{
	switch (result) {
	case ncclSuccess:
		return "no error";
	case ncclUnhandledCudaError:
		return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
	case ncclSystemError:
		return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
	case ncclInternalError:
		return "internal error - please report this issue to the NCCL developers";
	case ncclInvalidArgument:
		return "invalid argument (run with NCCL_DEBUG=WARN for details)";
	case ncclInvalidUsage:
		return "invalid usage (run with NCCL_DEBUG=WARN for details)";
	case ncclRemoteError:
		return "remote process exited or there was a network error";
	case ncclInProgress:
		return "NCCL operation in progress";
	default:
		return "unknown result code";
	}
}

MINI_API const char *ncclGetLastError(ncclComm_t comm)
{
	(void) comm;
	return mini_last_error();
}

/* Memory and its registration. */

MINI_API ncclResult_t ncclMemAlloc(void **ptr, size_t size)
{
	CUcontext context;
	CUdeviceptr address;
	int device;

	CHECK(mini_driver_load());
	CHECK(mini_driver_current(&context, &device));
	/* NCCL hands both to cudaMalloc(), which minds only the first. */
	if (!ptr)
		return mini_driver_check(CUDA_ERROR_INVALID_VALUE);
	*ptr = NULL;
	if (size == 0)
		return ncclSuccess;
	CHECK(mini_driver_check(mini_driver.MemAlloc(&address, size)));
	*ptr = (void *) (uintptr_t) address;
	return ncclSuccess;
}

MINI_API ncclResult_t ncclMemFree(void *ptr)
{
	CHECK(mini_driver_load());
	return mini_driver_check(mini_driver.MemFree((CUdeviceptr) (uintptr_t) ptr));
}

MINI_API ncclResult_t ncclCommRegister(const ncclComm_t comm, void *buff, size_t size,
				       void **handle)
{
	CHECK(mini_comm_check(comm, "CommRegister"));
	CHECK(check_pointer(handle, "CommRegister", "handle"));
	(void) buff;
	(void) size;
	/* Nothing is faster for it here; the handle is one to be given back. */
	*handle = malloc(1);
	return *handle ? ncclSuccess : mini_fail(ncclSystemError, "out of memory");
}

MINI_API ncclResult_t ncclCommDeregister(const ncclComm_t comm, void *handle)
{
	CHECK(mini_comm_check(comm, "CommDeregister"));
	free(handle);
	return ncclSuccess;
}

/* Communicators. */

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

static ncclResult_t end_after(ncclResult_t result)
{
	ncclResult_t end;

	if (result != ncclSuccess)
		mini_group_fail(result);
	end = mini_group_end();
	return result != ncclSuccess ? result : end;
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

/* Groups. */

MINI_API ncclResult_t ncclGroupStart(void)
{
	mini_group_start();
	return ncclSuccess;
}

MINI_API ncclResult_t ncclGroupEnd(void)
{
	return mini_group_end();
}

/* Operations. */

static bool is_reduction(const struct mini_op *op)
{
	return op->function == MINI_ALL_REDUCE || op->function == MINI_REDUCE ||
	       op->function == MINI_REDUCE_SCATTER;
}

static ncclResult_t check_op(struct ncclComm *comm, const struct mini_op *op,
			     const char *name)
{
	CHECK(mini_comm_check(comm, name));
	CHECK(mini_comm_ensure_ready(comm, name));
	if (op->root < 0 || op->root >= comm->nranks)
		return mini_fail(
			ncclInvalidArgument,
			"%s : invalid root %d (root should be in the 0..%d range)", name,
			op->root, comm->nranks);
	if ((int) op->type < 0 || op->type >= ncclNumTypes)
		return mini_fail(ncclInvalidArgument, "%s : invalid type %d", name,
				 (int) op->type);
	if ((int) op->op < 0 || op->op >= ncclNumOps)
		return mini_fail(ncclInvalidArgument,
				 "%s : invalid reduction operation %d", name,
				 (int) op->op);
	/* The fake GPU is of a kind for which NCCL refuses these. */
	if (is_reduction(op) &&
	    (op->type == ncclFloat8e4m3 || op->type == ncclFloat8e5m2))
		return mini_fail(
			ncclInvalidArgument,
			"FP8 reduction support begins with sm90 capable devices.");
	return ncclSuccess;
}

/*
 * A communicator of one rank has no kernel: NCCL copies, at once even inside a
 * group, and only if the buffers differ.
 */
static ncclResult_t copy_alone(const struct mini_op *op)
{
	size_t bytes = op->count * mini_type_size(op->type);

	if (op->send == op->recv)
		return ncclSuccess;
	return mini_driver_check(
		mini_driver.MemcpyDtoDAsync((CUdeviceptr) (uintptr_t) op->recv,
					    (CUdeviceptr) (uintptr_t) op->send, bytes,
					    op->stream));
}

static ncclResult_t add_op(struct ncclComm *comm, const struct mini_op *op,
			   const char *name)
{
	CHECK(check_op(comm, op, name));
	if (!mini_op_is_p2p(op)) {
		if (op->count == 0)
			return ncclSuccess;
		if (comm->nranks == 1)
			return copy_alone(op);
	}
	return mini_group_add_op(comm, op);
}

static ncclResult_t enqueue(struct ncclComm *comm, const struct mini_op *op,
			    const char *name)
{
	mini_group_start();
	return end_after(add_op(comm, op, name));
}

MINI_API ncclResult_t ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count,
				    ncclDataType_t datatype, ncclRedOp_t op,
				    ncclComm_t comm, cudaStream_t stream)
{
	struct mini_op what = {
		.function = MINI_ALL_REDUCE,
		.send = sendbuff,
		.recv = recvbuff,
		.count = count,
		.type = datatype,
		.op = op,
		.stream = stream,
	};

	return enqueue(comm, &what, "AllReduce");
}

MINI_API ncclResult_t ncclBroadcast(const void *sendbuff, void *recvbuff, size_t count,
				    ncclDataType_t datatype, int root, ncclComm_t comm,
				    cudaStream_t stream)
{
	struct mini_op what = {
		.function = MINI_BROADCAST,
		.send = sendbuff,
		.recv = recvbuff,
		.count = count,
		.type = datatype,
		.root = root,
		.stream = stream,
	};

	return enqueue(comm, &what, "Broadcast");
}

MINI_API ncclResult_t ncclBcast(void *buff, size_t count, ncclDataType_t datatype,
				int root, ncclComm_t comm, cudaStream_t stream)
{
	/* NCCL's goes through its own exported function too. */
	return ncclBroadcast(buff, buff, count, datatype, root, comm, stream);
}

MINI_API ncclResult_t ncclReduce(const void *sendbuff, void *recvbuff, size_t count,
				 ncclDataType_t datatype, ncclRedOp_t op, int root,
				 ncclComm_t comm, cudaStream_t stream)
{
	struct mini_op what = {
		.function = MINI_REDUCE,
		.send = sendbuff,
		.recv = recvbuff,
		.count = count,
		.type = datatype,
		.op = op,
		.root = root,
		.stream = stream,
	};

	return enqueue(comm, &what, "Reduce");
}

MINI_API ncclResult_t ncclAllGather(const void *sendbuff, void *recvbuff,
				    size_t sendcount, ncclDataType_t datatype,
				    ncclComm_t comm, cudaStream_t stream)
{
	struct mini_op what = {
		.function = MINI_ALL_GATHER,
		.send = sendbuff,
		.recv = recvbuff,
		.count = sendcount,
		.type = datatype,
		.stream = stream,
	};

	return enqueue(comm, &what, "AllGather");
}

MINI_API ncclResult_t ncclReduceScatter(const void *sendbuff, void *recvbuff,
					size_t recvcount, ncclDataType_t datatype,
					ncclRedOp_t op, ncclComm_t comm,
					cudaStream_t stream)
{
	struct mini_op what = {
		.function = MINI_REDUCE_SCATTER,
		.send = sendbuff,
		.recv = recvbuff,
		.count = recvcount,
		.type = datatype,
		.op = op,
		.stream = stream,
	};

	return enqueue(comm, &what, "ReduceScatter");
}

MINI_API ncclResult_t ncclSend(const void *sendbuff, size_t count,
			       ncclDataType_t datatype, int peer, ncclComm_t comm,
			       cudaStream_t stream)
{
	struct mini_op what = {
		.function = MINI_SEND,
		.send = sendbuff,
		.count = count,
		.type = datatype,
		.root = peer,
		.stream = stream,
	};

	return enqueue(comm, &what, "Send");
}

MINI_API ncclResult_t ncclRecv(void *recvbuff, size_t count, ncclDataType_t datatype,
			       int peer, ncclComm_t comm, cudaStream_t stream)
{
	struct mini_op what = {
		.function = MINI_RECV,
		.recv = recvbuff,
		.count = count,
		.type = datatype,
		.root = peer,
		.stream = stream,
	};

	return enqueue(comm, &what, "Recv");
}

/*
 * These three are sends and receives, which NCCL makes without its exported
 * ncclSend() and ncclRecv().  With a root, only that rank has all the parts.
 */
struct parts {
	const void *send;
	void *recv;
	size_t count;
	ncclDataType_t type;
	struct ncclComm *comm;
	CUstream stream;
	const char *name;
};

static ncclResult_t add_part(const struct parts *p, enum mini_function function, int peer,
			     bool has_all)
{
	size_t offset = has_all ? (size_t) peer * p->count * mini_type_size(p->type) : 0;
	struct mini_op what = {
		.function = function,
		.count = p->count,
		.type = p->type,
		.root = peer,
		.stream = p->stream,
	};

	if (function == MINI_SEND)
		what.send = (const char *) p->send + offset;
	else
		what.recv = (char *) p->recv + offset;
	return add_op(p->comm, &what, p->name);
}

static ncclResult_t add_all_to_all(const struct parts *p)
{
	int peer;

	CHECK(mini_comm_check(p->comm, p->name));
	for (peer = 0; peer < p->comm->nranks; peer++) {
		CHECK(add_part(p, MINI_SEND, peer, true));
		CHECK(add_part(p, MINI_RECV, peer, true));
	}
	return ncclSuccess;
}

static ncclResult_t add_rooted(const struct parts *p, int root,
			       enum mini_function of_root)
{
	enum mini_function of_others = of_root == MINI_SEND ? MINI_RECV : MINI_SEND;
	int peer;

	CHECK(mini_comm_check(p->comm, p->name));
	CHECK(add_part(p, of_others, root, false));
	for (peer = 0; root == p->comm->rank && peer < p->comm->nranks; peer++)
		CHECK(add_part(p, of_root, peer, true));
	return ncclSuccess;
}

MINI_API ncclResult_t ncclAlltoAll(const void *sendbuff, void *recvbuff, size_t count,
				   ncclDataType_t datatype, ncclComm_t comm,
				   cudaStream_t stream)
{
	struct parts p = {sendbuff, recvbuff, count, datatype, comm, stream, "AlltoAll"};

	mini_group_start();
	return end_after(add_all_to_all(&p));
}

MINI_API ncclResult_t ncclGather(const void *sendbuff, void *recvbuff, size_t count,
				 ncclDataType_t datatype, int root, ncclComm_t comm,
				 cudaStream_t stream)
{
	struct parts p = {sendbuff, recvbuff, count, datatype, comm, stream, "Gather"};

	mini_group_start();
	return end_after(add_rooted(&p, root, MINI_RECV));
}

MINI_API ncclResult_t ncclScatter(const void *sendbuff, void *recvbuff, size_t count,
				  ncclDataType_t datatype, int root, ncclComm_t comm,
				  cudaStream_t stream)
{
	struct parts p = {sendbuff, recvbuff, count, datatype, comm, stream, "Scatter"};

	mini_group_start();
	return end_after(add_rooted(&p, root, MINI_SEND));
}

/* The other name of each. */

MINI_ALIAS(GetVersion);
MINI_ALIAS(GetErrorString);
MINI_ALIAS(GetLastError);
MINI_ALIAS(MemAlloc);
MINI_ALIAS(MemFree);
MINI_ALIAS(CommRegister);
MINI_ALIAS(CommDeregister);
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
MINI_ALIAS(GroupStart);
MINI_ALIAS(GroupEnd);
MINI_ALIAS(AllReduce);
MINI_ALIAS(Broadcast);
MINI_ALIAS(Bcast);
MINI_ALIAS(Reduce);
MINI_ALIAS(AllGather);
MINI_ALIAS(ReduceScatter);
MINI_ALIAS(Send);
MINI_ALIAS(Recv);
MINI_ALIAS(AlltoAll);
MINI_ALIAS(Gather);
MINI_ALIAS(Scatter);
