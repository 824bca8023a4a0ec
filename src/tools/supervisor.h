/* SPDX-License-Identifier: MIT */
/*
 * The process that owns a recording.  Those that run a program each are its members; they
 * may be killed at any time, and their programs with or without them, so that what ends
 * the recording is here: when the last program has ended and nobody waits for it any
 * more.
 *
 * Hides when a flight recorder's snapshot is due, and how the size of what is kept is
 * bounded.
 */
#ifndef TAP_TOOLS_SUPERVISOR_H
#define TAP_TOOLS_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/job.h"
#include "tools/record_session.h"

/* What the user asked for. */
struct tap_plan {
	const char *folder;
	bool overwrite;
	uint64_t buffer_bytes;	 /* of each processor, 0: what fits */
	uint64_t flight_bytes;	 /* of a flight recorder in all, 0: what fits */
	uint64_t max_bytes;	 /* on disk, 0: without a bound */
	unsigned min_interval_s; /* between snapshots that nobody asked for */
	const char *session;	 /* its name */
	const char *job_name;	 /* for CCLTAP_JOB */
	struct tap_job job;
	struct tap_session_plan lttng; /* but for the buffers */
};

/*
 * Makes the recording and looks after it until its end; `link` is the first member's, and
 * others come by listen_fd, at `place`.  Errors before there is a recording are told on
 * stderr.  To be called in a process of its own, of which it takes everything; does not
 * return.
 */
void tap_supervisor_run(const struct tap_plan *plan, const char *place, int listen_fd,
			int link) __attribute__((noreturn));

#endif
