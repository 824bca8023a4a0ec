/* SPDX-License-Identifier: MIT */
/* The session of LTTng's, its folder, and the notes about both. */
#include "tools/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/answer.h"
#include "tools/descriptor.h"
#include "tools/message.h"
#include "tools/remains.h"

/* How many notes to read before other events are handled. */
#define NOTES_AT_ONCE 1024
/* How often to try again when the session daemon is killed while the recording begins. */
#define DAEMON_TRIES 3
/* A daemon that does not answer in this time costs a part of the recording. */
#define LOST_PATIENCE_SECONDS 10
/* Smallest sub-buffer where little is kept. */
#define SMALLEST_BYTES (16 << 10)

/* Chooses the buffers as requested, or as they fit. */
static int choose_buffers(const struct tap_recording *recording,
			  struct tap_session_plan *lttng)
{
	const struct tap_plan *plan = recording->plan;
	int ret;

	if (lttng->is_flight)
		ret = tap_buffers_fit_flight(plan->flight_bytes, &lttng->buffers);
	else
		ret = tap_buffers_fit(plan->buffer_bytes, &lttng->buffers);
	/*
	 * LTTng writes a sub-buffer when it is full, so the size on disk is known only in
	 * such steps.
	 */
	while (!ret && plan->max_bytes && lttng->buffers.hot_bytes > SMALLEST_BYTES &&
	       lttng->buffers.hot_bytes > plan->max_bytes / TAP_BOUND_CHUNKS / 2) {
		lttng->buffers.hot_bytes /= 2;
		lttng->buffers.hot_count *= 2;
	}
	return ret;
}

/* Makes the session of the trace, or of its next part. Returns 0 or LTTng's error. */
static int begin_session(const struct tap_recording *recording,
			 const struct tap_session_plan *lttng)
{
	char *url;
	int ret;

	if (!recording->sending.relayd)
		return tap_session_begin(recording->plan->session,
					 recording->output.absolute, lttng);
	url = tap_sending_url(&recording->sending);
	/* Without memory for it, LTTng refuses the URL. */
	ret = tap_session_begin(recording->plan->session, url ? url : "", lttng);
	free(url);
	return ret;
}

/* Returns 0, -errno after a message to the user, or LTTng's error, which is positive. */
static int try_recording(struct tap_recording *recording)
{
	const struct tap_plan *plan = recording->plan;
	struct tap_session_plan lttng = plan->lttng;
	struct tap_job job = plan->job;
	int ret = choose_buffers(recording, &lttng);
	char *path;

	if (ret)
		return ret;
	/* What `ccltap start` begins is no late rank's part of the one before. */
	if (plan->is_metrics_alone)
		job.rank = -1;
	lttng.is_sent = plan->relayd;
	path = tap_output_find(plan->folder);
	recording->remains_fd = tap_remains_note(plan->session, path);
	free(path);
	ret = tap_output_make(&recording->output, plan->folder, plan->older,
			      plan->session, plan->job_name, &job);
	if (!ret) {
		ret = -begin_session(recording, &lttng);
		if (!ret) {
			tap_remains_note_made(recording->remains_fd, plan->session);
			recording->buffers = lttng.buffers;
			if (plan->relayd) {
				tap_sending_begun(&recording->sending);
				tap_output_note_sent(&recording->output,
						     plan->relayd->shown,
						     recording->sending.folder);
			}
			return 0;
		}
		tap_output_discard(&recording->output);
		tap_output_close(&recording->output);
	}
	tap_remains_forget(recording->remains_fd, plan->session);
	recording->remains_fd = -1;
	return ret;
}

/* Before anything is made. Returns 0, or -errno after a message. */
static int find_relayd(struct tap_recording *recording)
{
	char *path;
	int ret;

	if (!recording->plan->relayd)
		return 0;
	path = tap_output_find(recording->plan->folder);
	ret = tap_sending_open(&recording->sending, recording->plan->relayd, path,
			       recording->plan->session);
	free(path);
	return ret;
}

/*
 * Ends what is left of dead recordings; the lock of the daemon is held. The daemon that
 * recorded this job before stays if it answers: its processes are connected to it, and
 * would find another one only after a while.
 */
static void clean(const struct tap_recording *recording)
{
	tap_remains_doom_daemon();
	if (!recording->was_attached || !tap_session_answers())
		tap_remains_clean(NULL);
}

/* Of a failure of LTTng's, for a message. */
static const char *what_follows(const struct tap_recording *recording)
{
	return recording->plan->is_metrics_alone ? "" : ", and the program was not run";
}

