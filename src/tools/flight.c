/* SPDX-License-Identifier: MIT */
/* When a snapshot is due, and the program that reads it. */
#include "tools/flight.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/clock.h"
#include "tools/descriptor.h"
#include "tools/recording.h"
#include "tools/snapshots.h"
#include "tools/why_beside.h"

void tap_flight_want(struct tap_recording *recording, const char *reason, bool is_death)
{
	if (!recording->plan->lttng.is_flight || recording->state != TAP_RECORDING_RUNS ||
	    (recording->flight.is_due &&
	     (!is_death || recording->flight.is_due_to_death)))
		return;
	recording->flight.is_due = true;
	recording->flight.is_due_to_death = is_death;
	snprintf(recording->flight.due_reason, sizeof(recording->flight.due_reason), "%s",
		 reason);
}

int tap_flight_take(struct tap_recording *recording, const char *reason)
{
	int ret;

	recording->flight.is_due = false;
	recording->flight.last_ms = tap_now_ms();
	/* If this fails, the snapshot lacks the state but has the calls. */
	tap_session_regenerate_statedump(recording->plan->session);
	ret = tap_session_snapshot(recording->plan->session);
	if (ret < 0) {
		recording->sending.unsent += !!recording->plan->relayd;
		return ret;
	}
	recording->flight.snapshots++;
	snprintf(recording->flight.last_reason, sizeof(recording->flight.last_reason),
		 "%s", reason);
	tap_output_note_snapshot(&recording->output, reason);
	return 0;
}

int64_t tap_flight_due_ms(const struct tap_recording *recording)
{
	if (!recording->flight.snapshots)
		return 0;
	return recording->flight.last_ms +
	       (int64_t) recording->plan->min_interval_s * 1000;
}

/* Has the newest snapshot read, so that what is wrong stands beside the trace. */
static void start_why(struct tap_recording *recording)
{
	char *newest = tap_snapshots_newest(recording->output.absolute);

	recording->flight.why_is_due = false;
	if (!newest)
		return;
	recording->flight.why_pid =
		tap_why_beside_start(recording->output.absolute, newest);
	if (recording->flight.why_pid > 0)
		recording->flight.why_fd =
			(int) syscall(SYS_pidfd_open, recording->flight.why_pid, 0);
	else
		recording->flight.why_pid = 0;
	free(newest);
}

void tap_flight_end_why(struct tap_recording *recording, int status)
{
	tap_why_beside_end(recording->output.absolute, status);
	recording->flight.why_pid = 0;
	tap_descriptor_close(&recording->flight.why_fd);
	if (recording->flight.why_is_due)
		start_why(recording);
}

void tap_flight_take_unasked(struct tap_recording *recording)
{
	if (tap_flight_take(recording, recording->flight.due_reason))
		return;
	if (recording->flight.why_pid)
		recording->flight.why_is_due = true;
	else
		start_why(recording);
}

void tap_flight_take_due(struct tap_recording *recording)
{
	if (recording->flight.is_due && recording->state == TAP_RECORDING_RUNS &&
	    tap_now_ms() >= tap_flight_due_ms(recording))
		tap_flight_take_unasked(recording);
}
