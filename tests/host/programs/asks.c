/* SPDX-License-Identifier: MIT */
/*
 * Another library that stands in for dlsym(), as those that share out GPUs do: finds the
 * real one with dlvsym(), and counts on it that it is told who asks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

void *dlsym(void *restrict handle, const char *restrict name)
{
	static void *(*real)(void *, const char *);

	if (!real)
		real = (void *(*) (void *, const char *) ) dlvsym(RTLD_NEXT, "dlsym",
								  "GLIBC_2.2.5");
	if (!real) /* aarch64's first version */
		real = (void *(*) (void *, const char *) ) dlvsym(RTLD_NEXT, "dlsym",
								  "GLIBC_2.17");
	if (!real || !strcmp(name, "cuGetProcAddress"))
		return NULL;
	return real(handle, name);
}
