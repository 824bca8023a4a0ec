/* SPDX-License-Identifier: MIT */
/*
 * The types of the NCCL API under the vendor's names, declared here, so that no build
 * needs a vendor's header.
 *
 * It hides which header, if any, was included before: after the vendor's <nccl.h> or
 * <nccl_device.h> it adds only what that version lacks.  Types that are passed by address
 * are not described here.  The few structures that the tracer reads are tap_nccl_* below,
 * with the newest release's layout, and are read only as far as the program's own copy
 * reaches (kinds.h).  tests/calls/programs/check_abi.c compares all of it with the
 * vendor's headers.
 */
#ifndef TAP_CALLS_NCCL_TYPES_H
#define TAP_CALLS_NCCL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/nccl_enums.h"

/* Opaque types may be declared twice if both declarations are alike. */
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct ncclComm *ncclComm_t;

#ifdef NCCL_H_
#define TAP_NCCL_HEADER NCCL_VERSION_CODE
#else
#define TAP_NCCL_HEADER 0
#define NCCL_UNIQUE_ID_BYTES 128

typedef struct {
	char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef struct ncclConfig ncclConfig_t;

#define TAP_NCCL_ENUM(type, values) typedef enum { values } type;
#define TAP_NCCL_VALUE(name, number) name = number,
TAP_NCCL_ENUMS
#undef TAP_NCCL_VALUE
#undef TAP_NCCL_ENUM
#endif

/* Older headers lack these; of an argument only the size matters. */
#if TAP_NCCL_HEADER < 22200
typedef struct ncclSimInfo ncclSimInfo_t;
#endif
#if TAP_NCCL_HEADER < 22700
typedef struct ncclWindow_vidmem *ncclWindow_t;
#endif
#if TAP_NCCL_HEADER < 22900
typedef struct {
	int opCnt, peer, sigIdx, ctx;
} ncclWaitSignalDesc_t;
#endif
#if TAP_NCCL_HEADER > 0 && TAP_NCCL_HEADER < 22907
typedef int ncclCommMemStat_t;
#endif
#if TAP_NCCL_HEADER < 23100
typedef struct ncclCollConfig ncclCollConfig_t;
#endif
#if TAP_NCCL_HEADER < 23200
typedef struct ncclEncryptionConfig ncclEncryptionConfig_t;
#if TAP_NCCL_HEADER > 0
typedef int ncclEncryptionMode_t;
#endif
#endif

#ifndef _NCCL_DEVICE_CORE_H_
struct ncclTeam {
	int nRanks, rank, stride;
};
struct ncclMultimemHandle {
	void *mcBasePtr;
};
#if TAP_NCCL_HEADER > 0
typedef int ncclCftTeamMode_t;
#endif
#endif
typedef struct ncclTeam ncclTeam_t;
typedef struct ncclMultimemHandle ncclMultimemHandle_t;
typedef struct ncclDevComm ncclDevComm_t;
typedef struct ncclDevCommRequirements ncclDevCommRequirements_t;
typedef struct ncclDevResourceRequirements ncclDevResourceRequirements_t;
typedef struct ncclCommProperties ncclCommProperties_t;
typedef struct ncclLsaBarrierHandle ncclLsaBarrierHandle_t;
typedef struct ncclGinBarrierHandle ncclGinBarrierHandle_t;
typedef struct ncclLLA2AHandle ncclLLA2AHandle_t;
typedef uint32_t ncclCftLeId_t;
struct ncclGinOutboxHandle;
struct ncclGinInboxA2AHandle;
struct ncclParamHandle;

/* RCCL's own type. */
typedef int mscclAlgoHandle_t;

/* The beginning of every structure with a version. */
struct tap_nccl_head {
	size_t size;
	unsigned int magic, version;
};
#define TAP_NCCL_MAGIC 0xcafebeefu
#define TAP_NCCL_SIM_MAGIC 0x74685283u

struct tap_nccl_config {
	struct tap_nccl_head head;
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
	int graphUsageMode;
	int numRmaCtx;
	int maxP2pPeers;
	int graphStreamOrdering;
	int launchOrderImplicit;
	int numRmaSig;
	int rmaEagerInit;
	int hostCftMode;
	int nvlsHostMode;
};

struct tap_nccl_coll_config {
	struct tap_nccl_head head;
	void *ext;
	int minCTAs;
	int maxCTAs;
	int nvlsCTAs;
	int cgaClusterSize;
	const char *algSelection;
	int forceAlgSelection;
	int CTAPolicy;
	uint64_t userProfilerTag;
	cudaEvent_t launchCompletionEvent;
};

struct tap_nccl_sim_info {
	struct tap_nccl_head head;
	float estimatedTime;
};

/* Up to commHash only; ginType was one byte wide before 2.29.7. */
struct tap_nccl_properties {
	struct tap_nccl_head head;
	int rank;
	int nRanks;
	int cudaDev;
	int nvmlDev;
	bool deviceApiSupport;
	bool multimemSupport;
	int ginType;
	int nLsaTeams;
	bool hostRmaSupport;
	int railedGinType;
	uint64_t commHash;
};

/* The key after the mode is a secret, so it has no name here. */
struct tap_nccl_encryption_config {
	struct tap_nccl_head head;
	int mode;
};

#endif
