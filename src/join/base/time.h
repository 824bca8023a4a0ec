/* SPDX-License-Identifier: MIT */
/*
 * Differences of times; a damaged trace may have times whose difference overflows, which
 * does no harm here.
 */
#ifndef TAP_JOIN_BASE_TIME_H
#define TAP_JOIN_BASE_TIME_H

#include <stdint.h>

static inline int64_t tap_since_ns(int64_t ns, int64_t earlier_ns)
{
	return (int64_t) ((uint64_t) ns - (uint64_t) earlier_ns);
}

#endif
