/* SPDX-License-Identifier: MIT */
/* One function for each verb. */
#include "tools/requests.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "tools/answer.h"
#include "tools/peers.h"
#include "tools/readers.h"
#include "tools/recording.h"

/* How long to wait for processes that call NCCL all the time, and for those that load LTTng. */
#define REACH_MS 500
#define LOADING_MS 3000
#define REACH_PAUSE_MS 10

static void say_reach(struct tap_recording *recording,
		      const struct tap_metrics_reach *reach, struct tap_answer *answer)
{
	tap_recording_handle_notes(recording);
	tap_answer_say(answer, "  recorded: %u of %u processes", reach->attached,
		       reach->running);
	if (*reach->waiting)
		tap_answer_say(answer, "; %s: %s",
			       recording->state == TAP_RECORDING_RUNS
				       ? "from their next call of NCCL or CUDA on"
				       : "not yet",
			       reach->waiting);
	if (reach->unable)
		tap_answer_say(answer, "; %u cannot be", reach->unable);
	if (recording->notes.count)
		tap_answer_say(answer, ": %s", recording->notes.first);
	tap_answer_say(answer, "\n");
}

/* Says at once when all are there. */
static void wait_for_reach(struct tap_recording *recording, struct tap_answer *answer)
{
	const struct timespec pause = {.tv_nsec = REACH_PAUSE_MS * 1000000};
	const int64_t begin_ms = tap_now_ms();
	struct tap_metrics_reach reach;

	for (;;) {
		tap_metrics_look_at_reach(&recording->metrics, &reach);
		if (!*reach.waiting ||
		    tap_now_ms() - begin_ms > (reach.loading ? LOADING_MS : REACH_MS))
			break;
		nanosleep(&pause, NULL);
	}
	say_reach(recording, &reach, answer);
}

static void describe_members(const struct tap_recording *recording,
			     const struct tap_peers *peers, struct tap_answer *answer)
{
	char name[64];

	for (size_t i = 0; i < peers->all.count; i++) {
		const struct tap_peer *peer = &peers->all.items[i];

		if (!peer->is_member)
			continue;
		tap_peer_name(peer, name, sizeof(name));
		tap_answer_say(answer, "  %s: %s\n", name,
			       peer->is_waiting ? "has ended"
			       : recording->state == TAP_RECORDING_COUNTS ? "is counted"
			       : recording->state == TAP_RECORDING_ENDED
				       ? "is running and no longer recorded"
			       : peer->link < 0 ? "is recorded, its recorder was killed"
						: "is recorded");
	}
}

static void describe_sending(const struct tap_recording *recording,
			     struct tap_answer *answer)
{
	char lost[sizeof(answer->lost)];

	tap_sending_describe(&recording->sending, lost, sizeof(lost));
	tap_answer_say(answer, "  sent to: the relay daemon at %s, %s there%s%s\n",
		       answer->relay, answer->relay_folder, *lost ? "; " : "", lost);
}

static void describe_metrics(const struct tap_recording *recording,
			     struct tap_answer *answer)
{
	const struct tap_metrics *metrics = &recording->metrics;

	tap_answer_say(answer, "  metrics: %u process%s, in %s%s%s%s%s\n", metrics->met,
		       metrics->met == 1 ? "" : "es", metrics->file,
		       *recording->http.url ? " and at " : "", recording->http.url,
		       metrics->error ? ", which cannot be written: " : "",
		       metrics->error ? strerror(metrics->error) : "");
}

static void describe(struct tap_recording *recording, const struct tap_peers *peers,
		     struct tap_answer *answer)
{
	static const char *const states[] = {"recording", "stopped", "ended", "counting"};
	const bool is_attached = recording->plan->is_metrics_alone &&
				 recording->state != TAP_RECORDING_COUNTS;
	struct tm begin;
	char time_text[32] = "";

