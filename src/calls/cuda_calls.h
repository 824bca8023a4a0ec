/* SPDX-License-Identifier: MIT */
/*
 * What the rows of cuda.def and hip.def declare: for each call <name>_function, its type,
 * struct <name>_args, its arguments as an event gets to see them, and TAP_<name>, its
 * number in a table of TAP_CUDA_NR rows; and what cuda_cbids.def declares.
 */
#ifndef TAP_CALLS_CUDA_CALLS_H
#define TAP_CALLS_CUDA_CALLS_H

#include "calls/cuda_kinds.h"
#include "common/args.h"

/* clang-format off */
#define CALL_ALONE(since, class, bare, name, ...) \
	typedef CUresult (*name##_function)(PARAMS(__VA_ARGS__)); \
	struct name##_args { MEMBERS(__VA_ARGS__) };
#define CALL(since, class, bare, name, twin, ...) \
	CALL_ALONE(since, class, bare, name, ##__VA_ARGS__)
#include "calls/cuda.def"
#include "calls/hip.def"
#undef CALL
#undef CALL_ALONE

#define CALL_ALONE(since, class, bare, name, ...) TAP_##name,
#define CALL(since, class, bare, name, twin, ...) TAP_##name,
enum tap_cuda_call {
#include "calls/cuda.def"
#include "calls/hip.def"
	TAP_CUDA_NR
};
#undef CALL
#undef CALL_ALONE

/* TAP_CBID_<symbol>: how CUPTI numbers the functions that put work on a GPU. */
#define CBID(symbol, number) TAP_CBID_##symbol = number,
enum tap_cuda_cbid {
#include "calls/cuda_cbids.def"
};
#undef CBID
/* clang-format on */

#endif
