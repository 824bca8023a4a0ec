/* SPDX-License-Identifier: MIT */
/*
 * A program that makes a communicator at once and asks for its size for SECONDS after
 * that; and, built as a library, what lets LTTng's half of ours come as late as on a
 * machine that has too much to do.
 *
 * usage: slow SECONDS
 */
#ifdef SLOW_LOADER
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

void *dlopen(const char *file, int mode)
{
	void *(*real)(const char *, int) =
		(void *(*) (const char *, int) ) dlvsym(RTLD_NEXT, "dlopen",
							"GLIBC_2.34");
	void *handle = real(file, mode);

	/* LTTng has begun by now, and told its session how things are. */
	if (file && strstr(file, "libccltap-events"))
		usleep(4000000);
	return handle;
}
#else
#include <cuda.h>
#include <nccl.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) * 20 : 0, count = 0;
	ncclComm_t comm;
	ncclUniqueId id;
	CUcontext context;
	CUdevice device;

	if (cuInit(0) || cuDeviceGet(&device, 0) ||
	    cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) ||
	    ncclGetUniqueId(&id) || ncclCommInitRank(&comm, 1, id, 0))
		return 1;
	while (rounds-- > 0 && !ncclCommCount(comm, &count) && count == 1)
		usleep(50000);
	puts(count == 1 || argc < 2 ? "ok" : "not ok");
	return 0;
}
#endif
