/* SPDX-License-Identifier: MIT */
/* One mapping, with a bit for each of its buffers that CUPTI holds. */
#include "cupti/buffers.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

static uint8_t *memory;
static uint32_t taken;

int tap_cupti_buffers_make(void)
{
	void *found;

	if (memory)
		return 0;
	found = mmap(NULL, TAP_CUPTI_NR_BUFFERS * TAP_CUPTI_BUFFER_BYTES,
		     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (found == MAP_FAILED)
		return -ENOMEM;
	memory = found;
	return 0;
}

uint8_t *tap_cupti_buffer_take(void)
{
	uint32_t before = __atomic_load_n(&taken, __ATOMIC_RELAXED), free_bit;

	for (;;) {
		free_bit = ~before & (before + 1);
		if (!memory || free_bit >> TAP_CUPTI_NR_BUFFERS)
			return NULL;
		if (__atomic_compare_exchange_n(&taken, &before, before | free_bit, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return memory + __builtin_ctz(free_bit) * TAP_CUPTI_BUFFER_BYTES;
	}
}

void tap_cupti_buffer_drop(uint8_t *buffer)
{
	const size_t place = (size_t) (buffer - memory) / TAP_CUPTI_BUFFER_BYTES;

	/*
	 * Any other buffer belongs to another client, whose records CUPTI handed to the
	 * tracer.
	 */
	if (memory && buffer >= memory && place < TAP_CUPTI_NR_BUFFERS)
		__atomic_fetch_and(&taken, ~(UINT32_C(1) << place), __ATOMIC_RELEASE);
}
