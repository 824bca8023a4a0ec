/* SPDX-License-Identifier: MIT */
/*
 * A cache of a few addresses, read without a lock.
 */
#include "intercept/dl/nccl_version.h"

#include "calls/nccl_types.h"
#include "common/lock.h"
#include "intercept/dl/libraries.h"
#include "intercept/guard.h"
#include "intercept/layer.h"

#define NR_PLACES 16 /* an NCCL launches from two addresses */

/* A place of an earlier epoch is invalid.  address is written last. */
static struct place {
	const void *address;
	uint32_t epoch, version;
} places[NR_PLACES];
static unsigned next_place;
static struct tap_lock lock; /* guards writes */

typedef ncclResult_t (*get_version)(int *version);

static uint32_t ask(const void *address)
{
	static const char *const name = "ncclGetVersion";
	void *found = NULL;
	int version = 0;

	tap_library_functions(address, NULL, &name, &found, 1);
	if (!found || ((get_version) found)(&version) || version < 0)
		return 0;
	tap_library_watch(address);
	return (uint32_t) version;
}

uint32_t tap_nccl_version_at(const void *address)
{
	struct tap_guard guard;
	uint32_t version;
	struct place *p;
	unsigned i;

	for (i = 0; i < NR_PLACES; i++) {
		p = &places[i];
		if (__atomic_load_n(&p->address, __ATOMIC_ACQUIRE) != address)
			continue;
		version = p->version;
		if (p->epoch == tap_epoch &&
		    __atomic_load_n(&p->address, __ATOMIC_ACQUIRE) == address)
			return version;
	}
	guard = tap_guard_set();
	version = ask(address);
	if (tap_lock_take(&lock)) {
		p = &places[next_place++ % NR_PLACES];
		__atomic_store_n(&p->address, NULL, __ATOMIC_RELEASE);
		p->epoch = tap_epoch;
		p->version = version;
		__atomic_store_n(&p->address, address, __ATOMIC_RELEASE);
		tap_lock_drop(&lock);
	}
	tap_guard_clear(guard);
	return version;
}

const struct tap_layer tap_layer_nccl_version = {
	.lock = &lock,
};
