/* SPDX-License-Identifier: MIT */
/*
 * In which order things are gone on with that could be in any: from the first, or from
 * one that is drawn.
 *
 * Hides how it is drawn.
 */
#ifndef MINI_NCCL_ORDER_H
#define MINI_NCCL_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Where to begin with `count` things; the state is a seed at first, 0: always with 0. */
static inline size_t mini_order(uint64_t *state, size_t count)
{
	if (!*state || count == 0)
		return 0;
	/* xorshift64 */
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (size_t) (*state % count);
}

#endif
