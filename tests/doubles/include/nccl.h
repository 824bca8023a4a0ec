/* SPDX-License-Identifier: MIT */
/*
 * The part of NCCL's API that the double offers, so that it and the bundled
 * program build where there is no NCCL.  The names, the values and the binary
 * interface are those of NCCL 2.28: a file that includes <nccl.h> compiles
 * against either, and tests/doubles_tests/test_headers.sh has it compiled against both.
 */
#ifndef MINI_NCCL_H
#define MINI_NCCL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NCCL_MAJOR 2
#define NCCL_MINOR 28
#define NCCL_PATCH 9
/* clang-format off */
#define NCCL_VERSION(major, minor, patch) ((major) * 10000 + (minor) * 100 + (patch))
/* clang-format on */
#define NCCL_VERSION_CODE NCCL_VERSION(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH)

#define NCCL_UNIQUE_ID_BYTES 128
#define NCCL_CONFIG_UNDEF_INT INT_MIN
#define NCCL_CONFIG_UNDEF_PTR NULL
#define NCCL_SPLIT_NOCOLOR -1
#define NCCL_SHRINK_DEFAULT 0x00
#define NCCL_SHRINK_ABORT 0x01
#define NCCL_REVOKE_DEFAULT 0x00
#define NCCL_WIN_DEFAULT 0x00
#define NCCL_WIN_COLL_SYMMETRIC 0x01
#define NCCL_WIN_REQUIRED_ALIGNMENT 4096
#define NCCL_CTA_POLICY_DEFAULT 0x00
#define NCCL_CTA_POLICY_EFFICIENCY 0x01
#define NCCL_CTA_POLICY_ZERO 0x02

typedef struct CUstream_st *cudaStream_t;
typedef struct ncclComm *ncclComm_t;
typedef struct ncclWindow_vidmem *ncclWindow_t;

typedef struct {
	char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef enum {
	ncclSuccess = 0,
	ncclUnhandledCudaError = 1,
	ncclSystemError = 2,
	ncclInternalError = 3,
	ncclInvalidArgument = 4,
	ncclInvalidUsage = 5,
	ncclRemoteError = 6,
	ncclInProgress = 7,
	ncclNumResults = 8
} ncclResult_t;

typedef enum {
	ncclSum = 0,
	ncclProd = 1,
	ncclMax = 2,
	ncclMin = 3,
	ncclAvg = 4,
	ncclNumOps = 5,
	ncclMaxRedOp = 0x7fffffff
} ncclRedOp_t;

typedef enum {
	ncclScalarDevice = 0,
	ncclScalarHostImmediate = 1
} ncclScalarResidence_t;

typedef enum {
	ncclInt8 = 0,
	ncclChar = 0,
	ncclUint8 = 1,
	ncclInt32 = 2,
	ncclInt = 2,
	ncclUint32 = 3,
	ncclInt64 = 4,
	ncclUint64 = 5,
	ncclFloat16 = 6,
	ncclHalf = 6,
	ncclFloat32 = 7,
	ncclFloat = 7,
	ncclFloat64 = 8,
	ncclDouble = 8,
	ncclBfloat16 = 9,
	ncclFloat8e4m3 = 10,
	ncclFloat8e5m2 = 11,
	ncclNumTypes = 12
} ncclDataType_t;

typedef struct ncclConfig_v22800 {
	size_t size;
	unsigned int magic;
	unsigned int version;
	int blocking;
	int cgaClusterSize;
	int minCTAs;
	int maxCTAs;
	const char *netName;
	int splitShare;
	int trafficClass;
	const char *commName;
	int collnetEnable;
	int CTAPolicy;
	int shrinkShare;
	int nvlsCTAs;
	int nChannelsPerNetPeer;
	int nvlinkCentricSched;
} ncclConfig_t;

/* clang-format off */
#define NCCL_CONFIG_INITIALIZER { \
	sizeof(ncclConfig_t), 0xcafebeef, NCCL_VERSION_CODE, \
	NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, \
	NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_PTR, NCCL_CONFIG_UNDEF_INT, \
	NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_PTR, NCCL_CONFIG_UNDEF_INT, \
	NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, \
	NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT }

