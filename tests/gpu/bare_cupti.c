/* SPDX-License-Identifier: MIT */
#include "bare_cupti.h"

#include "gpu.h"

#include <dlfcn.h>
#include <stdlib.h>

/* Of cupti_activity.h, cupti_callbacks.h and cupti_driver_cbid.h, alike from 11 to 13. */
#define KIND_MEMCPY 1
#define KIND_MEMSET 2
#define KIND_CONCURRENT_KERNEL 10
#define DOMAIN_DRIVER_API 1
static const unsigned int launches[] = {
	307 /* cuLaunchKernel */,
	442 /* _ptsz */,
	477 /* cuLaunchCooperativeKernel */,
	478 /* _ptsz */,
	514 /* cuGraphLaunch */,
	515 /* _ptsz */,
	652 /* cuLaunchKernelEx */,
	653 /* _ptsz */,
};

#define BUFFER_BYTES (1 << 20)

static int (*flush_all)(uint32_t flag);
static unsigned long delivered;

static void requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*max_records = 0;
}

static void completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
		      size_t valid_size)
{
	(void) context;
	(void) stream;
	(void) size;
	__atomic_fetch_add(&delivered, valid_size, __ATOMIC_RELAXED);
	free(buffer);
}

static void called(void *user, int domain, uint32_t id, const void *data)
{
	(void) user;
	(void) domain;
	(void) id;
	(void) data;
}

static void *function(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found)
		fail("%s", dlerror());
	return found;
}

static void must(int result, const char *what)
{
	if (result)
		fail("%s: error %d of CUPTI", what, result);
}

void begin_bare_cupti(const char *path)
{
	int (*subscribe)(void **, void (*)(void *, int, uint32_t, const void *), void *);
	int (*enable_callback)(uint32_t, void *, int, uint32_t);
	int (*register_callbacks)(void (*)(uint8_t **, size_t *, size_t *),
				  void (*)(CUcontext, uint32_t, uint8_t *, size_t,
					   size_t));
	int (*enable)(int);
	void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	void *subscriber;
	size_t i;

	if (!library)
		fail("%s", dlerror());
	*(void **) &subscribe = function(library, "cuptiSubscribe");
	*(void **) &enable_callback = function(library, "cuptiEnableCallback");
	*(void **) &register_callbacks =
		function(library, "cuptiActivityRegisterCallbacks");
	*(void **) &enable = function(library, "cuptiActivityEnable");
	*(void **) &flush_all = function(library, "cuptiActivityFlushAll");
	must(subscribe(&subscriber, called, NULL), "cuptiSubscribe");
	for (i = 0; i < sizeof(launches) / sizeof(launches[0]); i++)
		must(enable_callback(1, subscriber, DOMAIN_DRIVER_API, launches[i]),
		     "cuptiEnableCallback");
	must(register_callbacks(requested, completed), "cuptiActivityRegisterCallbacks");
	must(enable(KIND_CONCURRENT_KERNEL), "cuptiActivityEnable");
	must(enable(KIND_MEMCPY), "cuptiActivityEnable");
	must(enable(KIND_MEMSET), "cuptiActivityEnable");
}

unsigned long end_bare_cupti(void)
{
	if (flush_all)
		must(flush_all(1), "cuptiActivityFlushAll");
	return __atomic_load_n(&delivered, __ATOMIC_RELAXED);
}
