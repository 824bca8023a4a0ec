/* SPDX-License-Identifier: MIT */
/*
 * A way for tests/verbs/programs/count.c to get between NCCL and libibverbs: NCCL is not linked to
 * it but asks dlvsym() for its functions.  Both together are preloaded in front of what
 * else there is, and count what NCCL posts and polls.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <string.h>

typedef void *dlvsym_fn(void *restrict, const char *restrict, const char *restrict);

struct ibv_context *count_open(struct ibv_device *device);

void *dlvsym(void *restrict handle, const char *restrict name,
	     const char *restrict version)
{
	static dlvsym_fn *next;
	static void *open_device;

	if (!next)
		*(void **) &next = dlsym(RTLD_NEXT, "dlvsym");
	if (strcmp(name, "ibv_open_device"))
		return next(handle, name, version);
	/* count_open() asks for the one that it stands for. */
	if (handle == RTLD_NEXT)
		return open_device;
	open_device = next(handle, name, version);
	return open_device ? (void *) count_open : NULL;
}
