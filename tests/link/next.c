/* SPDX-License-Identifier: MIT */
/*
 * Another interposer, as profilers are: defines the name itself and passes the
 * call on with RTLD_NEXT.  Adds 1000 so that its part is seen.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

int ncclGetVersion(int *version);

int ncclGetVersion(int *version)
{
	int (*next)(int *) = (int (*)(int *)) dlsym(RTLD_NEXT, "ncclGetVersion");
	int result = next ? next(version) : -1;

	if (!result)
		*version += 1000;
	return result;
}
