/* SPDX-License-Identifier: MIT */
/* One loop over all connections, notes and signals. */
#include "tools/supervisor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/compiler.h"
#include "common/vec.h"
#include "tools/chunks.h"
#include "tools/control_socket.h"
#include "tools/message.h"
#include "tools/record_buffers.h"
#include "tools/record_notes.h"
#include "tools/record_output.h"
#include "tools/record_session.h"
#include "tools/remains.h"
#include "tools/sending.h"
#include "tools/snapshots.h"
#include "tools/why_beside.h"

/* The data on disk is divided into this many chunks; the oldest is removed first. */
#define PARTS 8
#define LOOK_MS 1000
/*
 * A chunk that was made for a reader grows to this size: one that looks every second would
 * leave thousands.
 */
#define CHUNK_BYTES (UINT64_C(8) << 20)
/* How many notes to read before other events are handled. */
#define NOTES_AT_ONCE 1024
/* How often to try again when the session daemon is killed while the recording begins. */
#define DAEMON_TRIES 3
/* A daemon that does not answer in this time costs a part of the recording. */
#define LOST_PATIENCE_SECONDS 10
/* Smallest sub-buffer where little is kept. */
#define SMALLEST_BYTES (16 << 10)

/* A recorded program, or a connection with another request. */
struct peer {
	int link;  /* -1: closed */
	int pidfd; /* -1: the program has ended, or there is none */
	pid_t pid;
	int rank;
	bool is_maker; /* the first member, for which the recording was made */
	bool is_member;
	bool is_waiting; /* sent DONE and waits for an answer */
	unsigned look;	 /* number of what it asked to look at, 0: none */
};

enum state { RUNNING, STOPPED, ENDED };

static struct supervisor {
	const struct tap_plan *plan;
	struct tap_output output;
	struct tap_buffers buffers;
	struct tap_sending sending;
	struct tap_notes notes;
	int remains_fd; /* the locked note of this recording */
	bool has_joined;
	const char *place; /* where listen_fd listens */
	int listen_fd, signal_fd;
	TAP_VEC(struct peer) peers;
	enum state state;
	bool was_started;
	time_t begin;
	size_t programs; /* that were run or may still run */
	/* Of a flight recorder. */
	unsigned snapshots, looks;
	char last_reason[256];
	bool is_due, is_due_to_death;
	char due_reason[256];
	int64_t last_snapshot_ms;
	/* What reads the last snapshot, 0: none; and whether a later one is to be read. */
	pid_t why_pid;
	int why_fd;
	bool why_is_due;
	/* The last chunk that was made for a reader, NULL: there is none. */
	char *chunk;
	/* The chunk that is being written has no state dump yet. */
	bool lacks_state;
	/* Of a bounded recording. */
	unsigned removed;
	uint64_t size_at_rotation;
	int64_t next_look_ms;
	/* The answer to every member at the end. */
	struct tap_answer outcome;
} self;

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- The recording ---- */

/* Chooses the buffers as requested, or as they fit. */
static int choose_buffers(struct tap_session_plan *lttng)
{
	const struct tap_plan *plan = self.plan;
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
	       lttng->buffers.hot_bytes > plan->max_bytes / PARTS / 2) {
		lttng->buffers.hot_bytes /= 2;
		lttng->buffers.hot_count *= 2;
	}
	return ret;
}

/* Makes the session of the trace, or of its next part. Returns 0 or LTTng's error. */
static int begin_session(const struct tap_session_plan *lttng)
{
	char *url;
	int ret;

	if (!self.sending.relayd)
		return tap_session_begin(self.plan->session, self.output.absolute, lttng);
	url = tap_sending_url(&self.sending);
	/* Without memory for it, LTTng refuses the URL. */
	ret = tap_session_begin(self.plan->session, url ? url : "", lttng);
	free(url);
	return ret;
}

/* Returns 0, -errno after a message to the user, or LTTng's error, which is positive. */
static int try_recording(void)
{
	const struct tap_plan *plan = self.plan;
	struct tap_session_plan lttng = plan->lttng;
	int ret = choose_buffers(&lttng);
	char *path;

	if (ret)
		return ret;
	lttng.is_sent = plan->relayd;
	path = tap_output_find(plan->folder);
	self.remains_fd = tap_remains_note(plan->session, path);
	free(path);
	ret = tap_output_make(&self.output, plan->folder, plan->older, plan->session,
			      plan->job_name, &plan->job);
	if (!ret) {
		ret = -begin_session(&lttng);
		if (!ret) {
			tap_remains_note_made(self.remains_fd, plan->session);
			self.buffers = lttng.buffers;
			if (plan->relayd) {
				tap_sending_begun(&self.sending);
				tap_output_note_sent(&self.output, plan->relayd->shown,
						     self.sending.folder);
			}
			return 0;
		}
		tap_output_discard(&self.output);
		tap_output_close(&self.output);
	}
	tap_remains_forget(self.remains_fd, plan->session);
	self.remains_fd = -1;
	return ret;
}

