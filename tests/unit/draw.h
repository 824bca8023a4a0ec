/* SPDX-License-Identifier: MIT */
/* Numbers by chance, which are the same ones in each run. */
#ifndef TAP_TESTS_UNIT_DRAW_H
#define TAP_TESTS_UNIT_DRAW_H

#include <stdint.h>

static uint64_t draw_state = 88172645463325252u;

static inline uint64_t draw_bits(void)
{
	draw_state ^= draw_state << 13;
	draw_state ^= draw_state >> 7;
	draw_state ^= draw_state << 17;
	return draw_state;
}

/* One of so many, from 0. */
static inline uint64_t draw(uint64_t below)
{
	return (draw_bits() >> 20) % below;
}

#endif
