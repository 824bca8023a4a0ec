/* SPDX-License-Identifier: MIT */
/* What a user asked `ccltap record` for, as the supervisor and its parts carry it out. */
#ifndef TAP_TOOLS_PLAN_H
#define TAP_TOOLS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/job.h"
#include "tools/record_output.h"
#include "tools/record_session.h"
#include "tools/relayd.h"

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
	const char *metrics;	 /* the file's absolute path, NULL: none */
	const char *metrics_listen; /* [ADDRESS:]PORT, NULL: they are not served */
	bool is_metrics_alone;	 /* nothing is recorded until `ccltap start` */
	const struct tap_relayd *relayd; /* that the trace is sent to, NULL: none */
	struct tap_session_plan lttng;	 /* except the buffers */
};

#endif
