/* SPDX-License-Identifier: MIT */
/*
 * The table of layers, whose order is that of their locks: who holds the lock of a layer
 * takes that of a later one alone.  What each is held around says doc/INTERNALS.md.
 *
 * So a fork locks from the first to the last, after LTTng's own lock, and unlocks from
 * the last to the first.  The other hooks go along it in one direction or the other:
 *
 *   prepare, look, library_met, thread_ends      from the first to the last
 *   announce, write_state, expire                from the last to the first: the process
 *                                                and its libraries are written before what
 *                                                names them, and tap_epoch counts before
 *                                                what was resolved is forgotten
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
