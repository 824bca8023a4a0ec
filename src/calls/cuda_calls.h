/* SPDX-License-Identifier: MIT */
/*
 * What the rows of cuda.def and hip.def declare: for each call <name>_function, its type,
 * struct <name>_args, its arguments as an event reads them, and TAP_<name>, its number in
 * a table of TAP_CUDA_NR rows; and TAP_CBID_<symbol>, CUPTI's numbers.
 *
 * It hides how a row is read.
 */
#ifndef TAP_CALLS_CUDA_CALLS_H
#define TAP_CALLS_CUDA_CALLS_H

#include "calls/cuda_api.h"
#include "calls/cuda_kinds.h"
#include "common/args.h"

/* clang-format off */
#define CALL_ALONE(since, class, does, api, name, ...) \
	typedef CUresult (*name##_function)(PARAMS(__VA_ARGS__)); \
	struct name##_args { MEMBERS(__VA_ARGS__) };
#define CALL(since, class, does, api, name, variant, ...) \
	CALL_ALONE(since, class, does, api, name, ##__VA_ARGS__)
#include "calls/cuda.def"
#include "calls/hip.def"
#undef CALL
#undef CALL_ALONE

#define CALL_ALONE(since, class, does, api, name, ...) TAP_##name,
#define CALL(since, class, does, api, name, variant, ...) TAP_##name,
enum tap_cuda_call {
#include "calls/cuda.def"
#include "calls/hip.def"
	TAP_CUDA_NR
};
#undef CALL
#undef CALL_ALONE

/* TAP_CBID_<symbol>: how CUPTI numbers the functions that put work on a GPU. */
#define CBID(symbol, number) TAP_CBID_##symbol = number,
#define CALL_ALONE(since, class, does, api, name, ...) TAP_CBID_##class(CBID, name, api)
#define CALL(since, class, does, api, name, variant, ...) TAP_CBIDS_##class(CBID, name, variant, api)
enum tap_cuda_cbid {
#include "calls/cuda.def"
};
#undef CALL
#undef CALL_ALONE
#undef CBID
/* clang-format on */

#endif
