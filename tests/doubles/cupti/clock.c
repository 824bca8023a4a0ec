/* SPDX-License-Identifier: MIT */
/*
 * CUPTI's clock: CLOCK_REALTIME, or the callback that a client registers.  What the
 * device did is told in CLOCK_MONOTONIC and moved to that clock when it is delivered, as
 * the real one interpolates its stamps.
 */
#include "double.h"

#include <time.h>

static _Atomic(CUpti_TimestampCallbackFunc) callback;

static int64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t double_monotonic(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t double_time(void)
{
	CUpti_TimestampCallbackFunc function = atomic_load(&callback);

	return function ? function() : (uint64_t) read_clock(CLOCK_REALTIME);
}

/* The closest of some readings; 0 where that is as good as any: the same clock. */
int64_t double_time_offset(void)
{
	int64_t best = INT64_MAX;
	int64_t offset = 0;
	int64_t before;
	int64_t after;
	int64_t now;
	int i;

	for (i = 0; i < 8; i++) {
		before = double_monotonic();
		now = (int64_t) double_time();
		after = double_monotonic();
		if (now >= before && now <= after)
			return 0;
		if (after - before >= best)
			continue;
		best = after - before;
		offset = now - before - best / 2;
	}
	return offset;
}

DOUBLE_EXPORT CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
	CUptiResult res = double_begin(__func__);

	if (res)
		return res;
	if (!timestamp)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*timestamp = double_time();
	return CUPTI_SUCCESS;
}

DOUBLE_EXPORT CUptiResult
cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc funcTimestamp)
{
	CUptiResult res = double_begin_with_driver(__func__);

	if (res)
		return res;
	if (!funcTimestamp)
		return CUPTI_ERROR_INVALID_PARAMETER;
	atomic_store(&callback, funcTimestamp);
	double_log("clock");
	return CUPTI_SUCCESS;
}
