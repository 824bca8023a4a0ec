/* SPDX-License-Identifier: MIT */
/* Differences of times that a damaged trace may have, which overflow without harm. */
#ifndef TAP_JOIN_BASE_TIME_H
#define TAP_JOIN_BASE_TIME_H

#include <stdint.h>

static inline int64_t tap_since_ns(int64_t ns, int64_t earlier_ns)
{
	return (int64_t) ((uint64_t) ns - (uint64_t) earlier_ns);
}

#endif
