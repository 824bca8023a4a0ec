/* SPDX-License-Identifier: MIT */
/*
 * What the libcuda.so.1 double promises the test that calls it, and with TAP_HIP the
 * libamdhip64.so.6 double: a function for each name of the rows, which keeps its
 * arguments, leaves DOUBLE_ERRNO in errno, touches no memory, and returns
 * double_cuda_result, or a number made of the arguments where that is -1.
 */
#ifndef TAP_TESTS_DOUBLE_CUDA_H
#define TAP_TESTS_DOUBLE_CUDA_H

#include <stddef.h>

#include "calls/cuda_calls.h"

#define DOUBLE_ERRNO 113

#ifdef TAP_HIP
#define ROWS "calls/hip.def"
#define DRIVER "libamdhip64.so.6"
#else
#define ROWS "calls/cuda.def"
#define DRIVER "libcuda.so.1"
#endif

extern int double_cuda_result;

/* Of the call before: the exported name of the function, and its arguments. */
extern const char *double_cuda_called;
extern unsigned char double_cuda_args[256];

/* The library's own function of an exported name, whoever else has one. */
void *double_cuda_own(const char *name);

static inline int double_cuda_sum(const void *args, size_t size)
{
	const unsigned char *byte = args;
	unsigned int sum = 1;

	while (size--)
		sum = sum * 31 + *byte++;
	return (int) (sum & 0x7fffffff) | 1;
}

#ifndef TAP_HIP
CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags);
CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version,
			     cuuint64_t flags, CUdriverProcAddressQueryResult *status);
#else
int hipGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags,
		      int *status);
int hipGetProcAddress_spt(const char *symbol, void **pfn, int version, uint64_t flags,
			  int *status);
int hipGetDriverEntryPoint(const char *symbol, void **pfn, unsigned long long flags,
			   int *status);
int hipGetDriverEntryPoint_spt(const char *symbol, void **pfn, unsigned long long flags,
			       int *status);
#endif

#endif
