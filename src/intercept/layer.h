/* SPDX-License-Identifier: MIT */
/*
 * A layer: the hooks of a module for events that concern the whole tracer.  The module
 * defines a structure of these hooks, tap_layer_<name>, and layers.c lists it.
 *
 * It hides which layers exist from the modules that call them (start.c, statedump.c,
 * close.c, threads.c, watchdog.c, entry.c, lookup.c), so that none of these includes a
 * layer.
 */
#ifndef TAP_INTERCEPT_LAYER_H
#define TAP_INTERCEPT_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "common/lock.h"
#include "common/thread.h"

/*
 * The number of events of each kind in a state dump.  tap:statedump_end holds them, so
 * that the reader detects lost events.
 */
struct tap_state_counts {
	uint32_t libraries, comms, threads, ccl_threads, stacks;
	bool all_threads; /* every thread that may be inside a recorded call is on the
			     list */
};

/* Sources of samples: the words of CCLTAP_SAMPLE. */
enum { TAP_SAMPLE_THREADS = 1, TAP_SAMPLE_PORTS = 2, TAP_SAMPLE_GPU = 4 };

/*
 * A hook may be NULL.  The caller holds no lock of the tracer's unless a comment says so.
 */
struct tap_layer {
	/* Once, when events can be written. */
	void (*prepare)(void);
	/*
	 * In each process, including a child of fork(), before its first event.  The
	 * caller has set the guard.
	 */
	void (*announce)(void);
	/*
	 * Run by LTTng's thread, under LTTng's lock, or by a caller of
	 * tap_statedump_write().
	 */
	void (*write_statedump)(struct tap_state_counts *counts);
	/* Once a second, by the watchdog; stuck_ns 0: no call counts as stuck. */
	void (*look)(int64_t stuck_ns);
	/*
	 * Once a second, after look() of all layers, while tap:sample is recorded: samples
	 * the layer's source if that is among these.  It may
	 * read files, and must end soon.
	 */
	void (*sample)(unsigned sources);
	/* An entry leads into a library for the first time since it was resolved. */
	void (*library_met)(void);
	/*
	 * A call has made a communicator, or has failed to, in the thread of that call.  The
	 * caller has set the guard; events may not be written yet.
	 */
	void (*comm_made)(void);
	/*
	 * A process that only counts may be recorded from outside, or is recorded from now
	 * on: what was decided while nothing could be recorded is decided again.  The caller
	 * has set the guard.
	 */
	void (*reconsider)(void);
	/* A watched library was unloaded. */
	void (*expire)(void);
	/* Run by a thread on the list of threads.c when it ends. */
	void (*thread_ends)(struct tap_thread *thread);

	/*
	 * The lock is free in a fork's child.  is_locked_by_fork: the fork waits for the
	 * lock, so that the data it guards is consistent in the child.
	 */
	struct tap_lock *lock;
	bool is_locked_by_fork;
	/*
	 * Around a fork, under LTTng's lock and the layer's own; the child has one
	 * thread.
	 */
	void (*fork_prepare)(void);
	void (*fork_parent)(void);
	void (*fork_child)(void);

	/*
	 * Returns what dlsym() returns to the program for `name`, where the real answer
	 * is `found`; NULL: `found` itself.  Calls no function of libc before the name is
	 * known to be one of the layer's.
	 */
	void *(*stand_in)(const char *name, void *found);
	/*
	 * The prefixes of the layer's names, of two letters or more each; NULL ends the
	 * list.
	 */
	const char *const *prefixes;

	/* Before and after a call of cuInit(), in the thread that calls it. */
	void (*cuda_begins)(void);
	void (*cuda_has_begun)(void);
};

/* All layers, outermost lock first. */
extern const struct tap_layer *const tap_layers[] tap_hidden;
extern const unsigned tap_nr_layers tap_hidden;

/* Around a fork: prepare runs in the order of the table, the other two in reverse. */
void tap_layers_fork_prepare(void) tap_hidden;
void tap_layers_fork_parent(void) tap_hidden;
void tap_layers_fork_child(void) tap_hidden;

#define TAP_LAYER_CALL(layer, hook, ...) \
	do { \
		if ((layer)->hook) \
			(layer)->hook(__VA_ARGS__); \
	} while (0)

/* Calls a hook of each layer that defines it, in the order of the table. */
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
