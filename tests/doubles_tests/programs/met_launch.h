/* SPDX-License-Identifier: MIT */
/*
 * Why: some tests look at what the NCCL double launches its kernels with.  The launch is
 * met where the runtime in the library looks the driver up, as a tracer meets it.
 *
 * Hides the way there.  Who includes this defines meet_launch().
 */
#ifndef MET_LAUNCH_H
#define MET_LAUNCH_H

#include <cuda.h>

#include <dlfcn.h>
#include <string.h>

static void meet_launch(const CUlaunchConfig *config, CUfunction f, void **parameters,
			void **extra);

static unsigned int ask_count;
static CUresult (*real_launch)(const CUlaunchConfig *, CUfunction, void **, void **);
static CUresult (*real_ask)(const char *, void **, int, cuuint64_t,
			    CUdriverProcAddressQueryResult *);

static CUresult see_launch(const CUlaunchConfig *config, CUfunction f,
			   void **kernelParams, void **extra)
{
	meet_launch(config, f, kernelParams, extra);
	return real_launch(config, f, kernelParams, extra);
}

static CUresult see_ask(const char *symbol, void **pfn, int version, cuuint64_t flags,
			CUdriverProcAddressQueryResult *status)
{
	CUresult res = real_ask(symbol, pfn, version, flags, status);

	ask_count++;
	if (res == CUDA_SUCCESS && strcmp(symbol, "cuGetProcAddress") == 0 &&
	    version >= 12000)
		*pfn = (void *) see_ask;
	if (res == CUDA_SUCCESS && strcmp(symbol, "cuLaunchKernelEx") == 0 &&
	    flags == 0) {
		*(void **) &real_launch = *pfn;
		*pfn = (void *) see_launch;
	}
	return res;
}

/* That of every library in the process, since the program's comes first. */
void *dlsym(void *handle, const char *name)
{
	static void *(*real)(void *, const char *);
	void *found;

	if (!real)
		*(void **) &real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!real)
		*(void **) &real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	if (!real)
		*(void **) &real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
	found = real(handle, name);
	if (!found || strcmp(name, "cuGetProcAddress_v2") != 0)
		return found;
	*(void **) &real_ask = found;
	return (void *) see_ask;
}

#endif
