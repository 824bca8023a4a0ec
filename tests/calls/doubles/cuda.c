/* SPDX-License-Identifier: MIT */
/* A libcuda.so.1, or libamdhip64.so.6, made of the rows: nothing but a mirror
 * (double_cuda.h). */
#include "cuda.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int double_cuda_result = -1;
const char *double_cuda_called;
unsigned char double_cuda_args[256];

/* clang-format off */
#define KEEP(t, n, k) memcpy((void *) &args.n, (const void *) &n, sizeof(n));
#define KEEP_NONE

/* Its own functions are not what a preloaded library has under their names. */
#define DOUBLE(fn, sym, ...) \
	CUresult sym(PARAMS(__VA_ARGS__)); \
	CUresult sym(PARAMS(__VA_ARGS__)) \
	{ \
		struct { \
			struct fn##_args args; \
			char none; \
		} kept; \
		memset(&kept, 0, sizeof(kept)); \
		{ \
			struct fn##_args args; \
			memset(&args, 0, sizeof(args)); \
			ARGS_WALK(KEEP, SEP_NONE, ##__VA_ARGS__) \
			memcpy(&kept.args, &args, sizeof(args)); \
		} \
		memset(double_cuda_args, 0, sizeof(double_cuda_args)); \
		memcpy(double_cuda_args, &kept.args, sizeof(kept.args)); \
		double_cuda_called = #sym; \
		errno = DOUBLE_ERRNO; \
		return double_cuda_result < 0 ? double_cuda_sum(&kept.args, sizeof(kept.args)) \
					    : double_cuda_result; \
	} \
	static __typeof__(sym) own_##sym __attribute__((alias(#sym)));
#define CALL_ALONE(since, class, does, api, fn, ...) DOUBLE(fn, fn, ##__VA_ARGS__)
#define CALL(since, class, does, api, fn, variant, ...) \
	DOUBLE(fn, fn, ##__VA_ARGS__) DOUBLE(fn, variant, ##__VA_ARGS__)
#include ROWS
#undef CALL
#undef CALL_ALONE

static const struct {
	const char *name;
	void *own;
} functions[] = {
#define CALL_ALONE(since, class, does, api, fn, ...) {#fn, (void *) own_##fn},
#define CALL(since, class, does, api, fn, variant, ...) \
	{#fn, (void *) own_##fn}, {#variant, (void *) own_##variant},
#include ROWS
#undef CALL
#undef CALL_ALONE
};
/* clang-format on */

void *double_cuda_own(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (!strcmp(functions[i].name, name))
			return functions[i].own;
	return NULL;
}

#ifndef TAP_HIP
/* clang-format off */
static __typeof__(cuGetProcAddress) own_cuGetProcAddress
	__attribute__((alias("cuGetProcAddress")));
static __typeof__(cuGetProcAddress_v2) own_cuGetProcAddress_v2
	__attribute__((alias("cuGetProcAddress_v2")));

/* The forms of a name stand in the order of their versions. */
static const struct {
	const char *base_name, *name;
	int since, per_thread;
	void *own;
} forms[] = {
#define ROW(since, base_name, sym, variant) {base_name, #sym, since, variant, (void *) own_##sym},
#define CALL_ALONE(since, class, does, api, fn, ...) ROW(since, TAP_BARE_NAME(api), fn, -1)
#define CALL(since, class, does, api, fn, variant, ...) \
	ROW(since, TAP_BARE_NAME(api), fn, 0) ROW(since, TAP_BARE_NAME(api), variant, 1)
#include ROWS
	ROW(11030, "cuGetProcAddress", cuGetProcAddress, -1)
	ROW(12000, "cuGetProcAddress", cuGetProcAddress_v2, -1)
};
/* clang-format on */

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version,
			     cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
	const int per_thread = flags == 2;
	size_t i;

	*pfn = NULL;
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (!strcmp(forms[i].base_name, symbol) && forms[i].since <= version &&
		    (forms[i].per_thread < 0 || forms[i].per_thread == per_thread))
			*pfn = forms[i].own;
	if (status)
		*status = *pfn ? 0 : 1;
	errno = DOUBLE_ERRNO;
	return *pfn ? 0 : 500;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
	return own_cuGetProcAddress_v2(symbol, pfn, version, flags, NULL);
}
#else
/* Of a function for the thread's own stream that it has not, the other one is given. */
static int get(const char *symbol, void **pfn, bool is_per_thread, int *status)
{
	char variant[64];

	*pfn = NULL;
	snprintf(variant, sizeof(variant), "%s_spt", symbol);
	if (is_per_thread)
		*pfn = double_cuda_own(variant);
	if (!*pfn)
		*pfn = double_cuda_own(symbol);
	if (status)
		*status = *pfn ? 0 : 1;
	errno = DOUBLE_ERRNO;
	return *pfn ? 0 : 1;
}

int hipGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags,
		      int *status)
{
	(void) version;
	return get(symbol, pfn, flags == 2, status);
}

int hipGetProcAddress_spt(const char *symbol, void **pfn, int version, uint64_t flags,
			  int *status)
{
	(void) version;
	return get(symbol, pfn, flags != 1, status);
}

int hipGetDriverEntryPoint(const char *symbol, void **pfn, unsigned long long flags,
			   int *status)
{
	return get(symbol, pfn, flags == 2, status);
}

int hipGetDriverEntryPoint_spt(const char *symbol, void **pfn, unsigned long long flags,
			       int *status)
{
	return get(symbol, pfn, flags != 1, status);
}
#endif
