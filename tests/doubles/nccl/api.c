/* SPDX-License-Identifier: MIT */
/*
 * The exported functions but those of communicators and of memory: what they check and
 * in which order, and which result a wrong argument has, all as NCCL does it.
 */
#include "api.h"

#include "copies.h"
#include "functions.h"
#include "one_rank.h"
#include "redop.h"
#include "reduce.h"
#include "release.h"

/* Versions and errors. */

MINI_API ncclResult_t ncclGetVersion(int *version)
{
	CHECK(check_pointer(version, "GetVersion", "version"));
	*version = mini_release();
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
		/* Which a program of 2.28 has no name for. */
		return result == 8 && mini_release() >= 23000 ? "timeout"
							      : "unknown result code";
	}
}

MINI_API const char *ncclGetLastError(ncclComm_t comm)
{
	(void) comm;
	return mini_last_error();
}

/* Groups. */

MINI_API ncclResult_t ncclGroupStart(void)
{
	MINI_RANGE(GroupStart);
	mini_group_start();
	return ncclSuccess;
}

MINI_API ncclResult_t ncclGroupEnd(void)
{
	MINI_RANGE(GroupEnd);
	return mini_group_end(NULL);
}

MINI_API ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t *simInfo)
{
	MINI_RANGE(GroupSimulateEnd);
	return mini_group_end(simInfo);
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
	CHECK(mini_comm_ensure_ready(comm, name));
	if (op->root < 0 || op->root >= comm->nranks)
		return mini_fail(
			ncclInvalidArgument,
			"%s : invalid root %d (root should be in the 0..%d range)", name,
			op->root, comm->nranks);
	if ((int) op->type < 0 || op->type >= ncclNumTypes || !mini_type_is_there(op->type))
		return mini_fail(ncclInvalidArgument, "%s : invalid type %d", name,
				 (int) op->type);
	if ((int) op->op < 0)
		return mini_fail(ncclInvalidArgument,
				 "%s : invalid reduction operation %d", name,
				 (int) op->op);
	if (!mini_redop_exists(comm, op->op))
		return mini_fail(ncclInvalidArgument,
				 "%s : reduction operation %d unknown to this "
				 "communicator",
				 name, (int) op->op);
	/* The GPU double is of a kind for which NCCL refuses these. */
	if (is_reduction(op) &&
	    (op->type == ncclFloat8e4m3 || op->type == ncclFloat8e5m2))
		return mini_fail(
			ncclInvalidArgument,
			"FP8 reduction support begins with sm90 capable devices.");
	return ncclSuccess;
}

static ncclResult_t add_op(struct ncclComm *comm, struct mini_op *op, const char *name)
{
	CHECK(check_op(comm, op, name));
	op->name = name;
	op->ordinal = comm->op_count++;
	CHECK(mini_redop_operation(comm, op->op, op->type, &op->operation));
	if (!mini_op_is_p2p(op)) {
		if (op->count == 0)
			return ncclSuccess;
		if (comm->nranks == 1)
			return mini_one_rank_run(comm, op);
		op->is_by_copies = mini_copies_do(comm, op);
	}
	return mini_group_add_op(comm, op);
}

/* Fails an open group too, without being part of it. */
static ncclResult_t check_usable(const struct ncclComm *comm, const char *name)
{
	ncclResult_t result = mini_comm_check(comm, name);

	if (result == ncclSuccess && comm->is_revoked)
		result =
			mini_fail(ncclInvalidUsage, "%s: communicator was revoked", name);
	return result == ncclSuccess ? result : mini_group_fail(result);
}

static ncclResult_t enqueue(struct ncclComm *comm, struct mini_op *op, const char *name)
{
	CHECK(check_usable(comm, name));
	MINI_PROFILE(enter());
	mini_group_start();
	return end_with_state(comm, add_op(comm, op, name));
}

