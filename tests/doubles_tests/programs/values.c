/* SPDX-License-Identifier: MIT */
/*
 * The values and layouts of the declared interfaces: compiled against our headers
 * and NVIDIA's alike, so that both have to agree with what stands here.
 */
#include <cuda.h>
#include <nccl.h>

#include <stddef.h>

#define SAME(a, b) _Static_assert((a) == (b), #a " is " #b)

SAME(sizeof(CUresult), 4);
SAME(sizeof(CUdeviceptr), 8);
SAME(sizeof(CUdevice), 4);
SAME(sizeof(cuuint64_t), 8);
SAME(CUDA_ERROR_INVALID_VALUE, 1);
SAME(CUDA_ERROR_OUT_OF_MEMORY, 2);
SAME(CUDA_ERROR_NOT_INITIALIZED, 3);
SAME(CUDA_ERROR_NO_DEVICE, 100);
SAME(CUDA_ERROR_INVALID_DEVICE, 101);
SAME(CUDA_ERROR_INVALID_IMAGE, 200);
SAME(CUDA_ERROR_INVALID_CONTEXT, 201);
SAME(CUDA_ERROR_INVALID_HANDLE, 400);
SAME(CUDA_ERROR_NOT_FOUND, 500);
SAME(CUDA_ERROR_NOT_READY, 600);
SAME(CUDA_ERROR_NOT_SUPPORTED, 801);
SAME(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900);
SAME(CUDA_ERROR_UNKNOWN, 999);
SAME(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1);
SAME(CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10);
SAME(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16);
SAME(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 33);
SAME(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 34);
SAME(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 41);
SAME(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 50);
SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75);
SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76);
SAME(CU_STREAM_NON_BLOCKING, 1);
SAME(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1);
SAME(CU_STREAM_CAPTURE_MODE_RELAXED, 2);
SAME(CU_STREAM_CAPTURE_STATUS_ACTIVE, 1);
SAME(CU_STREAM_CAPTURE_STATUS_INVALIDATED, 2);
SAME(CU_EVENT_BLOCKING_SYNC, 1);
SAME(CU_EVENT_DISABLE_TIMING, 2);
SAME(CU_GET_PROC_ADDRESS_LEGACY_STREAM, 1);
SAME(CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, 2);
SAME(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, 1);
SAME(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, 2);
SAME(sizeof(CUlaunchConfig), 56);
SAME(offsetof(CUlaunchConfig, sharedMemBytes), 24);
SAME(offsetof(CUlaunchConfig, hStream), 32);
SAME(offsetof(CUlaunchConfig, numAttrs), 48);

SAME(sizeof(ncclUniqueId), 128);
SAME(ncclUnhandledCudaError, 1);
SAME(ncclSystemError, 2);
SAME(ncclInternalError, 3);
SAME(ncclInvalidArgument, 4);
SAME(ncclInvalidUsage, 5);
SAME(ncclRemoteError, 6);
SAME(ncclInProgress, 7);
SAME(ncclProd, 1);
SAME(ncclMax, 2);
SAME(ncclMin, 3);
SAME(ncclAvg, 4);
SAME(ncclNumOps, 5);
SAME(ncclMaxRedOp, 0x7fffffff);
SAME(ncclUint8, 1);
SAME(ncclInt, 2);
SAME(ncclUint32, 3);
SAME(ncclInt64, 4);
SAME(ncclUint64, 5);
SAME(ncclHalf, 6);
SAME(ncclFloat, 7);
SAME(ncclDouble, 8);
SAME(ncclBfloat16, 9);
SAME(NCCL_SPLIT_NOCOLOR, -1);
SAME(NCCL_SHRINK_DEFAULT, 0);
SAME(NCCL_SHRINK_ABORT, 1);
SAME(NCCL_REVOKE_DEFAULT, 0);
SAME(sizeof(ncclSimInfo_t), 24);
SAME(offsetof(ncclSimInfo_t, estimatedTime), 16);
SAME(NCCL_VERSION(2, 28, 9), 22809);
SAME(offsetof(ncclConfig_t, blocking), 16);
SAME(offsetof(ncclConfig_t, netName), 32);
SAME(offsetof(ncclConfig_t, splitShare), 40);
SAME(offsetof(ncclConfig_t, commName), 48);
#if NCCL_VERSION_CODE == 22809
SAME(ncclNumResults, 8);
SAME(ncclFloat8e5m2, 11);
SAME(ncclNumTypes, 12);
SAME(sizeof(ncclConfig_t), 80);
SAME(offsetof(ncclConfig_t, nvlinkCentricSched), 76);
#endif
