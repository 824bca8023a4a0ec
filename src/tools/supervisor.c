/* SPDX-License-Identifier: MIT */
/* One loop over all connections, notes and signals. */
#include "tools/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/compiler.h"
#include "common/vec.h"
#include "tools/control_socket.h"
#include "tools/descriptor.h"
#include "tools/message.h"
#include "tools/peers.h"
#include "tools/place.h"
#include "tools/recording.h"
#include "tools/remains.h"
#include "tools/requests.h"
#include "tools/why_beside.h"

/*
 * Copies of processes' counters and texts come and go for as long as the job runs.  From
 * this size on they are mappings of their own, which leave no gaps in the heap; of
 * itself glibc stops making them once one of that size was freed.
 */
#define OWN_MAPPING_BYTES (64 * 1024)

static struct supervisor {
	const char *place; /* where listen_fd listens */
	int listen_fd, signal_fd;
	struct tap_peers peers;
	struct tap_recording recording;
} self;

/* Closes the connection of a peer whose message is not understood. */
static void handle(struct tap_peer *peer)
{
	struct tap_answer answer = {.version = TAP_LINK_VERSION};
	struct tap_question question;
	int pidfd, ret, fd = -1;

	ret = tap_link_receive_question(peer->link, &question, &pidfd);
	if (ret) {
		tap_descriptor_close(&peer->link);
		return;
	}
	/* A program joins once, and only a member can be done. */
	if ((question.verb == TAP_LINK_JOIN && peer->is_member) ||
	    (question.verb == TAP_LINK_DONE && !peer->is_member)) {
		if (pidfd >= 0)
			close(pidfd);
		tap_descriptor_close(&peer->link);
		return;
	}
	if (question.verb == TAP_LINK_JOIN) {
		tap_peers_join(&self.peers, peer, &self.recording, &question, pidfd,
			       &answer);
	} else {
		if (pidfd >= 0)
			close(pidfd);
		if (question.verb == TAP_LINK_DONE) {
			peer->is_waiting = true;
			if (question.is_void)
				self.peers.programs--;
			else
				tap_peer_look_at_end(peer, &self.recording, &question);
			/*
			 * Members whose recording ends with them are answered when it has
			 * ended.
			 */
			if (!tap_peers_count_recorded(&self.peers))
				return;
			answer.is_going_on = true;
		} else {
			tap_session_trust();
			tap_requests_carry_out(&self.recording, &self.peers, peer,
					       &question, &answer, &fd);
			if (tap_session_is_hung())
				answer.error = TAP_LINK_HUNG;
		}
	}
	if (question.verb == TAP_LINK_JOIN) {
		tap_peers_answer_joined(&self.peers, peer, &self.recording, &answer);
		return;
	}
	if (tap_link_answer_with(peer->link, &answer, fd) ||
	    question.verb == TAP_LINK_DONE) {
		tap_descriptor_close(&peer->link);
		tap_descriptor_close(&peer->pidfd);
	}
	tap_descriptor_close(&fd);
}

static void handle_signal(void)
{
	struct signalfd_siginfo info;

	if (read(self.signal_fd, &info, sizeof(info)) != (ssize_t) sizeof(info))
		return;
	if (info.ssi_signo == SIGUSR1) {
		if (self.recording.plan->lttng.is_flight &&
		    self.recording.state == TAP_RECORDING_RUNS)
			tap_flight_take(&self.recording, "a signal to the supervisor");
		return;
	}
	if (self.recording.state == TAP_RECORDING_ENDED ||
	    self.recording.state == TAP_RECORDING_COUNTS)
		return;
	self.recording.outcome.was_ended = true;
	if (self.recording.plan->is_metrics_alone)
		tap_recording_detach(&self.recording);
	else
		tap_recording_end(&self.recording);
}