	if (localtime_r(is_attached ? &recording->attach : &recording->begin, &begin))
		strftime(time_text, sizeof(time_text), "%Y-%m-%d %H:%M:%S", &begin);
	tap_answer_fill_joined(answer, recording);
	tap_answer_say(answer, "%s: %s%s since %s, in %s\n", recording->plan->session,
		       recording->state == TAP_RECORDING_STOPPED &&
				       !recording->was_started
			       ? "paused"
			       : states[recording->state],
		       recording->plan->lttng.is_flight ? " (flight recorder)" : "",
		       time_text, recording->output.absolute);
	if (recording->plan->metrics)
		describe_metrics(recording, answer);
	if (is_attached) {
		struct tap_metrics_reach reach;

		tap_metrics_look_at_reach(&recording->metrics, &reach);
		say_reach(recording, &reach, answer);
	} else if (recording->plan->is_metrics_alone) {
		tap_answer_say(answer, "  supervisor: process %d\n", getpid());
		describe_members(recording, peers, answer);
		return;
	}
	tap_answer_say(answer,
		       "  supervisor: process %d; %" PRIu64 " KiB on disk, %" PRIu64
		       " events discarded\n",
		       getpid(), tap_output_size(&recording->output, NULL) / 1024,
		       recording->outcome.discarded +
			       (recording->state == TAP_RECORDING_ENDED
					? 0
					: tap_session_discarded(
						  recording->plan->session)));
	if (tap_session_is_hung())
		tap_answer_say(answer, "  the LTTng session daemon does not answer: look "
				       "after lttng-sessiond\n");
	if (recording->plan->relayd)
		describe_sending(recording, answer);
	if (recording->plan->lttng.is_flight)
		tap_answer_say(answer, "  snapshots: %u%s%s\n",
			       recording->flight.snapshots,
			       recording->flight.snapshots ? ", the last for: " : "",
			       recording->flight.last_reason);
	if (recording->bound.removed)
		tap_answer_say(answer,
			       "  removed: the %u oldest chunks, for --max-size\n",
			       recording->bound.removed);
	describe_members(recording, peers, answer);
}

/* The processes that are only counted so far, and those that come. */
static void attach(struct tap_recording *recording, const struct tap_peers *peers,
		   struct tap_answer *answer)
{
	if (tap_recording_attach(recording, answer))
		return;
	for (size_t i = 0; i < peers->all.count; i++)
		if (peers->all.items[i].is_member)
			tap_output_note_rank(&recording->output,
					     peers->all.items[i].rank);
	tap_answer_say(answer, "%s is recording, in %s\n", recording->plan->session,
		       recording->output.absolute);
	wait_for_reach(recording, answer);
}

static void change_state(struct tap_recording *recording, struct tap_answer *answer,
			 enum tap_recording_state state)
{
	int ret;

	/* The next session begins in that state. */
	if (tap_sending_is_lost(&recording->sending))
		ret = 0;
	else if (state == TAP_RECORDING_RUNS)
		ret = tap_session_start(recording->plan->session);
	else
		ret = tap_session_stop(recording->plan->session);
	if (ret < 0) {
		tap_answer_refuse(answer, "LTTng: %s", tap_session_error(ret));
		return;
	}
	recording->state = state;
	if (state == TAP_RECORDING_RUNS)
		recording->was_started = true;
	tap_answer_say(answer, "%s is %s, in %s\n", recording->plan->session,
		       state == TAP_RECORDING_RUNS ? "recording" : "stopped",
		       recording->output.absolute);
	if (!recording->plan->is_metrics_alone)
		return;
	tap_metrics_wish(&recording->metrics, state == TAP_RECORDING_RUNS);
	if (state == TAP_RECORDING_RUNS)
		wait_for_reach(recording, answer);
}

static void end(struct tap_recording *recording, struct tap_answer *answer)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", recording->output.absolute);
	if (recording->plan->is_metrics_alone) {
		tap_recording_detach(recording);
	} else {
		recording->outcome.was_ended = true;
		tap_recording_end(recording);
	}
	tap_answer_say(answer, "%s has ended; the trace is in %s",
		       recording->plan->session, path);
	tap_answer_say_losses(answer, &recording->outcome);
	tap_answer_say(answer, "\n");
}

