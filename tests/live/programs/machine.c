/* SPDX-License-Identifier: MIT */
/* Preloaded: a machine with MACHINE_PROCESSORS, and pages of MACHINE_PAGE bytes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

long sysconf(int name)
{
	long (*real)(int);
	const char *value = NULL;

	if (name == _SC_PAGESIZE)
		value = getenv("MACHINE_PAGE");
	else if (name == _SC_NPROCESSORS_CONF)
		value = getenv("MACHINE_PROCESSORS");
	if (value)
		return atol(value);
	*(void **) &real = dlsym(RTLD_NEXT, "sysconf");
	return real(name);
}