/* Before anything is made. Returns 0, or -errno after a message. */
static int find_relayd(void)
{
	char *path;
	int ret;

	if (!self.plan->relayd)
		return 0;
	path = tap_output_find(self.plan->folder);
	ret = tap_sending_open(&self.sending, self.plan->relayd, path,
			       self.plan->session);
	free(path);
	return ret;
}

static int make_recording(struct tap_answer *answer)
{
	int ret = find_relayd(), lock;

	if (ret)
		return ret;
	/* A daemon that another supervisor is about to end would still answer. */
	lock = tap_link_lock_daemon();
	tap_remains_clean(NULL);
	/* If another process kills the daemon meanwhile, it is started again. */
	for (int tries = 0; tries < DAEMON_TRIES; tries++) {
		tap_remains_doom_daemon();
		ret = tap_session_start_daemon(answer->lttng_home,
					       sizeof(answer->lttng_home));
		if (ret)
			break;
		tap_remains_doom_daemon();
		ret = try_recording();
		if (ret <= 0 || tap_session_is_reached())
			break;
		tap_session_end_orphans();
	}
	tap_remains_spare_daemon();
	if (ret > 0) {
		tap_message_write("LTTng cannot record into %s (%s), and the program was "
				  "not run: \"lttng-sessiond --verbose\" says why",
				  self.plan->relayd ? self.plan->relayd->shown
						    : self.plan->folder,
				  tap_session_error(-ret));
		ret = -EIO;
	}
	if (ret)
		tap_session_end_daemon();
	close_fd(&lock);
	return ret;
}

static void end_daemon(void)
{
	int lock = tap_link_lock_daemon();

	tap_session_end_daemon();
	close_fd(&lock);
}

/*
 * Requests a snapshot; when one is already due, its reason stays, unless this is that a rank
 * died: that explains why others wait.
 */
static void want_snapshot(const char *reason, bool is_death)
{
	if (!self.plan->lttng.is_flight || self.state != RUNNING ||
	    (self.is_due && (!is_death || self.is_due_to_death)))
		return;
	self.is_due = true;
	self.is_due_to_death = is_death;
	snprintf(self.due_reason, sizeof(self.due_reason), "%s", reason);
}

static void note_unrecorded(const char *text)
{
	tap_notes_keep(&self.notes, text);
	tap_output_note_unrecorded(&self.output);
}

/* Handles notes: a process could not be recorded, or a snapshot is due. */
static void handle_notes(void)
{
	static const char wish[] = "snapshot ";
	char text[256];
	bool is_own;

	for (int i = 0; i < NOTES_AT_ONCE; i++) {
		if (!tap_notes_next(&self.notes, text, sizeof(text), &is_own))
			return;
		if (strncmp(text, wish, strlen(wish)))
			note_unrecorded(is_own ? text : "a process of another user");
		else if (is_own)
			want_snapshot(text + strlen(wish), false);
	}
}

static void end_session(struct tap_answer *outcome)
{
	uint64_t discarded;
	bool has_hole;
	int ret;

	ret = tap_session_end(self.plan->session, &discarded, &has_hole);
	outcome->discarded += discarded;
	/* What goes wrong since the relay daemon is gone is said as that. */
	if (tap_sending_is_lost(&self.sending))
		return;
	outcome->session_error = ret;
	outcome->has_hole = has_hole;
}

static void end_recording(void)
{
	struct tap_answer *outcome = &self.outcome;

	/* A session whose relay daemon is gone has ended already. */
	if (!tap_sending_is_lost(&self.sending))
		end_session(outcome);
	handle_notes();
	outcome->unrecorded = self.notes.count;
	snprintf(outcome->why_unrecorded, sizeof(outcome->why_unrecorded), "%s",
		 self.notes.first);
	outcome->snapshots = self.snapshots;
	outcome->unsent = self.sending.unsent;
	tap_sending_describe(&self.sending, outcome->lost, sizeof(outcome->lost));
	tap_output_note_lost(&self.output, outcome->lost);
	tap_remains_forget(self.remains_fd, self.plan->session);
	self.remains_fd = -1;
	self.state = ENDED;
}

/* ---- Snapshots ---- */

static int take_snapshot(const char *reason)
{
	int ret;

	self.is_due = false;
	self.last_snapshot_ms = now_ms();
	/* If this fails, the snapshot lacks the state but has the calls. */
	tap_session_regenerate_statedump(self.plan->session);
	ret = tap_session_snapshot(self.plan->session);
	if (ret < 0) {
		self.sending.unsent += !!self.plan->relayd;
		return ret;
	}
	self.snapshots++;
	snprintf(self.last_reason, sizeof(self.last_reason), "%s", reason);
	tap_output_note_snapshot(&self.output, reason);
	return 0;
}

