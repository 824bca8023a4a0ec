/* SPDX-License-Identifier: MIT */
/*
 * Compiled, never run: cuda.h and cudaTypedefs.h of a release say the same as our rows, of
 * the exported name and of the bare name in the version that the row gives it.  A
 * difference is an error at the row.  Rows of later releases are passed over.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaTypedefs.h>

#include "calls/cuda_api.h"
#include "common/args.h"

#define SINCE_2000(x) x
#define SINCE_3020(x) x
#define SINCE_4000(x) x
#define SINCE_8000(x) x
#define SINCE_9000(x) x
#define SINCE_10000(x) x
#define SINCE_10010(x) x
#define SINCE_10020(x) x
#define SINCE_11000(x) x
#define SINCE_11010(x) x
#define SINCE_11040(x) x
#define SINCE_11060(x) x
#define SINCE_11070(x) x
#if CUDA_VERSION >= 12090
#define SINCE_12000(x) x
#define SINCE_12020(x) x
#define SINCE_12030(x) x
#define SINCE_12080(x) x
#else
#define SINCE_12000(x)
#define SINCE_12020(x)
#define SINCE_12030(x)
#define SINCE_12080(x)
#endif
#if CUDA_VERSION >= 13000
#define SINCE_13000(x) x
#else
#define SINCE_13000(x)
#endif

/* clang-format off */
#define FORM(base_name, since) FORM_(base_name, since)
#define FORM_(base_name, since) PFN_##base_name##_v##since
#define IS(what, fn, ...) \
	_Static_assert(__builtin_types_compatible_p(what, CUresult (*)(PARAMS(__VA_ARGS__))), \
		       #fn " has other arguments in the header");
#define CALL_ALONE(since, class, does, api, fn, ...) \
	SINCE_##since(IS(__typeof__(&fn), fn, ##__VA_ARGS__)) \
	SINCE_##since(IS(FORM(TAP_BARE(api), since), fn, ##__VA_ARGS__))
#define CALL(since, class, does, api, fn, variant, ...) \
	CALL_ALONE(since, class, does, api, fn, ##__VA_ARGS__)
#include "calls/cuda.def"
