/* SPDX-License-Identifier: MIT */
/*
 * Before LTTng has started, problems go to the log alone.
 */
#include "intercept/trace.h"

#include "common/log.h"

const struct tap_events *tap_events_table;

void tap_problem(const char *what, const char *detail, uint64_t count)
{
	tap_log("%s: %s (%llu)", what, detail, (unsigned long long) count);
	if (tap_has_events())
		tap_events_table->problem(what, detail, count);
}
