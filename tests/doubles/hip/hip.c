/* SPDX-License-Identifier: MIT */
/*
 * A libamdhip64.so.6 that does nothing but write down what it was asked: a line for each
 * call in the file DOUBLE_HIP_LOG, its name, what was launched, grid, block and stream,
 * with "inner" before what it calls of itself.  One stream can be captured at a time.
 */
#include "hip.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int log_fd = -1;
static hipStream_t captured;
static __thread int is_inside;
static struct ihipModuleSymbol_t {
	char name[64];
} module_functions[1];

static void open_log(void)
{
	const char *path = getenv("DOUBLE_HIP_LOG");

	if (path && *path)
		log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

__attribute__((format(printf, 1, 2))) static hipError_t say(const char *format, ...)
{
	char line[256];
	va_list arguments;
	int size;

	pthread_once(&once, open_log);
	if (log_fd < 0)
		return hipSuccess;
	va_start(arguments, format);
	size = is_inside ? snprintf(line, sizeof(line), "inner ") : 0;
	size += vsnprintf(line + size, sizeof(line) - (size_t) size, format, arguments);
	va_end(arguments);
	if (write(log_fd, line, (size_t) size) != size)
		abort();
	return hipSuccess;
}

static hipError_t launch(const char *call, const void *function, dim3 grid, dim3 block,
			 hipStream_t stream)
{
	if (!function)
		return hipErrorInvalidValue;
	return say("%s %s %ux%ux%u %ux%ux%u %p\n", call, *(const char *const *) function,
		   grid.x, grid.y, grid.z, block.x, block.y, block.z, (void *) stream);
}

hipError_t hipLaunchKernel(const void *function, dim3 blocks, dim3 threads, void **args,
			   size_t shared, hipStream_t stream)
{
	(void) args, (void) shared;
	return launch(__func__, function, blocks, threads, stream);
}

hipError_t hipLaunchKernel_spt(const void *function, dim3 blocks, dim3 threads,
			       void **args, size_t shared, hipStream_t stream)
{
	(void) args, (void) shared;
	return launch(__func__, function, blocks, threads, stream);
}

hipError_t hipExtLaunchKernel(const void *function, dim3 blocks, dim3 threads,
			      void **args, size_t shared, hipStream_t stream,
			      hipEvent_t start, hipEvent_t stop, int flags)
{
	(void) args, (void) shared, (void) start, (void) stop, (void) flags;
	return launch(__func__, function, blocks, threads, stream);
}

/* What it calls of itself goes by its name, which another library may stand in for. */
hipError_t hipLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
				      void **args, unsigned int shared,
				      hipStream_t stream)
{
	const hipError_t result = launch(__func__, function, grid, block, stream);

	(void) args, (void) shared;
	is_inside = 1;
	hipStreamSynchronize(stream);
	is_inside = 0;
	return result;
}

hipError_t hipLaunchKernelExC(const hipLaunchConfig_t *config, const void *function,
			      void **args)
{
	(void) args;
	return launch(__func__, function, config->gridDim, config->blockDim,
		      config->stream);
}

static hipError_t launch_module(const char *call, hipFunction_t f, dim3 grid, dim3 block,
				hipStream_t stream)
{
	const char *name = f ? f->name : NULL;

	return launch(call, f ? &name : NULL, grid, block, stream);
}

hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned int gx, unsigned int gy,
				 unsigned int gz, unsigned int bx, unsigned int by,
				 unsigned int bz, unsigned int shared, hipStream_t stream,
				 void **params, void **extra)
{
	(void) params, (void) extra, (void) shared;
	return launch_module(__func__, f, (dim3){gx, gy, gz}, (dim3){bx, by, bz}, stream);
}

hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t gx, uint32_t gy,
				    uint32_t gz, uint32_t lx, uint32_t ly, uint32_t lz,
				    size_t shared, hipStream_t stream, void **params,
				    void **extra, hipEvent_t start, hipEvent_t stop,
				    uint32_t flags)
{
	(void) params, (void) extra, (void) shared, (void) start, (void) stop;
	(void) flags;
	return launch_module(__func__, f, (dim3){gx, gy, gz}, (dim3){lx, ly, lz}, stream);
}

hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t fn, void *data)
{
	fn(data);
	return say("%s %p\n", __func__, (void *) stream);
}

hipError_t hipMemcpy(void *dst, const void *src, size_t bytes, int kind)
{
	memcpy(dst, src, bytes);
	return say("%s %zu %d\n", __func__, bytes, kind);
}

hipError_t hipMemcpyAsync(void *dst, const void *src, size_t bytes, int kind,
			  hipStream_t stream)
{
	memcpy(dst, src, bytes);
	return say("%s %zu %d %p\n", __func__, bytes, kind, (void *) stream);
}

hipError_t hipMemcpyAsync_spt(void *dst, const void *src, size_t bytes, int kind,
			      hipStream_t stream)
{
	memcpy(dst, src, bytes);
	return say("%s %zu %d %p\n", __func__, bytes, kind, (void *) stream);
}

hipError_t hipMemsetAsync(void *dst, int value, size_t bytes, hipStream_t stream)
{
	memset(dst, value, bytes);
	return say("%s %zu %p\n", __func__, bytes, (void *) stream);
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream)
{
	return say("%s %p %p\n", __func__, (void *) event, (void *) stream);
}

hipError_t hipStreamSynchronize(hipStream_t stream)
{
	return say("%s %p\n", __func__, (void *) stream);
}

hipError_t hipStreamSynchronize_spt(hipStream_t stream)
{
	return say("%s %p\n", __func__, (void *) stream);
}

hipError_t hipDeviceSynchronize(void)
{
	return say("%s\n", __func__);
}

hipError_t hipStreamBeginCapture(hipStream_t stream, int mode)
{
	captured = stream;
	return say("%s %p %d\n", __func__, (void *) stream, mode);
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph)
{
	captured = NULL;
	*graph = (hipGraph_t) (uintptr_t) 0x6000;
	return say("%s %p\n", __func__, (void *) stream);
}

hipError_t hipStreamIsCapturing(hipStream_t stream, int *status)
{
	*status = stream && stream == captured;
	return hipSuccess;
}

hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph,
			       hipGraphNode_t *error, char *log, size_t size)
{
	(void) error, (void) log, (void) size;
	*exec = (hipGraphExec_t) (uintptr_t) 0x7000;
	return say("%s %p\n", __func__, (void *) graph);
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream)
{
	return say("%s %p %p\n", __func__, (void *) exec, (void *) stream);
}

/* One at a time: the next name is another function at the same address. */
hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module,
				const char *name)
{
	(void) module;
	snprintf(module_functions[0].name, sizeof(module_functions[0].name), "%s", name);
	*function = &module_functions[0];
	return hipSuccess;
}

hipError_t hipModuleUnload(hipModule_t module)
{
	return say("%s %p\n", __func__, (void *) module);
}

hipError_t hipCtxGetCurrent(hipCtx_t *context)
{
	*context = (hipCtx_t) (uintptr_t) 0xd000;
	return hipSuccess;
}

/* The real one looks names up in itself by dlsym(), too. */
hipError_t hipGetProcAddress(const char *symbol, void **pfn, int hipVersion,
			     uint64_t flags,
			     hipDriverProcAddressQueryResult *symbolStatus)
{
	void *self;
	char variant[64];

	(void) hipVersion;
	if (!symbol || !*symbol || !pfn)
		return hipErrorInvalidValue;
	self = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD);
	*pfn = NULL;
	snprintf(variant, sizeof(variant), "%s_spt", symbol);
	if (flags == HIP_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
		*pfn = dlsym(self, variant);
	if (!*pfn)
		*pfn = dlsym(self, symbol);
	if (symbolStatus)
		*symbolStatus = *pfn ? HIP_GET_PROC_ADDRESS_SUCCESS
				     : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return *pfn ? hipSuccess : hipErrorInvalidValue;
}

const char *hipKernelNameRef(hipFunction_t f)
{
	return f ? f->name : NULL;
}

const char *hipKernelNameRefByPtr(const void *function, hipStream_t stream)
{
	(void) stream;
	return function ? ((const struct double_hip_kernel *) function)->name : NULL;
}