static int64_t snapshot_due_ms(void)
{
	if (!self.snapshots)
		return 0;
	return self.last_snapshot_ms + (int64_t) self.plan->min_interval_s * 1000;
}

/* Has the newest snapshot read, so that what is wrong stands beside the trace. */
static void start_why(void)
{
	char *newest = tap_snapshots_newest(self.output.absolute);

	self.why_is_due = false;
	if (!newest)
		return;
	self.why_pid = tap_why_beside_start(self.output.absolute, newest);
	if (self.why_pid > 0)
		self.why_fd = (int) syscall(SYS_pidfd_open, self.why_pid, 0);
	else
		self.why_pid = 0;
	free(newest);
}

/* The program that reads has ended: a later snapshot may be next. */
static void end_why(int status)
{
	tap_why_beside_end(self.output.absolute, status);
	self.why_pid = 0;
	close_fd(&self.why_fd);
	if (self.why_is_due)
		start_why();
}

static void take_unasked_snapshot(void)
{
	if (take_snapshot(self.due_reason))
		return;
	if (self.why_pid)
		self.why_is_due = true;
	else
		start_why();
}

static void take_due_snapshot(void)
{
	if (self.is_due && self.state == RUNNING && now_ms() >= snapshot_due_ms())
		take_unasked_snapshot();
}

/* ---- The limit on disk ---- */

/* A chunk that is larger than the limit stays as long as there is too little after it. */
static void remove_oldest(void)
{
	struct dirent **chunks;
	int count = tap_output_chunks(&self.output, &chunks), i;
	uint64_t total = tap_output_size(&self.output, NULL), size;
	unsigned before = self.removed;

	for (i = 0; i < count; i++) {
		size = tap_output_size(&self.output, chunks[i]->d_name);
		if (total > self.plan->max_bytes &&
		    total - size >= self.plan->max_bytes / 4 &&
		    !tap_output_remove_chunk(&self.output, chunks[i]->d_name)) {
			self.removed++;
			total -= size;
		}
		free(chunks[i]);
	}
	if (count >= 0)
		free(chunks);
	if (self.removed != before)
		tap_output_note_removed(&self.output, self.removed - before);
}

static void keep_bound(void)
{
	uint64_t size;

	if (!self.plan->max_bytes || self.plan->lttng.is_flight ||
	    self.state != RUNNING || now_ms() < self.next_look_ms)
		return;
	self.next_look_ms = now_ms() + LOOK_MS;
	size = tap_output_size(&self.output, NULL);
	if (size < self.size_at_rotation + self.plan->max_bytes / PARTS)
		return;
	/* The new chunk must be readable by itself after the older ones are removed. */
	if (!tap_session_rotate(self.plan->session))
		tap_session_regenerate_statedump(self.plan->session);
	remove_oldest();
	self.size_at_rotation = tap_output_size(&self.output, NULL);
}

/* ---- The relay daemon ---- */

/* A flight recorder's snapshots each have a connection of their own. */
static bool is_watching_relayd(void)
{
	return self.sending.relayd && !self.plan->lttng.is_flight && self.state != ENDED;
}

/*
 * LTTng 2.13 was seen to hang in requests about a session whose relay daemon was killed:
 * its consumer waits for ever until that has the events' descriptions. Then LTTng's
 * daemon is ended if ccltap started it and nobody else records; this recording's note
 * would say that somebody does.
 */
static void end_lost_session(void)
{
	int lock = tap_link_lock_daemon();

	tap_remains_forget(self.remains_fd, self.plan->session);
	if (tap_remains_doom_daemon())
		tap_session_set_patience(LOST_PATIENCE_SECONDS);
	end_session(&self.outcome);
	tap_session_set_patience(0);
	tap_remains_spare_daemon();
	if (!tap_session_is_reached())
		tap_session_end_orphans();
	self.remains_fd = tap_remains_note(self.plan->session, self.output.absolute);
	tap_remains_note_joined(self.remains_fd);
	close_fd(&lock);
}

static void lose_relayd(void)
{
	tap_sending_lose(&self.sending);
	end_lost_session();
}

/* Begins the next part, by another daemon if that was ended. Returns 0 or an error. */
static int begin_part(void)
{
	struct tap_session_plan lttng = self.plan->lttng;
	char home[sizeof(self.outcome.lttng_home)];
	int lock = tap_link_lock_daemon(), ret;

	lttng.buffers = self.buffers;
	lttng.is_sent = true;
	lttng.is_paused = self.state == STOPPED;
	ret = tap_session_start_daemon(home, sizeof(home));
	if (!ret)
		ret = begin_session(&lttng);
	close_fd(&lock);
	return ret;
}

