/* SPDX-License-Identifier: MIT */
/*
 * Calls each layer to write its part of the state dump.
 */
#include "intercept/statedump.h"

#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/trace.h"

/*
 * Usually run by a thread of LTTng, which holds a lock that LTTng also takes around a
 * fork.  Locks taken here are therefore taken after that lock around a fork too
 * (start.c).
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
