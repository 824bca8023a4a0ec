/* SPDX-License-Identifier: MIT */
/*
 * Three things: a CUDA driver that does nothing (DRIVER), a NCCL whose version is that of
 * $KERNELS_VERSION (NCCL), and a program that launches through it, with arguments as a
 * NCCL has them and with others.  For each launch it prints how many of its channels are
 * told, or -.  A buffer ends where the page does.
 */
#include "calls/cuda_types.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

typedef CUresult (*launch_function)(const CUlaunchConfig *config, CUfunction f,
				    void **params, void **extra);
typedef CUresult (*launch_through)(launch_function launch, const CUlaunchConfig *config,
				   CUfunction f, void **params, void **extra);

#if defined(DRIVER)

/* A function is its name. */
EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f,
				 void **params, void **extra);
EXPORT CUresult cuFuncGetName(const char **name, CUfunction f);
EXPORT CUresult cuCtxGetCurrent(CUcontext *context);

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params,
			  void **extra)
{
	(void) params;
	(void) extra;
	return !config || !f;
}

CUresult cuFuncGetName(const char **name, CUfunction f)
{
	*name = (const char *) f;
	return 0;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
	*context = NULL;
	return 0;
}

#elif defined(NCCL)

EXPORT int ncclGetVersion(int *version);
EXPORT CUresult kernels_launch(launch_function launch, const CUlaunchConfig *config,
			       CUfunction f, void **params, void **extra);

int ncclGetVersion(int *version)
{
	*version = atoi(getenv("KERNELS_VERSION"));
	return 0;
}

/* As NCCL looks at the result, this is no jump. */
CUresult kernels_launch(launch_function launch, const CUlaunchConfig *config,
			CUfunction f, void **params, void **extra)
{
	const CUresult result = launch(config, f, params, extra);

	if (result)
		puts("# a launch failed");
	return result;
}

#else

#include "calls/guarded.h"

#include <dlfcn.h>

#define HEADER 32
#define BATCH 16
#define MANGLED "24ncclDevKernelArgsStorageILm4096EE"

static const char ring[] = "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL" MANGLED;
/* Those of 2.18 and 2.19, and one that has no parameters. */
static const char ring_2_18[] =
	"_Z36ncclKernel_AllReduce_RING_LL_Sum_floatP11ncclDevCommmP8ncclWork";
static const char ring_2_19[] =
	"_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LLP11ncclDevCommmP8ncclWork";
static const char none_2_18[] = "_Z36ncclKernel_AllReduce_RING_LL_Sum_floatv";
static const char symmetric[] =
	"_Z30ncclSymkDevKernel_AllGather_LL21ncclSymkDevWorkArgs4K";
static const char other[] = "_Z6kernelPf";

static launch_function launch;
static launch_through through_nccl;

static CUresult directly(launch_function launched, const CUlaunchConfig *config,
			 CUfunction f, void **params, void **extra)
{
	const CUresult result = launched(config, f, params, extra);

	if (result)
		puts("# a launch failed");
	return result;
}

/* Each channel has a batch of its own, of AllReduce Sum f32 RING SIMPLE in 2.28. */
static void *arguments(unsigned channels, size_t *ret_size)
{
	const uint64_t comm = 0x7f00deadbeef, mask = (1ULL << channels) - 1;
	const uint32_t flags = 260U << 17 | 1 << 15;
	char *buffer;
	unsigned i;

	*ret_size = HEADER + BATCH * channels;
	buffer = guarded(*ret_size, 0);
	memcpy(buffer, &comm, sizeof(comm));
	memcpy(buffer + 8, &mask, sizeof(mask));
	for (i = 0; i < channels; i++)
		memcpy(buffer + HEADER + BATCH * i, &flags, sizeof(flags));
	return buffer;
}

static void try_with(launch_through through, const char *name, void **params,
		     void **extra, unsigned channels)
{
	const CUlaunchConfig config = {.gridDimX = 24, .blockDimX = 512};

	if (through(launch, &config, (CUfunction) (uintptr_t) name, params, extra))
		exit(1);
	if (channels)
		printf("%u\n", channels);
	else
		puts("-");
}

