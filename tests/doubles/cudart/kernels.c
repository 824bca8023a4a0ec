/* SPDX-License-Identifier: MIT */
/*
 * From the function of the host that stands for a kernel to the driver's function.  An
 * image is loaded when the first kernel of it is needed, as a library where the driver
 * has libraries and the runtime is new enough.
 */
#include "runtime.h"

#include <pthread.h>
#include <stdlib.h>

struct image {
	const void *data;
	CUlibrary library;
	CUmodule module;
};

struct entry {
	struct entry *next;
	struct image *image;
	const void *symbol;
	const char *name;
	CUkernel kernel;
	CUfunction function;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under lock. */
static struct entry *entries;

MINI_EXPORT void **__cudaRegisterFatBinary(void *fatCubin)
{
	struct image *image = calloc(1, sizeof(*image));

	if (image)
		image->data = fatCubin;
	return (void **) image;
}

MINI_EXPORT void __cudaRegisterFatBinaryEnd(void **fatCubinHandle)
{
	(void) fatCubinHandle;
}

MINI_EXPORT void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun,
					char *deviceFun, const char *deviceName,
					int thread_limit, uint3 *tid, uint3 *bid,
					dim3 *bDim, dim3 *gDim, int *wSize)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	(void) deviceFun;
	(void) thread_limit;
	(void) tid;
	(void) bid;
	(void) bDim;
	(void) gDim;
	(void) wSize;
	if (!entry)
		return;
	entry->image = (struct image *) fatCubinHandle;
	entry->symbol = hostFun;
	entry->name = deviceName;
	pthread_mutex_lock(&lock);
	entry->next = entries;
	entries = entry;
	pthread_mutex_unlock(&lock);
}

MINI_EXPORT void __cudaUnregisterFatBinary(void **fatCubinHandle)
{
	struct entry **place = &entries;
	struct entry *entry;

	pthread_mutex_lock(&lock);
	while (*place) {
		entry = *place;
		if (entry->image != (struct image *) fatCubinHandle) {
			place = &entry->next;
			continue;
		}
		*place = entry->next;
		free(entry);
	}
	pthread_mutex_unlock(&lock);
	free(fatCubinHandle);
}

static CUresult load_from_library(struct entry *entry)
{
	struct image *image = entry->image;
	CUresult res = CUDA_SUCCESS;

	if (!image->library)
		res = mini_table.LibraryLoadData(&image->library, image->data, NULL, NULL,
						 0, NULL, NULL, 0);
	if (res == CUDA_SUCCESS)
		res = mini_table.LibraryGetKernel(&entry->kernel, image->library,
						  entry->name);
	if (res == CUDA_SUCCESS)
		res = mini_table.KernelGetFunction(&entry->function, entry->kernel);
	return res;
}

static CUresult load_from_module(struct entry *entry)
{
	struct image *image = entry->image;
	CUresult res = CUDA_SUCCESS;

	if (!image->module)
		res = mini_table.ModuleLoadData(&image->module, image->data);
	if (res == CUDA_SUCCESS)
		res = mini_table.ModuleGetFunction(&entry->function, image->module,
						   entry->name);
	return res;
}

static cudaError_t find(const void *symbol, CUfunction *ret_function,
			CUkernel *ret_kernel)
{
	struct entry *entry;
	CUresult res = CUDA_SUCCESS;

	pthread_mutex_lock(&lock);
	for (entry = entries; entry && entry->symbol != symbol; entry = entry->next)
		;
	if (entry && !entry->function)
		res = mini_table.LibraryLoadData ? load_from_library(entry)
						 : load_from_module(entry);
	if (entry && res == CUDA_SUCCESS) {
		*ret_function = entry->function;
		*ret_kernel = entry->kernel;
	}
	pthread_mutex_unlock(&lock);
	if (!entry)
		return mini_runtime_fail(cudaErrorInvalidDeviceFunction);
	return mini_runtime_result(res);
}

cudaError_t mini_function(const void *symbol, CUfunction *ret_function)
{
	cudaError_t error = mini_runtime_ready();
	CUkernel kernel;

	return error ? error : find(symbol, ret_function, &kernel);
}

MINI_EXPORT cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr,
					    const void *symbolPtr)
{
	if (!functionPtr)
		return mini_runtime_fail(cudaErrorInvalidValue);
	return mini_function(symbolPtr, functionPtr);
}

#if MINI_CUDART_VERSION >= 12000
/* A new program asks for the kernel once and launches that. */
MINI_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *kernelPtr,
					const void *entryFuncAddr)
{
	cudaError_t error = mini_runtime_ready();
	CUfunction function;

	if (!kernelPtr)
		error = mini_runtime_fail(cudaErrorInvalidValue);
	return error ? error : find(entryFuncAddr, &function, kernelPtr);
}
#endif
