/* SPDX-License-Identifier: MIT */
/*
 * The part of the CUDA runtime API that mini-cudart offers.  Names, values and binary
 * interface are those of the real header of CUDA 13; what a program says by <<<>>> it
 * says here by the calls that nvcc makes of that.
 */
#ifndef DOUBLE_CUDA_RUNTIME_API_H
#define DOUBLE_CUDA_RUNTIME_API_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cudaError {
	cudaSuccess = 0,
	cudaErrorInvalidValue = 1,
	cudaErrorMemoryAllocation = 2,
	cudaErrorInitializationError = 3,
	cudaErrorMissingConfiguration = 52,
	cudaErrorInsufficientDriver = 35,
	cudaErrorInvalidDeviceFunction = 98,
	cudaErrorInvalidDevice = 101,
	cudaErrorSymbolNotFound = 500,
	cudaErrorNotReady = 600,
	cudaErrorLaunchFailure = 719,
	cudaErrorNotSupported = 801
} cudaError_t;

enum cudaMemcpyKind {
	cudaMemcpyHostToHost = 0,
	cudaMemcpyHostToDevice = 1,
	cudaMemcpyDeviceToHost = 2,
	cudaMemcpyDeviceToDevice = 3,
	cudaMemcpyDefault = 4
};

enum cudaStreamCaptureMode {
	cudaStreamCaptureModeGlobal = 0,
	cudaStreamCaptureModeThreadLocal = 1,
	cudaStreamCaptureModeRelaxed = 2
};

enum cudaStreamCaptureStatus {
	cudaStreamCaptureStatusNone = 0,
	cudaStreamCaptureStatusActive = 1,
	cudaStreamCaptureStatusInvalidated = 2
};

enum cudaDriverEntryPointQueryResult {
	cudaDriverEntryPointSuccess = 0,
	cudaDriverEntryPointSymbolNotFound = 1,
	cudaDriverEntryPointVersionNotSufficent = 2
};

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUfunc_st *cudaFunction_t;
typedef struct CUkern_st *cudaKernel_t;
typedef void (*cudaHostFn_t)(void *userData);

#define cudaStreamLegacy ((cudaStream_t) 0x1)
#define cudaStreamPerThread ((cudaStream_t) 0x2)
#define cudaStreamNonBlocking 0x01
#define cudaEventDisableTiming 0x02
#define cudaEnableDefault 0x0
#define cudaEnableLegacyStream 0x1
#define cudaEnablePerThreadDefaultStream 0x2

typedef struct dim3 {
	unsigned int x, y, z;
} dim3;
typedef struct dim3 uint3;

/* Laid out as CUlaunchAttribute. */
typedef struct cudaLaunchAttribute_st {
	int id;
	char pad[4];
	union {
		char pad[64];
		int cooperative;
		struct {
			unsigned int x;
			unsigned int y;
			unsigned int z;
		} clusterDim;
	} val;
} cudaLaunchAttribute;

typedef struct cudaLaunchConfig_st {
	dim3 gridDim;
	dim3 blockDim;
	size_t dynamicSmemBytes;
	cudaStream_t stream;
	cudaLaunchAttribute *attrs;
	unsigned int numAttrs;
} cudaLaunchConfig_t;

#define DOUBLE_VARIANTS(name, ...) \
	cudaError_t name(__VA_ARGS__); \
	cudaError_t name##_ptsz(__VA_ARGS__)

cudaError_t cudaRuntimeGetVersion(int *runtimeVersion);
cudaError_t cudaDriverGetVersion(int *driverVersion);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaMalloc(void **devPtr, size_t size);
cudaError_t cudaFree(void *devPtr);
DOUBLE_VARIANTS(cudaMemcpyAsync, void *dst, const void *src, size_t count,
		enum cudaMemcpyKind kind, cudaStream_t stream);
DOUBLE_VARIANTS(cudaMemsetAsync, void *devPtr, int value, size_t count,
		cudaStream_t stream);
cudaError_t cudaMemcpy(void *dst, const void *src, size_t count,
		       enum cudaMemcpyKind kind);