static void try(launch_through through, const char *name, void *buffer, size_t size,
		unsigned channels)
{
	void *extra[] = {(void *) 1, buffer, (void *) 2, &size, NULL};

	try_with(through, name, NULL, extra, channels);
}

/* Each parameter, and the array of them, ends where the page does. */
static void try_parameters(bool is_known)
{
	const uint64_t comm = 0x7f00deadbeef, mask = 7, none = 0;
	void **params = guarded(3 * sizeof(*params), 0);
	char buffer[64];

	params[0] = guarded(sizeof(comm), 0);
	params[1] = guarded(sizeof(mask), 0);
	params[2] = NULL;
	memcpy(params[0], &comm, sizeof(comm));
	memcpy(params[1], &mask, sizeof(mask));
	try_with(through_nccl, ring_2_18, params, NULL, is_known ? 3 : 0);
	try_with(through_nccl, ring_2_19, params, NULL, is_known ? 3 : 0);
	try_with(directly, ring_2_19, params, NULL, 0);
	try_with(through_nccl, ring, params, NULL, 0);
	try_with(through_nccl, none_2_18, NULL, NULL, 0);
	try_with(through_nccl, ring_2_18, NULL, NULL, 0);
	try(through_nccl, ring_2_18, buffer, sizeof(buffer), 0);
	memcpy(params[1], &none, sizeof(none));
	try_with(through_nccl, ring_2_18, params, NULL, 0);
}

static void try_all(bool is_known)
{
	size_t size;
	void *buffer = arguments(24, &size);

	try(through_nccl, ring, buffer, size, is_known ? 24 : 0);
	try(through_nccl, other, buffer, size, 0);
	try(through_nccl, symmetric, buffer, size, 0);
	try(directly, ring, buffer, size, 0);
	try(through_nccl, ring, NULL, 0, 0);
	try(through_nccl, ring, buffer, 31, 0);
	/* What it says it has is there; what it should have is not. */
	buffer = (char *) buffer + size - HEADER - 5 * BATCH;
	memcpy(buffer, "\1\0\0\0\0\0\0\0\377\0\0\0\0\0\0\0\0\0\0\0", 20);
	try(through_nccl, ring, buffer, HEADER + 5 * BATCH, is_known ? 8 : 0);
	buffer = arguments(1, &size);
	try(through_nccl, ring, buffer, size, is_known ? 1 : 0);
}

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t) ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* What a launch takes, of a kernel that NCCL tells what to do and of another. */
static void measure(int loops)
{
	const CUlaunchConfig config = {.gridDimX = 24, .blockDimX = 512};
	const char *const names[] = {other, ring};
	int64_t begin;
	size_t size;
	void *extra[] = {(void *) 1, arguments(24, &size), (void *) 2, &size, NULL};
	int round, i;

	for (round = 0; round < 10; round++) {
		begin = now();
		for (i = 0; i < loops; i++)
			through_nccl(launch, &config,
				     (CUfunction) (uintptr_t) names[round % 2], NULL,
				     extra);
		fprintf(stderr, "%s %.1f ns\n", names[round % 2],
			(double) (now() - begin) / loops);
	}
}

int main(int argc, char **argv)
{
	void *driver, *nccl;
	const int version = atoi(getenv("KERNELS_VERSION"));

	if (argc < 3)
		return 1;
	driver = dlopen(argv[1], RTLD_NOW);
	nccl = dlopen(argv[2], RTLD_NOW);
	if (!driver || !nccl)
		return 1;
	launch = (launch_function) dlsym(driver, "cuLaunchKernelEx");
	through_nccl = (launch_through) dlsym(nccl, "kernels_launch");
	if (argc > 3)
		measure(atoi(argv[3]));
	else {
		try_all(version >= 22200 && version < 23300);
		try_parameters(version >= 21800 && version < 22200);
	}
	return 0;
}

#endif
