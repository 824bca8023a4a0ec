/* SPDX-License-Identifier: MIT */
/*
 * A layer: what a module does when something happens to the whole tracer.  The module
 * defines a structure of these hooks, tap_layer_<name>, and layers.c lists it.
 *
 * It hides who the layers are from those that call them (start.c, statedump.c, close.c,
 * threads.c, watchdog.c, entry.c, lookup.c), so that none of these includes a layer.
 */
#ifndef TAP_INTERCEPT_LAYER_H
#define TAP_INTERCEPT_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "common/lock.h"
#include "common/thread.h"

/* What a state has written of each kind: tap:statedump_end says it, so that a loss is
 * seen.
 */
struct tap_state_counts {
	uint32_t libraries, comms, threads, stacks;
	bool all_threads; /* all that could be in a recorded call are known */
};

/* A hook may be NULL.  The caller holds no lock of the tracer's, but where it says so. */
struct tap_layer {
	/* Once, when events can be written. */
	void (*prepare)(void);
	/* In each process, also one made by fork, before its first event.  The caller has
	 * set the guard. */
	void (*announce)(void);
	/* By LTTng's thread, under its lock, or by whoever has a state written. */
	void (*write_statedump)(struct tap_state_counts *counts);
	/* Once a second; stuck_ns is 0 where nothing is held to be stuck. */
	void (*look)(int64_t stuck_ns);
	/* A library that calls lead into was met. */
	void (*library_met)(void);
	/* A library was unloaded that somebody relies on. */
	void (*expire)(void);
	/* By a thread that is known to threads.c, when it ends. */
	void (*thread_ends)(struct tap_thread *thread);

	/*
	 * A fork's child finds it free.  is_locked_by_fork: it waits for the lock, so
	 * that what that guards is whole in the child.
	 */
	struct tap_lock *lock;
	bool is_locked_by_fork;
	/* Around a fork, after LTTng's lock and under the layer's own; the child has one
	 * thread. */
	void (*fork_prepare)(void);
	void (*fork_parent)(void);
	void (*fork_child)(void);

	/*
	 * What dlsym() gives the program for `name`, where the real answer is found;
	 * NULL: that one.  Calls no function of libc until the name is known to be the
	 * layer's.
	 */
	void *(*stand_in)(const char *name, void *found);
	/* What each name of the layer's begins with: two letters or more; NULL ends them.
	 */
	const char *const *prefixes;

	/* Around a call of cuInit(), in the thread that makes it. */
	void (*cuda_begins)(void);
	void (*cuda_has_begun)(void);
};

/* All of them, outermost lock first. */
extern const struct tap_layer *const tap_layers[] tap_hidden;
extern const unsigned tap_nr_layers tap_hidden;

/* Around a fork: before it in the order of the table, after it in the other. */
void tap_layers_fork_prepare(void) tap_hidden;
void tap_layers_fork_parent(void) tap_hidden;
void tap_layers_fork_child(void) tap_hidden;

#define TAP_LAYER_CALL(layer, hook, ...) \
	do { \
		if ((layer)->hook) \
			(layer)->hook(__VA_ARGS__); \
	} while (0)

/* Calls that hook of each layer that has one, in the order of the table. */
#define TAP_LAYERS_CALL(hook, ...) \
	do { \
		unsigned layer_; \
		for (layer_ = 0; layer_ < tap_nr_layers; layer_++) \
			TAP_LAYER_CALL(tap_layers[layer_], hook, ##__VA_ARGS__); \
	} while (0)

/* The same, from the last to the first. */
#define TAP_LAYERS_CALL_BACK(hook, ...) \
	do { \
		unsigned layer_; \
		for (layer_ = tap_nr_layers; layer_-- > 0;) \
			TAP_LAYER_CALL(tap_layers[layer_], hook, ##__VA_ARGS__); \
	} while (0)

#endif
