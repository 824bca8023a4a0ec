/* SPDX-License-Identifier: MIT */
/*
 * Real functions by version; and what a layer with a folder of its own has of this one:
 * these, and being asked when the rest of the tracer is.
 *
 * It hides where a library lies that the program opened for itself alone, and keeps the
 * arrow between the folders one way: a layer tells its functions, and is not known by
 * name.
 */
#ifndef TAP_INTERCEPT_RESOLVE_H
#define TAP_INTERCEPT_RESOLVE_H

#include <stddef.h>

#include "common/compiler.h"
#include "intercept/guard.h"
#include "intercept/start.h"
#include "intercept/trace.h"

/*
 * The function `name` of exactly this version that the program would have reached without
 * us, in whatever library whose soname begins with `soname`; NULL when there is none.
 * The library is watched: tap_epoch counts when it goes.
 */
void *tap_resolve_version(const char *soname, const char *name,
			  const char *version) tap_hidden;

/* Such a function, found when it is called first and again when a library has gone. */
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

/* dlsym(), past what stands in for it: in a library that the layer has opened. */
void *tap_resolve_in(void *handle, const char *name) tap_hidden;

/* Of tap_recorder_ask_snapshot(), for what a layer finds stuck. */
void tap_resolve_ask_snapshot(const char *why) tap_hidden;

/* Each is called with no lock held that the tracer shares, but as it says; may be NULL.
 */
struct tap_layer {
	/*
	 * What dlsym() gives the program for `name`, where the real answer is found;
	 * NULL: that one.  Calls no function of libc until the name is known to be the
	 * layer's.
	 */
	void *(*stand_in)(const char *name, void *found);
	/* What each name of the layer's begins with: two letters or more; NULL ends them.
	 */
	const char *const *prefixes;
	/* By LTTng's thread, under its lock: see state.c. */
	void (*write_state)(void);
	/* Once a second; stuck_ns is 0 where nothing is held to be stuck. */
	void (*look)(int64_t stuck_ns);
	/* Around a fork, after LTTng's lock; the last in the child alone. */
	void (*fork_prepare)(void);
	void (*fork_done)(void);
	void (*fork_child)(void);
	/* Around a call of cuInit(), in the thread that makes it. */
	void (*cuda_begins)(void);
	void (*cuda_has_begun)(void);
	struct tap_layer *next;
};

/*
 * Every dlsym() of the program asks for one of these first: the first two letters of each
 * name that is ours.  A name whose letters have no bit here is not.
 */
#define TAP_LETTERS(first, second) \
	(1ull << (((unsigned char) (first) *5u + (unsigned char) (second)) % 64))

static inline uint64_t tap_letters(const char *name)
{
	return name[0] ? TAP_LETTERS(name[0], name[1]) : 0;
}
extern uint64_t tap_our_letters tap_hidden;

/* By a constructor, once. */
void tap_layer_add(struct tap_layer *layer) tap_hidden;

/* All of them. */
extern struct tap_layer *tap_layers tap_hidden;

/* Calls that function of each layer that has one. */
#define TAP_LAYERS_CALL(function, ...) \
	do { \
		const struct tap_layer *layer_; \
		for (layer_ = tap_layers; layer_; layer_ = layer_->next) \
			if (layer_->function) \
				layer_->function(__VA_ARGS__); \
	} while (0)

#endif
