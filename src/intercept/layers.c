/* SPDX-License-Identifier: MIT */
/*
 * The table of layers, whose order is that of their locks: who holds the lock of a layer
 * takes that of a later one alone.  What each is held around says doc/INTERNALS.md.
 *
 * So a fork locks from the first to the last, after LTTng's own lock, and unlocks from
 * the last to the first.  announce, write_statedump and expire go from the last to the
 * first too: the process and its libraries are written before what names them, and
 * tap_epoch counts before what was resolved is forgotten.  All other hooks go from the
 * first to the last.
 *
 * The layers are known here by name alone, those of src/verbs and src/cupti too.
 */
#include "intercept/layer.h"

/* clang-format off */
#define LAYERS(X) \
	X(watchdog) /* has no lock */ \
	X(cupti) /* that of client.c is outside of LTTng's own too; under its others nothing */ \
	/* LTTng's own lock; a fork takes it before all that follow */ \
	X(verbs) \
	X(functions) \
	X(stack) /* held while tap:stack is written; who cannot have it goes without */ \
	X(bypass) /* has no lock */ \
	X(capture) /* has no lock */ \
	X(nvtx) \
	X(thread_state) /* takes that of threads */ \
	X(comm) /* looks at threads, and asks libraries, under it */ \
	X(threads) \
	X(libraries) /* walks under it */ \
	X(walk) /* nothing but the linker's own is taken under it */ \
	/* nothing at all is taken under these */ \
	X(nccl_version) \
	X(cuda) /* has no lock */ \
	X(entry) \
	X(process)
/* clang-format on */

#define DECLARE(name) extern const struct tap_layer tap_layer_##name tap_hidden;
LAYERS(DECLARE)

#define ADDRESS(name) &tap_layer_##name,
const struct tap_layer *const tap_layers[] = {LAYERS(ADDRESS)};

const unsigned tap_nr_layers = ARRAY_SIZE(tap_layers);

/* Between the handlers of one fork: whether the layer's lock could be had. */
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
