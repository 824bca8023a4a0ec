/* SPDX-License-Identifier: MIT */
/* Devices and contexts of the driver double: how many there are and which is current. */
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOUBLE_MEMORY_BYTES ((size_t) 80 << 30)

pthread_mutex_t double_lock = PTHREAD_MUTEX_INITIALIZER;

/* All under double_lock. */
static struct CUctx_st *contexts;
static struct {
	struct CUctx_st *context;
	unsigned int retained;
} primary[DOUBLE_MAX_DEVICES];
static int device_count;
/* A child of fork() cannot use its parent's driver: the real one says so too. */
static pid_t init_pid;

static uint32_t context_ids;
static __thread struct CUctx_st *current;

struct CUctx_st *double_current_context(void)
{
	return current;
}

/*
 * A tool's library is loaded before anything else is done, called without arguments and
 * unloaded again if it does not want to stay.
 */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	int (*initialize)(void);
	void *library;

	if (!path || !*path)
		return;
	library = dlopen(path, RTLD_NOW);
	if (!library)
		return;
	initialize = (int (*)(void)) dlsym(library, "InitializeInjection");
	if (!initialize || !initialize())
		dlclose(library);
}

DOUBLE_EXPORT CUresult cuInit(unsigned int Flags)
{
	static pthread_once_t injected = PTHREAD_ONCE_INIT;
	const char *text = getenv("DOUBLE_CUDA_DEVICES");
	int count = text ? atoi(text) : 8;
	bool is_first;

	if (Flags != 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (count <= 0)
		return CUDA_ERROR_NO_DEVICE;
	pthread_mutex_lock(&double_lock);
	is_first = !init_pid;
	if (is_first) {
		device_count = count < DOUBLE_MAX_DEVICES ? count : DOUBLE_MAX_DEVICES;
		init_pid = getpid();
	}
	pthread_mutex_unlock(&double_lock);
	pthread_once(&injected, inject);
	if (is_first)
		double_observe_changed(DOUBLE_INIT_FINISHED,
				       &(struct double_observed_thing){0});
	return double_require_init();
}

CUresult double_require_init(void)
{
	bool is_ready;

	pthread_mutex_lock(&double_lock);
	is_ready = init_pid == getpid();
	pthread_mutex_unlock(&double_lock);
	return is_ready ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

bool double_context_is_live(const struct CUctx_st *context)
{
	const struct CUctx_st *c;

	for (c = contexts; c; c = c->next) {
		if (c == context)
			return true;
	}
	return false;
}

CUresult double_require_context(struct CUctx_st **ret_context)
{
	CUresult res = double_require_init();

	if (res != CUDA_SUCCESS)
		return res;
	pthread_mutex_lock(&double_lock);
	if (!double_context_is_live(current))
		res = CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_unlock(&double_lock);
	*ret_context = current;
	return res;
}

int double_driver_version(void)
{
	const char *text = getenv("DOUBLE_CUDA_VERSION");
	int version = text ? atoi(text) : 0;

	return version > 0 ? version : CUDA_VERSION;
}

DOUBLE_EXPORT CUresult cuDriverGetVersion(int *driverVersion)
{
	if (!driverVersion)
		return CUDA_ERROR_INVALID_VALUE;
	*driverVersion = double_driver_version();
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuDeviceGetCount(int *count)
{
	CUresult res = double_require_init();

	if (res != CUDA_SUCCESS)
		return res;
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = device_count;
	return CUDA_SUCCESS;
}

static CUresult check_device(CUdevice dev)
{
	CUresult res = double_require_init();

	if (res != CUDA_SUCCESS)
		return res;
	return dev >= 0 && dev < device_count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

DOUBLE_EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	CUresult res = check_device(ordinal);

	if (res != CUDA_SUCCESS)
		return res;
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	CUresult res = check_device(dev);

	if (res != CUDA_SUCCESS)
		return res;
	if (!name || len <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(name, (size_t) len, "GPU double in host memory");
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	CUresult res = check_device(dev);

	if (res != CUDA_SUCCESS)
		return res;
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	*bytes = DOUBLE_MEMORY_BYTES;
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib,
					    CUdevice dev)
{
	CUresult res = check_device(dev);

	if (res != CUDA_SUCCESS)
		return res;
	if (!pi)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attrib) {
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*pi = 1024;
		return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
		*pi = 32;
		return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		*pi = 108;
		return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
		*pi = 0x10 + dev;
		return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
	case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
		*pi = 0;
		return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
		*pi = 1;
		return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		*pi = 8;
		return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
		*pi = 0;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

/* Called with double_lock held; the result is NULL when memory is short. */
static struct CUctx_st *new_context(CUdevice dev)
{
	struct CUctx_st *context = calloc(1, sizeof(*context));

	if (context) {
		context->device = dev;
		context->id = ++context_ids;
		context->next = contexts;
		contexts = context;
	}
	return context;
}

static void destroy_context(struct CUctx_st *context)
{
	struct CUctx_st **place;

	double_observe_changed(DOUBLE_CONTEXT_DESTROYED,
			       &(struct double_observed_thing){.context = context});
	double_context_drain(context);
	double_context_close_streams(context);
	pthread_mutex_lock(&double_lock);
	for (place = &contexts; *place != context; place = &(*place)->next)
		;
	*place = context->next;
	pthread_mutex_unlock(&double_lock);
	free(context);
}

DOUBLE_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
	CUresult res = check_device(dev);
	bool is_new = false;

	if (res != CUDA_SUCCESS)
		return res;
	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&double_lock);
	if (!primary[dev].context) {
		primary[dev].context = new_context(dev);
		is_new = primary[dev].context != NULL;
	}
	*pctx = primary[dev].context;
	if (*pctx)
		primary[dev].retained++;
	else
		res = CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_unlock(&double_lock);
	if (is_new)
		double_observe_changed(DOUBLE_CONTEXT_CREATED,
				       &(struct double_observed_thing){.context = *pctx});
	return res;
}

DOUBLE_EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags,
						  int *active)
{
	CUresult res = check_device(dev);

	if (res != CUDA_SUCCESS)
		return res;
	if (!flags || !active)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&double_lock);
	*flags = 0;
	*active = primary[dev].retained > 0;
	pthread_mutex_unlock(&double_lock);
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
	CUresult res = check_device(dev);

	if (res != CUDA_SUCCESS)
		return res;
	if (!pciBusId || len < 13)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(pciBusId, (size_t) len, "0000:%02X:00.0", dev + 1);
	return CUDA_SUCCESS;
}

static CUresult release_primary(CUdevice dev)
{
	struct CUctx_st *unused = NULL;
	CUresult res = check_device(dev);

	if (res != CUDA_SUCCESS)
		return res;
	pthread_mutex_lock(&double_lock);
	if (!primary[dev].retained) {
		res = CUDA_ERROR_INVALID_CONTEXT;
	} else if (--primary[dev].retained == 0) {
		unused = primary[dev].context;
		primary[dev].context = NULL;
	}
	pthread_mutex_unlock(&double_lock);
	if (unused)
		destroy_context(unused);
	return res;
}

DOUBLE_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	return release_primary(dev);
}

