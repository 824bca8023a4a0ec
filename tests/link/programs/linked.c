/* SPDX-License-Identifier: MIT */
/* A program that is linked to NCCL and also asks for it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int ncclGetVersion(int *version);
int pncclGetVersion(int *version);
int ncclGroupStart(void);

/* Descriptor 3, if open, is told which object the linked name leads into. */
static void origin(void *function)
{
	char line[256];
	Dl_info info;
	int len;

	if (!dladdr(function, &info) || !strrchr(info.dli_fname, '/'))
		return;
	len = snprintf(line, sizeof(line), "linked from %s\n",
		       strrchr(info.dli_fname, '/') + 1);
	if (write(3, line, (size_t) len) < 0)
		return;
}

int main(void)
{
	int (*asked)(int *) = (int (*)(int *)) dlsym(RTLD_DEFAULT, "ncclGetVersion");
	int version = -1, result;

	origin((void *) ncclGetVersion);
	errno = 0;
	result = ncclGetVersion(&version);
	printf("nccl: result %d version %d errno %d\n", result, version, errno);
	version = -1;
	result = pncclGetVersion(&version);
	printf("pnccl: result %d version %d\n", result, version);
	version = -1;
	result = asked ? asked(&version) : -1;
	printf("asked: result %d version %d\n", result, version);
	printf("group: %d\n", ncclGroupStart());
	return 0;
}