cudaError_t cudaStreamCreate(cudaStream_t *pStream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
DOUBLE_VARIANTS(cudaStreamSynchronize, cudaStream_t stream);
DOUBLE_VARIANTS(cudaStreamQuery, cudaStream_t stream);
DOUBLE_VARIANTS(cudaStreamWaitEvent, cudaStream_t stream, cudaEvent_t event,
		unsigned int flags);
DOUBLE_VARIANTS(cudaStreamBeginCapture, cudaStream_t stream,
		enum cudaStreamCaptureMode mode);
DOUBLE_VARIANTS(cudaStreamEndCapture, cudaStream_t stream, cudaGraph_t *pGraph);
DOUBLE_VARIANTS(cudaStreamIsCapturing, cudaStream_t stream,
		enum cudaStreamCaptureStatus *pCaptureStatus);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
DOUBLE_VARIANTS(cudaEventRecord, cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end);

DOUBLE_VARIANTS(cudaLaunchKernel, const void *func, dim3 gridDim, dim3 blockDim,
		void **args, size_t sharedMem, cudaStream_t stream);
DOUBLE_VARIANTS(cudaLaunchKernelExC, const cudaLaunchConfig_t *config, const void *func,
		void **args);
DOUBLE_VARIANTS(cudaLaunchCooperativeKernel, const void *func, dim3 gridDim,
		dim3 blockDim, void **args, size_t sharedMem, cudaStream_t stream);
DOUBLE_VARIANTS(cudaLaunchHostFunc, cudaStream_t stream, cudaHostFn_t fn, void *userData);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
					  unsigned long long flags);
DOUBLE_VARIANTS(cudaGraphLaunch, cudaGraphExec_t graphExec, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr);

#if defined(MINI_CUDART_VERSION) && MINI_CUDART_VERSION < 12000
DOUBLE_VARIANTS(cudaGetDriverEntryPoint, const char *symbol, void **funcPtr,
		unsigned long long flags);
#else
DOUBLE_VARIANTS(cudaGetDriverEntryPoint, const char *symbol, void **funcPtr,
		unsigned long long flags,
		enum cudaDriverEntryPointQueryResult *driverStatus);
DOUBLE_VARIANTS(cudaGetDriverEntryPointByVersion, const char *symbol, void **funcPtr,
		unsigned int cudaVersion, unsigned long long flags,
		enum cudaDriverEntryPointQueryResult *driverStatus);
DOUBLE_VARIANTS(__cudaLaunchKernel, cudaKernel_t kernel, dim3 gridDim, dim3 blockDim,
		void **args, size_t sharedMem, cudaStream_t stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr);
#endif

/* What nvcc has a program say of its kernels; the image is one for cuModuleLoadData(). */
void **__cudaRegisterFatBinary(void *fatCubin);
void __cudaRegisterFatBinaryEnd(void **fatCubinHandle);
void __cudaUnregisterFatBinary(void **fatCubinHandle);
void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun,
			    const char *deviceName, int thread_limit, uint3 *tid,
			    uint3 *bid, dim3 *bDim, dim3 *gDim, int *wSize);

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define cudaEventRecord cudaEventRecord_ptsz
#define cudaGraphLaunch cudaGraphLaunch_ptsz
#define cudaLaunchCooperativeKernel cudaLaunchCooperativeKernel_ptsz
#define cudaLaunchHostFunc cudaLaunchHostFunc_ptsz
#define cudaLaunchKernel cudaLaunchKernel_ptsz
#define __cudaLaunchKernel __cudaLaunchKernel_ptsz
#define cudaLaunchKernelExC cudaLaunchKernelExC_ptsz
#define cudaMemcpyAsync cudaMemcpyAsync_ptsz
#define cudaMemsetAsync cudaMemsetAsync_ptsz
#define cudaStreamBeginCapture cudaStreamBeginCapture_ptsz
#define cudaStreamEndCapture cudaStreamEndCapture_ptsz
#define cudaStreamSynchronize cudaStreamSynchronize_ptsz
#define cudaStreamWaitEvent cudaStreamWaitEvent_ptsz
#endif

#ifdef __cplusplus
}
#endif

#endif
