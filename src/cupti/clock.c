/* SPDX-License-Identifier: MIT */
/* The timestamp callback, and pairs of readings. */
#include "cupti/clock.h"

#include "common/clock.h"
#include "intercept/resolve.h"

#define NR_PAIRS 16

int64_t tap_cupti_offset_ns;

static bool by_pairs;
static uint64_t residual_ns;

uint64_t tap_cupti_now(void)
{
	return (uint64_t) tap_now_ns();
}

/* Keeps the pair that was read closest together; returns false if CUPTI gives no time. */
static bool read_pairs(const struct tap_cupti_library *library, int64_t *ret_offset,
		       uint64_t *ret_residual)
{
	bool found = false;
	int i;

	for (i = 0; i < NR_PAIRS; i++) {
		const uint64_t before = tap_cupti_now();
		uint64_t theirs, after, residual;

		if (library->GetTimestamp(&theirs))
			continue;
		after = tap_cupti_now();
		residual = (after - before + 1) / 2;
		if (found && residual >= *ret_residual)
			continue;
		*ret_residual = residual;
		*ret_offset = (int64_t) (before + residual - theirs);
		found = true;
	}
	return found;
}

void tap_cupti_clock_begin(const struct tap_cupti_library *library)
{
	int64_t offset = 0;

	residual_ns = 0;
	by_pairs = !library->ActivityRegisterTimestampCallback ||
		   library->ActivityRegisterTimestampCallback(tap_cupti_now);
	if (by_pairs && !read_pairs(library, &offset, &residual_ns))
		tap_problem("gpu", "CUPTI does not report its time", 1);
	__atomic_store_n(&tap_cupti_offset_ns, offset, __ATOMIC_RELAXED);
}

/* CUPTI goes by the time of day, which may be set. */
void tap_cupti_clock_look(const struct tap_cupti_library *library)
{
	uint64_t residual, moved;
	int64_t offset;

	if (!by_pairs || !read_pairs(library, &offset, &residual))
		return;
	moved = (uint64_t) __builtin_llabs(offset - tap_cupti_offset_ns);
	if (moved <= residual + residual_ns)
		return;
	residual_ns = residual;
	__atomic_store_n(&tap_cupti_offset_ns, offset, __ATOMIC_RELAXED);
	tap_cupti_clock_emit();
}

void tap_cupti_clock_emit(void)
{
	const struct tap_gpu_clock clock = {
		.kind = by_pairs ? TAP_GPU_CLOCK_PAIRS : TAP_GPU_CLOCK_CALLBACK,
		.offset_ns = tap_cupti_offset_ns,
		.residual_ns = residual_ns,
	};

	tap_events_table->gpu.clock(&clock);
}
