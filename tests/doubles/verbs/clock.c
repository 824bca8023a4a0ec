/* SPDX-License-Identifier: MIT */
/* Small things that every part counts with. */
#include "soft.h"

#include <time.h>

pthread_mutex_t soft_lock = PTHREAD_MUTEX_INITIALIZER;
struct soft_qps soft_qps = LIST_HEAD_INITIALIZER(soft_qps);

uint64_t soft_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

uint32_t soft_pow2(uint32_t at_least)
{
	uint32_t power = 1;

	while (power < at_least)
		power *= 2;
	return power;
}

/* Numbers of objects are never used again, so an old event finds nothing. */
uint32_t soft_new_handle(void)
{
	static atomic_uint last;

	return atomic_fetch_add(&last, 1) + 1;
}
