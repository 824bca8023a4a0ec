/* SPDX-License-Identifier: MIT */
/*
 * TAP: each row of cuda.def, under both of its names and by each way (linked, looked up,
 * from either form of cuGetProcAddress()), or with TAP_HIP of hip.def (linked, looked up,
 * looked up by version, from hipGetProcAddress() and its like), hands every argument, the
 * result and errno through unchanged to the function that was meant; and where WRAPPED is
 * set each way leads through a wrapper.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "../doubles/cuda.h"
#include "../guarded.h"
#include "../../lib/tap.h"

enum mode { FULL, EMPTY, FAILED, NR_MODES };
static const int mode_results[] = {0, 0, -1};

#ifdef TAP_HIP
enum way { LINKED, LOOKED_UP, BY_VERSION, BY_NAME, PROC, PROC_SPT, POINT, POINT_SPT, NR_WAYS };
static const char *const way_names[] = {
	"linked", "looked up", "looked up by version", "from hipGetProcAddress by its own name",
	"from hipGetProcAddress", "from hipGetProcAddress_spt", "from hipGetDriverEntryPoint",
	"from hipGetDriverEntryPoint_spt"};
#else
enum way { LINKED, LOOKED_UP, FROM_V1, FROM_V2, NR_WAYS };
static const char *const way_names[] = {"linked", "looked up", "from cuGetProcAddress",
					"from cuGetProcAddress_v2"};
#endif

static void *driver;
static bool must_be_wrapped;

static void point(const void *argument, const void *to)
{
	memcpy((void *) (uintptr_t) argument, &to, sizeof(to));
}

/* clang-format off */
/* What each kind reads lies at the end of a page; the rest of an argument is garbage. */
#define LIES_NOWHERE(n)
#define LIES_SKIP LIES_NOWHERE
#define LIES_PTR LIES_NOWHERE
#define LIES_DPTR LIES_NOWHERE
#define LIES_U64 LIES_NOWHERE
#define LIES_U32 LIES_NOWHERE
#define LIES_U16 LIES_NOWHERE
#define LIES_U8 LIES_NOWHERE
#define LIES_I32 LIES_NOWHERE
#define LIES_DIM3 LIES_NOWHERE
#define LIES_PITCHED LIES_NOWHERE
#define LIES_EXTENT LIES_NOWHERE
#define LIES_MODULE_FUNCTION LIES_NOWHERE
#define LIES_HOST_FUNCTION LIES_NOWHERE
#define LIES_HIP_CONFIG(n) point(&a->n, guarded(sizeof(*a->n), 1));
#define LIES_HIP_DRIVER_CONFIG LIES_HIP_CONFIG
#define LIES_HIP_KERNEL_NODE LIES_HIP_CONFIG
#define LIES_STREAM LIES_NOWHERE
#define LIES_BYTES LIES_NOWHERE
#define LIES_GRAPH LIES_NOWHERE
#define LIES_GRAPH_EXEC LIES_NOWHERE
#define LIES_GRID LIES_NOWHERE
#define LIES_GRID3 LIES_NOWHERE
#define LIES_FUNCTION LIES_NOWHERE
#define LIES_PARAMETERS LIES_NOWHERE
#define LIES_EXTRA(n) point(&a->n, NULL);
#define LIES_LAUNCH_CONFIG(n) { \
	CUlaunchConfig *config = guarded(sizeof(*config), 1); \
	config->numAttrs = 2; \
	config->attrs = guarded(2 * sizeof(*config->attrs), TAP_CUDA_ATTRIBUTE_CLUSTER); \
	point(&a->n, config); }
#define LIES_COPY2D(n) point(&a->n, guarded(sizeof(*a->n), 1));
#define LIES_COPY3D(n) point(&a->n, guarded(sizeof(*a->n), 1));
#define LIES_SIZES_count(n) point(&a->n, guarded(3 * sizeof(size_t), 1)); a->count = 3;
#define LIES_KERNEL_NODE(n) point(&a->n, guarded(sizeof(*a->n), 1));
#define LIES_NODE(n) point(&a->n, guarded(sizeof(*a->n), 1));
#define LIES_OUT_PTR(n) if (mode == FULL) point(&a->n, guarded(sizeof(void *), 1));
#define LIES_OUT_GRAPH LIES_OUT_PTR
#define LIES_OUT_GRAPH_EXEC LIES_OUT_PTR

#define GARBAGE(t, n, k) fill_differently((void *) (uintptr_t) &a->n, sizeof(a->n), &seed);
#define GARBAGE_NONE (void) seed;
#define LIES(t, n, k) LIES_##k(n)
#define LIES_NONE
#define PASS(t, n, k) a->n
#define PASS_NONE

static void fill_differently(unsigned char *bytes, size_t size, unsigned char *seed)
{
	while (size--)
		*bytes++ = ++*seed;
}

static int report(bool passed, const char *name, enum way way, const char *what)
{
	if (!passed)
		printf("# %s, %s: %s\n", name, way_names[way], what);
	return !passed;
}

/* The function that a program gets by this way. */
#ifdef TAP_HIP
#define reach(way, linked, name, base_name, version, is_variant) \
	reach_hip(way, linked, name, version, is_variant)
