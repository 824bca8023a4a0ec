/* SPDX-License-Identifier: MIT */
/*
 * The process that owns a recording. Its members are the recorders that run a program
 * each. They may be killed at any time, and their programs with or without them, so the
 * supervisor ends the recording: when the last program has ended and no member waits for
 * it.
 *
 * Hides when a flight recorder's snapshot is due, and how the size on disk is bounded.
 */
#ifndef TAP_TOOLS_SUPERVISOR_H
#define TAP_TOOLS_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/job.h"
#include "tools/record_output.h"
#include "tools/record_session.h"
#include "tools/relayd.h"

/* What the user asked for. */
struct tap_plan {
	const char *folder;
	enum tap_output_older older;
	uint64_t buffer_bytes;	 /* per processor, 0: what fits */
	uint64_t flight_bytes;	 /* of a flight recorder in all, 0: what fits */
	uint64_t max_bytes;	 /* on disk, 0: without a bound */
	unsigned min_interval_s; /* between automatic snapshots */
	const char *session;	 /* its name */
	const char *job_name;	 /* for CCLTAP_JOB */
	struct tap_job job;
	const struct tap_relayd *relayd; /* that the trace is sent to, NULL: none */
	struct tap_session_plan lttng; /* except the buffers */
};

/*
 * Makes the recording and owns it until its end; `link` is the connection of the first
 * member, others connect to listen_fd, at `place`. Errors before the recording exists are
 * reported on stderr. The caller is a process of its own, which this function takes over
 * entirely.
 */
void tap_supervisor_run(const struct tap_plan *plan, const char *place, int listen_fd,
			int link) __attribute__((noreturn));

#endif
