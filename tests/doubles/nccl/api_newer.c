/* SPDX-License-Identifier: MIT */
/*
 * The exported functions that came after the release that the double imitates:
 * there is no other harm in having them, and programs find them by name.
 */
#include "api.h"

/* Growing: ranks that are there pass the rank -1, those that join no parent. */

MINI_API ncclResult_t ncclCommGetUniqueId(ncclComm_t comm, ncclUniqueId *uniqueId)
{
	CHECK(mini_comm_check(comm, "ncclCommGetUniqueId"));
	CHECK(mini_comm_ensure_ready(comm, "ncclCommGetUniqueId"));
	CHECK(check_pointer(uniqueId, "CommGetUniqueId", "uniqueId"));
	return mini_result(mini_comm_invite(comm, uniqueId));
}

static ncclResult_t check_old(struct ncclComm *comm, int rank)
{
	CHECK(mini_comm_check(comm, "ncclCommGrow"));
	CHECK(mini_comm_ensure_ready(comm, "ncclCommGrow"));
	if (rank != -1)
		return mini_fail(ncclInvalidArgument,
				 "ncclCommGrow: existing ranks must pass rank=-1, got %d",
				 rank);
	return ncclSuccess;
}

static ncclResult_t check_new(const ncclUniqueId *id, int nranks, int rank)
{
	if (rank < 0 || rank >= nranks)
		return mini_fail(ncclInvalidArgument,
				 "ncclCommGrow: invalid rank requested : %d/%d", rank,
				 nranks);
	return check_pointer(id, "ncclCommGrow", "uniqueId");
}

/* What an old rank takes from its communicator. */
static ncclResult_t grow_old(struct mini_comm_request *request, const ncclUniqueId *id,
			     const ncclConfig_t *config)
{
	ncclConfig_t inherited = NCCL_CONFIG_INITIALIZER;
	struct ncclComm *parent = request->parent;
	ncclUniqueId invitation;

	parent->child_count++;
	request->growth_magic = mini_comm_growth_magic(parent);
	/* Here and now, even where the communicator does not block. */
	CHECK(mini_result(mini_comm_wait_for_invitation(parent, &invitation, &id)));
	if (parent->nranks == 1)
		CHECK(check_pointer(id, "ncclCommGrow", "uniqueId"));
	if (id == &invitation && mini_bootstrap_magic(id) != request->growth_magic)
		return mini_fail(ncclInvalidArgument, "ncclCommGrow: magic mismatch");
	CHECK(mini_comm_request_ids(request, id, id != NULL));
	inherited.blocking = !parent->is_nonblocking;
	inherited.CTAPolicy = parent->cta_policy;
	config = config ? config : &inherited;
	CHECK(mini_config_check(config));
	CHECK(mini_comm_create(&request->comm, request->growth, parent->rank, config,
			       NULL));
	request->comm->context = parent->context;
	request->comm->device = parent->device;
	return ncclSuccess;
}

static ncclResult_t grow_new(struct mini_comm_request *request, const ncclUniqueId *id,
			     int rank, const ncclConfig_t *config)
{
	request->growth_magic = mini_bootstrap_magic(id);
	CHECK(mini_comm_request_ids(request, id, 1));
	CHECK(mini_config_check(config));
	return mini_comm_create(&request->comm, request->growth, rank, config, NULL);
}

static ncclResult_t grow(struct ncclComm *parent, int nranks, const ncclUniqueId *id,
			 int rank, ncclComm_t *newcomm, const ncclConfig_t *config)
{
	struct mini_comm_request *request;
	ncclResult_t result;

	CHECK(parent ? check_old(parent, rank) : check_new(id, nranks, rank));
	request = mini_comm_request();
	if (!request)
		return mini_fail(ncclSystemError, "out of memory");
	request->parent = parent;
	request->newcomm = newcomm;
	request->growth = nranks;
	result = parent ? grow_old(request, id, config)
			: grow_new(request, id, rank, config);
	if (result != ncclSuccess) {
		mini_comm_request_free(request);
		return result;
	}
	/* As with ncclCommInitRank(), before the ranks have met. */
	*newcomm = request->comm;
	return add_request(request->comm, request);
}