/* Returns 0, or -errno after a message. */
static int make_recording(struct tap_recording *recording, struct tap_answer *answer)
{
	int ret = find_relayd(recording), lock;

	if (ret)
		return ret;
	/* A daemon that another supervisor is about to end would still answer. */
	lock = tap_link_lock_daemon();
	clean(recording);
	if (tap_session_is_hung()) {
		tap_descriptor_close(&lock);
		return -ETIMEDOUT; /* whoever asked is told */
	}
	/* If another process kills the daemon meanwhile, it is started again. */
	for (int tries = 0; tries < DAEMON_TRIES; tries++) {
		tap_remains_doom_daemon();
		ret = tap_session_start_daemon(what_follows(recording),
					       answer->lttng_home,
					       sizeof(answer->lttng_home));
		if (ret)
			break;
		tap_remains_doom_daemon();
		ret = try_recording(recording);
		if (ret <= 0 || tap_session_is_reached())
			break;
		tap_session_end_orphans();
	}
	tap_remains_spare_daemon();
	if (ret > 0) {
		tap_message_write("LTTng cannot record into %s (%s)%s: \"lttng-sessiond "
				  "--verbose\" says why",
				  recording->plan->relayd ? recording->plan->relayd->shown
							  : recording->plan->folder,
				  tap_session_error(-ret), what_follows(recording));
		ret = -EIO;
	}
	if (ret && !recording->was_attached)
		tap_session_end_daemon();
	tap_descriptor_close(&lock);
	return ret;
}

/* The file stands where a folder would, so that messages and `ccltap status` name it. */
static int make_nothing(struct tap_recording *recording)
{
	const struct tap_plan *plan = recording->plan;

	recording->remains_fd = -1;
	recording->output = (struct tap_output){.base_fd = -1, .marker_fd = -1};
	snprintf(recording->output.job_name, sizeof(recording->output.job_name), "%s",
		 plan->job_name);
	recording->output.absolute = strdup(plan->metrics);
	return recording->output.absolute ? 0 : -ENOMEM;
}

int tap_recording_make(struct tap_recording *recording, const struct tap_plan *plan,
		       struct tap_answer *answer)
{
	int ret = 0;

	recording->plan = plan;
	recording->flight.why_fd = -1;
	recording->sending.fd = -1;
	recording->outcome.version = TAP_LINK_VERSION;
	if (plan->metrics) {
		ret = tap_metrics_open(&recording->metrics, plan->metrics);
		if (ret)
			return ret;
	}
	if (plan->metrics_listen)
		ret = tap_metrics_http_open(&recording->http, plan->metrics_listen,
					    &recording->metrics);
	if (!ret && !plan->is_metrics_alone)
		ret = make_recording(recording, answer);
	else if (!ret && !(ret = tap_session_choose_home(answer->lttng_home,
							 sizeof(answer->lttng_home))))
		ret = make_nothing(recording);
	if (ret) {
		tap_metrics_http_close(&recording->http);
		tap_metrics_close(&recording->metrics);
	}
	return ret;
}

void tap_recording_begin(struct tap_recording *recording)
{
	bool is_paused = recording->plan->lttng.is_paused;

	tap_notes_open(&recording->notes);
	recording->begin = time(NULL);
	recording->state = recording->plan->is_metrics_alone ? TAP_RECORDING_COUNTS
			   : is_paused			     ? TAP_RECORDING_STOPPED
							     : TAP_RECORDING_RUNS;
	recording->was_started = recording->state == TAP_RECORDING_RUNS;
}

void tap_recording_end_daemon(void)
{
	int lock = tap_link_lock_daemon();

	tap_session_end_daemon();
	tap_descriptor_close(&lock);
}

static void note_unrecorded(struct tap_recording *recording, const char *text)
{
	tap_notes_keep(&recording->notes, text);
	tap_output_note_unrecorded(&recording->output);
}

void tap_recording_handle_notes(struct tap_recording *recording)
{
	static const char wish[] = "snapshot ";
	char text[256];
	bool is_own;
	int fd;

	for (int i = 0; i < NOTES_AT_ONCE; i++) {
		if (!tap_notes_next(&recording->notes, text, sizeof(text), &is_own, &fd))
			return;
		if (is_own && fd >= 0 &&
		    !strncmp(text, TAP_METRICS_NOTE, strlen(TAP_METRICS_NOTE))) {
			tap_metrics_take(&recording->metrics, fd);
			continue;
		}
		tap_descriptor_close(&fd);
		if (strncmp(text, wish, strlen(wish)))
			note_unrecorded(recording,
					is_own ? text : "a process of another user");
		else if (is_own)
			tap_flight_want(recording, text + strlen(wish), false);
	}
}

static void end_session(struct tap_recording *recording, struct tap_answer *outcome)
{
	uint64_t discarded;
	bool has_hole;
	int ret;

	ret = tap_session_end(recording->plan->session, &discarded, &has_hole);
	outcome->discarded += discarded;
	/* What goes wrong since the relay daemon is gone is said as that. */
	if (tap_sending_is_lost(&recording->sending))
		return;
	outcome->session_error = ret;
	outcome->has_hole = has_hole;
}

