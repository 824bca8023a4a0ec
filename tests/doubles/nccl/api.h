/* SPDX-License-Identifier: MIT */
/*
 * What the files of exported functions share: the two names of each function,
 * and how a call ends that is a group of its own.
 */
#ifndef MINI_NCCL_API_H
#define MINI_NCCL_API_H

#include "comm.h"
#include "group.h"
#include "nvtx.h"
#include "reduce.h"
#include "result.h"

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

/* What a range tells of the communicator of a call, and of its data. */
static inline uint64_t told_hash(const struct ncclComm *comm)
{
	return comm ? comm->hash : 0;
}

static inline uint64_t told_bytes(size_t count, ncclDataType_t type)
{
	return (int) type >= 0 && type < ncclNumTypes ? count * mini_type_size(type) : 0;
}

static inline ncclResult_t check_pointer(const void *pointer, const char *function,
					 const char *name)
{
	if (pointer)
		return ncclSuccess;
	return mini_fail(ncclInvalidArgument, "%s : %s argument is NULL", function, name);
}

/*
 * What failed fails the group as well.  Where the group ends here, its failure is
 * the result, but not that it goes on in the background: as in NCCL, a caller
 * that wants to know asks for the state of the communicator.
 */
static inline ncclResult_t end_after(ncclResult_t result)
{
	ncclResult_t end;

	if (result != ncclSuccess && result != ncclInProgress)
		mini_group_fail(result);
	end = mini_group_end(NULL);
	return end != ncclSuccess && end != ncclInProgress ? end : result;
}

/* The same for a call whose result is the state of a nonblocking communicator. */
static inline ncclResult_t end_with_state(struct ncclComm *comm, ncclResult_t result)
{
	bool is_nonblocking = comm && comm->is_nonblocking;

	if (result != ncclSuccess && is_nonblocking)
		atomic_store(&comm->async_result, (int) result);
	result = end_after(result);
	/* NCCL looks through its own exported function here. */
	if (result == ncclSuccess && is_nonblocking)
		ncclCommGetAsyncError(comm, &result);
	return result;
}

/* Takes the request; `comm` is the one whose state it becomes. */
static inline ncclResult_t add_request(struct ncclComm *comm,
				       struct mini_comm_request *request)
{
	ncclResult_t result;

	result = mini_group_add_job(comm, mini_comm_init, mini_comm_cancel, request);
	if (result != ncclSuccess) {
		request->is_undone = true;
		mini_comm_cancel(request);
	}
	return result;
}

#endif
