/* SPDX-License-Identifier: MIT */
/* The exported functions of reduction operators. */
#include "api.h"
#include "redop.h"
#include "reduce.h"

MINI_API ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t *op, void *scalar,
					       ncclDataType_t datatype,
					       ncclScalarResidence_t residence,
					       ncclComm_t comm)
{
	CHECK(mini_comm_check(comm, "ncclRedOpCreatePreMulSum"));
	CHECK(mini_comm_ensure_ready(comm, "ncclRedOpCreatePreMulSum"));
	if (residence == ncclScalarHostImmediate && mini_type_size(datatype) == 0)
		return ncclInternalError;
	return mini_redop_create(comm, scalar, datatype, residence == ncclScalarDevice,
				 op);
}

MINI_API ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm)
{
	if (!comm)
		return mini_fail(ncclInvalidArgument,
				 "ncclRedOpDestroy : invalid communicator passed.");
	return mini_redop_destroy(comm, op);
}

/* The other name of each. */

MINI_ALIAS(RedOpCreatePreMulSum);
MINI_ALIAS(RedOpDestroy);
