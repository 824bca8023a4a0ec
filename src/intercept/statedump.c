/* SPDX-License-Identifier: MIT */
/* Has each layer write the state of what it keeps. */
#include "intercept/statedump.h"

#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/trace.h"

/*
 * Mostly by a thread of LTTng's, while LTTng holds a lock that it takes around a fork too: so
 * what is locked here is locked after it, there as well (start.c).
 */
void tap_statedump_write(void)
{
	const struct tap_guard guard = tap_guard_set();
	struct tap_state_counts n = {0};

	TAP_LAYERS_CALL_BACK(write_statedump, &n);
	tap_events_table->statedump_end(n.libraries, n.comms, n.threads, n.stacks,
					n.all_threads);
	tap_guard_clear(guard);
}

void tap_statedump_prepare(void)
{
	if (!tap_events_table->set_statedump(tap_statedump_write))
		tap_problem("not recorded", "state, when a session starts: LTTng refused",
			    1);
}
