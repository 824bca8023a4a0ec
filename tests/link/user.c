/* SPDX-License-Identifier: MIT */
/* A library that is linked to NCCL, as a framework's is, and asks dlsym() too. */
#define _GNU_SOURCE
#include <dlfcn.h>

int ncclGetVersion(int *version);
int pncclGetVersion(int *version);

int user_version(void);
int user_profiled_version(void);
void *user_default(const char *name);

int user_version(void)
{
	int version = -1;

	return ncclGetVersion(&version) ? -1 : version;
}

int user_profiled_version(void)
{
	int version = -1;

	return pncclGetVersion(&version) ? -1 : version;
}

void *user_default(const char *name)
{
	/* Not a tail call: glibc tells by the return address who asks. */
	void *found = dlsym(RTLD_DEFAULT, name);

	__asm__ volatile("" : "+r"(found));
	return found;
}