/* Begins another session once the daemon is back. */
static void find_relayd_again(void)
{
	int ret;

	if (!is_watching_relayd() || !tap_sending_is_lost(&self.sending) ||
	    !tap_sending_retry(&self.sending))
		return;
	ret = begin_part();
	tap_sending_resume(&self.sending, !ret);
	if (!ret)
		tap_remains_note_made(self.remains_fd, self.plan->session);
	else
		end_lost_session(); /* the one before may not have ended */
}

/* ---- Peers ---- */

static bool is_recorded(const struct peer *peer)
{
	return peer->is_member && ((peer->link >= 0 && !peer->is_waiting) ||
				   (peer->link < 0 && peer->pidfd >= 0));
}

static size_t count_recorded(void)
{
	size_t count = 0;

	for (size_t i = 0; i < self.peers.count; i++)
		count += is_recorded(&self.peers.items[i]);
	return count;
}

static void add_peer(int link)
{
	const struct peer peer = {.link = link, .pidfd = -1, .rank = -1};

	if (tap_vec_add(&self.peers, peer))
		close(link);
}

/* A reader removes what it looked at, unless it was killed. */
static void remove_look(const struct peer *peer)
{
	char name[32];

	if (!peer->look)
		return;
	snprintf(name, sizeof(name), TAP_OUTPUT_LOOK "%u", peer->look);
	tap_output_remove_look(&self.output, name);
}

static void drop_gone(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < self.peers.count; i++)
		if (self.peers.items[i].link >= 0 || self.peers.items[i].pidfd >= 0)
			self.peers.items[kept++] = self.peers.items[i];
		else
			remove_look(&self.peers.items[i]);
	self.peers.count = kept;
}

/* ---- Requests ---- */

static void say(struct tap_answer *answer, const char *format, ...) tap_printf(2, 3);

