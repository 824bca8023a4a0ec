/* SPDX-License-Identifier: MIT */
/*
 * The table of layers, in the order of their locks: a thread that holds the lock of a
 * layer takes only locks of later ones.  README.md describes what each lock is held around.
 *
 * So a fork locks from the first to the last, after LTTng's own lock, and unlocks from
 * the last to the first.  announce, write_statedump and expire go from the last to the
 * first too: the process and its libraries are written before the events that name them,
 * and tap_epoch changes before layers forget resolved functions.  All other hooks go from
 * the first to the last.
 *
 * This file knows the layers, also those of src/verbs and src/cupti, by name alone.
 */
#include "intercept/layer.h"

/* clang-format off */
#define LAYERS(X) \
	X(watchdog) /* has no lock */ \
	X(sample) /* has no lock */ \
	X(cupti) /* client.c's lock: before LTTng's own too; no lock under its others */ \
	/* LTTng's own lock; a fork takes it before all locks that follow */ \
	X(verbs) \
	X(net) /* no lock is taken under it */ \
	X(functions) \
	X(stack) /* held while tap:stack is written; if it stays taken, no number */ \
	X(bypass) /* has no lock */ \
	X(capture) /* has no lock */ \
	X(nvtx) \
	X(thread_state) /* takes the lock of threads */ \
	X(ccl_threads) /* takes the lock of threads */ \
	X(comm) /* looks at threads, and walks libraries, under its lock */ \
	X(metrics) /* no lock is taken under it */ \
	X(threads) \
	X(libraries) /* walks under its lock */ \
	X(walk) /* only the linker's own lock is taken under it */ \
	/* no lock is taken under these */ \
	X(nccl_at) \
	X(nccl_version) \
	X(cuda) /* has no lock */ \
	X(entry) \
	X(environment) \
	X(process)
/* clang-format on */

#define DECLARE(name) extern const struct tap_layer tap_layer_##name tap_hidden;
LAYERS(DECLARE)

#define ADDRESS(name) &tap_layer_##name,
const struct tap_layer *const tap_layers[] = {LAYERS(ADDRESS)};

const unsigned tap_nr_layers = ARRAY_SIZE(tap_layers);

/* Whether fork_prepare took the layer's lock; valid between the handlers of one fork. */
static bool is_taken[ARRAY_SIZE(tap_layers)];

void tap_layers_fork_prepare(void)
{
	unsigned i;

	for (i = 0; i < tap_nr_layers; i++) {
		if (tap_layers[i]->is_locked_by_fork)
			is_taken[i] = tap_lock_take(tap_layers[i]->lock);
		TAP_LAYER_CALL(tap_layers[i], fork_prepare);
	}
}

void tap_layers_fork_parent(void)
{
	unsigned i;

	for (i = tap_nr_layers; i-- > 0;) {
		TAP_LAYER_CALL(tap_layers[i], fork_parent);
		if (tap_layers[i]->is_locked_by_fork && is_taken[i])
			tap_lock_drop(tap_layers[i]->lock);
	}
}

void tap_layers_fork_child(void)
{
	unsigned i;

	for (i = tap_nr_layers; i-- > 0;) {
		TAP_LAYER_CALL(tap_layers[i], fork_child);
		if (tap_layers[i]->lock)
			tap_lock_drop(tap_layers[i]->lock);
	}
}