DOUBLE_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
	return release_primary(dev);
}

static CUresult create_context(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
	CUresult res = check_device(dev);

	(void) flags;
	if (res != CUDA_SUCCESS)
		return res;
	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&double_lock);
	*pctx = new_context(dev);
	pthread_mutex_unlock(&double_lock);
	if (!*pctx)
		return CUDA_ERROR_OUT_OF_MEMORY;
	current = *pctx;
	double_observe_changed(DOUBLE_CONTEXT_CREATED,
			       &(struct double_observed_thing){.context = *pctx});
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
	return create_context(pctx, flags, dev);
}

DOUBLE_EXPORT CUresult cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
	return create_context(pctx, flags, dev);
}

DOUBLE_EXPORT CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams,
				      unsigned int flags, CUdevice dev)
{
	if (ctxCreateParams)
		return CUDA_ERROR_NOT_SUPPORTED;
	return create_context(pctx, flags, dev);
}

static CUresult destroy(CUcontext ctx)
{
	CUresult res = double_require_init();
	int dev;

	if (res != CUDA_SUCCESS)
		return res;
	pthread_mutex_lock(&double_lock);
	if (!double_context_is_live(ctx))
		res = CUDA_ERROR_INVALID_CONTEXT;
	for (dev = 0; dev < device_count; dev++) {
		if (ctx && primary[dev].context == ctx)
			res = CUDA_ERROR_INVALID_CONTEXT;
	}
	pthread_mutex_unlock(&double_lock);
	if (res != CUDA_SUCCESS)
		return res;
	destroy_context(ctx);
	if (current == ctx)
		current = NULL;
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	return destroy(ctx);
}

DOUBLE_EXPORT CUresult cuCtxDestroy(CUcontext ctx)
{
	return destroy(ctx);
}

DOUBLE_EXPORT CUresult cuCtxSetCurrent(CUcontext ctx)
{
	CUresult res = double_require_init();

	if (res != CUDA_SUCCESS)
		return res;
	pthread_mutex_lock(&double_lock);
	if (ctx && !double_context_is_live(ctx))
		res = CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_unlock(&double_lock);
	if (res == CUDA_SUCCESS)
		current = ctx;
	return res;
}

DOUBLE_EXPORT CUresult cuCtxGetCurrent(CUcontext *pctx)
{
	CUresult res = double_require_init();

	if (res != CUDA_SUCCESS)
		return res;
	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	*pctx = current;
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuCtxGetDevice(CUdevice *device)
{
	struct CUctx_st *context;
	CUresult res = double_require_context(&context);

	if (res != CUDA_SUCCESS)
		return res;
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = context->device;
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuCtxSynchronize(void)
{
	struct CUctx_st *context;
	struct double_call call;
	CUresult res;

	double_call_begin(&call, __func__, NULL);
	res = double_require_context(&context);
	if (res == CUDA_SUCCESS)
		double_context_drain(context);
	return double_call_end(&call, res);
}
