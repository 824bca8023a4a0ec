/* SPDX-License-Identifier: MIT */
/*
 * A libamdhip64.so.6 with a GPU: that of the driver double, which is part of this library
 * and seen by nobody else.  Streams run, memory is memory, and a kernel is a function of
 * the host.
 */
#include "hip.h"

#include <cuda.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A launch: the kernel, and a copy of its argument. */
struct launch {
	const struct double_hip_running_kernel *kernel;
	char argument[];
};

static hipError_t error_of(CUresult res)
{
	if (res == CUDA_ERROR_NOT_READY)
		return hipErrorNotReady;
	return res ? hipErrorInvalidValue : hipSuccess;
}

hipError_t hipSetDevice(int device)
{
	CUcontext context;
	CUresult res = cuInit(0);

	if (!res)
		res = cuDevicePrimaryCtxRetain(&context, device);
	return error_of(res ? res : cuCtxSetCurrent(context));
}

/* A thread has device 0 until it says otherwise. */
static hipError_t ready(void)
{
	CUcontext context = NULL;

	if (cuInit(0) == CUDA_SUCCESS && cuCtxGetCurrent(&context) == CUDA_SUCCESS &&
	    context)
		return hipSuccess;
	return hipSetDevice(0);
}

hipError_t hipGetDevice(int *device)
{
	hipError_t err = ready();

	return err ? err : error_of(cuCtxGetDevice(device));
}

hipError_t hipGetDeviceCount(int *count)
{
	hipError_t err = ready();

	return err ? err : error_of(cuDeviceGetCount(count));
}

hipError_t hipDeviceGetAttribute(int *value, int attribute, int device)
{
	hipError_t err = ready();

	(void) attribute;
	*value = 0;
	return err ? err : (device < 0 ? hipErrorInvalidValue : hipSuccess);
}

const char *hipGetErrorString(hipError_t error)
{
	if (error == hipErrorNotReady)
		return "device not ready";
	return error ? "invalid argument" : "no error";
}

hipError_t hipCtxGetCurrent(hipCtx_t *context)
{
	hipError_t err = ready();

	return err ? err : error_of(cuCtxGetCurrent((CUcontext *) context));
}

hipError_t hipMalloc(void **memory, size_t bytes)
{
	hipError_t err = ready();
	CUdeviceptr address = 0;

	err = err ? err : error_of(cuMemAlloc_v2(&address, bytes));
	*memory = (void *) (uintptr_t) address;
	return err;
}

hipError_t hipFree(void *memory)
{
	return error_of(cuMemFree_v2((CUdeviceptr) (uintptr_t) memory));
}

hipError_t hipMemcpyAsync(void *dst, const void *src, size_t bytes, int kind,
			  hipStream_t stream)
{
	hipError_t err = ready();

	(void) kind;
	return err ? err
		   : error_of(cuMemcpyAsync((CUdeviceptr) (uintptr_t) dst,
					    (CUdeviceptr) (uintptr_t) src, bytes,
					    (CUstream) stream));
}

hipError_t hipMemcpy(void *dst, const void *src, size_t bytes, int kind)
{
	hipError_t err = hipMemcpyAsync(dst, src, bytes, kind, NULL);

	return err ? err : error_of(cuStreamSynchronize(NULL));
}

hipError_t hipMemsetAsync(void *dst, int value, size_t bytes, hipStream_t stream)
{
	hipError_t err = ready();

	return err ? err
		   : error_of(cuMemsetD8Async((CUdeviceptr) (uintptr_t) dst,
					      (unsigned char) value, bytes,
					      (CUstream) stream));
}

hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned int flags)
{
	hipError_t err = ready();

	return err ? err : error_of(cuStreamCreate((CUstream *) stream, flags));
}

hipError_t hipStreamDestroy(hipStream_t stream)
{
	return error_of(cuStreamDestroy_v2((CUstream) stream));
}

hipError_t hipStreamQuery(hipStream_t stream)
{
	return error_of(cuStreamQuery((CUstream) stream));
}

hipError_t hipStreamSynchronize(hipStream_t stream)
{
	hipError_t err = ready();

	return err ? err : error_of(cuStreamSynchronize((CUstream) stream));
}

hipError_t hipDeviceSynchronize(void)
{
	hipError_t err = ready();

	return err ? err : error_of(cuCtxSynchronize());
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags)
{
	return error_of(cuStreamWaitEvent((CUstream) stream, (CUevent) event, flags));
}

hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned int flags)
{
	hipError_t err = ready();

	return err ? err : error_of(cuEventCreate((CUevent *) event, flags));
}

hipError_t hipEventDestroy(hipEvent_t event)
{
	return error_of(cuEventDestroy_v2((CUevent) event));
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream)
{
	return error_of(cuEventRecord((CUevent) event, (CUstream) stream));
}

hipError_t hipStreamIsCapturing(hipStream_t stream, int *status)
{
	CUstreamCaptureStatus found = CU_STREAM_CAPTURE_STATUS_NONE;
	hipError_t err = ready();

	err = err ? err : error_of(cuStreamIsCapturing((CUstream) stream, &found));
	*status = (int) found;
	return err;
}

hipError_t hipStreamBeginCapture(hipStream_t stream, int mode)
{
	return error_of(
		cuStreamBeginCapture_v2((CUstream) stream, (CUstreamCaptureMode) mode));
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph)
{
	return error_of(cuStreamEndCapture((CUstream) stream, (CUgraph *) graph));
}

hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph,
			       hipGraphNode_t *error, char *log, size_t size)
{
	(void) error, (void) log, (void) size;
	return error_of(
		cuGraphInstantiateWithFlags((CUgraphExec *) exec, (CUgraph) graph, 0));
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream)
{
	return error_of(cuGraphLaunch((CUgraphExec) exec, (CUstream) stream));
}

hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t fn, void *data)
{
	hipError_t err = ready();

	return err ? err : error_of(cuLaunchHostFunc((CUstream) stream, fn, data));
}

static void run_again(void *data)
{
	struct launch *launch = data;

	if (launch->kernel->run)
		launch->kernel->run(launch->argument);
}

static void run_once(void *data)
{
	run_again(data);
	free(data);
}

hipError_t hipExtLaunchKernel(const void *function, dim3 blocks, dim3 threads,
			      void **args, size_t shared, hipStream_t stream,
			      hipEvent_t start, hipEvent_t stop, int flags)
{
	const struct double_hip_running_kernel *kernel = function;
	struct launch *launch;
	hipError_t err;
	int captures = 0;

	(void) threads, (void) shared, (void) start, (void) stop, (void) flags;
	if (!kernel || blocks.x == 0)
		return hipErrorInvalidValue;
	err = hipStreamIsCapturing(stream, &captures);
	if (err)
		return err;
	launch = malloc(sizeof(*launch) + kernel->argument_bytes);
	if (!launch)
		return hipErrorInvalidValue;
	launch->kernel = kernel;
	if (kernel->argument_bytes)
		memcpy(launch->argument, args[0], kernel->argument_bytes);
	/* A graph may be launched for as long as the process lives. */
	return hipLaunchHostFunc(stream, captures ? run_again : run_once, launch);
}

hipError_t hipLaunchKernel(const void *function, dim3 blocks, dim3 threads, void **args,
			   size_t shared, hipStream_t stream)
{
	return hipExtLaunchKernel(function, blocks, threads, args, shared, stream, NULL,
				  NULL, 0);
}

const char *hipKernelNameRefByPtr(const void *function, hipStream_t stream)
{
	(void) stream;
	return function ? ((const struct double_hip_kernel *) function)->name : NULL;
}
