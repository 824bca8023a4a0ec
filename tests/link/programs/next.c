/* SPDX-License-Identifier: MIT */
/*
 * Another interposer, as profilers are: defines the name itself and passes the
 * call on with RTLD_NEXT.  Adds 1000 so that its part is seen; descriptor 3, if open,
 * is told which object that came from.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int ncclGetVersion(int *version);

int ncclGetVersion(int *version)
{
	int (*next)(int *) = (int (*)(int *)) dlsym(RTLD_NEXT, "ncclGetVersion");
	int result = next ? next(version) : -1, len;
	char line[256];
	Dl_info info;

	if (next && dladdr((void *) next, &info)) {
		len = snprintf(line, sizeof(line), "next from %s\n",
			       strrchr(info.dli_fname, '/') + 1);
		if (write(3, line, (size_t) len) < 0)
			errno = 0;
	}
	if (!result)
		*version += 1000;
	return result;
}
