/* SPDX-License-Identifier: MIT */
/* A few objects, those asked for last. */
#include "intercept/dl/nccl_at.h"

#include "common/lock.h"
#include "intercept/guard.h"
#include "intercept/layer.h"

/* `unloads` is written last: tap_any_unloads + 1 when the object was found, 0: none. */
static struct place {
	struct tap_library_range range;
	uint32_t unloads;
} places[16];
static unsigned next_place;
static struct tap_lock lock;

/* The second read of `unloads` detects that another thread reuses the place. */
static bool is_here(const struct place *place, uintptr_t address, uint32_t unloads,
		    struct tap_library_range *ret_range)
{
	const struct tap_library_range *range = &place->range;

	if (__atomic_load_n(&place->unloads, __ATOMIC_ACQUIRE) != unloads ||
	    address < __atomic_load_n(&range->start, __ATOMIC_RELAXED) ||
	    address >= __atomic_load_n(&range->end, __ATOMIC_RELAXED))
		return false;
	ret_range->start = __atomic_load_n(&range->start, __ATOMIC_RELAXED);
	ret_range->end = __atomic_load_n(&range->end, __ATOMIC_RELAXED);
	ret_range->code_start = __atomic_load_n(&range->code_start, __ATOMIC_RELAXED);
	ret_range->code_end = __atomic_load_n(&range->code_end, __ATOMIC_RELAXED);
	ret_range->nccl = __atomic_load_n(&range->nccl, __ATOMIC_RELAXED);
	ret_range->starts_std_threads =
		__atomic_load_n(&range->starts_std_threads, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&place->unloads, __ATOMIC_RELAXED) == unloads;
}

static void keep(const struct tap_library_range *range, uint32_t unloads)
{
	struct place *place;

	if (!tap_lock_take(&lock))
		return;
	place = &places[next_place++ % ARRAY_SIZE(places)];
	__atomic_store_n(&place->unloads, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&place->range.start, range->start, __ATOMIC_RELAXED);
	__atomic_store_n(&place->range.end, range->end, __ATOMIC_RELAXED);
	__atomic_store_n(&place->range.code_start, range->code_start, __ATOMIC_RELAXED);
	__atomic_store_n(&place->range.code_end, range->code_end, __ATOMIC_RELAXED);
	__atomic_store_n(&place->range.nccl, range->nccl, __ATOMIC_RELAXED);
	__atomic_store_n(&place->range.starts_std_threads, range->starts_std_threads,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&place->unloads, unloads, __ATOMIC_RELEASE);
	tap_lock_drop(&lock);
}

struct tap_library_range tap_nccl_at(uintptr_t address)
{
	const uint32_t unloads = __atomic_load_n(&tap_any_unloads, __ATOMIC_ACQUIRE) + 1;
	struct tap_library_range range;
	struct tap_guard guard;
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (is_here(&places[i], address, unloads, &range))
			return range;
	guard = tap_guard_set();
	range = tap_library_range((const void *) address);
	if (range.start)
		keep(&range, unloads);
	tap_guard_clear(guard);
	return range;
}

const struct tap_layer tap_layer_nccl_at = {
	.lock = &lock,
};