static void say(struct tap_answer *answer, const char *format, ...)
{
	size_t used = strlen(answer->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(answer->text + used, sizeof(answer->text) - used, format, arguments);
	va_end(arguments);
}

static void refuse(struct tap_answer *answer, const char *format, ...) tap_printf(2, 3);

static void refuse(struct tap_answer *answer, const char *format, ...)
{
	va_list arguments;

	answer->error = TAP_LINK_FAILED;
	va_start(arguments, format);
	vsnprintf(answer->text, sizeof(answer->text), format, arguments);
	va_end(arguments);
}

static void fill_joined(struct tap_answer *answer)
{
	const char *home = getenv("LTTNG_HOME");

	snprintf(answer->session, sizeof(answer->session), "%s", self.plan->session);
	snprintf(answer->job, sizeof(answer->job), "%s", self.output.job_name);
	snprintf(answer->path, sizeof(answer->path), "%s", self.output.absolute);
	if (self.plan->relayd) {
		snprintf(answer->relay, sizeof(answer->relay), "%s",
			 self.plan->relayd->shown);
		snprintf(answer->relay_folder, sizeof(answer->relay_folder), "%s/%s",
			 self.output.host, self.sending.folder);
	}
	if (self.notes.address)
		snprintf(answer->recorder, sizeof(answer->recorder), "%s",
			 self.notes.address);
	snprintf(answer->lttng_home, sizeof(answer->lttng_home), "%s", home ? home : "");
}

static void join(struct peer *peer, const struct tap_question *question, int pidfd,
		 struct tap_answer *answer)
{
	const struct tap_job *job = &self.plan->job;

	if (question->job != job->key || (!peer->is_maker && !job->is_shared)) {
		answer->error = TAP_LINK_OTHER;
		if (pidfd >= 0)
			close(pidfd);
		return;
	}
	peer->is_member = true;
	self.programs++;
	peer->pid = question->pid;
	peer->rank = question->rank;
	close_fd(&peer->pidfd);
	peer->pidfd = pidfd;
	tap_output_note_rank(&self.output, peer->rank);
	fill_joined(answer);
}

/* From here on a program may run. */
static void answer_joined(struct peer *peer, const struct tap_answer *answer)
{
	if (tap_link_answer(peer->link, answer)) {
		close_fd(&peer->link);
		close_fd(&peer->pidfd);
	} else if (!self.has_joined && peer->is_member) {
		self.has_joined = true;
		tap_remains_note_joined(self.remains_fd);
	}
}

static void name_peer(const struct peer *peer, char *ret_name, size_t size)
{
	if (peer->rank >= 0)
		snprintf(ret_name, size, "rank %d (process %d)", peer->rank, peer->pid);
	else
		snprintf(ret_name, size, "process %d", peer->pid);
}

/*
 * A rank that dies by a signal or exits with another status than 0 is a reason for a
 * snapshot.
 */
static void look_at_end(const struct peer *peer, const struct tap_question *question)
{
	char name[64], reason[160];

	name_peer(peer, name, sizeof(name));
	if (question->code != CLD_EXITED)
		snprintf(reason, sizeof(reason), "%s died by signal %d", name,
			 question->status);
	else if (question->status)
		snprintf(reason, sizeof(reason), "%s ended with status %d", name,
			 question->status);
	else
		return;
	want_snapshot(reason, true);
}

static void describe_members(struct tap_answer *answer)
{
	char name[64];

	for (size_t i = 0; i < self.peers.count; i++) {
		const struct peer *peer = &self.peers.items[i];

		if (!peer->is_member)
			continue;
		name_peer(peer, name, sizeof(name));
		say(answer, "  %s: %s\n", name,
		    peer->is_waiting	    ? "has ended"
		    : self.state == ENDED ? "is running and no longer recorded"
		    : peer->link < 0 ? "is recorded, its recorder was killed"
				     : "is recorded");
	}
}

static void describe_sending(struct tap_answer *answer)
{
	char lost[sizeof(answer->lost)];

	tap_sending_describe(&self.sending, lost, sizeof(lost));
	say(answer, "  sent to: the relay daemon at %s, %s there%s%s\n", answer->relay,
	    answer->relay_folder, *lost ? "; " : "", lost);
}

static void describe(struct tap_answer *answer)
{
	static const char *const states[] = {"recording", "stopped", "ended"};
	struct tm begin;
	char time_text[32] = "";

	if (localtime_r(&self.begin, &begin))
		strftime(time_text, sizeof(time_text), "%Y-%m-%d %H:%M:%S", &begin);
	fill_joined(answer);
	say(answer, "%s: %s%s since %s, in %s\n", self.plan->session,
	    self.state == STOPPED && !self.was_started ? "paused" : states[self.state],
	    self.plan->lttng.is_flight ? " (flight recorder)" : "", time_text,
	    self.output.absolute);
	say(answer,
	    "  supervisor: process %d; %" PRIu64 " KiB on disk, %" PRIu64
	    " events discarded\n",
	    getpid(), tap_output_size(&self.output, NULL) / 1024,
	    self.outcome.discarded +
		    (self.state == ENDED ? 0
					 : tap_session_discarded(self.plan->session)));
	if (self.plan->relayd)
		describe_sending(answer);
	if (self.plan->lttng.is_flight)
		say(answer, "  snapshots: %u%s%s\n", self.snapshots,
		    self.snapshots ? ", the last for: " : "", self.last_reason);
	if (self.removed)
		say(answer, "  removed: the %u oldest chunks, for --max-size\n",
		    self.removed);
	describe_members(answer);
}

static void change_state(struct tap_answer *answer, enum state state)
{
	int ret;

	/* The next session begins in that state. */
	if (tap_sending_is_lost(&self.sending))
		ret = 0;
	else if (state == RUNNING)
		ret = tap_session_start(self.plan->session);
	else
		ret = tap_session_stop(self.plan->session);
	if (ret < 0) {
		refuse(answer, "LTTng: %s", tap_session_error(ret));
		return;
	}
	self.state = state;
	if (state == RUNNING)
		self.was_started = true;
	say(answer, "%s is %s, in %s\n", self.plan->session,
	    state == RUNNING ? "recording" : "stopped", self.output.absolute);
}

static void snapshot_on_request(struct tap_answer *answer)
{
	int ret;

	if (!self.plan->lttng.is_flight) {
		refuse(answer,
		       "%s is no flight recorder: all of it is in %s; "
		       "\"record --flight-recorder\" makes one",
		       self.plan->session, self.output.absolute);
		return;
	}
	if (!self.was_started) {
		refuse(answer, "%s was never started: \"ccltap start\" does it",
		       self.plan->session);
		return;
	}
	ret = take_snapshot("it was asked for");
	if (ret < 0)
		refuse(answer, "LTTng cannot write a snapshot into %s: %s",
		       self.output.absolute, tap_session_error(ret));
	else
		say(answer, "snapshot %u in %s\n", self.snapshots, self.output.absolute);
}

/* Whether somebody else reads the recording, or may. */
static bool has_other_readers(const struct peer *peer)
{
	for (size_t i = 0; i < self.peers.count; i++)
		if (&self.peers.items[i] != peer && !self.peers.items[i].is_member &&
		    self.peers.items[i].link >= 0)
			return true;
	return false;
}

/* Joins the newest chunk to the one before it, if that was made for a reader, too. */
static void join_chunks(const struct peer *peer)
{
	uint64_t most = self.plan->max_bytes ? self.plan->max_bytes / PARTS : UINT64_MAX;
	struct dirent **chunks;
	int count = tap_output_chunks(&self.output, &chunks), i;
	char *joined = NULL, *archives;

	if (most > CHUNK_BYTES)
		most = CHUNK_BYTES;
	if (count > 1 && self.chunk && !strcmp(self.chunk, chunks[count - 2]->d_name) &&
	    !has_other_readers(peer) &&
	    tap_output_size(&self.output, self.chunk) < most &&
	    asprintf(&archives, "%s/archives", self.output.absolute) >= 0) {
		joined = tap_chunks_join(archives, self.chunk, chunks[count - 1]->d_name);
		free(archives);
	}
	free(self.chunk);
	self.chunk = joined		? joined
		     : count > 0 ? strdup(chunks[count - 1]->d_name)
				 : NULL;
	for (i = 0; i < count; i++)
		free(chunks[i]);
	if (count >= 0)
		free(chunks);
}

/*
 * A stopped session is complete as it is. LTTng 2.13 was seen to lose events recorded
 * after the rotation of a stopped session.
 */
static void rotate(const struct peer *peer, struct tap_answer *answer)
{
	int ret = 0;

	if (self.state != RUNNING && self.was_started)
		return;
	fill_joined(answer);
	/* What is sent is read where it is. */
	if (self.plan->lttng.is_flight || !self.was_started || self.plan->relayd)
		return;
	ret = tap_session_rotate(self.plan->session);
	if (ret < 0)
		refuse(answer, "LTTng: %s", tap_session_error(ret));
	else
		join_chunks(peer);
	/* The new chunk begins with it; whoever asked does not wait for that. */
	self.lacks_state = !ret;
}

/*
 * Has the flight recorder write what it holds, for this peer alone: a snapshot that stays
 * would count, and there may be a thousand of them.
 */
static void look(struct peer *peer, struct tap_answer *answer)
{
	int ret;

	if (!self.plan->lttng.is_flight || !self.was_started || self.state == ENDED) {
		rotate(peer, answer);
		return;
	}
	fill_joined(answer);
	remove_look(peer);
	peer->look = ++self.looks;
	if (snprintf(answer->text, sizeof(answer->text), "%s/" TAP_OUTPUT_LOOK "%u",
		     self.output.absolute, peer->look) >= (int) sizeof(answer->text)) {
		refuse(answer, "its path is too long");
		return;
	}
	/* If this fails, the state is missing and the calls are there. */
	tap_session_regenerate_statedump(self.plan->session);
	ret = tap_session_look(self.plan->session, answer->text);
	if (ret < 0)
		refuse(answer, "LTTng cannot write what it holds into %s: %s",
		       self.output.absolute, tap_session_error(ret));
}

static void steer(struct peer *peer, const struct tap_question *question,
		  struct tap_answer *answer)
{
	if (self.state == ENDED && question->verb != TAP_LINK_STATUS &&
	    question->verb != TAP_LINK_ROTATE && question->verb != TAP_LINK_LOOK) {
		refuse(answer, "%s has ended, only its programs go on",
		       self.plan->session);
		return;
	}
	switch (question->verb) {
	case TAP_LINK_STATUS:
		describe(answer);
		break;
	case TAP_LINK_START:
		change_state(answer, RUNNING);
		break;
	case TAP_LINK_STOP:
		change_state(answer, STOPPED);
		break;
	case TAP_LINK_SNAPSHOT:
		snapshot_on_request(answer);
		break;
	case TAP_LINK_ROTATE:
		rotate(peer, answer);
		break;
	case TAP_LINK_LOOK:
		look(peer, answer);
		break;
	case TAP_LINK_END:
		self.outcome.was_ended = true;
		end_recording();
		say(answer, "%s has ended; the trace is in %s\n", self.plan->session,
		    self.output.absolute);
		break;
	default:
		answer->error = TAP_LINK_OTHER;
	}
}

/* Closes the connection of a peer whose message is not understood. */
static void handle(struct peer *peer)
{
	struct tap_answer answer = {.version = TAP_LINK_VERSION};
	struct tap_question question;
	int pidfd, ret;

	ret = tap_link_receive_question(peer->link, &question, &pidfd);
	if (ret) {
		close_fd(&peer->link);
		return;
	}
	/* A program joins once, and only a member can be done. */
	if ((question.verb == TAP_LINK_JOIN && peer->is_member) ||
	    (question.verb == TAP_LINK_DONE && !peer->is_member)) {
		if (pidfd >= 0)
			close(pidfd);
		close_fd(&peer->link);
		return;
	}
	if (question.verb == TAP_LINK_JOIN) {
		join(peer, &question, pidfd, &answer);
	} else {
		if (pidfd >= 0)
			close(pidfd);
		if (question.verb == TAP_LINK_DONE) {
			peer->is_waiting = true;
			if (question.is_void)
				self.programs--;
			else
				look_at_end(peer, &question);
			/*
			 * Members whose recording ends with them are answered when it has
			 * ended.
			 */
			if (!count_recorded())
				return;
			answer.is_going_on = true;
		} else {
			steer(peer, &question, &answer);
		}
	}
	if (question.verb == TAP_LINK_JOIN) {
		answer_joined(peer, &answer);
		return;
	}
	if (tap_link_answer(peer->link, &answer) || question.verb == TAP_LINK_DONE) {
		close_fd(&peer->link);
		close_fd(&peer->pidfd);
	}
}

static void handle_signal(void)
{
	struct signalfd_siginfo info;

	if (read(self.signal_fd, &info, sizeof(info)) != (ssize_t) sizeof(info))
		return;
	if (info.ssi_signo == SIGUSR1) {
		if (self.plan->lttng.is_flight && self.state == RUNNING)
			take_snapshot("a signal to the supervisor");
		return;
	}
	if (self.state == ENDED)
		return;
	self.outcome.was_ended = true;
	end_recording();
}

/* ---- The loop ---- */

/* The daemon hangs: every connected peer gets that answer. Called in a signal handler. */
static void give_up(int signal_number)
{
	static struct tap_answer hung = {.version = TAP_LINK_VERSION,
					 .error = TAP_LINK_HUNG};

	(void) signal_number;
	/*
	 * Without the hung daemon, the pending request returns, and another daemon is
	 * started.
	 */
	if (tap_remains_end_hung())
		return;
	for (size_t i = 0; i < self.peers.count; i++)
		if (self.peers.items[i].link >= 0)
			send(self.peers.items[i].link, &hung, sizeof(hung), MSG_NOSIGNAL);
	_exit(TAP_EXIT_FAILURE);
}

static int next_look_ms(void)
{
	int64_t next = INT64_MAX, now = now_ms();

	if (self.plan->max_bytes && self.state == RUNNING)
		next = self.next_look_ms;
	if (self.is_due && snapshot_due_ms() < next)
		next = snapshot_due_ms();
	if (is_watching_relayd() && tap_sending_is_lost(&self.sending) &&
	    tap_sending_due_ms(&self.sending) < next)
		next = tap_sending_due_ms(&self.sending);
	if (next == INT64_MAX)
		return -1;
	return next <= now ? 0 : next - now > 60000 ? 60000 : (int) (next - now);
}

/* Two for each peer, after those that are always there. */
#define POLLED_FIRST 5

static struct pollfd *fill_polled(void)
{
	static TAP_VEC(struct pollfd) all;
	struct pollfd *polled;

	if (tap_vec_reserve(&all, POLLED_FIRST + 2 * self.peers.count))
		return NULL;
	polled = all.items;
	polled[0] = (struct pollfd){.fd = self.listen_fd, .events = POLLIN};
	polled[1] = (struct pollfd){.fd = self.notes.fd, .events = POLLIN};
	polled[2] = (struct pollfd){.fd = self.signal_fd, .events = POLLIN};
	polled[3] = (struct pollfd){.fd = self.why_fd, .events = POLLIN};
	polled[4] = (struct pollfd){.fd = is_watching_relayd() ? self.sending.fd : -1,
				    .events = POLLIN};
	for (size_t i = 0; i < self.peers.count; i++) {
		const struct peer *peer = &self.peers.items[i];

		/*
		 * A waiting peer sends nothing more; the answer shows whether it is gone.
		 */
		polled[POLLED_FIRST + 2 * i] =
			(struct pollfd){.fd = peer->is_waiting ? -1 : peer->link,
					.events = POLLIN};
		polled[POLLED_FIRST + 1 + 2 * i] =
			(struct pollfd){.fd = peer->link < 0 ? peer->pidfd : -1,
					.events = POLLIN};
	}
	return polled;
}

static void add_state(void)
{
	if (self.lacks_state && self.state == RUNNING)
		tap_session_regenerate_statedump(self.plan->session);
	self.lacks_state = false;
}

static void look_once(void)
{
	struct pollfd *polled = fill_polled();
	size_t count = self.peers.count;
	int link;

	if (!polled || poll(polled, POLLED_FIRST + 2 * count, next_look_ms()) < 0)
		return;
	for (size_t i = 0; i < count; i++) {
		if (polled[POLLED_FIRST + 2 * i].revents)
			handle(&self.peers.items[i]);
		/*
		 * The program's recorder was killed, so how the program ended is unknown.
		 */
		if (polled[POLLED_FIRST + 1 + 2 * i].revents) {
			want_snapshot("a program ended after its recorder was killed",
				      true);
			close_fd(&self.peers.items[i].pidfd);
		}
	}
	drop_gone();
	if (polled[1].revents)
		handle_notes();
	if (polled[2].revents)
		handle_signal();
	if (polled[3].revents) {
		int status = -1;

		waitpid(self.why_pid, &status, 0);
		end_why(status);
	}
	/* A verb may have lost it, or ended the recording, meanwhile. */
	if (polled[4].revents && is_watching_relayd() && self.sending.fd >= 0)
		lose_relayd();
	if (polled[0].revents) {
		link = tap_link_accept(self.listen_fd);
		if (link >= 0)
			add_peer(link);
	}
}

static void close_others(void)
{
	/* The user's descriptors, a pipe for instance, must not be kept open. */
	const int keep[] = {self.listen_fd, self.peers.items[0].link};
	int top = STDERR_FILENO + 1;

	for (size_t i = 0; i < ARRAY_SIZE(keep); i++)
		if (keep[i] >= top)
			top = keep[i] + 1;
	for (int fd = STDERR_FILENO + 1; fd < top; fd++)
		if (fd != keep[0] && fd != keep[1])
			close(fd);
	closefrom(top);
}

static void stand_alone(void)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "ccltap-super");
	for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO; fd++)
		if (null_fd < 0 || dup2(null_fd, fd) < 0)
			close(fd);
	if (null_fd > STDERR_FILENO)
		close(null_fd);
}

