/* SPDX-License-Identifier: MIT */
/*
 * The CUDA driver as NCCL reaches it: the runtime library inside libnccl opens it, and
 * every function is asked of that runtime by name and version.
 */
#ifndef MINI_NCCL_DRIVER_H
#define MINI_NCCL_DRIVER_H

#include <cuda.h>
#include <nccl.h>

struct mini_driver {
	CUresult (*GetErrorString)(CUresult error, const char **text);
	CUresult (*DeviceGetCount)(int *count);
	CUresult (*DeviceGetAttribute)(int *value, CUdevice_attribute which,
				       CUdevice device);
	CUresult (*PrimaryCtxRetain)(CUcontext *context, CUdevice device);
	CUresult (*CtxGetCurrent)(CUcontext *context);
	CUresult (*CtxSetCurrent)(CUcontext context);
	CUresult (*CtxGetDevice)(CUdevice *device);
	CUresult (*CtxSynchronize)(void);
	CUresult (*LaunchHostFunc)(CUstream stream, CUhostFn fn, void *data);
	CUresult (*LaunchKernelEx)(const CUlaunchConfig *config, CUfunction function,
				   void **parameters, void **extra);
	CUresult (*MemAlloc)(CUdeviceptr *address, size_t size);
	CUresult (*MemFree)(CUdeviceptr address);
	CUresult (*MemcpyDtoDAsync)(CUdeviceptr to, CUdeviceptr from, size_t size,
				    CUstream stream);
	CUresult (*EventCreate)(CUevent *event, unsigned int flags);
	CUresult (*EventDestroy)(CUevent event);
	CUresult (*EventRecord)(CUevent event, CUstream stream);
	CUresult (*EventSynchronize)(CUevent event);
	CUresult (*StreamIsCapturing)(CUstream stream, CUstreamCaptureStatus *status);
	CUresult (*StreamWaitEvent)(CUstream stream, CUevent event, unsigned int flags);
	CUresult (*StreamBatchMemOp)(CUstream stream, unsigned int count,
				     CUstreamBatchMemOpParams *ops, unsigned int flags);
	CUresult (*MemcpyBatchAsync)(CUdeviceptr *targets, CUdeviceptr *sources,
				     size_t *sizes, size_t count,
				     CUmemcpyAttributes *attributes,
				     size_t *attribute_indices, size_t attribute_count,
				     CUstream stream);
	/* Memory that is an object, and the addresses at which it is. */
	CUresult (*DeviceTotalMem)(size_t *bytes, CUdevice device);
	CUresult (*MemGetAddressRange)(CUdeviceptr *base, size_t *size,
				       CUdeviceptr address);
	CUresult (*MemCreate)(CUmemGenericAllocationHandle *handle, size_t size,
			      const CUmemAllocationProp *properties,
			      unsigned long long flags);
	CUresult (*MemRelease)(CUmemGenericAllocationHandle handle);
	CUresult (*MemRetainAllocationHandle)(CUmemGenericAllocationHandle *handle,
					      void *address);
	CUresult (*MemExportToShareableHandle)(void *shareable,
					       CUmemGenericAllocationHandle handle,
					       CUmemAllocationHandleType type,
					       unsigned long long flags);
	CUresult (*MemImportFromShareableHandle)(CUmemGenericAllocationHandle *handle,
						 void *shareable,
						 CUmemAllocationHandleType type);
	CUresult (*MemGetAllocationGranularity)(size_t *granularity,
						const CUmemAllocationProp *properties,
						CUmemAllocationGranularity_flags option);
	CUresult (*MemAddressReserve)(CUdeviceptr *address, size_t size, size_t alignment,
				      CUdeviceptr wanted, unsigned long long flags);
	CUresult (*MemAddressFree)(CUdeviceptr address, size_t size);
	CUresult (*MemMap)(CUdeviceptr address, size_t size, size_t offset,
			   CUmemGenericAllocationHandle handle, unsigned long long flags);
	CUresult (*MemSetAccess)(CUdeviceptr address, size_t size,
				 const CUmemAccessDesc *access, size_t count);
	CUresult (*MemUnmap)(CUdeviceptr address, size_t size);
};

/* Valid once mini_driver_load() succeeded. */
extern struct mini_driver mini_driver;

/* Opens the driver once; ncclUnhandledCudaError where there is none. */
ncclResult_t mini_driver_load(void);
/* ncclSuccess, or what NCCL makes of a failed CUDA call, with its text. */
ncclResult_t mini_driver_check(CUresult res);
/*
 * The thread's device; the primary context of device 0 becomes current where
 * none is, as the runtime library does it.
 */
ncclResult_t mini_driver_current(CUcontext *ret_context, int *ret_device);

#endif
