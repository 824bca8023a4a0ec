/* SPDX-License-Identifier: MIT */
/* Opens libcuda and asks it for all that the real runtime asks for, as that does it. */
#include "double_observer.h"
#include "runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

typedef CUresult (*ask_v1)(const char *symbol, void **pfn, int version, cuuint64_t flags);
typedef CUresult (*ask_v2)(const char *symbol, void **pfn, int version, cuuint64_t flags,
			   CUdriverProcAddressQueryResult *status);

struct mini_table mini_table;

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Both written under `once`. */
static cudaError_t load_error = cudaErrorInsufficientDriver;
static void *get_proc_address;

static const struct {
	const char *name;
	int version;
	unsigned int flags;
} asked[] = {
#define ASK(name, version, flags) {#name, version, flags},
#if MINI_CUDART_VERSION < 12000
#include "asked-11.8.def"
#elif MINI_CUDART_VERSION < 12090
#include "asked-12.4.def"
#elif MINI_CUDART_VERSION < 13000
#include "asked-12.9.def"
#else
#include "asked-13.0.def"
#endif
};

/* clang-format off */
#define ONE(name, version, place) {#name, version, 0, &mini_table.place}
#define PAIR(name, version, place) \
	{#name, version, 0, &mini_table.place[0]}, \
	{#name, (version) < 7000 ? 7000 : (version), 2, &mini_table.place[1]}

/* What is used of it. */
static const struct {
	const char *name;
	int version;
	unsigned int flags;
	void *place;
} used[] = {
	ONE(cuInit, 2000, Init),
	ONE(cuDriverGetVersion, 2020, DriverGetVersion),
	ONE(cuDeviceGetCount, 2000, DeviceGetCount),
	ONE(cuDevicePrimaryCtxRetain, 7000, PrimaryCtxRetain),
	ONE(cuCtxGetCurrent, 4000, CtxGetCurrent),
	ONE(cuCtxSetCurrent, 4000, CtxSetCurrent),
	ONE(cuCtxGetDevice, 2000, CtxGetDevice),
	ONE(cuCtxSynchronize, 2000, CtxSynchronize),
	ONE(cuGetErrorString, 6000, GetErrorString),
	ONE(cuGetExportTable, 3000, GetExportTable),
	ONE(cuMemAlloc, 3020, MemAlloc),
	ONE(cuMemFree, 3020, MemFree),
	ONE(cuModuleLoadData, 2000, ModuleLoadData),
	ONE(cuModuleGetFunction, 2000, ModuleGetFunction),
	ONE(cuLibraryLoadData, 12000, LibraryLoadData),
	ONE(cuLibraryGetKernel, 12000, LibraryGetKernel),
	ONE(cuKernelGetFunction, 12000, KernelGetFunction),
	ONE(cuStreamCreate, 2000, StreamCreate),
	ONE(cuStreamDestroy, 4000, StreamDestroy),
	ONE(cuEventCreate, 2000, EventCreate),
	ONE(cuEventDestroy, 4000, EventDestroy),
	ONE(cuEventQuery, 2000, EventQuery),
	ONE(cuEventSynchronize, 2000, EventSynchronize),
	ONE(cuEventElapsedTime, 2000, EventElapsedTime),
	ONE(cuGraphInstantiateWithFlags, 11040, GraphInstantiate),
	ONE(cuGraphExecDestroy, 10000, GraphExecDestroy),
	ONE(cuGraphDestroy, 10000, GraphDestroy),
	PAIR(cuLaunchKernel, 4000, LaunchKernel),
	PAIR(cuLaunchKernelEx, 11060, LaunchKernelEx),
	PAIR(cuLaunchCooperativeKernel, 9000, LaunchCooperativeKernel),
	PAIR(cuLaunchHostFunc, 10000, LaunchHostFunc),
	PAIR(cuGraphLaunch, 10000, GraphLaunch),
	PAIR(cuMemcpyAsync, 4000, MemcpyAsync),
	PAIR(cuMemcpyHtoDAsync, 3020, MemcpyHtoDAsync),
	PAIR(cuMemcpyDtoHAsync, 3020, MemcpyDtoHAsync),
	PAIR(cuMemcpyDtoDAsync, 3020, MemcpyDtoDAsync),
	PAIR(cuMemsetD8Async, 3020, MemsetD8Async),
	PAIR(cuEventRecord, 2000, EventRecord),
	PAIR(cuStreamSynchronize, 2000, StreamSynchronize),
	PAIR(cuStreamQuery, 2000, StreamQuery),
	PAIR(cuStreamWaitEvent, 3020, StreamWaitEvent),
	PAIR(cuStreamBeginCapture, 10010, StreamBeginCapture),
	PAIR(cuStreamEndCapture, 10000, StreamEndCapture),
	PAIR(cuStreamIsCapturing, 10000, StreamIsCapturing),
};
/* clang-format on */

CUresult mini_runtime_ask(const char *symbol, void **ret_function, int version,
			  unsigned long long flags, int *ret_status)
{
#if MINI_CUDART_VERSION < 12000
	CUresult res = ((ask_v1) get_proc_address)(symbol, ret_function, version, flags);

	if (ret_status)
		*ret_status = *ret_function ? 0 : 1;
	return res;
#else
	/* The runtime's values of the status are the driver's. */
	return ((ask_v2) get_proc_address)(symbol, ret_function, version, flags,
					   (CUdriverProcAddressQueryResult *) ret_status);
#endif
}

static void keep(size_t index, void *function)
{
	size_t i;

	for (i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
		if (strcmp(used[i].name, asked[index].name) == 0 &&
		    used[i].version == asked[index].version &&
		    used[i].flags == asked[index].flags)
			memcpy(used[i].place, &function, sizeof(function));
	}
}

/*
 * One dlsym(); from the first answer for "cuGetProcAddress" in the form that the runtime
 * wants, all else goes through that answer.  An answer may be missing: what came later
 * than the driver, or what the double has not.
 */
static void ask_all(void)
{
	int own_version = MINI_CUDART_VERSION < 12000 ? 11030 : 12000;
	void *function;
	size_t i;

	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		function = NULL;
		mini_runtime_ask(asked[i].name, &function, asked[i].version,
				 asked[i].flags, NULL);
		if (!function)
			continue;
		keep(i, function);
		if (strcmp(asked[i].name, "cuGetProcAddress") == 0 &&
		    asked[i].version == own_version)
			get_proc_address = function;
	}
}

static void load(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	int version = 0;

	if (!library)
		return;
	get_proc_address =
		dlsym(library, MINI_CUDART_VERSION < 12000 ? "cuGetProcAddress"
							   : "cuGetProcAddress_v2");
	if (!get_proc_address)
		return;
	ask_all();
	if (!mini_table.Init || !mini_table.DriverGetVersion ||
	    mini_table.DriverGetVersion(&version) != CUDA_SUCCESS)
		return;
	/* A driver serves the runtimes of its own major release and of older ones. */
	if (version / 1000 < MINI_CUDART_VERSION / 1000)
		return;
	load_error = (cudaError_t) mini_table.Init(0);
}

cudaError_t mini_runtime_load(void)
{
	pthread_once(&once, load);
	return load_error == cudaSuccess ? cudaSuccess : mini_runtime_fail(load_error);
}

/* NULL where the driver is not the double, or there is none. */
static const struct double_observer_table *observer_table(void)
{
	const void *table = NULL;

	pthread_once(&once, load);
	if (load_error != cudaSuccess || !mini_table.GetExportTable ||
	    mini_table.GetExportTable(&table, &(CUuuid) DOUBLE_OBSERVER_ID) !=
		    CUDA_SUCCESS)
		return NULL;
	return table;
}

void mini_runtime_enter(const char *function)
{
	const struct double_observer_table *table = observer_table();

	if (table)
		table->runtime_enter(function);
}

cudaError_t mini_runtime_leave(const char *function, cudaError_t error)
{
	const struct double_observer_table *table = observer_table();

	if (table)
		table->runtime_leave(function, (int) error);
	return error;
}
