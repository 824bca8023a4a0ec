/* SPDX-License-Identifier: MIT */
/*
 * What makes a librccl.so.1 of mini-NCCL: RCCL is NCCL with HIP in the place of CUDA, and
 * so is this.  Stands where the CUDA runtime is in libnccl: kernels are registered with
 * it, and it has the functions of a driver, which call HIP by its symbols.
 *
 * All of RCCL's device code for several ranks is one kernel, which gets its argument whole.
 */
#include "hip.h"

/* Both have one of these, of the same form. */
#define dim3 cuda_dim3
#include <cuda_runtime_api.h>
#undef dim3
#include <cuda.h>
#include <double_image.h>
#include <stdint.h>
#include <string.h>

#define KERNEL_NAME "ncclDevKernel_Generic_4"

enum { IMAGES_MAX = 4, KERNELS_MAX = 256 };

/* What the kernels of mini-NCCL are given, how much of it there is, and which one it is. */
struct argument {
	char bytes[4096];
	size_t size;
	const struct double_kernel *kernel;
};

static const struct double_image *images[IMAGES_MAX];
static int image_count;

/* A kernel by what stands for it on the host. */
static struct {
	const void *stub;
	const struct double_kernel *kernel;
	struct double_hip_running_kernel hip;
} registered[KERNELS_MAX];
static int registered_count;

static void run(const void *data)
{
	const struct argument *argument = data;

	argument->kernel->run(argument->bytes, argument->size);
}

void **__cudaRegisterFatBinary(void *fatCubin)
{
	if (image_count == IMAGES_MAX)
		return NULL;
	images[image_count] = fatCubin;
	return (void **) &images[image_count++];
}

void __cudaRegisterFatBinaryEnd(void **fatCubinHandle)
{
	(void) fatCubinHandle;
}

/* Kernels that are launched by a buffer are one under many names. */
void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun,
			    const char *deviceName, int thread_limit, uint3 *tid,
			    uint3 *bid, struct cuda_dim3 *bDim, struct cuda_dim3 *gDim,
			    int *wSize)
{
	const struct double_image *image = *fatCubinHandle;
	const struct double_kernel *kernel;
	size_t i;

	(void) deviceFun, (void) thread_limit, (void) tid, (void) bid, (void) bDim;
	(void) gDim, (void) wSize;
	for (i = 0; i < image->kernel_count; i++) {
		kernel = &image->kernels[i];
		if (strcmp(kernel->name, deviceName) || registered_count == KERNELS_MAX)
			continue;
		registered[registered_count].stub = hostFun;
		registered[registered_count].kernel = kernel;
		registered[registered_count].hip = (struct double_hip_running_kernel){
			{kernel->parameter_sizes ? kernel->name : KERNEL_NAME},
			run,
			sizeof(struct argument)};
		registered_count++;
	}
}

static int find(const void *stub)
{
	int i = 0;

	while (i < registered_count && registered[i].stub != stub)
		i++;
	return i;
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr)
{
	const int i = find(symbolPtr);

	if (i == registered_count)
		return cudaErrorInvalidDeviceFunction;
	*functionPtr = (cudaFunction_t) (uintptr_t) (i + 1);
	return cudaSuccess;
}

/* A copy of each parameter at a multiple of its size. */
static void pack(const struct double_kernel *kernel, void **parameters,
		 struct argument *ret_argument)
{
	size_t i, size, at = 0;

	for (i = 0; i < kernel->parameter_count; i++) {
		size = kernel->parameter_sizes[i];
		at = (at + size - 1) / size * size;
		memcpy(ret_argument->bytes + at, parameters[i], size);
		at += size;
	}
	ret_argument->size = at;
}

static hipError_t launch(int i, dim3 blocks, dim3 threads, struct argument *argument,
			 hipStream_t stream)
{
	void *args[] = {argument};

	argument->kernel = registered[i].kernel;
	return hipExtLaunchKernel(&registered[i].hip, blocks, threads, args, 0, stream,
				  NULL, NULL, 0);
}

cudaError_t cudaLaunchKernel(const void *func, struct cuda_dim3 gridDim,
			     struct cuda_dim3 blockDim, void **args, size_t sharedMem,
			     cudaStream_t stream)
{
	struct argument argument = {.size = 0};
	const int i = find(func);

	(void) sharedMem;
	if (i == registered_count)
		return cudaErrorInvalidDeviceFunction;
	pack(registered[i].kernel, args, &argument);
	return launch(i, (dim3){gridDim.x, gridDim.y, gridDim.z},
		      (dim3){blockDim.x, blockDim.y, blockDim.z}, &argument,
		      (hipStream_t) stream)
		       ? cudaErrorInvalidValue
		       : cudaSuccess;
}