void tap_recording_end(struct tap_recording *recording)
{
	struct tap_answer *outcome = &recording->outcome;

	/* With metrics alone there is none, and one whose relay daemon is gone has ended.
	 */
	if (recording->state != TAP_RECORDING_COUNTS &&
	    !tap_sending_is_lost(&recording->sending))
		end_session(recording, outcome);
	tap_recording_handle_notes(recording);
	outcome->unrecorded = recording->notes.count;
	snprintf(outcome->why_unrecorded, sizeof(outcome->why_unrecorded), "%s",
		 recording->notes.first);
	outcome->snapshots = recording->flight.snapshots;
	outcome->metrics_processes = recording->metrics.met;
	outcome->metrics_error = recording->metrics.error;
	outcome->unsent = recording->sending.unsent;
	tap_sending_describe(&recording->sending, outcome->lost, sizeof(outcome->lost));
	tap_output_note_lost(&recording->output, outcome->lost);
	tap_remains_forget(recording->remains_fd, recording->plan->session);
	recording->remains_fd = -1;
	recording->state = TAP_RECORDING_ENDED;
}

/*
 * What was lost before is not lost of this recording; but a process that could not be
 * recorded then still cannot.
 */
static void begin_outcome(struct tap_recording *recording)
{
	struct tap_metrics_reach reach;

	recording->outcome.discarded = 0;
	recording->outcome.has_hole = false;
	recording->outcome.session_error = 0;
	tap_recording_handle_notes(recording);
	tap_metrics_look_at_reach(&recording->metrics, &reach);
	recording->notes.count = reach.unable;
	for (unsigned i = 0; i < reach.unable; i++)
		tap_output_note_unrecorded(&recording->output);
}

int tap_recording_attach(struct tap_recording *recording, struct tap_answer *answer)
{
	struct tap_answer made = {.version = TAP_LINK_VERSION};
	int ret;

	tap_output_close(&recording->output);
	tap_output_choose_no_other();
	tap_message_keep(answer->text, sizeof(answer->text));
	ret = make_recording(recording, &made);
	tap_message_keep(NULL, 0);
	if (ret) {
		answer->error = TAP_LINK_FAILED;
		make_nothing(recording);
		return ret;
	}
	if (*answer->text)
		tap_answer_say(answer, "\n");
	tap_remains_note_joined(recording->remains_fd);
	begin_outcome(recording);
	recording->attach = time(NULL);
	recording->state = TAP_RECORDING_RUNS;
	recording->was_started = recording->was_attached = true;
	tap_metrics_wish(&recording->metrics, true);
	return 0;
}

void tap_recording_detach(struct tap_recording *recording)
{
	tap_metrics_wish(&recording->metrics, false);
	tap_recording_end(recording);
	snprintf(recording->outcome.path, sizeof(recording->outcome.path), "%s",
		 recording->output.absolute);
	tap_output_note_end(&recording->output);
	tap_output_close(&recording->output);
	make_nothing(recording);
	recording->was_started = false;
	recording->state = TAP_RECORDING_COUNTS;
}

bool tap_recording_is_watching_relayd(const struct tap_recording *recording)
{
	return recording->sending.relayd && !recording->plan->lttng.is_flight &&
	       recording->state != TAP_RECORDING_ENDED;
}

/*
 * LTTng 2.13 was seen to hang in requests about a session whose relay daemon was killed:
 * its consumer waits for ever until that has the events' descriptions. Then LTTng's
 * daemon is ended if ccltap started it and nobody else records; this recording's note
 * would say that somebody does.
 */
static void end_lost_session(struct tap_recording *recording)
{
	int lock = tap_link_lock_daemon();

	tap_remains_forget(recording->remains_fd, recording->plan->session);
	if (tap_remains_doom_daemon())
		tap_session_set_patience(LOST_PATIENCE_SECONDS);
	end_session(recording, &recording->outcome);
	tap_session_set_patience(0);
	tap_remains_spare_daemon();
	if (!tap_session_is_reached())
		tap_session_end_orphans();
	recording->remains_fd =
		tap_remains_note(recording->plan->session, recording->output.absolute);
	tap_remains_note_joined(recording->remains_fd);
	tap_descriptor_close(&lock);
}

void tap_recording_lose_relayd(struct tap_recording *recording)
{
	tap_sending_lose(&recording->sending);
	end_lost_session(recording);
}

/* Begins the next part, by another daemon if that was ended. Returns 0 or an error. */
static int begin_part(struct tap_recording *recording)
{
	struct tap_session_plan lttng = recording->plan->lttng;
	char home[sizeof(recording->outcome.lttng_home)];
	int lock = tap_link_lock_daemon(), ret;

	lttng.buffers = recording->buffers;
	lttng.is_sent = true;
	lttng.is_paused = recording->state == TAP_RECORDING_STOPPED;
	ret = tap_session_start_daemon("", home, sizeof(home));
	if (!ret)
		ret = begin_session(recording, &lttng);
	tap_descriptor_close(&lock);
	return ret;
}

void tap_recording_find_relayd_again(struct tap_recording *recording)
{
	int ret;

	if (!tap_recording_is_watching_relayd(recording) ||
	    !tap_sending_is_lost(&recording->sending) ||
	    !tap_sending_retry(&recording->sending))
		return;
	ret = begin_part(recording);
	tap_sending_resume(&recording->sending, !ret);
	if (!ret)
		tap_remains_note_made(recording->remains_fd, recording->plan->session);
	else
		end_lost_session(recording); /* the one before may not have ended */
}
