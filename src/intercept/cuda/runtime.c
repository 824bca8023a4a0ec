/* SPDX-License-Identifier: MIT */
/*
 * The functions of a shared CUDA runtime, so that the driver's events name the runtime
 * function that made them.
 *
 * Each release of the library has one symbol version for all its names, to which programs
 * and wrappers are bound.  A wrapper only stores the function's number: the work of the
 * runtime is recorded at its calls of the driver, so that no work is counted twice.
 */
#include <stdint.h>

#include "calls/cudart_calls.h"
#include "common/thread.h"
#include "intercept/resolve.h"

/* cudaErrorSharedObjectSymbolNotFound: no library defines the function. */
#define MISSING 302

/* clang-format off */

/*
 * A library's version has the library's name.  A call that the runtime makes itself
 * belongs to the program's call.
 */
#define WRAPPER(release, version, number, fn, sym, ...) \
	static struct tap_resolved at_##release##_##sym = {version, #sym, version, NULL, 0}; \
	tap_exported int tap_runtime_##release##_##sym(PARAMS(__VA_ARGS__)); \
	tap_exported int tap_runtime_##release##_##sym(PARAMS(__VA_ARGS__)) \
	{ \
		const fn##_function real = (fn##_function) tap_resolve(&at_##release##_##sym); \
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
#define CALL(number, since, fn, variant, ...) \
	SINCE_##since(number, fn, fn, ##__VA_ARGS__) \
	SINCE_##since(number, fn, variant, ##__VA_ARGS__)
#include "calls/cudart.def"
