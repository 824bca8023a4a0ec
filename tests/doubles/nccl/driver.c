/* SPDX-License-Identifier: MIT */
/* Asks the runtime for the functions of the driver, as NCCL does it. */
#include "driver.h"

#include "result.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdbool.h>

struct mini_driver mini_driver;

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Written under `once`. */
static bool is_loaded;

struct function {
	const char *name;
	int version;
	void *place;
};

static const struct function needed[] = {
	{"cuGetErrorString", 6000, &mini_driver.GetErrorString},
	{"cuDeviceGetCount", 2000, &mini_driver.DeviceGetCount},
	{"cuDeviceGetAttribute", 2000, &mini_driver.DeviceGetAttribute},
	{"cuDevicePrimaryCtxRetain", 7000, &mini_driver.PrimaryCtxRetain},
	{"cuCtxGetCurrent", 4000, &mini_driver.CtxGetCurrent},
	{"cuCtxSetCurrent", 4000, &mini_driver.CtxSetCurrent},
	{"cuCtxGetDevice", 2000, &mini_driver.CtxGetDevice},
	{"cuCtxSynchronize", 2000, &mini_driver.CtxSynchronize},
	{"cuLaunchHostFunc", 10000, &mini_driver.LaunchHostFunc},
	{"cuLaunchKernelEx", 11060, &mini_driver.LaunchKernelEx},
	{"cuMemAlloc", 3020, &mini_driver.MemAlloc},
	{"cuMemFree", 3020, &mini_driver.MemFree},
	{"cuMemcpyDtoDAsync", 3020, &mini_driver.MemcpyDtoDAsync},
	{"cuEventCreate", 2000, &mini_driver.EventCreate},
	{"cuEventDestroy", 4000, &mini_driver.EventDestroy},
	{"cuEventRecord", 2000, &mini_driver.EventRecord},
	{"cuStreamIsCapturing", 10000, &mini_driver.StreamIsCapturing},
	{"cuStreamWaitEvent", 3020, &mini_driver.StreamWaitEvent},
};

/* HIP in the place of CUDA has none of these: then they are NULL. */
static const struct function others[] = {
	{"cuEventSynchronize", 2000, &mini_driver.EventSynchronize},
	{"cuStreamBatchMemOp", 11070, &mini_driver.StreamBatchMemOp},
	{"cuMemcpyBatchAsync", 13000, &mini_driver.MemcpyBatchAsync},
	{"cuDeviceTotalMem", 3020, &mini_driver.DeviceTotalMem},
	{"cuMemGetAddressRange", 3020, &mini_driver.MemGetAddressRange},
	{"cuMemCreate", 10020, &mini_driver.MemCreate},
	{"cuMemRelease", 10020, &mini_driver.MemRelease},
	{"cuMemRetainAllocationHandle", 11000, &mini_driver.MemRetainAllocationHandle},
	{"cuMemExportToShareableHandle", 10020, &mini_driver.MemExportToShareableHandle},
	{"cuMemGetAllocationGranularity", 10020,
	 &mini_driver.MemGetAllocationGranularity},
	{"cuMemImportFromShareableHandle", 10020,
	 &mini_driver.MemImportFromShareableHandle},
	{"cuMemAddressReserve", 10020, &mini_driver.MemAddressReserve},
	{"cuMemAddressFree", 10020, &mini_driver.MemAddressFree},
	{"cuMemMap", 10020, &mini_driver.MemMap},
	{"cuMemSetAccess", 10020, &mini_driver.MemSetAccess},
	{"cuMemUnmap", 10020, &mini_driver.MemUnmap},
};

static bool find(const struct function *function)
{
	enum cudaDriverEntryPointQueryResult status;

	return !cudaGetDriverEntryPointByVersion(function->name, function->place,
						 (unsigned int) function->version,
						 cudaEnableDefault, &status) &&
	       status == cudaDriverEntryPointSuccess;
}

static void load(void)
{
	size_t i;

	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (!find(&needed[i]))
			return;
	}
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		find(&others[i]);
	is_loaded = true;
}

ncclResult_t mini_driver_load(void)
{
	pthread_once(&once, load);
	if (!is_loaded)
		return mini_fail(ncclUnhandledCudaError,
				 "Cuda failure 'CUDA driver is not usable'");
	return ncclSuccess;
}

ncclResult_t mini_driver_check(CUresult res)
{
	const char *text = "unknown error";

	if (res == CUDA_SUCCESS)
		return ncclSuccess;
	mini_driver.GetErrorString(res, &text);
	return mini_fail(ncclUnhandledCudaError, "Cuda failure '%s'", text);
}

ncclResult_t mini_driver_current(CUcontext *ret_context, int *ret_device)
{
	CUresult res;

	res = mini_driver.CtxGetCurrent(ret_context);
	if (!res && !*ret_context) {
		res = mini_driver.PrimaryCtxRetain(ret_context, 0);
		if (!res)
			res = mini_driver.CtxSetCurrent(*ret_context);
	}
	if (!res)
		res = mini_driver.CtxGetDevice(ret_device);
	return mini_driver_check(res);
}