/*
 * The daemon hangs: every connected peer gets that answer, and the recording has ended.
 * Where calls are counted alone that goes on, and whoever asked is told. Called in a
 * signal handler.
 */
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
	if (self.recording.plan && self.recording.plan->is_metrics_alone) {
		tap_session_give_up();
		return;
	}
	for (size_t i = 0; i < self.peers.all.count; i++)
		if (self.peers.all.items[i].link >= 0)
			send(self.peers.all.items[i].link, &hung, sizeof(hung),
			     MSG_NOSIGNAL);
	_exit(TAP_EXIT_FAILURE);
}

static int next_look_ms(void)
{
	int64_t next = INT64_MAX, now = tap_now_ms();

	if (self.recording.plan->max_bytes && self.recording.state == TAP_RECORDING_RUNS)
		next = self.recording.bound.next_look_ms;
	if (self.recording.flight.is_due && tap_flight_due_ms(&self.recording) < next)
		next = tap_flight_due_ms(&self.recording);
	if (tap_recording_is_watching_relayd(&self.recording) &&
	    tap_sending_is_lost(&self.recording.sending) &&
	    tap_sending_due_ms(&self.recording.sending) < next)
		next = tap_sending_due_ms(&self.recording.sending);
	if (tap_metrics_due_ms(&self.recording.metrics) < next)
		next = tap_metrics_due_ms(&self.recording.metrics);
	if (tap_metrics_http_due_ms(&self.recording.http) < next)
		next = tap_metrics_http_due_ms(&self.recording.http);
	if (next == INT64_MAX)
		return -1;
	return next <= now ? 0 : next - now > 60000 ? 60000 : (int) (next - now);
}

/* Two for each peer, after those that are always there. */
#define POLLED_FIRST 6

static struct pollfd *fill_polled(void)
{
	static TAP_VEC(struct pollfd) all;
	struct pollfd *polled;

