/* SPDX-License-Identifier: MIT */
/*
 * A thread that looks once a second which calls have not returned, since the calling
 * thread cannot report it.
 *
 * It hides that thread, which a process has from its first recorded call on, and the
 * reaction to a call that does not return: it writes tap:open_call and asks for a
 * snapshot.  It looks under the lock of threads.c, and writes and asks without that lock.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "common/clock.h"
#include "common/helper.h"
#include "intercept/layer.h"
#include "intercept/recorder.h"
#include "intercept/sample.h"
#include "intercept/thread_state.h"
#include "intercept/trace.h"

/* Enough for LTTng and snprintf(), and for the program's thread-local storage. */
#define STACK_BYTES (256 << 10)

/* Calls reported at one look; the next look reports the rest. */
#define NR_SEEN 64

static int64_t stuck_ns; /* 0: however long a call takes */

/* Parses "30" or "0.5" independently of the program's locale; -1: not a number. */
static int64_t parse_seconds(const char *text)
{
	int64_t ns = 0, unit = 1000000000;
	const char *digit;

	for (digit = text;
	     *digit >= '0' && *digit <= '9' && ns < INT64_C(1000000000000000); digit++)
		ns = ns * 10 + (*digit - '0') * unit;
	if (digit == text)
		return -1;
	if (*digit == '.')
		for (digit++; *digit >= '0' && *digit <= '9'; digit++) {
			unit /= 10;
			ns += (*digit - '0') * unit;
		}
	return *digit ? -1 : ns;
}

/* Reads CCLTAP_STUCK_AFTER. */
static void prepare(void)
{
	const char *value = getenv("CCLTAP_STUCK_AFTER");

	if (!value || !*value)
		return;
	stuck_ns = parse_seconds(value);
	if (stuck_ns >= 0)
		return;
	stuck_ns = 0;
	tap_problem("watchdog", "CCLTAP_STUCK_AFTER is no number of seconds", 1);
}

static void ask(const struct tap_thread_state *state)
{
	char why[128];

	snprintf(why, sizeof(why),
		 "%s has not returned for %" PRIu64 " s (thread %" PRId32 ")",
		 state->function, state->min_ns / 1000000000, state->tid);
	tap_recorder_ask_snapshot(why);
}

static void look(void)
{
	static struct tap_thread_seen seen[NR_SEEN];
	const uint32_t nr = tap_threads_look(stuck_ns, seen, NR_SEEN);
	bool is_due = false;
	uint32_t i;

	for (i = 0; i < nr; i++) {
		if (seen[i].is_due)
			tap_events_table->open_call(&seen[i].state);
		is_due |= seen[i].is_due;
	}
	for (i = 0; i < nr; i++)
		if (seen[i].is_new || seen[i].is_due)
			tap_sample_thread(&seen[i]);
	tap_sample_proxies(is_due);
	/* The snapshot must contain the events written above. */
	for (i = 0; i < nr; i++)
		if (seen[i].is_stuck)
			ask(&seen[i].state);
	TAP_LAYERS_CALL(look, stuck_ns);
	/* Last, since files are read for it, which may take long. */
	tap_sample_layers();
}

static void *run_watchdog(void *unused)
{
	bool is_wanted;

	prctl(PR_SET_NAME, "ccltap");
	for (;;) {
		is_wanted =
			__atomic_load_n(tap_events_table->open_call_on, __ATOMIC_RELAXED);
		if (is_wanted)
			look();
		tap_helper_rest((is_wanted ? 1 : 5) * TAP_SECOND_NS);
	}
	return unused;
}

static void announce(void)
{
	if (tap_helper_make(run_watchdog, NULL, STACK_BYTES))
		tap_problem("not recorded",
			    "watchdog thread failed: stuck calls are not reported", 1);
}

const struct tap_layer tap_layer_watchdog = {
	.prepare = prepare,
	.announce = announce,
};
