/* SPDX-License-Identifier: MIT */
/* What the libamdhip64.so.6 double has of HIP, as hip_runtime_api.h declares it. */
#ifndef DOUBLES_HIP_H
#define DOUBLES_HIP_H

#include <stddef.h>
#include <stdint.h>

typedef int hipError_t;
enum { hipSuccess = 0, hipErrorInvalidValue = 1 };

typedef struct dim3 {
	uint32_t x, y, z;
} dim3;
typedef struct ihipCtx_t *hipCtx_t;
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;
typedef struct ihipModule_t *hipModule_t;
typedef struct ihipModuleSymbol_t *hipFunction_t;
typedef struct ihipGraph *hipGraph_t;
typedef struct hipGraphExec *hipGraphExec_t;
typedef struct hipGraphNode *hipGraphNode_t;
typedef void (*hipHostFn_t)(void *userData);
#define hipStreamPerThread ((hipStream_t) 2)

typedef struct hipLaunchConfig_st {
	dim3 gridDim, blockDim;
	size_t dynamicSmemBytes;
	hipStream_t stream;
	void *attrs;
	unsigned int numAttrs;
} hipLaunchConfig_t;

/* What stands here for a kernel of the program: the compiler makes such an address, and
 * registers its name. */
struct double_hip_kernel {
	const char *name;
};

hipError_t hipLaunchKernel(const void *function, dim3 blocks, dim3 threads, void **args,
			   size_t shared, hipStream_t stream);
hipError_t hipLaunchKernel_spt(const void *function, dim3 blocks, dim3 threads,
			       void **args, size_t shared, hipStream_t stream);
hipError_t hipExtLaunchKernel(const void *function, dim3 blocks, dim3 threads,
			      void **args, size_t shared, hipStream_t stream,
			      hipEvent_t start, hipEvent_t stop, int flags);
hipError_t hipLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
				      void **args, unsigned int shared,
				      hipStream_t stream);
hipError_t hipLaunchKernelExC(const hipLaunchConfig_t *config, const void *function,
			      void **args);
hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned int gx, unsigned int gy,
				 unsigned int gz, unsigned int bx, unsigned int by,
				 unsigned int bz, unsigned int shared, hipStream_t stream,
				 void **params, void **extra);
hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t gx, uint32_t gy,
				    uint32_t gz, uint32_t lx, uint32_t ly, uint32_t lz,
				    size_t shared, hipStream_t stream, void **params,
				    void **extra, hipEvent_t start, hipEvent_t stop,
				    uint32_t flags);
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t fn, void *data);
hipError_t hipMemcpy(void *dst, const void *src, size_t bytes, int kind);
hipError_t hipMemcpyAsync(void *dst, const void *src, size_t bytes, int kind,
			  hipStream_t stream);
hipError_t hipMemcpyAsync_spt(void *dst, const void *src, size_t bytes, int kind,
			      hipStream_t stream);
hipError_t hipMemsetAsync(void *dst, int value, size_t bytes, hipStream_t stream);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamSynchronize_spt(hipStream_t stream);
hipError_t hipDeviceSynchronize(void);
hipError_t hipStreamBeginCapture(hipStream_t stream, int mode);
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph);
hipError_t hipStreamIsCapturing(hipStream_t stream, int *status);
hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph,
			       hipGraphNode_t *error, char *log, size_t size);
hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream);
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module,
				const char *name);
hipError_t hipModuleUnload(hipModule_t module);
hipError_t hipCtxGetCurrent(hipCtx_t *context);
typedef enum {
	HIP_GET_PROC_ADDRESS_SUCCESS,
	HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
} hipDriverProcAddressQueryResult;
enum { HIP_GET_PROC_ADDRESS_DEFAULT, HIP_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 2 };
hipError_t hipGetProcAddress(const char *symbol, void **pfn, int hipVersion,
			     uint64_t flags,
			     hipDriverProcAddressQueryResult *symbolStatus);
const char *hipKernelNameRef(hipFunction_t f);
const char *hipKernelNameRefByPtr(const void *function, hipStream_t stream);

/* What only the one with a GPU has, whose kernels are these. */
struct double_hip_running_kernel {
	struct double_hip_kernel kernel;
	void (*run)(const void *argument);
	/* Of the one argument. */
	size_t argument_bytes;
};
hipError_t hipGetDeviceCount(int *count);
hipError_t hipGetDevice(int *device);
hipError_t hipSetDevice(int device);
hipError_t hipDeviceGetAttribute(int *value, int attribute, int device);
const char *hipGetErrorString(hipError_t error);
hipError_t hipMalloc(void **memory, size_t bytes);
hipError_t hipFree(void *memory);
hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned int flags);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags);
hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned int flags);
hipError_t hipEventDestroy(hipEvent_t event);
enum { hipErrorNotReady = 600, hipStreamNonBlocking = 1 };

#endif
