/* SPDX-License-Identifier: MIT */
/* Prints what we read of structures: as we declare them, or with THEIRS as cuda.h does. */
#include <stddef.h>
#include <stdio.h>

#ifdef THEIRS
#include <cuda.h>
#include <cuda_runtime_api.h>
#define CLUSTER CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
#else
#include "calls/cuda_types.h"
#include "calls/cudart_calls.h"
#define CLUSTER TAP_CUDA_ATTRIBUTE_CLUSTER
#endif

#define SIZE(type) printf("%s: %zu bytes\n", #type, sizeof(type))
#define MEMBER(type, member) \
	printf("%s.%s: %zu at %zu\n", #type, #member, sizeof(((type *) 0)->member), \
	       offsetof(type, member))

int main(void)
{
	MEMBER(CUlaunchConfig, gridDimX);
	MEMBER(CUlaunchConfig, gridDimY);
	MEMBER(CUlaunchConfig, gridDimZ);
	MEMBER(CUlaunchConfig, blockDimX);
	MEMBER(CUlaunchConfig, blockDimY);
	MEMBER(CUlaunchConfig, blockDimZ);
	MEMBER(CUlaunchConfig, sharedMemBytes);
	MEMBER(CUlaunchConfig, hStream);
	MEMBER(CUlaunchConfig, attrs);
	MEMBER(CUlaunchConfig, numAttrs);
	SIZE(CUlaunchAttribute);
	MEMBER(CUlaunchAttribute, id);
	MEMBER(CUlaunchAttribute, value.clusterDim.x);
	MEMBER(CUlaunchAttribute, value.clusterDim.y);
	MEMBER(CUlaunchAttribute, value.clusterDim.z);
	MEMBER(CUDA_MEMCPY2D, WidthInBytes);
	MEMBER(CUDA_MEMCPY2D, Height);
	MEMBER(CUDA_MEMCPY3D, WidthInBytes);
	MEMBER(CUDA_MEMCPY3D, Height);
	MEMBER(CUDA_MEMCPY3D, Depth);
	MEMBER(CUDA_MEMCPY3D_PEER, WidthInBytes);
	MEMBER(CUDA_MEMCPY3D_PEER, Height);
	MEMBER(CUDA_MEMCPY3D_PEER, Depth);
	MEMBER(CUDA_KERNEL_NODE_PARAMS, func);
	MEMBER(CUDA_KERNEL_NODE_PARAMS, gridDimX);
#if !defined(CUDA_VERSION) || CUDA_VERSION >= 12020
	MEMBER(CUgraphNodeParams, type);
#endif
	SIZE(dim3);
	MEMBER(dim3, y);
	printf("%d %d\n", CLUSTER, (int) cudaMemcpyDefault);
	printf("%zu\n", sizeof(CUstreamCaptureMode));
	return 0;
}
