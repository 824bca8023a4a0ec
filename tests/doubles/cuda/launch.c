/* SPDX-License-Identifier: MIT */
/* Kernel launches and host functions of the driver double. */
#include "driver.h"
#include "double_image.h"

#include <string.h>

struct kernel_work {
	struct double_work work;
	const struct double_kernel *kernel;
	size_t size;
	/* Copied at the launch: the caller may reuse its buffer at once. */
	char arguments[];
};

struct host_work {
	struct double_work work;
	CUhostFn fn;
	void *data;
};

struct callback_work {
	struct double_work work;
	CUstreamCallback callback;
	CUstream stream;
	void *data;
};

static void run_kernel(struct double_work *work)
{
	struct kernel_work *launch = (struct kernel_work *) work;

	launch->kernel->run(launch->arguments, launch->size);
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

/* Where the parameters end; they are copied where there is a place for them. */
static size_t pack(const struct double_kernel *kernel, void **parameters,
		   char *ret_buffer)
{
	size_t offset = 0;
	size_t align;
	size_t size;
	size_t i;

	for (i = 0; i < kernel->parameter_count; i++) {
		size = kernel->parameter_sizes[i];
		align = size < 8 ? size : 8;
		offset = (offset + align - 1) / align * align;
		if (ret_buffer)
			memcpy(ret_buffer + offset, parameters[i], size);
		offset += size;
	}
	return offset;
}

CUresult double_kernel_work(CUfunction function, const unsigned int grid[3],
			    const unsigned int block[3], void **parameters, void **extra,
			    struct double_work **ret_work)
{
	const struct double_kernel *kernel;
	struct kernel_work *launch;
	const void *buffer = NULL;
	size_t size = 0;
	int i;

	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	for (i = 0; i < 3; i++) {
		if (grid[i] == 0 || block[i] == 0)
			return CUDA_ERROR_INVALID_VALUE;
	}
	kernel = function->kernel;
	if (parameters && extra)
		return CUDA_ERROR_INVALID_VALUE;
	/* The sizes that kernelParams leaves out stand in real device code only. */
	if (parameters && !kernel->parameter_sizes)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (parameters)
		size = pack(kernel, parameters, NULL);
	else if (extra)
		read_extra(extra, &buffer, &size);
	if (size && !parameters && !buffer)
		return CUDA_ERROR_INVALID_VALUE;
	launch = double_work_new(sizeof(*launch) + size, CU_GRAPH_NODE_TYPE_KERNEL,
				 kernel->name, run_kernel);
	if (!launch)
		return CUDA_ERROR_OUT_OF_MEMORY;
	launch->kernel = kernel;
	launch->size = size;
	if (parameters)
		pack(kernel, parameters, launch->arguments);
	else if (size)
		memcpy(launch->arguments, buffer, size);
	memcpy(launch->work.grid, grid, sizeof(launch->work.grid));
	memcpy(launch->work.block, block, sizeof(launch->work.block));
	*ret_work = &launch->work;
	return CUDA_SUCCESS;
}

static void read_attributes(const CUlaunchConfig *config, struct double_work *work)
{
	const CUlaunchAttribute *attribute;
	unsigned int i;

	for (i = 0; i < config->numAttrs; i++) {
		attribute = &config->attrs[i];
		if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			work->cluster = attribute->value.clusterDim.x;
		else if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
			work->is_cooperative = attribute->value.cooperative != 0;
	}
}

static CUresult launch_kernel(const char *entry, const CUlaunchConfig *config,
			      CUstream stream, CUfunction f, void **kernelParams,
			      void **extra, bool is_cooperative)
{
	struct double_work *work;
	struct double_call call;
	CUresult res;

	double_call_begin(&call, entry, stream);
	res = double_kernel_work(
		f, (unsigned int[]){config->gridDimX, config->gridDimY, config->gridDimZ},
		(unsigned int[]){config->blockDimX, config->blockDimY, config->blockDimZ},
		kernelParams, extra, &work);
	if (res != CUDA_SUCCESS)
		return double_call_end(&call, res);
	read_attributes(config, work);
	work->is_cooperative = work->is_cooperative || is_cooperative;
	work->shared = config->sharedMemBytes;
	res = double_launch_failure();
	if (res == CUDA_SUCCESS) {
		res = double_stream_enqueue(&call, stream, work);
	} else {
		double_call_note(&call, work);
		call.work_count = 0;
		pthread_mutex_lock(&double_lock);
		double_work_put(work);
		pthread_mutex_unlock(&double_lock);
	}
	return double_call_end(&call, res);
}

DOUBLE_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f,
					void **kernelParams, void **extra)
{
	if (!config)
		return CUDA_ERROR_INVALID_VALUE;
	return launch_kernel(__func__, config, config->hStream, f, kernelParams, extra,
			     false);
}

