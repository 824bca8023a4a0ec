/* SPDX-License-Identifier: MIT */
/*
 * The types of HIP that the rows of hip.def name, where those of cuda_types.h do not
 * serve: handles, results and pitched copies are the same for code that only passes them
 * on.
 *
 * It hides that the build needs no HIP: the layouts are those of hip_runtime_api.h of
 * ROCm 5.2 to 7, declared as far as the tracer reads them.
 */
#ifndef TAP_CALLS_HIP_TYPES_H
#define TAP_CALLS_HIP_TYPES_H

#include "calls/cuda_types.h"

typedef struct tap_hip_dim3 {
	uint32_t x, y, z;
} tap_hip_dim3;

typedef struct tap_hip_pitched {
	void *ptr;
	size_t pitch, xsize, ysize;
} tap_hip_pitched;

typedef struct tap_hip_extent {
	size_t width, height, depth;
} tap_hip_extent;

/* hipLaunchConfig_t */
typedef struct tap_hip_config {
	tap_hip_dim3 gridDim, blockDim;
	size_t dynamicSmemBytes;
	CUstream stream;
	const void *attrs;
	unsigned int numAttrs;
} tap_hip_config;

/* HIP_LAUNCH_CONFIG */
typedef struct tap_hip_driver_config {
	unsigned int gridDimX, gridDimY, gridDimZ;
	unsigned int blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes;
	CUstream hStream;
	const void *attrs;
	unsigned int numAttrs;
} tap_hip_driver_config;

/* hipKernelNodeParams */
typedef struct tap_hip_kernel_node {
	tap_hip_dim3 blockDim;
	void **extra;
	void *func;
	tap_hip_dim3 gridDim;
	void **kernelParams;
	unsigned int sharedMemBytes;
} tap_hip_kernel_node;

#endif
