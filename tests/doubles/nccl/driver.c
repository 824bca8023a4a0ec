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

static const struct {
	const char *name;
	int version;
	void *place;
} wanted[] = {
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

static void load(void)
{
	enum cudaDriverEntryPointQueryResult status;
	size_t i;

	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (cudaGetDriverEntryPointByVersion(wanted[i].name, wanted[i].place,
						     (unsigned int) wanted[i].version,
						     cudaEnableDefault, &status) ||
		    status != cudaDriverEntryPointSuccess)
			return;
	}
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