	if (tap_vec_reserve(&all, POLLED_FIRST + 2 * self.peers.all.count))
		return NULL;
	polled = all.items;
	polled[0] = (struct pollfd){.fd = self.listen_fd, .events = POLLIN};
	polled[1] = (struct pollfd){.fd = self.recording.notes.fd, .events = POLLIN};
	polled[2] = (struct pollfd){.fd = self.signal_fd, .events = POLLIN};
	polled[3] = (struct pollfd){.fd = self.recording.flight.why_fd, .events = POLLIN};
	polled[4] =
		(struct pollfd){.fd = tap_recording_is_watching_relayd(&self.recording)
					      ? self.recording.sending.fd
					      : -1,
				.events = POLLIN};
	polled[5] =
		(struct pollfd){.fd = self.recording.http.daemon ? self.recording.http.fd
								 : -1,
				.events = POLLIN};
	for (size_t i = 0; i < self.peers.all.count; i++) {
		const struct tap_peer *peer = &self.peers.all.items[i];

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

static void look_once(void)
{
	struct pollfd *polled = fill_polled();
	size_t count = self.peers.all.count;
	int link;

	if (!polled || poll(polled, POLLED_FIRST + 2 * count, next_look_ms()) < 0)
		return;
	for (size_t i = 0; i < count; i++) {
		if (polled[POLLED_FIRST + 2 * i].revents)
			handle(&self.peers.all.items[i]);
		/*
		 * The program's recorder was killed, so how the program ended is unknown.
		 */
		if (polled[POLLED_FIRST + 1 + 2 * i].revents) {
			tap_flight_want(&self.recording,
					"a program ended after its recorder was killed",
					true);
			tap_descriptor_close(&self.peers.all.items[i].pidfd);
		}
	}
	tap_peers_drop_gone(&self.peers, &self.recording);
	if (polled[1].revents)
		tap_recording_handle_notes(&self.recording);
	if (polled[2].revents)
		handle_signal();
	if (polled[3].revents) {
		int status = -1;

		waitpid(self.recording.flight.why_pid, &status, 0);
		tap_flight_end_why(&self.recording, status);
	}
	/* A verb may have lost it, or ended the recording, meanwhile. */
	if (polled[4].revents && tap_recording_is_watching_relayd(&self.recording) &&
	    self.recording.sending.fd >= 0)
		tap_recording_lose_relayd(&self.recording);
	if (polled[0].revents) {
		link = tap_link_accept(self.listen_fd);
		if (link >= 0)
			tap_peers_add(&self.peers, link);
	}
}

static void close_others(void)
{
	/* The user's descriptors, a pipe for instance, must not be kept open. */
	const int keep[] = {self.listen_fd, self.peers.all.items[0].link};
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

	self.place = place;
	self.listen_fd = listen_fd;
	tap_peers_add(&self.peers, link);
	if (!self.peers.all.count)
		_exit(TAP_EXIT_FAILURE);
	self.peers.all.items[0].is_maker = true;
	close_others();
	stand_alone();
	mallopt(M_MMAP_THRESHOLD, OWN_MAPPING_BYTES);
	tap_session_set_watchdog(give_up);
	/*
	 * Read first: if this process exits with the question unread, the peer loses the
	 * answer.
	 */
	if (tap_link_receive_question(link, &question, &pidfd))
		_exit(TAP_EXIT_FAILURE);
	ret = tap_recording_make(&self.recording, plan, &answer);
	if (ret) {
		tap_link_leave(place, listen_fd);
		answer.error = ret == -EEXIST ? TAP_LINK_REFUSED : TAP_LINK_FAILED;
		tap_link_answer(link, &answer);
		_exit(TAP_EXIT_FAILURE);
	}
	/* From here on only the members write to the user. */
	if (dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
		close(STDERR_FILENO);
	tap_place_keep_daemon();
	if (chdir("/") < 0)
		errno = 0;
	tap_recording_begin(&self.recording);
	self.signal_fd = watch_signals();
	tap_peers_join(&self.peers, &self.peers.all.items[0], &self.recording, &question,
		       pidfd, &answer);
	tap_peers_answer_joined(&self.peers, &self.peers.all.items[0], &self.recording,
				&answer);
}

/* Nobody can join any more; a program that comes now makes a recording of its own. */
static void finish(void) __attribute__((noreturn));

static void finish(void)
{
	tap_link_leave(self.place, self.listen_fd);
	/* The last chance for a snapshot that had to wait. */
	if (self.recording.flight.is_due && self.recording.state == TAP_RECORDING_RUNS)
		tap_flight_take_unasked(&self.recording);
	if (self.recording.plan->is_metrics_alone &&
	    self.recording.state != TAP_RECORDING_COUNTS)
		tap_recording_detach(&self.recording);
	if (self.recording.state != TAP_RECORDING_ENDED)
		tap_recording_end(&self.recording);
	while (self.recording.flight.why_pid)
		tap_flight_end_why(&self.recording,
				   tap_why_beside_wait(self.recording.flight.why_pid,
						       NULL));
	if (self.recording.plan->max_bytes)
		tap_bound_remove_oldest(&self.recording);
	tap_metrics_http_close(&self.recording.http);
	tap_metrics_close(&self.recording.metrics);
	tap_output_note_end(&self.recording.output);
	if (!self.peers.programs)
		tap_output_discard(&self.recording.output);
	tap_output_close(&self.recording.output);
	tap_sending_close(&self.recording.sending);
	/*
	 * First: a member that is answered may run "lttng create", and would find the
	 * daemon exiting.
	 */
	if (!self.recording.plan->is_metrics_alone || self.recording.was_attached)
		tap_recording_end_daemon();
	for (size_t i = 0; i < self.peers.all.count; i++)
		if (self.peers.all.items[i].is_waiting)
			tap_link_answer(self.peers.all.items[i].link,
					&self.recording.outcome);
	_exit(0);
}

void tap_supervisor_run(const struct tap_plan *plan, const char *place, int listen_fd,
			int link)
{
	begin(plan, place, listen_fd, link);
	while (tap_peers_count_recorded(&self.peers)) {
		look_once();
		tap_readers_add_state(&self.recording);
		tap_flight_take_due(&self.recording);
		tap_bound_keep(&self.recording);
		tap_metrics_keep(&self.recording.metrics);
		tap_metrics_http_serve(&self.recording.http);
		tap_recording_find_relayd_again(&self.recording);
	}
	finish();
}
