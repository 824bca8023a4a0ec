/* SPDX-License-Identifier: MIT */
/* Operators and their handles (NCCL 2.28.9, enqueue.cc:2240-2340 and 2655-2740). */
#include "redop.h"

#include "comm.h"
#include "reduce.h"
#include "result.h"

#include <stdlib.h>
#include <string.h>

struct mini_redop {
	/* The next one that is free; IN_USE otherwise. */
	int next_free;
	ncclDataType_t type;
	struct mini_operation operation;
};

enum { IN_USE = -1, FIRST_CAPACITY = 4 };

/*
 * A handle looks like no small number, and like none of another communicator; both ways
 * are the same.
 */
static ncclRedOp_t mangle(const struct ncclComm *comm, int op)
{
	uint64_t hash = (uintptr_t) comm;
	int mangled;

	if (op < ncclNumOps)
		return (ncclRedOp_t) op;
	hash ^= hash >> 32;
	hash *= 0x9e3779b97f4a7c13ULL;
	mangled = (int) (hash >> 32 & ncclMaxRedOp) ^ op;
	return (ncclRedOp_t) (mangled < ncclNumOps ? op : mangled);
}

static int index_of(const struct ncclComm *comm, ncclRedOp_t op)
{
	return (int) mangle(comm, (int) op) - (int) ncclNumOps;
}

static bool grow(struct mini_redops *redops)
{
	int capacity = redops->capacity ? 2 * redops->capacity : FIRST_CAPACITY;
	struct mini_redop *all =
		realloc(redops->all, (size_t) capacity * sizeof(*redops->all));
	int i;

	if (!all)
		return false;
	for (i = redops->capacity; i < capacity; i++)
		all[i].next_free = i + 1;
	redops->all = all;
	redops->capacity = capacity;
	return true;
}

ncclResult_t mini_redop_create(struct ncclComm *comm, const void *scalar,
			       ncclDataType_t type, bool is_on_device,
			       ncclRedOp_t *ret_op)
{
	struct mini_redops *redops = &comm->redops;
	struct mini_redop *redop;

	if (redops->first_free == redops->capacity && !grow(redops))
		return mini_fail(ncclSystemError, "out of memory");
	redop = &redops->all[redops->first_free];
	*ret_op = mangle(comm, (int) ncclNumOps + redops->first_free);
	redops->first_free = redop->next_free;
	*redop = (struct mini_redop){.next_free = IN_USE, .type = type};
	redop->operation.kind = MINI_PRE_MUL_SUM;
	if (is_on_device)
		redop->operation.scalar_at = scalar;
	else
		memcpy(&redop->operation.scalar, scalar, mini_type_size(type));
	return ncclSuccess;
}

ncclResult_t mini_redop_destroy(struct ncclComm *comm, ncclRedOp_t op)
{
	int index = index_of(comm, op);

	if ((int) op >= 0 && op < ncclNumOps)
		return mini_fail(ncclInvalidArgument,
				 "ncclRedOpDestroy : operator is a NCCL builtin.");
	if ((int) op < 0)
		return mini_fail(ncclInvalidArgument,
				 "ncclRedOpDestroy :  operator is garbage.");
	if (!mini_redop_exists(comm, op))
		return mini_fail(ncclInvalidArgument,
				 "ncclRedOpDestroy : operator unknown "
				 "to this communicator.");
	comm->redops.all[index].next_free = comm->redops.first_free;
	comm->redops.first_free = index;
	return ncclSuccess;
}

void mini_redops_free(struct mini_redops *redops)
{
	free(redops->all);
}

bool mini_redop_exists(const struct ncclComm *comm, ncclRedOp_t op)
{
	int index = index_of(comm, op);

	if ((int) op < 0)
		return false;
	if (op < ncclNumOps)
		return true;
	return index >= 0 && index < comm->redops.capacity &&
	       comm->redops.all[index].next_free == IN_USE;
}

static bool is_integer(ncclDataType_t type)
{
	return type == ncclInt8 || type == ncclUint8 || type == ncclInt32 ||
	       type == ncclUint32 || type == ncclInt64 || type == ncclUint64;
}

ncclResult_t mini_redop_operation(const struct ncclComm *comm, ncclRedOp_t op,
				  ncclDataType_t type, struct mini_operation *operation)
{
	*operation = (struct mini_operation){.kind = MINI_SUM};
	switch (op) {
	case ncclSum:
		break;
	case ncclProd:
		operation->kind = MINI_PROD;
		break;
	case ncclMax:
	case ncclMin:
		operation->kind = MINI_MIN_MAX;
		operation->is_max = op == ncclMax;
		break;
	case ncclAvg:
		operation->kind = is_integer(type) ? MINI_SUM_POST_DIV : MINI_PRE_MUL_SUM;
		operation->scalar = is_integer(type)
					    ? (uint64_t) comm->nranks
					    : mini_reduce_share(type, comm->nranks);
		break;
	default:
		if (comm->redops.all[index_of(comm, op)].type != type)
			return mini_fail(ncclInvalidArgument,
					 "Data type supplied to user-created ncclRedOp_t "
					 "does not match type given to reduction "
					 "operation");
		*operation = comm->redops.all[index_of(comm, op)].operation;
		break;
	}
	return ncclSuccess;
}