MINI_API ncclResult_t ncclCommGrow(ncclComm_t comm, int nRanks,
				   const ncclUniqueId *uniqueId, int rank,
				   ncclComm_t *newcomm, ncclConfig_t *config)
{
	CHECK(check_pointer(newcomm, "ncclCommGrow", "newcomm"));
	if (nRanks <= 0 || (comm && nRanks <= comm->nranks))
		return mini_fail(ncclInvalidArgument,
				 "ncclCommGrow: invalid number of ranks %d", nRanks);
	*newcomm = NULL;
	CHECK(mini_driver_load());
	mini_group_start();
	return end_after(grow(comm, nRanks, uniqueId, rank, newcomm, config));
}

/* Memory that the program may want back for a while, and what a communicator is. */

/* What NCCL's communicators have of the GPU and the double has no use for. */
#define PERSISTENT_BYTES ((uint64_t) 1 << 20)
#define SUSPENDABLE_BYTES ((uint64_t) 8 << 20)

MINI_API ncclResult_t ncclCommSuspend(ncclComm_t comm, int flags)
{
	CHECK(mini_comm_check(comm, "ncclCommSuspend"));
	CHECK(mini_comm_ensure_ready(comm, "ncclCommSuspend"));
	if (!(flags & NCCL_SUSPEND_MEM))
		return ncclSuccess;
	if (comm->is_suspended)
		return mini_fail(ncclInvalidUsage, "ncclCommSuspend: already suspended");
	CHECK(mini_driver_check(mini_driver.CtxSynchronize()));
	CHECK(mini_comm_barrier(comm));
	comm->is_suspended = true;
	return ncclSuccess;
}

MINI_API ncclResult_t ncclCommResume(ncclComm_t comm)
{
	CHECK(mini_comm_check(comm, "ncclCommResume"));
	CHECK(mini_comm_ensure_ready(comm, "ncclCommResume"));
	if (!comm->is_suspended)
		return mini_fail(ncclInvalidUsage, "ncclCommResume: not suspended");
	comm->is_suspended = false;
	return mini_comm_barrier(comm);
}

MINI_API ncclResult_t ncclCommMemStats(ncclComm_t comm, ncclCommMemStat_t stat,
				       uint64_t *value)
{
	CHECK(mini_comm_check(comm, "ncclCommMemStats"));
	CHECK(mini_comm_ensure_ready(comm, "ncclCommMemStats"));
	CHECK(check_pointer(value, "ncclCommMemStats", "value"));
	switch (stat) {
	case ncclStatGpuMemSuspend:
		*value = SUSPENDABLE_BYTES;
		return ncclSuccess;
	case ncclStatGpuMemSuspended:
		*value = comm->is_suspended;
		return ncclSuccess;
	case ncclStatGpuMemPersist:
		*value = PERSISTENT_BYTES;
		return ncclSuccess;
	case ncclStatGpuMemTotal:
		*value = SUSPENDABLE_BYTES + PERSISTENT_BYTES;
		return ncclSuccess;
	default:
		return mini_fail(ncclInvalidArgument, "ncclCommMemStats: no such number");
	}
}

/*
 * NCCL refuses a program that was compiled for a newer one; since this function is
 * newer than the version given out here, all its callers would be.
 */
MINI_API ncclResult_t ncclCommQueryProperties(ncclComm_t comm,
					      ncclCommProperties_t *props)
{
	CHECK(mini_comm_check(comm, "ncclCommQueryProperties"));
	CHECK(check_pointer(props, "ncclCommQueryProperties", "props"));
	CHECK(mini_comm_ensure_ready(comm, "ncclCommQueryProperties"));
	if (props->magic != NCCL_API_MAGIC)
		return mini_fail(ncclInvalidUsage,
				 "ncclCommProperties_t argument not initialized via "
				 "NCCL_COMM_PROPERTIES_INITIALIZER");
	if (props->size < sizeof(*props))
		return mini_fail(ncclInvalidUsage, "too old a ncclCommProperties_t");
	props->rank = comm->rank;
	props->nRanks = comm->nranks;
	props->cudaDev = comm->device;
	props->nvmlDev = comm->device;
	props->deviceApiSupport = false;
	props->multimemSupport = false;
	props->hostRmaSupport = false;
	props->ginType = NCCL_GIN_TYPE_NONE;
	props->railedGinType = NCCL_GIN_TYPE_NONE;
	props->nLsaTeams = 1;
	return ncclSuccess;
}

/* The other name of each. */

MINI_ALIAS(CommGetUniqueId);
MINI_ALIAS(CommGrow);
MINI_ALIAS(CommSuspend);
MINI_ALIAS(CommResume);
MINI_ALIAS(CommMemStats);
MINI_ALIAS(CommQueryProperties);
