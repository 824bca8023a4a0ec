/* SPDX-License-Identifier: MIT */
/*
 * Decides what dlsym() and dlvsym() answer.
 *
 * No function of libc may be called before a name is known to be wrapped: sanitizers look
 * symbols up while their own versions of libc's functions are not ready (local.mk sets
 * the compiler flags that this needs).
 */
#include "intercept/lookup.h"

#include <dlfcn.h>
#include <stdint.h>

#include "common/thread.h"
#include "intercept/cuda/cuda.h"
#include "intercept/cuda/getproc.h"
#include "intercept/dl/libraries.h"
#include "intercept/dl/real.h"
#include "intercept/entry.h"
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/trace.h"

/*
 * The bit for the first two letters of a name.  Every dlsym() of the program tests it
 * first: a name without a bit in our_letters is not wrapped.
 */
#define LETTERS(first, second) \
	(1ull << (((unsigned char) (first) *5u + (unsigned char) (second)) % 64))

static uint64_t letters_of(const char *name)
{
	return name[0] ? LETTERS(name[0], name[1]) : 0;
}

/* The letters of NCCL, MSCCL, CUDA and HIP; the constructor adds those of layers. */
static uint64_t our_letters = LETTERS('n', 'c') | LETTERS('p', 'n') | LETTERS('m', 's') |
			      LETTERS('p', 'm') | LETTERS('c', 'u') | LETTERS('h', 'i');

static void *ask(void *handle, const char *name, const char *version)
{
	return version ? tap_real_dlvsym_at(handle, name, version)
		       : tap_real_dlsym_at(handle, name);
}

/*
 * With RTLD_DEFAULT glibc searches the global scope and then the caller's scope; for a
 * call from here that would be the tracer's.  A link map cannot serve as the caller's
 * handle: for an object that was loaded as a dependency, dlsym() follows a null pointer.
 * So beyond the global scope this function searches only the libraries that the caller
 * needs; the real function does the rest.
 */
static void *ask_for(void *handle, const char *name, const char *version,
		     const void *caller)
{
	void *found = ask(handle, name, version);

	if (found || handle != RTLD_DEFAULT || version)
		return found;
	return tap_library_needed(name, caller);
}

static void say_too_many(void)
{
	const struct tap_guard guard = tap_guard_set();

	if (!guard.was_inside)
		tap_problem("not recorded",
			    "one copy too many of a traced library was looked up", 1);
	tap_guard_clear(guard);
}

/* Two threads may look two copies up at once: the first one gets the entry. */
static bool binds_to(struct tap_entry *e, void *found)
{
	void *before = __atomic_load_n(&e->real, __ATOMIC_ACQUIRE);

	if (before && e->epoch != tap_epoch)
		before = tap_entry_resolve(e, NULL);
	if (before == found)
		return true;
	if (before && before != e->missing)
		return false;
	if (!__atomic_compare_exchange_n(&e->real, &before, found, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return before == found;
	tap_library_watch(found);
	tap_entry_set(e, found);
	return true;
}

/*
 * Each copy of a library has a wrapper of its own, so that a call reaches the copy that
 * was looked up, from any caller.
 */
static void *stand_in(const struct tap_entry_bindings *bindings, void *found)
{
	unsigned i;

	for (i = 0; i < TAP_NR_COPIES; i++) {
		tap_entry_prepare(bindings->looked_up[i].entry, bindings->linked);
		if (binds_to(bindings->looked_up[i].entry, found))
			return bindings->looked_up[i].wrapper;
	}
	say_too_many();
	return NULL;
}

static bool begins(const char *name, const char *prefix)
{
	for (; *prefix; name++, prefix++)
		if (*name != *prefix)
			return false;
	return true;
}

__attribute__((constructor)) static void add_letters(void)
{
	const char *const *prefix;
	unsigned i;

	for (i = 0; i < tap_nr_layers; i++)
		for (prefix = tap_layers[i]->prefixes; prefix && *prefix; prefix++)
			our_letters |= letters_of(*prefix);
}

static const struct tap_layer *layer_of(const char *name)
{
	const char *const *prefix;
	unsigned i;

	for (i = 0; i < tap_nr_layers; i++)
		for (prefix = tap_layers[i]->prefixes; prefix && *prefix; prefix++)
			if (begins(name, *prefix))
				return tap_layers[i];
	return NULL;
}

void *tap_lookup(void *handle, const char *name, const char *version, const void *caller)
{
	const struct tap_entry_bindings *bindings;
	const struct tap_cuda_name *cuda;
	const struct tap_layer *layer;
	void *found;

	if (unlikely(!tap_real_dlsym_at))
		tap_real_find();
	if (unlikely(!name) || likely(!(letters_of(name) & our_letters)))
		return NULL;
	bindings = tap_entry_find(name);
	cuda = tap_cuda_find(name);
	layer = bindings || cuda ? NULL : layer_of(name);
	if (likely(!bindings && !cuda && !layer))
		return NULL;
	if (cuda && tap_thread.in_tracer)
		return NULL;
	if (handle != RTLD_NEXT)
		found = ask_for(handle, name, version, caller);
	else
		found = version ? NULL : tap_library_next(name, caller);
	if (!found)
		return NULL;
	if (cuda)
		return tap_cuda_bind(cuda, found);
	return bindings ? stand_in(bindings, found) : layer->stand_in(name, found);
}
