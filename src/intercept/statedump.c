/* SPDX-License-Identifier: MIT */
/* Writes the state events, each kind by who keeps it. */
#include "intercept/statedump.h"

#include "intercept/cuda/functions.h"
#include "intercept/dl/libraries.h"
#include "intercept/guard.h"
#include "intercept/nccl/bypass.h"
#include "intercept/nccl/comm.h"
#include "intercept/process.h"
#include "intercept/resolve.h"
#include "intercept/stack/stack.h"
#include "intercept/thread_state.h"
#include "intercept/trace.h"

/*
 * Mostly by a thread of LTTng's, while LTTng holds a lock that it takes around a fork too: so
 * what is locked here is locked after it, there as well (start.c).
 */
void tap_state_write(void)
{
	const struct tap_guard guard = tap_guard_set();
	uint32_t libraries, comms, threads, stacks;
	bool all_threads;

	tap_process_write();
	libraries = tap_libraries_write();
	comms = tap_comms_write();
	threads = tap_threads_write(&all_threads);
	tap_unseen_tell(true);
	stacks = tap_stacks_write();
	tap_functions_write();
	TAP_LAYERS_CALL(write_state);
	tap_events_table->state_end(libraries, comms, threads, stacks, all_threads);
	tap_guard_clear(guard);
}

void tap_state_prepare(void)
{
	if (!tap_events_table->set_state(tap_state_write))
		tap_problem("not recorded", "state, when a session starts: LTTng refused",
			    1);
}