#define NCCL_API_MAGIC 0xcafebeef
#define NCCL_UNDEF_FLOAT -1.0f

typedef struct ncclSimInfo_v22200 {
	size_t size;
	unsigned int magic;
	unsigned int version;
	float estimatedTime;
} ncclSimInfo_t;

#define NCCL_SIM_INFO_INITIALIZER { \
	sizeof(ncclSimInfo_t), 0x74685283, NCCL_VERSION_CODE, NCCL_UNDEF_FLOAT }

/* Of a newer release, for tests/doubles/nccl/api_newer.c. */
#define NCCL_SUSPEND_MEM 0x01

typedef enum {
	ncclStatGpuMemSuspend = 0,
	ncclStatGpuMemSuspended = 1,
	ncclStatGpuMemPersist = 2,
	ncclStatGpuMemTotal = 3
} ncclCommMemStat_t;

typedef enum {
	NCCL_GIN_TYPE_NONE = 0,
	NCCL_GIN_TYPE_PROXY = 2,
	NCCL_GIN_TYPE_GDAKI = 3
} ncclGinType_t;

typedef struct ncclCommProperties {
	size_t size;
	unsigned int magic;
	unsigned int version;
	int rank;
	int nRanks;
	int cudaDev;
	int nvmlDev;
	bool deviceApiSupport;
	bool multimemSupport;
	ncclGinType_t ginType;
	int nLsaTeams;
	bool hostRmaSupport;
	ncclGinType_t railedGinType;
} ncclCommProperties_t;

#define NCCL_COMM_PROPERTIES_INITIALIZER { \
	.size = sizeof(ncclCommProperties_t), .magic = NCCL_API_MAGIC, \
	.version = NCCL_VERSION_CODE }

/* Each call under both of its names. */
#define MINI_NCCL_CALL(type, name, parameters) \
	type nccl##name parameters; \
	type pnccl##name parameters

MINI_NCCL_CALL(ncclResult_t, GetVersion, (int *version));
MINI_NCCL_CALL(ncclResult_t, GetUniqueId, (ncclUniqueId *uniqueId));
MINI_NCCL_CALL(const char *, GetErrorString, (ncclResult_t result));
MINI_NCCL_CALL(const char *, GetLastError, (ncclComm_t comm));
MINI_NCCL_CALL(ncclResult_t, MemAlloc, (void **ptr, size_t size));
MINI_NCCL_CALL(ncclResult_t, MemFree, (void *ptr));

MINI_NCCL_CALL(ncclResult_t, CommInitRank,
	(ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank));
MINI_NCCL_CALL(ncclResult_t, CommInitRankConfig,
	(ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank,
	 ncclConfig_t *config));
MINI_NCCL_CALL(ncclResult_t, CommInitRankScalable,
	(ncclComm_t *newcomm, int nranks, int myrank, int nId, ncclUniqueId *commIds,
	 ncclConfig_t *config));
MINI_NCCL_CALL(ncclResult_t, CommInitAll,
	(ncclComm_t *comm, int ndev, const int *devlist));
MINI_NCCL_CALL(ncclResult_t, CommSplit,
	(ncclComm_t comm, int color, int key, ncclComm_t *newcomm,
	 ncclConfig_t *config));
MINI_NCCL_CALL(ncclResult_t, CommShrink,
	(ncclComm_t comm, int *excludeRanksList, int excludeRanksCount,
	 ncclComm_t *newcomm, ncclConfig_t *config, int shrinkFlags));
MINI_NCCL_CALL(ncclResult_t, CommRevoke, (ncclComm_t comm, int revokeFlags));
MINI_NCCL_CALL(ncclResult_t, CommGetUniqueId,
	(ncclComm_t comm, ncclUniqueId *uniqueId));
MINI_NCCL_CALL(ncclResult_t, CommGrow,
	(ncclComm_t comm, int nRanks, const ncclUniqueId *uniqueId, int rank,
	 ncclComm_t *newcomm, ncclConfig_t *config));
MINI_NCCL_CALL(ncclResult_t, CommSuspend, (ncclComm_t comm, int flags));
MINI_NCCL_CALL(ncclResult_t, CommResume, (ncclComm_t comm));
MINI_NCCL_CALL(ncclResult_t, CommMemStats,
	(ncclComm_t comm, ncclCommMemStat_t stat, uint64_t *value));