MINI_API ncclResult_t ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count,
				    ncclDataType_t datatype, ncclRedOp_t op,
				    ncclComm_t comm, cudaStream_t stream)
{
	MINI_RANGE_WITH(AllReduce, told_hash(comm), told_bytes(count, datatype),
			(uint64_t) op);
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
	MINI_RANGE_WITH(Broadcast, told_hash(comm), told_bytes(count, datatype),
			(uint64_t) root);
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
	MINI_RANGE_WITH(Reduce, told_hash(comm), told_bytes(count, datatype),
			(uint64_t) root, (uint64_t) op);
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
	MINI_RANGE_WITH(AllGather, told_hash(comm), told_bytes(sendcount, datatype));
	struct mini_op what = {
		.function = MINI_ALL_GATHER,
		.copies = MINI_COPIES_ALL_GATHER,
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
	MINI_RANGE_WITH(ReduceScatter, told_hash(comm), told_bytes(recvcount, datatype),
			(uint64_t) op);
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
	MINI_RANGE_WITH(Send, told_hash(comm), told_bytes(count, datatype),
			(uint64_t) peer);
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
	MINI_RANGE_WITH(Recv, told_hash(comm), told_bytes(count, datatype),
			(uint64_t) peer);
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
	struct ncclComm *comm;
	const char *name;
	ncclResult_t (*add)(const struct parts *p);
	/* What is checked as a whole, and what each part is made from. */
	struct mini_op whole;
};

static ncclResult_t add_part(const struct parts *p, enum mini_function function, int peer,
			     bool has_all)
{
	struct mini_op part = p->whole;
	size_t bytes = part.count * mini_type_size(part.type);
	size_t offset = has_all ? (size_t) peer * bytes : 0;

	part.function = function;
	part.root = peer;
	part.send = (const char *) part.send + offset;
	part.recv = (char *) part.recv + offset;
	return mini_group_add_op(p->comm, &part);
}

static ncclResult_t add_all_to_all(const struct parts *p)
{
	int peer;

	for (peer = 0; peer < p->comm->nranks; peer++) {
		CHECK(add_part(p, MINI_SEND, peer, true));
		CHECK(add_part(p, MINI_RECV, peer, true));
	}
	return ncclSuccess;
}

static ncclResult_t add_rooted(const struct parts *p, enum mini_function of_root)
{
	enum mini_function of_others = of_root == MINI_SEND ? MINI_RECV : MINI_SEND;
	int root = p->whole.root;
	int peer;

	CHECK(add_part(p, of_others, root, false));
	for (peer = 0; root == p->comm->rank && peer < p->comm->nranks; peer++)
		CHECK(add_part(p, of_root, peer, true));
	return ncclSuccess;
}

static ncclResult_t add_gather(const struct parts *p)
{
	return add_rooted(p, MINI_RECV);
}

static ncclResult_t add_scatter(const struct parts *p)
{
	return add_rooted(p, MINI_SEND);
}

static ncclResult_t add_parts(struct parts *p)
{
	CHECK(check_op(p->comm, &p->whole, p->name));
	p->whole.name = p->name;
	p->whole.ordinal = p->comm->op_count++;
	if (p->whole.count == 0)
		return ncclSuccess;
	if (p->comm->nranks == 1)
		return mini_one_rank_run(p->comm, &p->whole);
	p->whole.is_by_copies = mini_copies_do(p->comm, &p->whole);
	if (p->whole.is_by_copies)
		return mini_group_add_op(p->comm, &p->whole);
	return p->add(p);
}

static ncclResult_t enqueue_parts(struct parts *p)
{
	CHECK(check_usable(p->comm, p->name));
	MINI_PROFILE(enter());
	mini_group_start();
	return end_with_state(p->comm, add_parts(p));
}

MINI_API ncclResult_t ncclAlltoAll(const void *sendbuff, void *recvbuff, size_t count,
				   ncclDataType_t datatype, ncclComm_t comm,
				   cudaStream_t stream)
{
	MINI_RANGE_WITH(AlltoAll, told_hash(comm), told_bytes(count, datatype));
	struct parts p = {
		.comm = comm,
		.name = "AlltoAll",
		.add = add_all_to_all,
		.whole = {.function = MINI_SEND,
			  .copies = MINI_COPIES_ALL_TO_ALL,
			  .send = sendbuff,
			  .recv = recvbuff,
			  .count = count,
			  .type = datatype,
			  .stream = stream},
	};

	return enqueue_parts(&p);
}

MINI_API ncclResult_t ncclGather(const void *sendbuff, void *recvbuff, size_t count,
				 ncclDataType_t datatype, int root, ncclComm_t comm,
				 cudaStream_t stream)
{
	MINI_RANGE_WITH(Gather, told_hash(comm), told_bytes(count, datatype),
			(uint64_t) root);
	struct parts p = {
		.comm = comm,
		.name = "Gather",
		.add = add_gather,
		.whole = {.function = MINI_SEND,
			  .copies = MINI_COPIES_GATHER,
			  .send = sendbuff,
			  .recv = recvbuff,
			  .count = count,
			  .type = datatype,
			  .root = root,
			  .stream = stream},
	};

	return enqueue_parts(&p);
}

MINI_API ncclResult_t ncclScatter(const void *sendbuff, void *recvbuff, size_t count,
				  ncclDataType_t datatype, int root, ncclComm_t comm,
				  cudaStream_t stream)
{
	MINI_RANGE_WITH(Scatter, told_hash(comm), told_bytes(count, datatype),
			(uint64_t) root);
	struct parts p = {
		.comm = comm,
		.name = "Scatter",
		.add = add_scatter,
		.whole = {.function = MINI_SEND,
			  .copies = MINI_COPIES_SCATTER,
			  .send = sendbuff,
			  .recv = recvbuff,
			  .count = count,
			  .type = datatype,
			  .root = root,
			  .stream = stream},
	};

	return enqueue_parts(&p);
}

/* The other name of each. */

MINI_ALIAS(GetVersion);
MINI_ALIAS(GetErrorString);
MINI_ALIAS(GetLastError);
MINI_ALIAS(GroupStart);
MINI_ALIAS(GroupEnd);
MINI_ALIAS(GroupSimulateEnd);
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