static void snapshot_on_request(struct tap_recording *recording,
				struct tap_answer *answer)
{
	int ret;

	if (!recording->plan->lttng.is_flight) {
		tap_answer_refuse(answer,
				  "%s is no flight recorder: all of it is in %s; "
				  "\"record --flight-recorder\" makes one",
				  recording->plan->session, recording->output.absolute);
		return;
	}
	if (!recording->was_started) {
		tap_answer_refuse(answer,
				  "%s was never started: \"ccltap start\" does it",
				  recording->plan->session);
		return;
	}
	ret = tap_flight_take(recording, "it was asked for");
	if (ret < 0)
		tap_answer_refuse(answer, "LTTng cannot write a snapshot into %s: %s",
				  recording->output.absolute, tap_session_error(ret));
	else
		tap_answer_say(answer, "snapshot %u in %s\n", recording->flight.snapshots,
			       recording->output.absolute);
}

/* Returns a file without a name that has the text, or -errno. */
static int write_nameless(const char *text, size_t size)
{
	int ret, fd = memfd_create("ccltap-metrics-text", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, text, size) == (ssize_t) size)
		return fd;
	ret = errno ? -errno : -EIO;
	close(fd);
	return ret;
}

static void hand_out_metrics(struct tap_recording *recording, struct tap_answer *answer,
			     int *ret_fd)
{
	const char *text;
	size_t size;
	int ret;

	if (!recording->plan->metrics) {
		tap_answer_refuse(answer,
				  "%s counts no calls: \"ccltap record --metrics\" does",
				  recording->plan->session);
		return;
	}
	ret = tap_metrics_text(&recording->metrics, &text, &size);
	if (!ret)
		ret = write_nameless(text, size);
	if (ret < 0) {
		tap_answer_refuse(answer, "%s cannot tell its metrics: %s",
				  recording->plan->session, strerror(-ret));
		return;
	}
	*ret_fd = ret;
	tap_answer_say(answer, "%" PRId64, recording->metrics.text_ms);
}

void tap_requests_carry_out(struct tap_recording *recording,
			    const struct tap_peers *peers, struct tap_peer *peer,
			    const struct tap_question *question,
			    struct tap_answer *answer, int *ret_fd)
{
	if (question->verb == TAP_LINK_METRICS) {
		hand_out_metrics(recording, answer, ret_fd);
		return;
	}
	if (recording->state == TAP_RECORDING_COUNTS &&
	    question->verb != TAP_LINK_STATUS && question->verb != TAP_LINK_START) {
		tap_answer_refuse(answer,
				  "%s counts and records nothing: \"ccltap start\" "
				  "records what happens from then on",
				  recording->plan->session);
		return;
	}
	if (recording->state == TAP_RECORDING_ENDED &&
	    question->verb != TAP_LINK_STATUS && question->verb != TAP_LINK_ROTATE &&
	    question->verb != TAP_LINK_LOOK) {
		tap_answer_refuse(answer, "%s has ended, only its programs go on",
				  recording->plan->session);
		return;
	}
	switch (question->verb) {
	case TAP_LINK_STATUS:
		describe(recording, peers, answer);
		break;
	case TAP_LINK_START:
		if (recording->state == TAP_RECORDING_COUNTS)
			attach(recording, peers, answer);
		else
			change_state(recording, answer, TAP_RECORDING_RUNS);
		break;
	case TAP_LINK_STOP:
		change_state(recording, answer, TAP_RECORDING_STOPPED);
		break;
	case TAP_LINK_SNAPSHOT:
		snapshot_on_request(recording, answer);
		break;
	case TAP_LINK_ROTATE:
		tap_readers_rotate(recording, peers, peer, answer);
		break;
	case TAP_LINK_LOOK:
		tap_readers_look(recording, peers, peer, answer);
		break;
	case TAP_LINK_END:
		end(recording, answer);
		break;
	default:
		answer->error = TAP_LINK_OTHER;
	}
}
