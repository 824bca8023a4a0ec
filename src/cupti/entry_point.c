/* SPDX-License-Identifier: MIT */
/*
 * The entry points of the layer: CUDA begins, or the program calls CUPTI itself, linked
 * with it or by dlsym().
 */
#include <dlfcn.h>

#include "calls/cupti_calls.h"
#include "common/names.h"
#include "common/thread.h"
#include "cupti/abi.h"
#include "cupti/client.h"
#include "cupti/nvml.h"
#include "intercept/resolve.h"

/* The function that a wrapper returned by dlsym() calls, in one copy of CUPTI. */
struct looked_up {
	void *real;
};

static void *real_of(const struct looked_up *h)
{
	return __atomic_load_n(&h->real, __ATOMIC_ACQUIRE);
}

/* clang-format off */
#define AROUND_TAKE(name, call) \
	const bool had_it = tap_cupti_program_takes(name, __builtin_return_address(0)); \
	const int result = call; \
	if (result && !had_it) \
		tap_cupti_program_left();
#define AROUND_LEAVE(name, call) \
	const int result = call; \
	if (!result) \
		tap_cupti_program_left();
#define AROUND_END(name, call) \
	(void) tap_cupti_program_takes(name, __builtin_return_address(0)); \
	const int result = call; \
	tap_cupti_program_left();

#define WRAPPER(linkage, binding, find, class, fn, ...) \
	linkage int tap_cupti_##binding##_##fn(PARAMS(__VA_ARGS__)); \
	linkage int tap_cupti_##binding##_##fn(PARAMS(__VA_ARGS__)) \
	{ \
		const fn##_function real = (fn##_function) find(&binding##_##fn); \
		if (unlikely(!real)) \
			return TAP_CUPTI_NOT_INITIALIZED; \
		if (tap_thread.in_tracer) \
			return real(NAMES(__VA_ARGS__)); \
		AROUND_##class(#fn, real(NAMES(__VA_ARGS__))) \
		return result; \
	}
/* The version of a library's symbols is the library's own soname. */
#define LINKED(binding, version, class, fn, ...) \
	static struct tap_resolved binding##_##fn = {version, #fn, version, NULL, 0}; \
	WRAPPER(tap_exported, binding, tap_resolve, class, fn, ##__VA_ARGS__) \
	__asm__(".symver tap_cupti_" #binding "_" #fn ", " #fn "@" version);
#define COPY(binding, class, fn, ...) \
	static struct looked_up binding##_##fn; \
	WRAPPER(static, binding, real_of, class, fn, ##__VA_ARGS__)
#define CALL(since, class, fn, ...) \
	TAP_CUPTI_SINCE_##since(LINKED, class, fn, ##__VA_ARGS__) \
	COPY(copy1, class, fn, ##__VA_ARGS__) \
	COPY(copy2, class, fn, ##__VA_ARGS__)
#include "calls/cupti.def"
#undef CALL

/*
 * Wrappers for two copies of CUPTI at once; for a third dlsym() returns the real
 * functions.
 */
#define CALL(since, class, fn, ...) \
	{#fn, {{&copy1_##fn, (void *) tap_cupti_copy1_##fn}, \
	       {&copy2_##fn, (void *) tap_cupti_copy2_##fn}}},
static const struct {
	const char *name;
	struct {
		struct looked_up *looked_up;
		void *wrapper;
	} copies[2];
} names[] = {
#include "calls/cupti.def"
};
#undef CALL
/* clang-format on */

/* A wrapper whose library was unloaded is free for another one. */
static bool binds_to(struct looked_up *h, void *found)
{
	void *before = __atomic_load_n(&h->real, __ATOMIC_ACQUIRE);
	Dl_info info;

	if (before == found)
		return true;
	if (before && dladdr(before, &info))
		return false;
	return __atomic_compare_exchange_n(&h->real, &before, found, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
	       before == found;
}

static void *stand_in(const char *name, void *found)
{
	unsigned i, k;

	if (tap_thread.in_tracer)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!tap_same_name(names[i].name, name))
			continue;
		for (k = 0; k < ARRAY_SIZE(names[i].copies); k++)
			if (binds_to(names[i].copies[k].looked_up, found))
				return names[i].copies[k].wrapper;
	}
	return NULL;
}

static bool is_constructed;

__attribute__((constructor)) static void note_constructed(void)
{
	is_constructed = true;
}

/* A constructor that runs before the tracer's may begin CUDA; the tracer ignores that. */
static void cuda_begins(void)
{
	if (is_constructed)
		tap_cupti_begin(false);
}

static void cuda_has_begun(void)
{
	if (is_constructed)
		tap_cupti_has_begun();
}

/*
 * libcuda calls this function of the library that CUDA_INJECTION64_PATH names when CUDA
 * begins, also where no preload reaches.  1: the library stays loaded.
 */
tap_exported int InitializeInjection(void);
tap_exported int InitializeInjection(void)
{
	tap_cupti_begin(true);
	return 1;
}

static const char *const prefixes[] = {"cupti", NULL};

static void fork_child(void)
{
	tap_cupti_fork_child();
	tap_cupti_sample_fork_child();
}

const struct tap_layer tap_layer_cupti = {
	.stand_in = stand_in,
	.prefixes = prefixes,
	.write_statedump = tap_cupti_write_statedump,
	.fork_child = fork_child,
	.sample = tap_cupti_sample,
	.cuda_begins = cuda_begins,
	.cuda_has_begun = cuda_has_begun,
};
