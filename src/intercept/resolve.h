/* SPDX-License-Identifier: MIT */
/*
 * Resolves real functions by version.  A layer with a folder of its own, src/verbs or
 * src/cupti, includes this header alone of src/intercept.
 *
 * It hides how a library is found that the program opened with RTLD_LOCAL.
 */
#ifndef TAP_INTERCEPT_RESOLVE_H
#define TAP_INTERCEPT_RESOLVE_H

#include <stddef.h>

#include "common/compiler.h"
#include "intercept/ccl_threads.h"
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/metrics.h"
#include "intercept/start.h"
#include "intercept/trace.h"

/*
 * The function `name` of exactly this version that the program would have reached without
 * the tracer, in any library whose soname begins with `soname`; NULL when there is none.
 * The library is watched: tap_epoch changes when it is unloaded.
 */
void *tap_resolve_version(const char *soname, const char *name,
			  const char *version) tap_hidden;

/*
 * Such a function, resolved at the first call and again after a watched library was
 * unloaded.
 */
struct tap_resolved {
	const char *soname, *name, *version;
	void *real;
	uint32_t epoch; /* tap_epoch when real was found */
};

void *tap_resolve_anew(struct tap_resolved *r, uint32_t epoch) tap_hidden;

/* NULL when there is none. */
static inline void *tap_resolve(struct tap_resolved *r)
{
	const uint32_t epoch = __atomic_load_n(&tap_epoch, __ATOMIC_ACQUIRE);

	if (likely(__atomic_load_n(&r->epoch, __ATOMIC_ACQUIRE) == epoch))
		return __atomic_load_n(&r->real, __ATOMIC_ACQUIRE);
	return tap_resolve_anew(r, epoch);
}

/* The path of the first loaded library whose soname begins with this; false: none. */
bool tap_resolve_loaded(const char *soname, char *ret_path, size_t size) tap_hidden;

/* glibc's dlsym(), for a library that the layer has opened. */
void *tap_resolve_in(void *handle, const char *name) tap_hidden;

/* Calls tap_recorder_ask_snapshot(), for a layer that finds something stuck. */
void tap_resolve_ask_snapshot(const char *why) tap_hidden;

#endif
