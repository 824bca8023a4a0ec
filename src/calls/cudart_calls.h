/* SPDX-License-Identifier: MIT */
/*
 * The types of the CUDA runtime that the rows of cudart.def name, and a type for each of
 * its functions.
 *
 * It hides that the build needs no CUDA: only types passed by value have a layout here,
 * which a test compares with the headers that it finds
 * (tests/calls/programs/check_cudart.c).
 */
#ifndef TAP_CALLS_CUDART_CALLS_H
#define TAP_CALLS_CUDART_CALLS_H

#include <stddef.h>

#include "common/args.h"

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUkern_st *cudaKernel_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct cudaLaunchConfig_st cudaLaunchConfig_t;
typedef void (*cudaHostFn_t)(void *userData);

typedef struct dim3 {
	unsigned int x, y, z;
} dim3;

enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyDefault = 4 };

/* clang-format off */
#define CALL_ALONE(number, since, fn, ...) typedef int (*fn##_function)(PARAMS(__VA_ARGS__));
#define CALL(number, since, fn, variant, ...) CALL_ALONE(number, since, fn, ##__VA_ARGS__)
#include "calls/cudart.def"
#undef CALL
#undef CALL_ALONE
/* clang-format on */

#endif
