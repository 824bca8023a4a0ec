/* SPDX-License-Identifier: MIT */
/* Opens libcuda and asks it for its functions, in the order of the runtime library. */
#include "driver.h"

#include "result.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

typedef CUresult (*get_proc_address)(const char *symbol, void **pfn, int version,
				     cuuint64_t flags,
				     CUdriverProcAddressQueryResult *status);

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
	{"cuModuleLoadData", 2000, &mini_driver.ModuleLoadData},
	{"cuModuleUnload", 2000, &mini_driver.ModuleUnload},
	{"cuModuleGetFunction", 2000, &mini_driver.ModuleGetFunction},
	{"cuLaunchKernelEx", 11060, &mini_driver.LaunchKernelEx},
	{"cuMemAlloc", 3020, &mini_driver.MemAlloc},
	{"cuMemFree", 3020, &mini_driver.MemFree},
	{"cuMemcpyDtoDAsync", 3020, &mini_driver.MemcpyDtoDAsync},
	{"cuEventCreate", 2000, &mini_driver.EventCreate},
	{"cuEventDestroy", 4000, &mini_driver.EventDestroy},
	{"cuEventRecord", 2000, &mini_driver.EventRecord},
	{"cuStreamWaitEvent", 3020, &mini_driver.StreamWaitEvent},
};

/*
 * What libcudart 13 was seen to do inside the real libnccl: one dlsym(), a probe
 * with an empty name that has to fail, cuInit, both forms of cuGetProcAddress,
 * and all the rest through the newer one, never asking for the status.
 */
static void load(void)
{
	CUresult (*init)(unsigned int flags);
	get_proc_address first;
	get_proc_address get;
	void *answer = NULL;
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	size_t i;

	if (!library)
		return;
	first = (get_proc_address) dlsym(library, "cuGetProcAddress_v2");
	if (!first || first("", &answer, 0, 0, NULL) == CUDA_SUCCESS)
		return;
	if (first("cuInit", (void **) &init, 2000, 0, NULL) ||
	    first("cuGetProcAddress", &answer, 11030, 0, NULL) ||
	    first("cuGetProcAddress", (void **) &get, 12000, 0, NULL))
		return;
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (get(wanted[i].name, wanted[i].place, wanted[i].version, 0, NULL))
			return;
	}
	is_loaded = init(0) == CUDA_SUCCESS;
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
