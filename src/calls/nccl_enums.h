/* SPDX-License-Identifier: MIT */
/*
 * The vendor's enumerations, one list each, from which the types, the trace's
 * enumerations and the check against the vendor's header are made.
 *
 * TAP_NCCL_ENUMS expands TAP_NCCL_ENUM(type, values) for each, TAP_NCCL_RESULTS for the
 * results alone; a value is TAP_NCCL_VALUE(name, number).  A number never gets another
 * name.  A reduction operator that the program makes has a number of its own, which is in
 * no list.
 */
#ifndef TAP_CALLS_NCCL_ENUMS_H
#define TAP_CALLS_NCCL_ENUMS_H

/* clang-format off */
#define TAP_NCCL_RESULTS \
	TAP_NCCL_ENUM(ncclResult_t, \
		TAP_NCCL_VALUE(ncclSuccess, 0) \
		TAP_NCCL_VALUE(ncclUnhandledCudaError, 1) \
		TAP_NCCL_VALUE(ncclSystemError, 2) \
		TAP_NCCL_VALUE(ncclInternalError, 3) \
		TAP_NCCL_VALUE(ncclInvalidArgument, 4) \
		TAP_NCCL_VALUE(ncclInvalidUsage, 5) \
		TAP_NCCL_VALUE(ncclRemoteError, 6) \
		TAP_NCCL_VALUE(ncclInProgress, 7) \
		TAP_NCCL_VALUE(ncclTimeout, 8))
#define TAP_NCCL_ENUMS \
	TAP_NCCL_RESULTS \
	TAP_NCCL_ENUM(ncclDataType_t, \
		TAP_NCCL_VALUE(ncclInt8, 0) \
		TAP_NCCL_VALUE(ncclUint8, 1) \
		TAP_NCCL_VALUE(ncclInt32, 2) \
		TAP_NCCL_VALUE(ncclUint32, 3) \
		TAP_NCCL_VALUE(ncclInt64, 4) \
		TAP_NCCL_VALUE(ncclUint64, 5) \
		TAP_NCCL_VALUE(ncclFloat16, 6) \
		TAP_NCCL_VALUE(ncclFloat32, 7) \
		TAP_NCCL_VALUE(ncclFloat64, 8) \
		TAP_NCCL_VALUE(ncclBfloat16, 9) \
		TAP_NCCL_VALUE(ncclFloat8e4m3, 10) \
		TAP_NCCL_VALUE(ncclFloat8e5m2, 11)) \
	TAP_NCCL_ENUM(ncclRedOp_t, \
		TAP_NCCL_VALUE(ncclSum, 0) \
		TAP_NCCL_VALUE(ncclProd, 1) \
		TAP_NCCL_VALUE(ncclMax, 2) \
		TAP_NCCL_VALUE(ncclMin, 3) \
		TAP_NCCL_VALUE(ncclAvg, 4)) \
	TAP_NCCL_ENUM(ncclScalarResidence_t, \
		TAP_NCCL_VALUE(ncclScalarDevice, 0) \
		TAP_NCCL_VALUE(ncclScalarHostImmediate, 1)) \
	TAP_NCCL_ENUM(ncclCommMemStat_t, \
		TAP_NCCL_VALUE(ncclStatGpuMemSuspend, 0) \
		TAP_NCCL_VALUE(ncclStatGpuMemSuspended, 1) \
		TAP_NCCL_VALUE(ncclStatGpuMemPersist, 2) \
		TAP_NCCL_VALUE(ncclStatGpuMemTotal, 3)) \
	TAP_NCCL_ENUM(ncclCftTeamMode_t, \
		TAP_NCCL_VALUE(NCCL_CFT_TEAM_FLAT, 0) \
		TAP_NCCL_VALUE(NCCL_CFT_TEAM_HIER_MULTIMEM, 1) \
		TAP_NCCL_VALUE(NCCL_CFT_TEAM_HIER_LSA, 2)) \
	TAP_NCCL_ENUM(ncclEncryptionMode_t, \
		TAP_NCCL_VALUE(NCCL_ENCRYPTION_MODE_NONE, 0) \
		TAP_NCCL_VALUE(NCCL_ENCRYPTION_MODE_PSK, 1))

#endif