MINI_NCCL_CALL(ncclResult_t, CommQueryProperties,
	(ncclComm_t comm, ncclCommProperties_t *props));
MINI_NCCL_CALL(ncclResult_t, CommFinalize, (ncclComm_t comm));
MINI_NCCL_CALL(ncclResult_t, CommDestroy, (ncclComm_t comm));
MINI_NCCL_CALL(ncclResult_t, CommAbort, (ncclComm_t comm));
MINI_NCCL_CALL(ncclResult_t, CommGetAsyncError,
	(ncclComm_t comm, ncclResult_t *asyncError));
MINI_NCCL_CALL(ncclResult_t, CommCount, (const ncclComm_t comm, int *count));
MINI_NCCL_CALL(ncclResult_t, CommCuDevice, (const ncclComm_t comm, int *device));
MINI_NCCL_CALL(ncclResult_t, CommUserRank, (const ncclComm_t comm, int *rank));
MINI_NCCL_CALL(ncclResult_t, CommRegister,
	(const ncclComm_t comm, void *buff, size_t size, void **handle));
MINI_NCCL_CALL(ncclResult_t, CommDeregister, (const ncclComm_t comm, void *handle));
MINI_NCCL_CALL(ncclResult_t, CommWindowRegister,
	(ncclComm_t comm, void *buff, size_t size, ncclWindow_t *win, int winFlags));
MINI_NCCL_CALL(ncclResult_t, CommWindowDeregister, (ncclComm_t comm, ncclWindow_t win));
MINI_NCCL_CALL(ncclResult_t, WinGetUserPtr,
	(ncclComm_t comm, ncclWindow_t win, void **outUserPtr));
MINI_NCCL_CALL(ncclResult_t, RedOpCreatePreMulSum,
	(ncclRedOp_t *op, void *scalar, ncclDataType_t datatype,
	 ncclScalarResidence_t residence, ncclComm_t comm));
MINI_NCCL_CALL(ncclResult_t, RedOpDestroy, (ncclRedOp_t op, ncclComm_t comm));

MINI_NCCL_CALL(ncclResult_t, AllReduce,
	(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype,
	 ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream));
MINI_NCCL_CALL(ncclResult_t, Broadcast,
	(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype,
	 int root, ncclComm_t comm, cudaStream_t stream));
MINI_NCCL_CALL(ncclResult_t, Bcast,
	(void *buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
	 cudaStream_t stream));
MINI_NCCL_CALL(ncclResult_t, Reduce,
	(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype,
	 ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream));
MINI_NCCL_CALL(ncclResult_t, AllGather,
	(const void *sendbuff, void *recvbuff, size_t sendcount, ncclDataType_t datatype,
	 ncclComm_t comm, cudaStream_t stream));
MINI_NCCL_CALL(ncclResult_t, ReduceScatter,
	(const void *sendbuff, void *recvbuff, size_t recvcount, ncclDataType_t datatype,
	 ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream));
MINI_NCCL_CALL(ncclResult_t, AlltoAll,
	(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype,
	 ncclComm_t comm, cudaStream_t stream));
MINI_NCCL_CALL(ncclResult_t, Gather,
	(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype,
	 int root, ncclComm_t comm, cudaStream_t stream));
MINI_NCCL_CALL(ncclResult_t, Scatter,
	(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype,
	 int root, ncclComm_t comm, cudaStream_t stream));
MINI_NCCL_CALL(ncclResult_t, Send,
	(const void *sendbuff, size_t count, ncclDataType_t datatype, int peer,
	 ncclComm_t comm, cudaStream_t stream));
MINI_NCCL_CALL(ncclResult_t, Recv,
	(void *recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
	 cudaStream_t stream));
MINI_NCCL_CALL(ncclResult_t, GroupStart, (void));
MINI_NCCL_CALL(ncclResult_t, GroupEnd, (void));
MINI_NCCL_CALL(ncclResult_t, GroupSimulateEnd, (ncclSimInfo_t *simInfo));
/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif
