/* SPDX-License-Identifier: MIT */
/* The functions of the runtime: each is a call of the driver in a context that is there.
 */
#include "runtime.h"

#include <stdint.h>

/* Which function of a pair. */
enum { LEGACY, VARIANT };

static __thread cudaError_t last_error;
static __thread int device;

cudaError_t mini_runtime_fail(cudaError_t error)
{
	last_error = error;
	return error;
}

cudaError_t mini_runtime_result(CUresult res)
{
	/* A question that was answered is no error to remember. */
	if (res == CUDA_SUCCESS || res == CUDA_ERROR_NOT_READY)
		return (cudaError_t) res;
	return mini_runtime_fail((cudaError_t) res);
}

cudaError_t mini_runtime_ready(void)
{
	cudaError_t error = mini_runtime_load();
	CUcontext context = NULL;
	CUresult res;

	if (error)
		return error;
	res = mini_table.CtxGetCurrent(&context);
	if (!res && !context) {
		res = mini_table.PrimaryCtxRetain(&context, device);
		if (!res)
			res = mini_table.CtxSetCurrent(context);
	}
	return mini_runtime_result(res);
}

/* clang-format off */
/* Each is announced to who observes the driver. */
#define ANNOUNCED(call) \
	mini_runtime_enter(__func__); \
	return mini_runtime_leave(__func__, call)

/* The result of a call of the driver, if there is a context to make it in. */
#define ANNOUNCED_CALL(call) \
	cudaError_t error; \
	mini_runtime_enter(__func__); \
	error = mini_runtime_ready(); \
	if (!error) \
		error = mini_runtime_result(mini_table.call); \
	return mini_runtime_leave(__func__, error)

#define MINI_ENTRY(name, parameters, call) \
	MINI_EXPORT cudaError_t name parameters { ANNOUNCED_CALL(call); }

/* `call` is of pair[which]. */
#define MINI_VARIANTS(name, parameters, call) \
	MINI_EXPORT cudaError_t name parameters \
	{ enum { which = LEGACY }; ANNOUNCED_CALL(call); } \
	MINI_EXPORT cudaError_t name##_ptsz parameters \
	{ enum { which = VARIANT }; ANNOUNCED_CALL(call); }

/* The same where there is more to do than one call. */
#define MINI_BODIES(name, parameters, body, ...) \
	MINI_EXPORT cudaError_t name parameters \
	{ ANNOUNCED(body(LEGACY, __VA_ARGS__)); } \
	MINI_EXPORT cudaError_t name##_ptsz parameters \
	{ ANNOUNCED(body(VARIANT, __VA_ARGS__)); }
/* clang-format on */

MINI_EXPORT cudaError_t cudaRuntimeGetVersion(int *runtimeVersion)
{
	*runtimeVersion = MINI_CUDART_VERSION;
	return cudaSuccess;
}

MINI_EXPORT cudaError_t cudaDriverGetVersion(int *driverVersion)
{
	*driverVersion = 0;
	/* 0 where there is no driver, which is no error. */
	if (mini_runtime_load() && !mini_table.DriverGetVersion)
		return cudaSuccess;
	return mini_runtime_result(mini_table.DriverGetVersion(driverVersion));
}

MINI_EXPORT cudaError_t cudaGetLastError(void)
{
	cudaError_t error = last_error;

	last_error = cudaSuccess;
	return error;
}

MINI_EXPORT const char *cudaGetErrorString(cudaError_t error)
{
	const char *text = "unrecognized error code";

	if (error == cudaErrorInsufficientDriver)
		return "CUDA driver version is insufficient for CUDA runtime version";
	if (!mini_runtime_load())
		mini_table.GetErrorString((CUresult) error, &text);
	return text;
}

MINI_EXPORT cudaError_t cudaGetDeviceCount(int *count)
{
	cudaError_t error = mini_runtime_load();

	return error ? error : mini_runtime_result(mini_table.DeviceGetCount(count));
}

MINI_ENTRY(cudaGetDevice, (int *current), CtxGetDevice(current))

MINI_EXPORT cudaError_t cudaSetDevice(int wanted)
{
	cudaError_t error = mini_runtime_load();
	CUcontext context;
	CUresult res;

	if (error)
		return error;
	res = mini_table.PrimaryCtxRetain(&context, wanted);
	if (!res)
		res = mini_table.CtxSetCurrent(context);
	if (!res)
		device = wanted;
	return mini_runtime_result(res);
}

MINI_ENTRY(cudaDeviceSynchronize, (void), CtxSynchronize())

MINI_EXPORT cudaError_t cudaMalloc(void **devPtr, size_t size)
{
	CUdeviceptr address = 0;
	cudaError_t error = mini_runtime_ready();

	if (!error)
		error = mini_runtime_result(mini_table.MemAlloc(&address, size));
	*devPtr = (void *) (uintptr_t) address;
	return error;
}

MINI_ENTRY(cudaFree, (void *devPtr), MemFree((CUdeviceptr) (uintptr_t) devPtr))

static CUresult copy(int which, void *dst, const void *src, size_t count,
		     enum cudaMemcpyKind kind, cudaStream_t stream)
{
	CUdeviceptr to = (uintptr_t) dst;
	CUdeviceptr from = (uintptr_t) src;

	switch (kind) {
	case cudaMemcpyHostToDevice:
		return mini_table.MemcpyHtoDAsync[which](to, src, count, stream);
	case cudaMemcpyDeviceToHost:
		return mini_table.MemcpyDtoHAsync[which](dst, from, count, stream);
	case cudaMemcpyDeviceToDevice:
		return mini_table.MemcpyDtoDAsync[which](to, from, count, stream);
	default:
		return mini_table.MemcpyAsync[which](to, from, count, stream);
	}
}

static cudaError_t copy_async(int which, void *dst, const void *src, size_t count,
			      enum cudaMemcpyKind kind, cudaStream_t stream)
{
	cudaError_t error = mini_runtime_ready();

	return error ? error
		     : mini_runtime_result(copy(which, dst, src, count, kind, stream));
}

MINI_BODIES(cudaMemcpyAsync,
	    (void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
	     cudaStream_t stream),
	    copy_async, dst, src, count, kind, stream)

MINI_EXPORT cudaError_t cudaMemcpy(void *dst, const void *src, size_t count,
				   enum cudaMemcpyKind kind)
{
	cudaError_t error;

	mini_runtime_enter(__func__);
	error = copy_async(LEGACY, dst, src, count, kind, NULL);
	if (!error)
		error = mini_runtime_result(mini_table.StreamSynchronize[LEGACY](NULL));
	return mini_runtime_leave(__func__, error);
}

MINI_VARIANTS(cudaMemsetAsync,
	      (void *devPtr, int value, size_t count, cudaStream_t stream),
	      MemsetD8Async[which]((CUdeviceptr) (uintptr_t) devPtr,
				   (unsigned char) value, count, stream))

MINI_ENTRY(cudaStreamCreate, (cudaStream_t * pStream), StreamCreate(pStream, 0))
MINI_ENTRY(cudaStreamCreateWithFlags, (cudaStream_t * pStream, unsigned int flags),
	   StreamCreate(pStream, flags))
MINI_ENTRY(cudaStreamDestroy, (cudaStream_t stream), StreamDestroy(stream))
MINI_VARIANTS(cudaStreamSynchronize, (cudaStream_t stream),
	      StreamSynchronize[which](stream))
MINI_VARIANTS(cudaStreamQuery, (cudaStream_t stream), StreamQuery[which](stream))
MINI_VARIANTS(cudaStreamWaitEvent,
	      (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
	      StreamWaitEvent[which](stream, event, flags))
MINI_VARIANTS(cudaStreamBeginCapture,
	      (cudaStream_t stream, enum cudaStreamCaptureMode mode),
	      StreamBeginCapture[which](stream, (CUstreamCaptureMode) mode))
MINI_VARIANTS(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *pGraph),
	      StreamEndCapture[which](stream, pGraph))
MINI_VARIANTS(cudaStreamIsCapturing,
	      (cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus),
	      StreamIsCapturing[which](stream, (CUstreamCaptureStatus *) pCaptureStatus))
MINI_ENTRY(cudaEventCreate, (cudaEvent_t * event), EventCreate(event, 0))
MINI_ENTRY(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned int flags),
	   EventCreate(event, flags))
MINI_ENTRY(cudaEventDestroy, (cudaEvent_t event), EventDestroy(event))
MINI_VARIANTS(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream),
	      EventRecord[which](event, stream))
MINI_ENTRY(cudaEventQuery, (cudaEvent_t event), EventQuery(event))
MINI_ENTRY(cudaEventSynchronize, (cudaEvent_t event), EventSynchronize(event))
MINI_ENTRY(cudaEventElapsedTime, (float *ms, cudaEvent_t start, cudaEvent_t end),
	   EventElapsedTime(ms, start, end))

static cudaError_t launch_function(int which, CUfunction function, dim3 grid, dim3 block,
				   void **args, size_t shared, cudaStream_t stream)
{
	return mini_runtime_result(
		mini_table.LaunchKernel[which](function, grid.x, grid.y, grid.z, block.x,
					       block.y, block.z, (unsigned int) shared,
					       stream, args, NULL));
}

static cudaError_t launch(int which, const void *func, dim3 grid, dim3 block, void **args,
			  size_t shared, cudaStream_t stream)
{
	CUfunction function;
	cudaError_t error = mini_function(func, &function);

	return error ? error
		     : launch_function(which, function, grid, block, args, shared,
				       stream);
}

/* clang-format off */
#define LAUNCH_PARAMETERS (const void *func, dim3 gridDim, dim3 blockDim, void **args, \
	size_t sharedMem, cudaStream_t stream)
/* clang-format on */

