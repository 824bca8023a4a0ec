/* SPDX-License-Identifier: MIT */
/*
 * How a program finds the driver's functions: cuGetProcAddress in its two
 * forms.  A function is asked for by its bare name, the CUDA version for which
 * the caller was written, and which default stream it means, so one name has
 * several answers.
 */
#include "driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/*
 * A per-thread twin is there since CUDA 7.0 at the earliest, the function itself may be
 * older: then each is found by a version of its own.
 */
#define VARIANT_VERSION(version) ((version) < 7000 ? 7000 : (version))

/* clang-format off */
#define ENTRY_LEGACY(name, version, function) \
	{#name, version, (void *) (function), #function, version, (void *) (function), \
	 #function}
#define ENTRY_STREAM(name, version, function) \
	{#name, version, (void *) (function), #function, VARIANT_VERSION(version), \
	 (void *) (function##_ptsz), #function "_ptsz"}
#define ENTRY_DEFAULT_STREAM(name, version, function) \
	{#name, version, (void *) (function), #function, VARIANT_VERSION(version), \
	 (void *) (function##_ptds), #function "_ptds"}
/* clang-format on */

/* The versions of one function stand together, the oldest first. */
static const struct {
	const char *name;
	int version;
	void *legacy;
	const char *legacy_name;
	int variant_version;
	void *per_thread;
	const char *per_thread_name;
} entries[] = {
	ENTRY_LEGACY(cuInit, 2000, cuInit),
	ENTRY_LEGACY(cuDriverGetVersion, 2020, cuDriverGetVersion),
	ENTRY_LEGACY(cuGetErrorName, 6000, cuGetErrorName),
	ENTRY_LEGACY(cuGetErrorString, 6000, cuGetErrorString),
	ENTRY_LEGACY(cuGetExportTable, 3000, cuGetExportTable),
	ENTRY_LEGACY(cuGetProcAddress, 11030, cuGetProcAddress),
	ENTRY_LEGACY(cuGetProcAddress, 12000, cuGetProcAddress_v2),
	ENTRY_LEGACY(cuDeviceGet, 2000, cuDeviceGet),
	ENTRY_LEGACY(cuDeviceGetCount, 2000, cuDeviceGetCount),
	ENTRY_LEGACY(cuDeviceGetName, 2000, cuDeviceGetName),
	ENTRY_LEGACY(cuDeviceGetAttribute, 2000, cuDeviceGetAttribute),
	ENTRY_LEGACY(cuDeviceTotalMem, 3020, cuDeviceTotalMem_v2),
	ENTRY_LEGACY(cuDeviceGetPCIBusId, 4010, cuDeviceGetPCIBusId),
	ENTRY_LEGACY(cuDevicePrimaryCtxGetState, 7000, cuDevicePrimaryCtxGetState),
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
	ENTRY_LEGACY(cuMemAllocHost, 3020, cuMemAllocHost_v2),
	ENTRY_LEGACY(cuMemFree, 3020, cuMemFree_v2),
	ENTRY_LEGACY(cuMemFreeHost, 2000, cuMemFreeHost),
	ENTRY_LEGACY(cuMemGetInfo, 3020, cuMemGetInfo_v2),
	ENTRY_LEGACY(cuMemGetAddressRange, 3020, cuMemGetAddressRange_v2),
	ENTRY_LEGACY(cuMemCreate, 10020, cuMemCreate),
	ENTRY_LEGACY(cuMemRelease, 10020, cuMemRelease),
	ENTRY_LEGACY(cuMemRetainAllocationHandle, 11000, cuMemRetainAllocationHandle),
	ENTRY_LEGACY(cuMemExportToShareableHandle, 10020, cuMemExportToShareableHandle),
	ENTRY_LEGACY(cuMemImportFromShareableHandle, 10020,
		     cuMemImportFromShareableHandle),
	ENTRY_LEGACY(cuMemGetAllocationGranularity, 10020, cuMemGetAllocationGranularity),
	ENTRY_LEGACY(cuMemAddressReserve, 10020, cuMemAddressReserve),
	ENTRY_LEGACY(cuMemAddressFree, 10020, cuMemAddressFree),
	ENTRY_LEGACY(cuMemMap, 10020, cuMemMap),
	ENTRY_LEGACY(cuMemSetAccess, 10020, cuMemSetAccess),
	ENTRY_LEGACY(cuMemUnmap, 10020, cuMemUnmap),
	ENTRY_DEFAULT_STREAM(cuMemcpy, 4000, cuMemcpy),
	ENTRY_DEFAULT_STREAM(cuMemcpyHtoD, 3020, cuMemcpyHtoD_v2),
	ENTRY_DEFAULT_STREAM(cuMemcpyDtoH, 3020, cuMemcpyDtoH_v2),
	ENTRY_DEFAULT_STREAM(cuMemcpyDtoD, 3020, cuMemcpyDtoD_v2),
	ENTRY_STREAM(cuMemcpyAsync, 4000, cuMemcpyAsync),
	ENTRY_STREAM(cuMemcpyPeerAsync, 4000, cuMemcpyPeerAsync),
	ENTRY_STREAM(cuMemcpyHtoDAsync, 3020, cuMemcpyHtoDAsync_v2),
	ENTRY_STREAM(cuMemcpyDtoHAsync, 3020, cuMemcpyDtoHAsync_v2),
	ENTRY_STREAM(cuMemcpyDtoDAsync, 3020, cuMemcpyDtoDAsync_v2),
	ENTRY_STREAM(cuMemcpy2DAsync, 3020, cuMemcpy2DAsync_v2),
	ENTRY_STREAM(cuMemcpy3DAsync, 3020, cuMemcpy3DAsync_v2),
	ENTRY_STREAM(cuMemcpyBatchAsync, 12080, cuMemcpyBatchAsync),
	ENTRY_STREAM(cuMemcpyBatchAsync, 13000, cuMemcpyBatchAsync_v2),
	ENTRY_DEFAULT_STREAM(cuMemsetD8, 3020, cuMemsetD8_v2),
	ENTRY_DEFAULT_STREAM(cuMemsetD16, 3020, cuMemsetD16_v2),
	ENTRY_DEFAULT_STREAM(cuMemsetD32, 3020, cuMemsetD32_v2),
	ENTRY_STREAM(cuMemsetD8Async, 3020, cuMemsetD8Async),
	ENTRY_STREAM(cuMemsetD16Async, 3020, cuMemsetD16Async),
	ENTRY_STREAM(cuMemsetD32Async, 3020, cuMemsetD32Async),
	ENTRY_STREAM(cuMemsetD2D8Async, 3020, cuMemsetD2D8Async),
	ENTRY_STREAM(cuMemsetD2D16Async, 3020, cuMemsetD2D16Async),
	ENTRY_STREAM(cuMemsetD2D32Async, 3020, cuMemsetD2D32Async),
	ENTRY_STREAM(cuStreamWaitValue32, 8000, cuStreamWaitValue32),
	ENTRY_STREAM(cuStreamWaitValue32, 11070, cuStreamWaitValue32_v2),
	ENTRY_STREAM(cuStreamWaitValue64, 9000, cuStreamWaitValue64),
	ENTRY_STREAM(cuStreamWaitValue64, 11070, cuStreamWaitValue64_v2),
	ENTRY_STREAM(cuStreamWriteValue32, 8000, cuStreamWriteValue32),
	ENTRY_STREAM(cuStreamWriteValue32, 11070, cuStreamWriteValue32_v2),
	ENTRY_STREAM(cuStreamWriteValue64, 9000, cuStreamWriteValue64),
	ENTRY_STREAM(cuStreamWriteValue64, 11070, cuStreamWriteValue64_v2),
	ENTRY_STREAM(cuStreamBatchMemOp, 8000, cuStreamBatchMemOp),
	ENTRY_STREAM(cuStreamBatchMemOp, 11070, cuStreamBatchMemOp_v2),
	ENTRY_LEGACY(cuStreamCreate, 2000, cuStreamCreate),
	ENTRY_LEGACY(cuStreamCreateWithPriority, 5050, cuStreamCreateWithPriority),
	ENTRY_LEGACY(cuStreamDestroy, 2000, cuStreamDestroy),
	ENTRY_LEGACY(cuStreamDestroy, 4000, cuStreamDestroy_v2),
	ENTRY_STREAM(cuStreamSynchronize, 2000, cuStreamSynchronize),
	ENTRY_STREAM(cuStreamQuery, 2000, cuStreamQuery),
	ENTRY_STREAM(cuStreamGetId, 12000, cuStreamGetId),
	ENTRY_STREAM(cuStreamWaitEvent, 3020, cuStreamWaitEvent),
	ENTRY_STREAM(cuStreamAddCallback, 5000, cuStreamAddCallback),
	ENTRY_STREAM(cuStreamBeginCapture, 10000, cuStreamBeginCapture),
	ENTRY_STREAM(cuStreamBeginCapture, 10010, cuStreamBeginCapture_v2),
	ENTRY_STREAM(cuStreamEndCapture, 10000, cuStreamEndCapture),
	ENTRY_STREAM(cuStreamIsCapturing, 10000, cuStreamIsCapturing),
	ENTRY_STREAM(cuStreamGetCaptureInfo, 10010, cuStreamGetCaptureInfo),
	ENTRY_STREAM(cuStreamGetCaptureInfo, 11030, cuStreamGetCaptureInfo_v2),
	ENTRY_STREAM(cuStreamGetCaptureInfo, 12030, cuStreamGetCaptureInfo_v3),
	ENTRY_LEGACY(cuThreadExchangeStreamCaptureMode, 10010,
		     cuThreadExchangeStreamCaptureMode),
	ENTRY_LEGACY(cuGraphCreate, 10000, cuGraphCreate),
	ENTRY_LEGACY(cuGraphAddKernelNode, 10000, cuGraphAddKernelNode),
	ENTRY_LEGACY(cuGraphAddKernelNode, 12000, cuGraphAddKernelNode_v2),
	ENTRY_LEGACY(cuGraphAddMemcpyNode, 10000, cuGraphAddMemcpyNode),
	ENTRY_LEGACY(cuGraphAddMemsetNode, 10000, cuGraphAddMemsetNode),
	ENTRY_LEGACY(cuGraphAddHostNode, 10000, cuGraphAddHostNode),
	ENTRY_LEGACY(cuGraphAddEmptyNode, 10000, cuGraphAddEmptyNode),
	ENTRY_LEGACY(cuGraphGetNodes, 10000, cuGraphGetNodes),
	ENTRY_LEGACY(cuGraphNodeGetType, 10000, cuGraphNodeGetType),
	ENTRY_LEGACY(cuGraphInstantiateWithFlags, 11040, cuGraphInstantiateWithFlags),
	ENTRY_LEGACY(cuGraphInstantiate, 12000, cuGraphInstantiateWithFlags),
	ENTRY_STREAM(cuGraphUpload, 11010, cuGraphUpload),
	ENTRY_STREAM(cuGraphLaunch, 10000, cuGraphLaunch),
	ENTRY_LEGACY(cuGraphExecDestroy, 10000, cuGraphExecDestroy),
	ENTRY_LEGACY(cuGraphDestroy, 10000, cuGraphDestroy),
	ENTRY_LEGACY(cuEventCreate, 2000, cuEventCreate),
	ENTRY_LEGACY(cuEventDestroy, 2000, cuEventDestroy),
	ENTRY_LEGACY(cuEventDestroy, 4000, cuEventDestroy_v2),
	ENTRY_STREAM(cuEventRecord, 2000, cuEventRecord),
	ENTRY_STREAM(cuEventRecordWithFlags, 11010, cuEventRecordWithFlags),
	ENTRY_LEGACY(cuEventSynchronize, 2000, cuEventSynchronize),
	ENTRY_LEGACY(cuEventQuery, 2000, cuEventQuery),
	ENTRY_LEGACY(cuEventElapsedTime, 2000, cuEventElapsedTime),
	ENTRY_LEGACY(cuEventElapsedTime, 12080, cuEventElapsedTime_v2),
	ENTRY_STREAM(cuLaunchHostFunc, 10000, cuLaunchHostFunc),
	ENTRY_STREAM(cuLaunchKernel, 4000, cuLaunchKernel),
	ENTRY_STREAM(cuLaunchKernelEx, 11060, cuLaunchKernelEx),
	ENTRY_STREAM(cuLaunchCooperativeKernel, 9000, cuLaunchCooperativeKernel),
	ENTRY_LEGACY(cuModuleLoadData, 2000, cuModuleLoadData),
	ENTRY_LEGACY(cuModuleLoadDataEx, 2010, cuModuleLoadDataEx),
	ENTRY_LEGACY(cuModuleUnload, 2000, cuModuleUnload),
	ENTRY_LEGACY(cuModuleGetFunction, 2000, cuModuleGetFunction),
	ENTRY_LEGACY(cuModuleGetFunctionCount, 12040, cuModuleGetFunctionCount),
	ENTRY_LEGACY(cuModuleEnumerateFunctions, 12040, cuModuleEnumerateFunctions),
	ENTRY_LEGACY(cuModuleGetLoadingMode, 11070, cuModuleGetLoadingMode),
	ENTRY_LEGACY(cuFuncGetName, 12030, cuFuncGetName),
	ENTRY_LEGACY(cuFuncGetModule, 11000, cuFuncGetModule),
	ENTRY_LEGACY(cuFuncGetParamInfo, 12040, cuFuncGetParamInfo),
	ENTRY_LEGACY(cuLibraryLoadData, 12000, cuLibraryLoadData),
	ENTRY_LEGACY(cuLibraryUnload, 12000, cuLibraryUnload),
	ENTRY_LEGACY(cuLibraryGetKernel, 12000, cuLibraryGetKernel),
	ENTRY_LEGACY(cuLibraryGetModule, 12000, cuLibraryGetModule),
	ENTRY_LEGACY(cuLibraryGetKernelCount, 12040, cuLibraryGetKernelCount),
	ENTRY_LEGACY(cuKernelGetFunction, 12000, cuKernelGetFunction),
	ENTRY_LEGACY(cuKernelGetName, 12030, cuKernelGetName),
};

/*
 * With DOUBLE_CUDA_DLSYM set the driver looks its functions up by dlsym() in itself, so
 * that who stands before dlsym() is called by the driver while the driver is called.
 */
static void *look_up(void *function, const char *name)
{
	void *self = getenv("DOUBLE_CUDA_DLSYM")
			     ? dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)
			     : NULL;
	void *found;

	if (!self)
		return function;
	found = dlsym(self, name);
	dlclose(self);
	return found;
}

static CUresult resolve(const char *symbol, void **pfn, int version, cuuint64_t flags,
			CUdriverProcAddressQueryResult *ret_status)
{
	bool is_variant = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	int newest = double_driver_version();
	void *found = NULL;
	int since;
	size_t i;

	if (!symbol || !pfn || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		if (strcmp(entries[i].name, symbol) != 0)
			continue;
		since = is_variant ? entries[i].variant_version : entries[i].version;
		/* An older driver has never heard of it. */
		if (since > newest)
			continue;
		if (since <= version) {
			found = is_variant ? look_up(entries[i].per_thread,
						     entries[i].per_thread_name)
					   : look_up(entries[i].legacy,
						     entries[i].legacy_name);
			status = CU_GET_PROC_ADDRESS_SUCCESS;
		} else if (!found) {
			status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
		}
	}
	double_log_ask(symbol, version, flags, found != NULL);
	/* The runtime library asks without wanting to know: NULL is allowed. */
	if (ret_status)
		*ret_status = status;
	*pfn = found;
	return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

DOUBLE_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **pfn,
					   int cudaVersion, cuuint64_t flags,
					   CUdriverProcAddressQueryResult *symbolStatus)
{
	return resolve(symbol, pfn, cudaVersion, flags, symbolStatus);
}

DOUBLE_EXPORT CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion,
					cuuint64_t flags)
{
	return resolve(symbol, pfn, cudaVersion, flags, NULL);
}

/* NVIDIA's own libraries have tables of their own: a program that needs one fails. */
DOUBLE_EXPORT CUresult cuGetExportTable(const void **ppExportTable,
					const CUuuid *pExportTableId)
{
	if (!ppExportTable || !pExportTableId)
		return CUDA_ERROR_INVALID_VALUE;
	*ppExportTable = double_observer_table(pExportTableId);
	return *ppExportTable ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
