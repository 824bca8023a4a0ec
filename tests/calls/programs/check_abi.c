/* SPDX-License-Identifier: MIT */
/*
 * Compiled, never run: the vendor's headers say the same as our rows and types.
 * A row whose signature differs is a conflicting declaration at the row; a layout
 * or a number that differs is a failed assertion.  Any release from 2.18 on will
 * do, what it does not have yet is not compared.
 */
#include <nccl.h>
#if NCCL_VERSION_CODE >= 23200
/* The first release whose device header is C. */
#include <nccl_device.h>
#endif

/* The header hides these two where it does not know the system. */
#undef ncclResetDebugInit
#undef pncclResetDebugInit

#include "calls/nccl_calls.h"

/* clang-format off */
#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) \
	ret_t fn(PARAMS(__VA_ARGS__)); \
	ret_t p##fn(PARAMS(__VA_ARGS__));
#define CALL_VOID(since, class, fn, ...) CALL(since, class, PLAIN, SKIP, void, fn, ##__VA_ARGS__)
#include "calls/nccl.def"
#undef CALL
#undef CALL_VOID

/* What older headers do not name gets our number, and so compares equal. */
#if NCCL_VERSION_CODE < 22400
#define ncclBfloat16 9 /* only there with CUDA's own type */
#define ncclFloat8e4m3 10
#define ncclFloat8e5m2 11
#endif
#if NCCL_VERSION_CODE < 22907
#define ncclStatGpuMemSuspend 0
#define ncclStatGpuMemSuspended 1
#define ncclStatGpuMemPersist 2
#define ncclStatGpuMemTotal 3
#endif
#if NCCL_VERSION_CODE < 23000
#define ncclTimeout 8
#endif
#if NCCL_VERSION_CODE < 23200
#define NCCL_CFT_TEAM_FLAT 0
#define NCCL_CFT_TEAM_HIER_MULTIMEM 1
#define NCCL_CFT_TEAM_HIER_LSA 2
#define NCCL_ENCRYPTION_MODE_NONE 0
#define NCCL_ENCRYPTION_MODE_PSK 1
#endif

#undef TAP_NCCL_VALUE
#define TAP_NCCL_VALUE(name, number) \
	_Static_assert((int) name == number, #name " has another number");
#define TAP_NCCL_ENUM(type, values) \
	_Static_assert(sizeof(type) == 4, #type " has another size"); values
TAP_NCCL_ENUMS

#define SAME_PLACE(ours, theirs, field) \
	(offsetof(struct ours, field) == offsetof(theirs, field) && \
	 sizeof(((struct ours *) 0)->field) == sizeof(((theirs *) 0)->field))
#define SAME(ours, theirs, field) \
	_Static_assert(SAME_PLACE(ours, theirs, field), \
		       #theirs "." #field " lies elsewhere");
#define SAME_HEAD(theirs) \
	SAME(tap_nccl_head, theirs, size) \
	SAME(tap_nccl_head, theirs, magic) \
	SAME(tap_nccl_head, theirs, version)

_Static_assert(sizeof(ncclUniqueId) == 128, "ncclUniqueId has another size");

#define CONFIG(field) SAME(tap_nccl_config, ncclConfig_t, field)
SAME_HEAD(ncclConfig_t)
CONFIG(blocking) CONFIG(cgaClusterSize) CONFIG(minCTAs) CONFIG(maxCTAs) CONFIG(netName)
CONFIG(splitShare)
#if NCCL_VERSION_CODE >= 22600
CONFIG(trafficClass)
#endif
#if NCCL_VERSION_CODE >= 22700
CONFIG(commName) CONFIG(collnetEnable) CONFIG(CTAPolicy) CONFIG(shrinkShare)
CONFIG(nvlsCTAs)
#endif
#if NCCL_VERSION_CODE >= 22800
CONFIG(nChannelsPerNetPeer) CONFIG(nvlinkCentricSched)
#endif
#if NCCL_VERSION_CODE >= 22900
CONFIG(graphUsageMode) CONFIG(numRmaCtx)
#endif
#if NCCL_VERSION_CODE >= 23000
CONFIG(maxP2pPeers)
#endif
#if NCCL_VERSION_CODE >= 23005
CONFIG(graphStreamOrdering)
#endif
#if NCCL_VERSION_CODE >= 23100
CONFIG(launchOrderImplicit) CONFIG(numRmaSig) CONFIG(rmaEagerInit) CONFIG(hostCftMode)
#endif
#if NCCL_VERSION_CODE >= 23200
CONFIG(nvlsHostMode)
#endif

#if NCCL_VERSION_CODE >= 22200
SAME_HEAD(ncclSimInfo_t)
SAME(tap_nccl_sim_info, ncclSimInfo_t, estimatedTime)
#endif

#if NCCL_VERSION_CODE >= 23100
#define COLL_CONFIG(field) SAME(tap_nccl_coll_config, ncclCollConfig_t, field)
SAME_HEAD(ncclCollConfig_t)
COLL_CONFIG(ext) COLL_CONFIG(minCTAs) COLL_CONFIG(maxCTAs) COLL_CONFIG(nvlsCTAs)
COLL_CONFIG(cgaClusterSize) COLL_CONFIG(algSelection) COLL_CONFIG(forceAlgSelection)
COLL_CONFIG(CTAPolicy) COLL_CONFIG(userProfilerTag)
#endif

#if NCCL_VERSION_CODE >= 23200
COLL_CONFIG(launchCompletionEvent)
SAME_HEAD(ncclEncryptionConfig_t)
SAME(tap_nccl_encryption_config, ncclEncryptionConfig_t, mode)

#define PROPERTY(field) SAME(tap_nccl_properties, ncclCommProperties_t, field)
SAME_HEAD(ncclCommProperties_t)
PROPERTY(rank) PROPERTY(nRanks) PROPERTY(cudaDev) PROPERTY(nvmlDev) PROPERTY(ginType)
PROPERTY(nLsaTeams) PROPERTY(hostRmaSupport) PROPERTY(railedGinType) PROPERTY(commHash)
_Static_assert(sizeof(ncclTeam_t) == 3 * sizeof(int), "ncclTeam_t has another size");
_Static_assert(sizeof(ncclMultimemHandle_t) == sizeof(void *),
	       "ncclMultimemHandle_t has another size");
#endif

#if NCCL_VERSION_CODE >= 22900
_Static_assert(offsetof(ncclWaitSignalDesc_t, opCnt) == 0 &&
	       offsetof(ncclWaitSignalDesc_t, peer) == 4 &&
	       offsetof(ncclWaitSignalDesc_t, sigIdx) == 8 &&
	       offsetof(ncclWaitSignalDesc_t, ctx) == 12,
	       "ncclWaitSignalDesc_t has another order");
#endif
