/* SPDX-License-Identifier: MIT */
/*
 * The types of the CUDA driver API that the rows of cuda.def name.
 *
 * It hides that the build needs no CUDA: the layouts are declared here as in cuda.h of
 * CUDA 11.8 to 13.0, only as far as the tracer reads them, and a test compares them with
 * the headers that it finds (tests/calls/programs/check_cuda.c).  Types that the tracer
 * only passes on are left incomplete.
 */
#ifndef TAP_CALLS_CUDA_TYPES_H
#define TAP_CALLS_CUDA_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef unsigned long long CUdeviceptr;
typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;
typedef int CUstreamCaptureMode;
typedef void (*CUhostFn)(void *userData);

typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUlib_st *CUlibrary;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUarray_st *CUarray;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;

typedef struct CUDA_LAUNCH_PARAMS_st CUDA_LAUNCH_PARAMS;
typedef struct CUmemcpyAttributes_st CUmemcpyAttributes;
typedef struct CUDA_MEMCPY3D_BATCH_OP_st CUDA_MEMCPY3D_BATCH_OP;
typedef union CUstreamBatchMemOpParams_union CUstreamBatchMemOpParams;
typedef struct CUgraphEdgeData_st CUgraphEdgeData;
typedef struct CUDA_GRAPH_INSTANTIATE_PARAMS_st CUDA_GRAPH_INSTANTIATE_PARAMS;
typedef int CUgraphExecUpdateResult;
typedef struct CUgraphExecUpdateResultInfo_st CUgraphExecUpdateResultInfo;
typedef struct CUDA_HOST_NODE_PARAMS_st CUDA_HOST_NODE_PARAMS;
typedef struct CUDA_MEMSET_NODE_PARAMS_st CUDA_MEMSET_NODE_PARAMS;
typedef int CUdriverProcAddressQueryResult;

#define TAP_CUDA_ATTRIBUTE_CLUSTER 4 /* CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION */

typedef struct CUlaunchAttribute_st {
	int id;
	char pad[4];
	union {
		char pad[64];
		struct {
			unsigned int x, y, z;
		} clusterDim;
	} value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig_st {
	unsigned int gridDimX, gridDimY, gridDimZ;
	unsigned int blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes;
	CUstream hStream;
	CUlaunchAttribute *attrs;
	unsigned int numAttrs;
} CUlaunchConfig;

/* One end of a copy. */
struct tap_cuda_end2d {
	size_t x_bytes, y;
	int memory_type;
	const void *host;
	CUdeviceptr device;
	CUarray array;
	size_t pitch;
};

typedef struct CUDA_MEMCPY2D_st {
	struct tap_cuda_end2d src, dst;
	size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

struct tap_cuda_end3d {
	size_t x_bytes, y, z, lod;
	int memory_type;
	const void *host;
	CUdeviceptr device;
	CUarray array;
	void *context; /* for copies between contexts; else reserved */
	size_t pitch, height;
};

typedef struct CUDA_MEMCPY3D_st {
	struct tap_cuda_end3d src, dst;
	size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;
typedef CUDA_MEMCPY3D CUDA_MEMCPY3D_PEER;

/* The second form of the structure has more fields at its end. */
typedef struct CUDA_KERNEL_NODE_PARAMS_st {
	CUfunction func;
	unsigned int gridDimX, gridDimY, gridDimZ;
	unsigned int blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes;
	void **kernelParams, **extra;
} CUDA_KERNEL_NODE_PARAMS;
typedef CUDA_KERNEL_NODE_PARAMS CUDA_KERNEL_NODE_PARAMS_v1;

typedef struct CUgraphNodeParams_st {
	int type;
} CUgraphNodeParams;

#endif
