/* SPDX-License-Identifier: MIT */
/*
 * How a program finds the driver's functions: cuGetProcAddress in its two
 * forms.  A function is asked for by its bare name, the CUDA version for which
 * the caller was written, and which default stream it means, so one name has
 * several answers.
 */
#include "driver.h"

#include <string.h>

/* clang-format off */
#define ENTRY_LEGACY(name, version, function) \
	{#name, version, (void *) (function), (void *) (function)}
#define ENTRY_STREAM(name, version, function) \
	{#name, version, (void *) (function), (void *) (function##_ptsz)}
#define ENTRY_DEFAULT_STREAM(name, version, function) \
	{#name, version, (void *) (function), (void *) (function##_ptds)}
/* clang-format on */

/* The versions of one function stand together, the oldest first. */
static const struct {
	const char *name;
	int version;
	void *legacy;
	void *per_thread;
} entries[] = {
	ENTRY_LEGACY(cuInit, 2000, cuInit),
	ENTRY_LEGACY(cuDriverGetVersion, 2020, cuDriverGetVersion),
	ENTRY_LEGACY(cuGetErrorName, 6000, cuGetErrorName),
	ENTRY_LEGACY(cuGetErrorString, 6000, cuGetErrorString),
	ENTRY_LEGACY(cuGetProcAddress, 11030, cuGetProcAddress),
	ENTRY_LEGACY(cuGetProcAddress, 12000, cuGetProcAddress_v2),
	ENTRY_LEGACY(cuDeviceGet, 2000, cuDeviceGet),
	ENTRY_LEGACY(cuDeviceGetCount, 2000, cuDeviceGetCount),
	ENTRY_LEGACY(cuDeviceGetName, 2000, cuDeviceGetName),
	ENTRY_LEGACY(cuDeviceGetAttribute, 2000, cuDeviceGetAttribute),
	ENTRY_LEGACY(cuDeviceTotalMem, 3020, cuDeviceTotalMem_v2),
	ENTRY_LEGACY(cuDevicePrimaryCtxRetain, 7000, cuDevicePrimaryCtxRetain),
	ENTRY_LEGACY(cuDevicePrimaryCtxRelease, 7000, cuDevicePrimaryCtxRelease),
	ENTRY_LEGACY(cuDevicePrimaryCtxRelease, 11000, cuDevicePrimaryCtxRelease_v2),
	ENTRY_LEGACY(cuCtxCreate, 2000, cuCtxCreate),
	ENTRY_LEGACY(cuCtxCreate, 3020, cuCtxCreate_v2),
	ENTRY_LEGACY(cuCtxCreate, 12050, cuCtxCreate_v4),
	ENTRY_LEGACY(cuCtxDestroy, 2000, cuCtxDestroy),
	ENTRY_LEGACY(cuCtxDestroy, 4000, cuCtxDestroy_v2),
	ENTRY_LEGACY(cuCtxSetCurrent, 4000, cuCtxSetCurrent),
	ENTRY_LEGACY(cuCtxGetCurrent, 4000, cuCtxGetCurrent),
	ENTRY_LEGACY(cuCtxGetDevice, 2000, cuCtxGetDevice),
	ENTRY_LEGACY(cuCtxSynchronize, 2000, cuCtxSynchronize),
	ENTRY_LEGACY(cuMemAlloc, 3020, cuMemAlloc_v2),
	ENTRY_LEGACY(cuMemFree, 3020, cuMemFree_v2),
	ENTRY_LEGACY(cuMemGetInfo, 3020, cuMemGetInfo_v2),
	ENTRY_DEFAULT_STREAM(cuMemcpyHtoD, 3020, cuMemcpyHtoD_v2),
	ENTRY_DEFAULT_STREAM(cuMemcpyDtoH, 3020, cuMemcpyDtoH_v2),
	ENTRY_DEFAULT_STREAM(cuMemcpyDtoD, 3020, cuMemcpyDtoD_v2),
	ENTRY_STREAM(cuMemcpyHtoDAsync, 3020, cuMemcpyHtoDAsync_v2),
	ENTRY_STREAM(cuMemcpyDtoHAsync, 3020, cuMemcpyDtoHAsync_v2),
	ENTRY_STREAM(cuMemcpyDtoDAsync, 3020, cuMemcpyDtoDAsync_v2),
	ENTRY_DEFAULT_STREAM(cuMemsetD8, 3020, cuMemsetD8_v2),
	ENTRY_DEFAULT_STREAM(cuMemsetD32, 3020, cuMemsetD32_v2),
	ENTRY_STREAM(cuMemsetD8Async, 3020, cuMemsetD8Async),
	ENTRY_STREAM(cuMemsetD32Async, 3020, cuMemsetD32Async),
	ENTRY_LEGACY(cuStreamCreate, 2000, cuStreamCreate),
	ENTRY_LEGACY(cuStreamDestroy, 2000, cuStreamDestroy),
	ENTRY_LEGACY(cuStreamDestroy, 4000, cuStreamDestroy_v2),
	ENTRY_STREAM(cuStreamSynchronize, 2000, cuStreamSynchronize),
	ENTRY_STREAM(cuStreamQuery, 2000, cuStreamQuery),
	ENTRY_STREAM(cuStreamWaitEvent, 3020, cuStreamWaitEvent),
	ENTRY_STREAM(cuStreamBeginCapture, 10010, cuStreamBeginCapture_v2),
	ENTRY_STREAM(cuStreamEndCapture, 10000, cuStreamEndCapture),
	ENTRY_STREAM(cuStreamIsCapturing, 10000, cuStreamIsCapturing),
	ENTRY_LEGACY(cuGraphInstantiateWithFlags, 11040, cuGraphInstantiateWithFlags),
	ENTRY_STREAM(cuGraphLaunch, 10000, cuGraphLaunch),
	ENTRY_LEGACY(cuGraphExecDestroy, 10000, cuGraphExecDestroy),
	ENTRY_LEGACY(cuGraphDestroy, 10000, cuGraphDestroy),
	ENTRY_LEGACY(cuEventCreate, 2000, cuEventCreate),
	ENTRY_LEGACY(cuEventDestroy, 2000, cuEventDestroy),
	ENTRY_LEGACY(cuEventDestroy, 4000, cuEventDestroy_v2),
	ENTRY_STREAM(cuEventRecord, 2000, cuEventRecord),
	ENTRY_LEGACY(cuEventSynchronize, 2000, cuEventSynchronize),
	ENTRY_LEGACY(cuEventQuery, 2000, cuEventQuery),
	ENTRY_LEGACY(cuEventElapsedTime, 2000, cuEventElapsedTime),
	ENTRY_LEGACY(cuEventElapsedTime, 12080, cuEventElapsedTime_v2),
	ENTRY_STREAM(cuLaunchHostFunc, 10000, cuLaunchHostFunc),
	ENTRY_STREAM(cuLaunchKernel, 4000, cuLaunchKernel),
	ENTRY_STREAM(cuLaunchKernelEx, 11060, cuLaunchKernelEx),
	ENTRY_LEGACY(cuModuleLoadData, 2000, cuModuleLoadData),
	ENTRY_LEGACY(cuModuleUnload, 2000, cuModuleUnload),
	ENTRY_LEGACY(cuModuleGetFunction, 2000, cuModuleGetFunction),
};

FAKE_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
					 cuuint64_t flags,
					 CUdriverProcAddressQueryResult *symbolStatus)
{
	CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	void *found = NULL;
	size_t i;

	if (!symbol || !pfn || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		if (strcmp(entries[i].name, symbol) != 0)
			continue;
		if (entries[i].version <= cudaVersion) {
			found = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
					? entries[i].per_thread
					: entries[i].legacy;
			status = CU_GET_PROC_ADDRESS_SUCCESS;
		} else if (!found) {
			status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
		}
	}
	/* The runtime library asks without wanting to know: NULL is allowed. */
	if (symbolStatus)
		*symbolStatus = status;
	*pfn = found;
	return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

FAKE_EXPORT CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion,
				      cuuint64_t flags)
{
	return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, NULL);
}