#define VARIANT_SINCE(since, api) api
#define BARE_NAME(api) NULL
static void *reach_hip(enum way way, void *linked, const char *name, const char *version,
		       bool is_variant)
{
	/* The stream that each takes without being told is its own. */
	const uint64_t flags = is_variant ? 2 : 0, flags_spt = is_variant ? 0 : 1;
	void *found = NULL;
	int status = -1;
	char base_name[64];

	snprintf(base_name, sizeof(base_name), "%.*s", (int) strlen(name) - (is_variant ? 4 : 0), name);
	switch (way) {
	case LINKED:
		return linked;
	case LOOKED_UP:
		return dlsym(driver, name);
	case BY_VERSION:
		return dlvsym(driver, name, version);
	case BY_NAME:
		return hipGetProcAddress(name, &found, 604, 0, NULL) ? NULL : found;
	case PROC:
		return hipGetProcAddress(base_name, &found, 602, flags, &status) || status ? NULL : found;
	case PROC_SPT:
		return hipGetProcAddress_spt(base_name, &found, 702, flags_spt, NULL) ? NULL : found;
	case POINT:
		return hipGetDriverEntryPoint(base_name, &found, flags, &status) || status ? NULL : found;
	default:
		return hipGetDriverEntryPoint_spt(base_name, &found, flags_spt, NULL) ? NULL : found;
	}
}
#else
#define VARIANT_SINCE(since, api) since
#define BARE_NAME TAP_BARE_NAME
static void *reach(enum way way, void *linked, const char *name, const char *base_name, int version,
		   bool is_variant)
{
	const cuuint64_t flags = is_variant ? 2 : 0;
	void *found = NULL;

	if (version < 7000 && is_variant)
		version = 7000;
	switch (way) {
	case LINKED:
		return linked;
	case LOOKED_UP:
		return dlsym(driver, name);
	case FROM_V1:
		return cuGetProcAddress(base_name, &found, version, flags) ? NULL : found;
	default:
		return cuGetProcAddress_v2(base_name, &found, version, flags, NULL) ? NULL : found;
	}
}
#endif

#define THROUGH(fn, sym, since, base_name, is_variant, ...) \
	for (way = 0; way < NR_WAYS; way++) { \
		CUresult expected = double_cuda_result < 0 ? double_cuda_sum(a, sizeof(*a)) \
							 : double_cuda_result; \
		fn##_function function = (fn##_function) reach(way, (void *) sym, #sym, base_name, \
							       since, is_variant); \
		CUresult result; \
		if (!function) { \
			failed += report(false, #sym, way, "not found"); \
			continue; \
		} \
		failed += report(!must_be_wrapped || (void *) function != double_cuda_own(#sym), \
				 #sym, way, "not wrapped"); \
		memset(double_cuda_args, 0xee, sizeof(double_cuda_args)); \
		errno = 0; \
		result = function(ARGS_WALK(PASS, SEP_COMMA, ##__VA_ARGS__)); \
		failed += report(result == expected, #sym, way, "another result"); \
		failed += report(errno == DOUBLE_ERRNO, #sym, way, "another errno"); \
		failed += report(!strcmp(double_cuda_called, #sym), #sym, way, double_cuda_called); \
		failed += report(!memcmp(double_cuda_args, a, sizeof(*a)), #sym, way, \
				 "other arguments"); \
	}

#define TEST(fn, through, ...) \
	static int test_##fn(enum mode mode) \
	{ \
		static _Alignas(16) unsigned char room[sizeof(struct fn##_args) + 1]; \
		struct fn##_args *a = (void *) room; \
		unsigned char seed = 0; \
		int failed = 0, way; \
		memset(room, 0, sizeof(room)); \
		if (mode != EMPTY) { \
			ARGS_WALK(GARBAGE, SEP_NONE, ##__VA_ARGS__) \
			ARGS_WALK(LIES, SEP_NONE, ##__VA_ARGS__) \
		} \
		through \
		return failed; \
	}
#define DECLARE(sym, ...) CUresult sym(PARAMS(__VA_ARGS__));
#define CALL_ALONE(since, class, does, api, fn, ...) \
	DECLARE(fn, ##__VA_ARGS__) \
	TEST(fn, THROUGH(fn, fn, since, BARE_NAME(api), false, ##__VA_ARGS__), ##__VA_ARGS__)
#define CALL(since, class, does, api, fn, variant, ...) \
	DECLARE(fn, ##__VA_ARGS__) DECLARE(variant, ##__VA_ARGS__) \
	TEST(fn, THROUGH(fn, fn, since, BARE_NAME(api), false, ##__VA_ARGS__) \
		 THROUGH(fn, variant, VARIANT_SINCE(since, api), BARE_NAME(api), true, ##__VA_ARGS__), ##__VA_ARGS__)
#include ROWS
#undef CALL
#undef CALL_ALONE

static const struct {
	const char *name;
	int (*test)(enum mode mode);
} tests[] = {
#define CALL_ALONE(since, class, does, api, fn, ...) {#fn, test_##fn},
#define CALL(since, class, does, api, fn, variant, ...) {#fn, test_##fn},
#include ROWS
};
/* clang-format on */

int main(void)
{
	unsigned int i;

	driver = dlopen(DRIVER, RTLD_NOW | RTLD_NOLOAD);
	must_be_wrapped = getenv("WRAPPED") != NULL;
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		int failed = 0, mode;

		for (mode = 0; mode < NR_MODES; mode++) {
			double_cuda_result = mode_results[mode];
			failed += tests[i].test((enum mode) mode);
		}
		ok(!failed, tests[i].name);
	}
	return tap_done();
}