DOUBLE_EXPORT CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f,
					     void **kernelParams, void **extra)
{
	if (!config)
		return CUDA_ERROR_INVALID_VALUE;
	return launch_kernel(__func__, config, double_per_thread(config->hStream), f,
			     kernelParams, extra, false);
}

/* clang-format off */
#define GRID_PARAMETERS CUfunction f, unsigned int gridDimX, unsigned int gridDimY, \
	unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, \
	unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream
#define GRID_CONFIG &(CUlaunchConfig) {gridDimX, gridDimY, gridDimZ, blockDimX, \
	blockDimY, blockDimZ, sharedMemBytes, hStream, NULL, 0}
/* clang-format on */

DOUBLE_EXPORT CUresult cuLaunchKernel(GRID_PARAMETERS, void **kernelParams, void **extra)
{
	return launch_kernel(__func__, GRID_CONFIG, hStream, f, kernelParams, extra,
			     false);
}

DOUBLE_EXPORT CUresult cuLaunchKernel_ptsz(GRID_PARAMETERS, void **kernelParams,
					   void **extra)
{
	return launch_kernel(__func__, GRID_CONFIG, double_per_thread(hStream), f,
			     kernelParams, extra, false);
}

DOUBLE_EXPORT CUresult cuLaunchCooperativeKernel(GRID_PARAMETERS, void **kernelParams)
{
	return launch_kernel(__func__, GRID_CONFIG, hStream, f, kernelParams, NULL, true);
}

DOUBLE_EXPORT CUresult cuLaunchCooperativeKernel_ptsz(GRID_PARAMETERS,
						      void **kernelParams)
{
	return launch_kernel(__func__, GRID_CONFIG, double_per_thread(hStream), f,
			     kernelParams, NULL, true);
}

static void run_host(struct double_work *work)
{
	struct host_work *call = (struct host_work *) work;

	call->fn(call->data);
}

CUresult double_host_work(CUhostFn fn, void *data, struct double_work **ret_work)
{
	struct host_work *host;

	if (!fn)
		return CUDA_ERROR_INVALID_VALUE;
	host = double_work_new(sizeof(*host), CU_GRAPH_NODE_TYPE_HOST, "function",
			       run_host);
	if (!host)
		return CUDA_ERROR_OUT_OF_MEMORY;
	host->fn = fn;
	host->data = data;
	host->work.function = (const void *) (uintptr_t) fn;
	*ret_work = &host->work;
	return CUDA_SUCCESS;
}

static CUresult launch_host(const char *entry, CUhostFn fn, void *data, CUstream stream)
{
	struct double_work *work;
	struct double_call call;
	CUresult res;

	double_call_begin(&call, entry, stream);
	res = double_launch_failure();
	if (res == CUDA_SUCCESS)
		res = double_host_work(fn, data, &work);
	if (res == CUDA_SUCCESS)
		res = double_stream_enqueue(&call, stream, work);
	return double_call_end(&call, res);
}

DOUBLE_STREAM_ENTRY(cuLaunchHostFunc, launch_host,
		    (CUstream hStream, CUhostFn fn, void *userData), fn, userData)

static void run_callback(struct double_work *work)
{
	struct callback_work *call = (struct callback_work *) work;

	call->callback(call->stream, CUDA_SUCCESS, call->data);
}

static CUresult add_callback(const char *entry, CUstreamCallback callback, void *data,
			     unsigned int flags, CUstream stream)
{
	struct callback_work *work;
	struct double_call call;

	double_call_begin(&call, entry, stream);
	if (!callback || flags)
		return double_call_end(&call, CUDA_ERROR_INVALID_VALUE);
	work = double_work_new(sizeof(*work), CU_GRAPH_NODE_TYPE_HOST, "callback",
			       run_callback);
	if (!work)
		return double_call_end(&call, CUDA_ERROR_OUT_OF_MEMORY);
	work->callback = callback;
	work->stream = stream;
	work->data = data;
	work->work.function = (const void *) (uintptr_t) callback;
	return double_call_end(&call, double_stream_enqueue(&call, stream, &work->work));
}

DOUBLE_STREAM_ENTRY(cuStreamAddCallback, add_callback,
		    (CUstream hStream, CUstreamCallback callback, void *userData,
		     unsigned int flags),
		    callback, userData, flags)
