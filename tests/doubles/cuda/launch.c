/* SPDX-License-Identifier: MIT */
/* Modules, kernel launches and host functions of the fake driver. */
#include "driver.h"
#include "fake_image.h"

#include <stdlib.h>
#include <string.h>

/* CUfunction is the kernel in the image, so that a module owns nothing else. */
struct CUmod_st {
	const struct fake_image *image;
};

struct launch {
	const struct fake_kernel *kernel;
	size_t size;
	/* Copied at the launch: the caller may reuse its buffer at once. */
	char arguments[];
};

struct host_call {
	CUhostFn fn;
	void *data;
};

FAKE_EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	const struct fake_image *fake = image;
	struct CUctx_st *context;
	CUresult res = fake_require_context(&context);

	if (res != CUDA_SUCCESS)
		return res;
	if (!module || !image)
		return CUDA_ERROR_INVALID_VALUE;
	if (fake->magic != FAKE_IMAGE_MAGIC)
		return CUDA_ERROR_INVALID_IMAGE;
	*module = malloc(sizeof(**module));
	if (!*module)
		return CUDA_ERROR_OUT_OF_MEMORY;
	(*module)->image = fake;
	return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuModuleUnload(CUmodule hmod)
{
	CUresult res = fake_require_init();

	if (res != CUDA_SUCCESS)
		return res;
	if (!hmod)
		return CUDA_ERROR_INVALID_VALUE;
	free(hmod);
	return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod,
					 const char *name)
{
	CUresult res = fake_require_init();
	size_t i;

	if (res != CUDA_SUCCESS)
		return res;
	if (!hfunc || !hmod || !name)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < hmod->image->kernel_count; i++) {
		if (strcmp(hmod->image->kernels[i].name, name) == 0) {
			*hfunc = (CUfunction) (uintptr_t) &hmod->image->kernels[i];
			return CUDA_SUCCESS;
		}
	}
	return CUDA_ERROR_NOT_FOUND;
}

static void run_launch(void *data)
{
	struct launch *launch = data;

	launch->kernel->run(launch->arguments, launch->size);
	free(launch);
}

/* The documented list of pairs: a key, its value, and so on to the end mark. */
static void read_extra(void *const *extra, const void **ret_buffer, size_t *ret_size)
{
	for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
		if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			*ret_buffer = extra[1];
		else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
			*ret_size = *(size_t *) extra[1];
	}
}

static CUresult launch_kernel(CUfunction f, CUstream stream, void **kernelParams,
			      void **extra)
{
	struct launch *launch;
	const void *buffer = NULL;
	size_t size = 0;
	CUresult res;

	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	/* The sizes that kernelParams leaves out stand in real device code only. */
	if (kernelParams)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (extra)
		read_extra(extra, &buffer, &size);
	if (size && !buffer)
		return CUDA_ERROR_INVALID_VALUE;
	launch = malloc(sizeof(*launch) + size);
	if (!launch)
		return CUDA_ERROR_OUT_OF_MEMORY;
	launch->kernel = (const struct fake_kernel *) (uintptr_t) f;
	launch->size = size;
	if (size)
		memcpy(launch->arguments, buffer, size);
	res = fake_stream_enqueue(stream, run_launch, launch);
	if (res != CUDA_SUCCESS)
		free(launch);
	return res;
}

FAKE_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f,
				      void **kernelParams, void **extra)
{
	if (!config || config->gridDimX == 0 || config->blockDimX == 0)
		return CUDA_ERROR_INVALID_VALUE;
	return launch_kernel(f, config->hStream, kernelParams, extra);
}

FAKE_EXPORT CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f,
					   void **kernelParams, void **extra)
{
	CUlaunchConfig own;

	if (!config)
		return CUDA_ERROR_INVALID_VALUE;
	own = *config;
	own.hStream = fake_per_thread(own.hStream);
	return cuLaunchKernelEx(&own, f, kernelParams, extra);
}

FAKE_EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX,
				    unsigned int gridDimY, unsigned int gridDimZ,
				    unsigned int blockDimX, unsigned int blockDimY,
				    unsigned int blockDimZ, unsigned int sharedMemBytes,
				    CUstream hStream, void **kernelParams, void **extra)
{
	CUlaunchConfig config = {gridDimX,  gridDimY,  gridDimZ,       blockDimX,
				 blockDimY, blockDimZ, sharedMemBytes, hStream,
				 NULL,	    0};

	return cuLaunchKernelEx(&config, f, kernelParams, extra);
}

FAKE_EXPORT CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned int gridDimX,
					 unsigned int gridDimY, unsigned int gridDimZ,
					 unsigned int blockDimX, unsigned int blockDimY,
					 unsigned int blockDimZ,
					 unsigned int sharedMemBytes, CUstream hStream,
					 void **kernelParams, void **extra)
{
	return cuLaunchKernel(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY,
			      blockDimZ, sharedMemBytes, fake_per_thread(hStream),
			      kernelParams, extra);
}

static void run_host_call(void *data)
{
	struct host_call *call = data;

	call->fn(call->data);
	free(call);
}

FAKE_EXPORT CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
	struct host_call *call;
	CUresult res;

	if (!fn)
		return CUDA_ERROR_INVALID_VALUE;
	call = malloc(sizeof(*call));
	if (!call)
		return CUDA_ERROR_OUT_OF_MEMORY;
	call->fn = fn;
	call->data = userData;
	res = fake_stream_enqueue(hStream, run_host_call, call);
	if (res != CUDA_SUCCESS)
		free(call);
	return res;
}

FAKE_EXPORT CUresult cuLaunchHostFunc_ptsz(CUstream hStream, CUhostFn fn, void *userData)
{
	return cuLaunchHostFunc(fake_per_thread(hStream), fn, userData);
}