static CUresult result_of(hipError_t err)
{
	if (err == hipErrorNotReady)
		return CUDA_ERROR_NOT_READY;
	return err ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult get_error_string(CUresult error, const char **text)
{
	*text = hipGetErrorString(error ? hipErrorInvalidValue : hipSuccess);
	return CUDA_SUCCESS;
}

static CUresult get_device_count(int *count)
{
	return result_of(hipGetDeviceCount(count));
}

static CUresult get_attribute(int *value, CUdevice_attribute which, CUdevice device)
{
	return result_of(hipDeviceGetAttribute(value, (int) which, device));
}

/* A context is a device: what stands for one is its number and 1. */
static CUresult retain_context(CUcontext *context, CUdevice device)
{
	*context = (CUcontext) (uintptr_t) (device + 1);
	return CUDA_SUCCESS;
}

static CUresult set_context(CUcontext context)
{
	return context ? result_of(hipSetDevice((int) (uintptr_t) context - 1))
		       : CUDA_SUCCESS;
}

static CUresult get_context(CUcontext *context)
{
	int device = 0;
	hipError_t err = hipGetDevice(&device);

	*context = (CUcontext) (uintptr_t) (device + 1);
	return result_of(err);
}

static CUresult get_device(CUdevice *device)
{
	return result_of(hipGetDevice(device));
}

static CUresult synchronize(void)
{
	return result_of(hipDeviceSynchronize());
}

static CUresult launch_host(CUstream stream, CUhostFn fn, void *data)
{
	return result_of(hipLaunchHostFunc((hipStream_t) stream, fn, data));
}

/* By the buffer of `extra`, which has an address and a size. */
static CUresult launch_kernel(const CUlaunchConfig *config, CUfunction function,
			      void **parameters, void **extra)
{
	struct argument argument;

	(void) parameters;
	memset(&argument, 0, sizeof(argument));
	argument.size = *(const size_t *) extra[3];
	if (argument.size > sizeof(argument.bytes))
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(argument.bytes, extra[1], argument.size);
	return result_of(
		launch((int) (uintptr_t) function - 1,
		       (dim3){config->gridDimX, config->gridDimY, config->gridDimZ},
		       (dim3){config->blockDimX, config->blockDimY, config->blockDimZ},
		       &argument, (hipStream_t) config->hStream));
}

static CUresult allocate(CUdeviceptr *address, size_t size)
{
	void *memory = NULL;
	hipError_t err = hipMalloc(&memory, size);

	*address = (CUdeviceptr) (uintptr_t) memory;
	return result_of(err);
}

static CUresult give_back(CUdeviceptr address)
{
	return result_of(hipFree((void *) (uintptr_t) address));
}

static CUresult copy(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
	enum { DEVICE_TO_DEVICE = 3 };

	return result_of(hipMemcpyAsync((void *) (uintptr_t) to,
					(const void *) (uintptr_t) from, size,
					DEVICE_TO_DEVICE, (hipStream_t) stream));
}

static CUresult create_event(CUevent *event, unsigned int flags)
{
	return result_of(hipEventCreateWithFlags((hipEvent_t *) event, flags));
}

static CUresult destroy_event(CUevent event)
{
	return result_of(hipEventDestroy((hipEvent_t) event));
}

static CUresult record_event(CUevent event, CUstream stream)
{
	return result_of(hipEventRecord((hipEvent_t) event, (hipStream_t) stream));
}

static CUresult is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
	int found = 0;
	hipError_t err = hipStreamIsCapturing((hipStream_t) stream, &found);

	*status = (CUstreamCaptureStatus) found;
	return result_of(err);
}

static CUresult wait_event(CUstream stream, CUevent event, unsigned int flags)
{
	return result_of(
		hipStreamWaitEvent((hipStream_t) stream, (hipEvent_t) event, flags));
}

static const struct {
	const char *name;
	void *function;
} functions[] = {
	{"cuGetErrorString", (void *) get_error_string},
	{"cuDeviceGetCount", (void *) get_device_count},
	{"cuDeviceGetAttribute", (void *) get_attribute},
	{"cuDevicePrimaryCtxRetain", (void *) retain_context},
	{"cuCtxGetCurrent", (void *) get_context},
	{"cuCtxSetCurrent", (void *) set_context},
	{"cuCtxGetDevice", (void *) get_device},
	{"cuCtxSynchronize", (void *) synchronize},
	{"cuLaunchHostFunc", (void *) launch_host},
	{"cuLaunchKernelEx", (void *) launch_kernel},
	{"cuMemAlloc", (void *) allocate},
	{"cuMemFree", (void *) give_back},
	{"cuMemcpyDtoDAsync", (void *) copy},
	{"cuEventCreate", (void *) create_event},
	{"cuEventDestroy", (void *) destroy_event},
	{"cuEventRecord", (void *) record_event},
	{"cuStreamIsCapturing", (void *) is_capturing},
	{"cuStreamWaitEvent", (void *) wait_event},
};

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr,
					     unsigned int cudaVersion,
					     unsigned long long flags,
					     enum cudaDriverEntryPointQueryResult *status)
{
	size_t i;

	(void) cudaVersion, (void) flags;
	*status = cudaDriverEntryPointSymbolNotFound;
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (strcmp(symbol, functions[i].name))
			continue;
		memcpy(funcPtr, &functions[i].function, sizeof(*funcPtr));
		*status = cudaDriverEntryPointSuccess;
	}
	return cudaSuccess;
}
