/* SPDX-License-Identifier: MIT */
/* The launch that is timed, with the same arguments in all programs. */
#ifndef TAP_BENCH_LAUNCH_H
#define TAP_BENCH_LAUNCH_H

#include <stdint.h>

int cuLaunchKernel(void *f, unsigned int gridDimX, unsigned int gridDimY,
		   unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
		   unsigned int blockDimZ, unsigned int sharedMemBytes, void *hStream,
		   void **kernelParams, void **extra);
int cuInit(unsigned int flags);
int cuCtxGetCurrent(void **context);
int cuFuncGetName(const char **name, void *function);
int cudaStreamSynchronize(void *stream);

/* Of doubles/cupti.c: around a launch; and records of so many kernels, 0 when all had room. */
void bench_cupti_call(int site);
long bench_cupti_kernels(long nr);

#define LAUNCH_FUNCTION ((void *) (uintptr_t) 0x5000)
#define LAUNCH_STREAM ((void *) (uintptr_t) 0x6000)
#define LAUNCH() \
	cuLaunchKernel(LAUNCH_FUNCTION, 24, 1, 1, 512, 1, 1, 82240, LAUNCH_STREAM, NULL, \
		       NULL)

#endif
