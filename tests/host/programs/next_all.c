/* SPDX-License-Identifier: MIT */
/*
 * A library that passes NCCL's calls on as MSCCL++ does: it opens NCCL by name, or asks
 * with dlsym(RTLD_NEXT) when there is none of that name.  Adds 1000 so that it is seen.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

int ncclGetVersion(int *version);

int ncclGetVersion(int *version)
{
	static int (*real)(int *);
	int result;

	if (!real) {
		const char *path = getenv("NEXT_NCCL");
		void *handle = path ? dlopen(path, RTLD_LAZY | RTLD_NODELETE) : RTLD_NEXT;

		real = (int (*)(int *)) dlsym(handle, "ncclGetVersion");
	}
	result = real ? real(version) : -1;
	if (!result)
		*version += 1000;
	return result;
}
