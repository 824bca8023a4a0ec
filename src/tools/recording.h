/* SPDX-License-Identifier: MIT */
/*
 * What a supervisor owns: the session of LTTng's, its folder, and what is known of both.
 * One for each process; only the supervisor's loop changes it.
 *
 * Hides how a session is made while other processes end LTTng's daemon, and how another
 * one begins when a relay daemon comes back.
 */
#ifndef TAP_TOOLS_RECORDING_H
#define TAP_TOOLS_RECORDING_H

#include <stdbool.h>
#include <time.h>

#include "tools/bound.h"
#include "tools/control_socket.h"
#include "tools/flight.h"
#include "tools/metrics.h"
#include "tools/metrics_http.h"
#include "tools/plan.h"
#include "tools/readers.h"
#include "tools/record_buffers.h"
#include "tools/record_notes.h"
#include "tools/record_output.h"
#include "tools/sending.h"

enum tap_recording_state {
	TAP_RECORDING_RUNS,
	TAP_RECORDING_STOPPED,
	TAP_RECORDING_ENDED,
	/* With metrics alone there is no session, and no folder, until one is attached.
	 */
	TAP_RECORDING_COUNTS,
};

struct tap_recording {
	const struct tap_plan *plan;
	struct tap_output output;
	struct tap_buffers buffers;
	struct tap_sending sending;
	struct tap_notes notes;
	int remains_fd; /* the locked note of this recording */
	enum tap_recording_state state;
	bool was_started;
	bool was_attached; /* a session was made for processes that only count */
	time_t begin;
	time_t attach; /* when that session was made */
	struct tap_flight flight;
	struct tap_bound bound;
	struct tap_readers readers;
	struct tap_metrics metrics;
	struct tap_metrics_http http;
	struct tap_answer outcome; /* the answer to every member at the end */
};

/*
 * Makes the recording of `plan`, which outlives it, and fills in LTTNG_HOME for its
 * programs. Returns 0, or -errno after a message to the user.
 */
int tap_recording_make(struct tap_recording *recording, const struct tap_plan *plan,
		       struct tap_answer *answer);
/* From here on its programs are told apart from others, and it counts as begun. */
void tap_recording_begin(struct tap_recording *recording);

/* Handles notes: a process could not be recorded, or a snapshot is due. */
void tap_recording_handle_notes(struct tap_recording *recording);

/* Whether sending.fd says when the relay daemon goes away. */
bool tap_recording_is_watching_relayd(const struct tap_recording *recording);
/* It went away. */
void tap_recording_lose_relayd(struct tap_recording *recording);
/* Begins another session once it is back. */
void tap_recording_find_relayd_again(struct tap_recording *recording);

/*
 * With metrics alone: makes a session, and has the processes that are counted load LTTng.
 * Returns 0, or -errno with the reason in `answer`, and then they are counted as before.
 */
int tap_recording_attach(struct tap_recording *recording, struct tap_answer *answer);
/* Ends that session; the processes are counted as before. */
void tap_recording_detach(struct tap_recording *recording);

/* Ends the session and fills in the outcome. */
void tap_recording_end(struct tap_recording *recording);
/* Ends LTTng's daemon if ccltap started it and nobody else records. */
void tap_recording_end_daemon(void);

#endif