static int watch_signals(void)
{
	static const int handled[] = {SIGUSR1, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(handled); i++)
		sigaddset(&set, handled[i]);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void begin(const struct tap_plan *plan, const char *place, int listen_fd, int link)
{
	struct tap_answer answer = {.version = TAP_LINK_VERSION};
	struct tap_question question;
	int ret, pidfd;

	self.plan = plan;
	self.place = place;
	self.listen_fd = listen_fd;
	self.why_fd = -1;
	self.sending.fd = -1;
	self.outcome.version = TAP_LINK_VERSION;
	add_peer(link);
	if (!self.peers.count)
		_exit(TAP_EXIT_FAILURE);
	self.peers.items[0].is_maker = true;
	close_others();
	stand_alone();
	tap_session_set_watchdog(give_up);
	/*
	 * Read first: if this process exits with the question unread, the peer loses the
	 * answer.
	 */
	if (tap_link_receive_question(link, &question, &pidfd))
		_exit(TAP_EXIT_FAILURE);
	ret = make_recording(&answer);
	if (ret) {
		tap_link_leave(place, listen_fd);
		answer.error = ret == -EEXIST ? TAP_LINK_REFUSED : TAP_LINK_FAILED;
		tap_link_answer(link, &answer);
		_exit(TAP_EXIT_FAILURE);
	}
	/* From here on only the members write to the user. */
	if (dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
		close(STDERR_FILENO);
	if (chdir("/") < 0)
		errno = 0;
	tap_notes_open(&self.notes);
	self.signal_fd = watch_signals();
	self.begin = time(NULL);
	self.state = plan->lttng.is_paused ? STOPPED : RUNNING;
	self.was_started = !plan->lttng.is_paused;
	join(&self.peers.items[0], &question, pidfd, &answer);
	answer_joined(&self.peers.items[0], &answer);
}

/* Nobody can join any more; a program that comes now makes a recording of its own. */
static void finish(void) __attribute__((noreturn));

static void finish(void)
{
	tap_link_leave(self.place, self.listen_fd);
	/* The last chance for a snapshot that had to wait. */
	if (self.is_due && self.state == RUNNING)
		take_unasked_snapshot();
	if (self.state != ENDED)
		end_recording();
	while (self.why_pid)
		end_why(tap_why_beside_wait(self.why_pid, NULL));
	if (self.plan->max_bytes)
		remove_oldest();
	tap_output_note_end(&self.output);
	if (!self.programs)
		tap_output_discard(&self.output);
	tap_output_close(&self.output);
	tap_sending_close(&self.sending);
	/*
	 * First: a member that is answered may run "lttng create", and would find the
	 * daemon exiting.
	 */
	end_daemon();
	for (size_t i = 0; i < self.peers.count; i++)
		if (self.peers.items[i].is_waiting)
			tap_link_answer(self.peers.items[i].link, &self.outcome);
	_exit(0);
}

void tap_supervisor_run(const struct tap_plan *plan, const char *place, int listen_fd,
			int link)
{
	begin(plan, place, listen_fd, link);
	while (count_recorded()) {
		look_once();
		add_state();
		take_due_snapshot();
		keep_bound();
		find_relayd_again();
	}
	finish();
}
