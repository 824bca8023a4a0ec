/* SPDX-License-Identifier: MIT */
/*
 * The CUDA runtime as a program or a library has it, linked into it or shared: it opens
 * the driver itself and takes every function from cuGetProcAddress, in the order and with
 * the versions of the real one of the release that MINI_CUDART_VERSION says.
 */
#ifndef MINI_CUDART_RUNTIME_H
#define MINI_CUDART_RUNTIME_H

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <stdbool.h>

#ifndef MINI_CUDART_VERSION
#define MINI_CUDART_VERSION 13000
#endif

/* Only the shared library shows its functions; a static one is its owner's alone. */
#ifdef MINI_CUDART_SHARED
#define MINI_EXPORT __attribute__((visibility("default")))
#else
#define MINI_EXPORT __attribute__((visibility("hidden")))
#endif

/* The function with the legacy default stream and the one with the thread's own. */
#define MINI_PAIR(name, ...) CUresult (*name[2])(__VA_ARGS__)

struct mini_table {
	CUresult (*Init)(unsigned int flags);
	CUresult (*DriverGetVersion)(int *version);
	CUresult (*DeviceGetCount)(int *count);
	CUresult (*PrimaryCtxRetain)(CUcontext *context, CUdevice device);
	CUresult (*CtxGetCurrent)(CUcontext *context);
	CUresult (*CtxSetCurrent)(CUcontext context);
	CUresult (*CtxGetDevice)(CUdevice *device);
	CUresult (*CtxSynchronize)(void);
	CUresult (*GetErrorString)(CUresult error, const char **text);
	CUresult (*MemAlloc)(CUdeviceptr *address, size_t size);
	CUresult (*MemFree)(CUdeviceptr address);
	CUresult (*ModuleLoadData)(CUmodule *module, const void *image);
	CUresult (*ModuleGetFunction)(CUfunction *function, CUmodule module,
				      const char *name);
	CUresult (*LibraryLoadData)(CUlibrary *library, const void *code,
				    CUjit_option *options, void **values,
				    unsigned int count, CUlibraryOption *library_options,
				    void **library_values, unsigned int library_count);
	CUresult (*LibraryGetKernel)(CUkernel *kernel, CUlibrary library,
				     const char *name);
	CUresult (*KernelGetFunction)(CUfunction *function, CUkernel kernel);
	CUresult (*StreamCreate)(CUstream *stream, unsigned int flags);
	CUresult (*StreamDestroy)(CUstream stream);
	CUresult (*EventCreate)(CUevent *event, unsigned int flags);
	CUresult (*EventDestroy)(CUevent event);
	CUresult (*EventQuery)(CUevent event);
	CUresult (*EventSynchronize)(CUevent event);
	CUresult (*GetExportTable)(const void **table, const CUuuid *id);
	CUresult (*EventElapsedTime)(float *ms, CUevent start, CUevent end);
	CUresult (*GraphInstantiate)(CUgraphExec *exec, CUgraph graph,
				     unsigned long long flags);
	CUresult (*GraphExecDestroy)(CUgraphExec exec);
	CUresult (*GraphDestroy)(CUgraph graph);
	MINI_PAIR(LaunchKernel, CUfunction function, unsigned int grid_x,
		  unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
		  unsigned int block_y, unsigned int block_z, unsigned int shared,
		  CUstream stream, void **parameters, void **extra);
	MINI_PAIR(LaunchKernelEx, const CUlaunchConfig *config, CUfunction function,
		  void **parameters, void **extra);
	MINI_PAIR(LaunchCooperativeKernel, CUfunction function, unsigned int grid_x,
		  unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
		  unsigned int block_y, unsigned int block_z, unsigned int shared,
		  CUstream stream, void **parameters);
	MINI_PAIR(LaunchHostFunc, CUstream stream, CUhostFn fn, void *data);
	MINI_PAIR(GraphLaunch, CUgraphExec exec, CUstream stream);
	MINI_PAIR(MemcpyAsync, CUdeviceptr to, CUdeviceptr from, size_t size,
		  CUstream stream);
	MINI_PAIR(MemcpyHtoDAsync, CUdeviceptr to, const void *from, size_t size,
		  CUstream stream);
	MINI_PAIR(MemcpyDtoHAsync, void *to, CUdeviceptr from, size_t size,
		  CUstream stream);
	MINI_PAIR(MemcpyDtoDAsync, CUdeviceptr to, CUdeviceptr from, size_t size,
		  CUstream stream);
	MINI_PAIR(MemsetD8Async, CUdeviceptr to, unsigned char value, size_t count,
		  CUstream stream);
	MINI_PAIR(EventRecord, CUevent event, CUstream stream);
	MINI_PAIR(StreamSynchronize, CUstream stream);
	MINI_PAIR(StreamQuery, CUstream stream);
	MINI_PAIR(StreamWaitEvent, CUstream stream, CUevent event, unsigned int flags);
	MINI_PAIR(StreamBeginCapture, CUstream stream, CUstreamCaptureMode mode);
	MINI_PAIR(StreamEndCapture, CUstream stream, CUgraph *graph);
	MINI_PAIR(StreamIsCapturing, CUstream stream, CUstreamCaptureStatus *status);
};

/* Valid once mini_runtime_load() succeeded. */
extern struct mini_table mini_table;

/* Opens the driver once. */
cudaError_t mini_runtime_load(void);
/* That, and gives the thread the primary context of its device if it has none. */
cudaError_t mini_runtime_ready(void);
/* The beginning and the end of a function, for who observes the driver; the latter
 * returns `error`. */
void mini_runtime_enter(const char *function);
cudaError_t mini_runtime_leave(const char *function, cudaError_t error);
/* Remembered for cudaGetLastError(); both have the same numbers. */
cudaError_t mini_runtime_result(CUresult res);
cudaError_t mini_runtime_fail(cudaError_t error);
/* cuGetProcAddress as the runtime itself got it. */
CUresult mini_runtime_ask(const char *symbol, void **ret_function, int version,
			  unsigned long long flags, int *ret_status);

/* The kernel that a program registered for this function of the host. */
cudaError_t mini_function(const void *symbol, CUfunction *ret_function);

#endif
