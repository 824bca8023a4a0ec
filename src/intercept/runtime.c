/* SPDX-License-Identifier: MIT */
/*
 * The functions of a shared CUDA runtime, so that the driver's events say by which they
 * were made.
 *
 * Each library's release has a version of its own for all its names; a program is bound
 * to that, and so is each wrapper.  They note a number, nothing else: what a runtime does
 * is recorded where it asks the driver, so that nothing is counted twice.
 */
#include <stdint.h>

#include "calls/cudart_calls.h"
#include "common/thread.h"
#include "intercept/resolve.h"

/* cudaErrorSharedObjectSymbolNotFound: no library has it. */
#define MISSING 302

struct entry {
	const char *soname, *name;
	void *real;
	uint32_t epoch; /* tap_epoch when real was found */
};

tap_cold static void *find_real(struct entry *e, uint32_t epoch)
{
	const struct tap_guard guard = tap_guard_set();
	/* A library's version is named as it is itself. */
	void *real = tap_resolve_version(e->soname, e->name, e->soname);

	tap_guard_clear(guard);
	__atomic_store_n(&e->real, real, __ATOMIC_RELEASE);
	/* One that is not there may come. */
	__atomic_store_n(&e->epoch, real ? epoch : 0, __ATOMIC_RELEASE);
	return real;
}

static inline void *real_of(struct entry *e)
{
	const uint32_t epoch = __atomic_load_n(&tap_epoch, __ATOMIC_ACQUIRE);

	if (likely(__atomic_load_n(&e->epoch, __ATOMIC_ACQUIRE) == epoch))
		return __atomic_load_n(&e->real, __ATOMIC_ACQUIRE);
	return find_real(e, epoch);
}

/* clang-format off */

/* A call that a runtime makes of itself belongs to the one that the program made. */
#define WRAPPER(release, version, number, fn, sym, ...) \
	static struct entry entry_##release##_##sym = {version, #sym, NULL, 0}; \
	tap_exported int tap_runtime_##release##_##sym(PARAMS(__VA_ARGS__)); \
	tap_exported int tap_runtime_##release##_##sym(PARAMS(__VA_ARGS__)) \
	{ \
		const fn##_function real = (fn##_function) real_of(&entry_##release##_##sym); \
		struct tap_thread *t = &tap_thread; \
		int result; \
		if (unlikely(!real)) \
			return MISSING; \
		if (t->runtime) \
			return real(NAMES(__VA_ARGS__)); \
		t->runtime = number; \
		result = real(NAMES(__VA_ARGS__)); \
		t->runtime = 0; \
		return result; \
	} \
	__asm__(".symver tap_runtime_" #release "_" #sym ", " #sym "@" version);

#define SINCE_13(number, fn, sym, ...) \
	WRAPPER(13, "libcudart.so.13", number, fn, sym, ##__VA_ARGS__)
#define SINCE_12(number, fn, sym, ...) \
	WRAPPER(12, "libcudart.so.12", number, fn, sym, ##__VA_ARGS__) \
	SINCE_13(number, fn, sym, ##__VA_ARGS__)
#define SINCE_11(number, fn, sym, ...) \
	WRAPPER(11, "libcudart.so.11.0", number, fn, sym, ##__VA_ARGS__) \
	SINCE_12(number, fn, sym, ##__VA_ARGS__)
#define CALL_ALONE(number, since, fn, ...) SINCE_##since(number, fn, fn, ##__VA_ARGS__)
#define CALL(number, since, fn, twin, ...) \
	SINCE_##since(number, fn, fn, ##__VA_ARGS__) \
	SINCE_##since(number, fn, twin, ##__VA_ARGS__)
#include "calls/cudart.def"