MINI_BODIES(cudaLaunchKernel, LAUNCH_PARAMETERS, launch, func, gridDim, blockDim, args,
	    sharedMem, stream)

static cudaError_t launch_cooperative(int which, const void *func, dim3 grid, dim3 block,
				      void **args, size_t shared, cudaStream_t stream)
{
	CUfunction function;
	cudaError_t error = mini_function(func, &function);

	if (error)
		return error;
	return mini_runtime_result(mini_table.LaunchCooperativeKernel[which](
		function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
		(unsigned int) shared, stream, args));
}

MINI_BODIES(cudaLaunchCooperativeKernel, LAUNCH_PARAMETERS, launch_cooperative, func,
	    gridDim, blockDim, args, sharedMem, stream)

static cudaError_t launch_ex(int which, const cudaLaunchConfig_t *config,
			     const void *func, void **args)
{
	CUlaunchConfig own = {
		.gridDimX = config->gridDim.x,
		.gridDimY = config->gridDim.y,
		.gridDimZ = config->gridDim.z,
		.blockDimX = config->blockDim.x,
		.blockDimY = config->blockDim.y,
		.blockDimZ = config->blockDim.z,
		.sharedMemBytes = (unsigned int) config->dynamicSmemBytes,
		.hStream = config->stream,
		.attrs = (CUlaunchAttribute *) config->attrs,
		.numAttrs = config->numAttrs,
	};
	CUfunction function;
	cudaError_t error = mini_function(func, &function);

	return error ? error
		     : mini_runtime_result(mini_table.LaunchKernelEx[which](&own,
									    function,
									    args, NULL));
}

MINI_BODIES(cudaLaunchKernelExC,
	    (const cudaLaunchConfig_t *config, const void *func, void **args), launch_ex,
	    config, func, args)

#if MINI_CUDART_VERSION >= 12000
static cudaError_t launch_kernel(int which, cudaKernel_t kernel, dim3 grid, dim3 block,
				 void **args, size_t shared, cudaStream_t stream)
{
	cudaError_t error = mini_runtime_ready();

	return error ? error
		     : launch_function(which, (CUfunction) kernel, grid, block, args,
				       shared, stream);
}

MINI_BODIES(__cudaLaunchKernel,
	    (cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args,
	     size_t sharedMem, cudaStream_t stream),
	    launch_kernel, kernel, gridDim, blockDim, args, sharedMem, stream)
#endif

MINI_VARIANTS(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t fn, void *userData),
	      LaunchHostFunc[which](stream, fn, userData))
MINI_ENTRY(cudaGraphInstantiateWithFlags,
	   (cudaGraphExec_t * pGraphExec, cudaGraph_t graph, unsigned long long flags),
	   GraphInstantiate(pGraphExec, graph, flags))
MINI_VARIANTS(cudaGraphLaunch, (cudaGraphExec_t graphExec, cudaStream_t stream),
	      GraphLaunch[which](graphExec, stream))
MINI_ENTRY(cudaGraphExecDestroy, (cudaGraphExec_t graphExec), GraphExecDestroy(graphExec))
MINI_ENTRY(cudaGraphDestroy, (cudaGraph_t graph), GraphDestroy(graph))

/* Default means the default stream of the caller. */
static cudaError_t entry_point(int which, const char *symbol, void **funcPtr,
			       unsigned int version, unsigned long long flags,
			       enum cudaDriverEntryPointQueryResult *ret_status)
{
	cudaError_t error = mini_runtime_load();
	int status = 0;
	CUresult res;

	if (error)
		return error;
	if (flags == cudaEnableDefault && which == VARIANT)
		flags = cudaEnablePerThreadDefaultStream;
	res = mini_runtime_ask(symbol, funcPtr, (int) version, flags, &status);
	if (ret_status)
		*ret_status = (enum cudaDriverEntryPointQueryResult) status;
	/* What is not found is told by the status and the pointer. */
	return res == CUDA_ERROR_NOT_FOUND ? cudaSuccess : mini_runtime_result(res);
}

#if MINI_CUDART_VERSION < 12000
MINI_BODIES(cudaGetDriverEntryPoint,
	    (const char *symbol, void **funcPtr, unsigned long long flags), entry_point,
	    symbol, funcPtr, MINI_CUDART_VERSION, flags, NULL)
#else
MINI_BODIES(cudaGetDriverEntryPoint,
	    (const char *symbol, void **funcPtr, unsigned long long flags,
	     enum cudaDriverEntryPointQueryResult *driverStatus),
	    entry_point, symbol, funcPtr, MINI_CUDART_VERSION, flags, driverStatus)
MINI_BODIES(cudaGetDriverEntryPointByVersion,
	    (const char *symbol, void **funcPtr, unsigned int cudaVersion,
	     unsigned long long flags,
	     enum cudaDriverEntryPointQueryResult *driverStatus),
	    entry_point, symbol, funcPtr, cudaVersion, flags, driverStatus)
#endif
