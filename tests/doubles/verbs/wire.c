/* SPDX-License-Identifier: MIT */
/*
 * The cable: sockets between the processes of one host, in the abstract namespace, so
 * that nothing is left of a process that is killed.  Each open context listens under a
 * name made of its place; whoever sends there connects, and gets its answers on the same
 * socket.  One thread per process sleeps in epoll_wait() and does what comes in, and so
 * does who polls in vain; who posts writes to the socket itself.
 */
#include "soft.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#define FULL_BYTES (4U << 20)
#define DIRECT_BYTES (16U << 10)
#define READ_BYTES (256U << 10)
#define EVENTS 64

struct soft_wire {
	LIST_ENTRY(soft_wire) link;
	int fd;
	/* Whose requests go out here: where to; else: whose context took it. */
	bool is_outgoing;
	bool is_dead;
	bool is_watched;
	int held;
	struct soft_place place;
	struct soft_context *context;
	char *in;
	size_t in_used;
	size_t in_size;
	char *out;
	size_t out_start;
	size_t out_end;
	size_t out_size;
};

static LIST_HEAD(, soft_wire) wires = LIST_HEAD_INITIALIZER(wires);
static LIST_HEAD(, soft_context) listeners = LIST_HEAD_INITIALIZER(listeners);
static int epoll_fd = -1;
static int timer_fd = -1;
static uint64_t timer_at = SOFT_NEVER;
static atomic_bool has_wires;

static socklen_t name_of(const struct soft_place *place, struct sockaddr_un *name)
{
	int length;

	memset(name, 0, sizeof(*name));
	name->sun_family = AF_UNIX;
	length = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1,
			  "softverbs/%s/%u.%u.%u", soft_settings()->fabric, place->host,
			  place->device, place->slot);
	return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + (size_t) length);
}

struct soft_context *soft_context_at(const struct soft_place *place)
{
	struct soft_context *context;

	LIST_FOREACH(context, &listeners, link)
	if (soft_same_place(&context->place, place))
		return context;
	return NULL;
}

static int watch(int fd, int operation, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = fd};

	return epoll_ctl(epoll_fd, operation, fd, &event);
}

static struct soft_wire *new_wire(int fd)
{
	struct soft_wire *wire = calloc(1, sizeof(*wire));

	if (!wire || watch(fd, EPOLL_CTL_ADD, EPOLLIN)) {
		free(wire);
		close(fd);
		return NULL;
	}
	wire->fd = fd;
	LIST_INSERT_HEAD(&wires, wire, link);
	atomic_store_explicit(&has_wires, true, memory_order_relaxed);
	return wire;
}

/* Freed by the thread that reads, when nobody has it in hand. */
static void die(struct soft_wire *wire)
{
	if (wire->is_dead)
		return;
	wire->is_dead = true;
	shutdown(wire->fd, SHUT_RDWR);
	soft_forget_wire(wire);
	if (wire->is_outgoing)
		soft_unreachable(&wire->place);
}

struct soft_wire *soft_wire_to(const struct soft_place *place)
{
	struct soft_wire *wire;
	struct sockaddr_un name;
	socklen_t length;
	int fd;

	LIST_FOREACH(wire, &wires, link)
	if (wire->is_outgoing && !wire->is_dead && soft_same_place(&wire->place, place))
		return wire;
	length = name_of(place, &name);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return NULL;
	if (connect(fd, (struct sockaddr *) &name, length)) {
		close(fd);
		return NULL;
	}
	wire = new_wire(fd);
	if (wire) {
		wire->is_outgoing = true;
		wire->place = *place;
	}
	return wire;
}

bool soft_wire_is_full(const struct soft_wire *wire)
{
	return wire->out_end - wire->out_start > FULL_BYTES;
}

static int reserve(char **buffer, size_t *size, size_t needed)
{
	size_t grown = *size ? *size : READ_BYTES;
	char *larger;

	if (needed <= *size)
		return 0;
	while (grown < needed)
		grown *= 2;
	larger = realloc(*buffer, grown);
	if (!larger)
		return -ENOMEM;
	*buffer = larger;
	*size = grown;
	return 0;
}

static void append(struct soft_wire *wire, const struct iovec *iov, int count,
		   size_t skip)
{
	size_t bytes = 0;
	int i;

	for (i = 0; i < count; i++)
		bytes += iov[i].iov_len;
	if (bytes == skip)
		return;
	if (wire->out_start == wire->out_end) {
		wire->out_start = 0;
		wire->out_end = 0;
	}
	if (reserve(&wire->out, &wire->out_size, wire->out_end + bytes - skip)) {
		/* A message that is half on its way. */
		die(wire);
		return;
	}
	for (i = 0; i < count; i++) {
		size_t skipped = skip < iov[i].iov_len ? skip : iov[i].iov_len;

		memcpy(wire->out + wire->out_end, (char *) iov[i].iov_base + skipped,
		       iov[i].iov_len - skipped);
		wire->out_end += iov[i].iov_len - skipped;
		skip -= skipped;
	}
}

/* How much of it went. */
static size_t put(struct soft_wire *wire, struct iovec *iov, int count)
{
	struct msghdr message = {.msg_iov = iov, .msg_iovlen = (size_t) count};
	ssize_t bytes;

	bytes = sendmsg(wire->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (bytes >= 0)
		return (size_t) bytes;
	if (errno != EAGAIN && errno != EINTR)
		die(wire);
	return 0;
}

static void watch_output(struct soft_wire *wire)
{
	bool is_left = wire->out_start != wire->out_end;

	if (is_left == wire->is_watched || wire->is_dead)
		return;
	wire->is_watched = is_left;
	watch(wire->fd, EPOLL_CTL_MOD, is_left ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void flush(struct soft_wire *wire)
{
	struct iovec iov;

	if (wire->is_dead || wire->out_start == wire->out_end)
		return;
	iov.iov_base = wire->out + wire->out_start;
	iov.iov_len = wire->out_end - wire->out_start;
	wire->out_start += put(wire, &iov, 1);
	watch_output(wire);
}

void soft_wire_send(struct soft_wire *wire, const struct soft_frame *frame,
		    const struct soft_span *spans, int num_spans)
{
	struct iovec iov[SOFT_MAX_SGE + 1];
	size_t went = 0;
	int i;

	if (wire->is_dead)
		return;
	iov[0].iov_base = (void *) frame;
	iov[0].iov_len = sizeof(*frame);
	for (i = 0; i < num_spans; i++) {
		iov[i + 1].iov_base = spans[i].data;
		iov[i + 1].iov_len = spans[i].size;
	}
	/* A large one is not copied if the socket takes it. */
	if (frame->size > DIRECT_BYTES) {
		flush(wire);
		if (wire->out_start == wire->out_end)
			went = put(wire, iov, num_spans + 1);
	}
	if (!wire->is_dead)
		append(wire, iov, num_spans + 1, went);
	if (!wire->held)
		flush(wire);
}

void soft_wire_hold(struct soft_wire *wire)
{
	wire->held++;
}

void soft_wire_release(struct soft_wire *wire)
{
	if (--wire->held == 0)
		flush(wire);
}

static void dispatch(struct soft_wire *wire, const struct soft_frame *frame, char *data)
{
	struct soft_span payload = {.data = data, .size = frame->size};

	if (frame->is_answer)
		soft_take_answer(frame, &payload);
	else
		soft_respond(wire, frame, &payload, payload.size ? 1 : 0);
}

/* Does what is complete; returns how many bytes the next message needs in all. */
static size_t consume(struct soft_wire *wire)
{
	struct soft_frame frame;
	size_t done = 0;
	size_t needed = sizeof(frame);

	while (wire->in_used - done >= sizeof(frame)) {
		memcpy(&frame, wire->in + done, sizeof(frame));
		needed = sizeof(frame) + frame.size;
		if (wire->in_used - done < needed)
			break;
		dispatch(wire, &frame, wire->in + done + sizeof(frame));
		done += needed;
		needed = sizeof(frame);
	}
	if (done) {
		wire->in_used -= done;
		memmove(wire->in, wire->in + done, wire->in_used);
	}
	return needed;
}

static void receive(struct soft_wire *wire)
{
	size_t needed = sizeof(struct soft_frame);
	ssize_t bytes;

	soft_wire_hold(wire);
	do {
		size_t room = needed > READ_BYTES ? needed : READ_BYTES;

		if (reserve(&wire->in, &wire->in_size, room)) {
			die(wire);
			break;
		}
		bytes = recv(wire->fd, wire->in + wire->in_used,
			     wire->in_size - wire->in_used, MSG_DONTWAIT);
		if (bytes > 0) {
			wire->in_used += (size_t) bytes;
			needed = consume(wire);
		} else if (bytes == 0 || (errno != EAGAIN && errno != EINTR)) {
			die(wire);
		}
		/* The rest of a large message is waited for; others get their turn. */
	} while (bytes > 0 && wire->in_used && !wire->is_dead);
	soft_wire_release(wire);
}

static void accept_from(struct soft_context *context)
{
	struct soft_wire *wire;
	int fd;

	while ((fd = accept4(context->listen_fd, NULL, NULL,
			     SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		wire = new_wire(fd);
		if (wire)
			wire->context = context;
	}
}

void soft_timer(uint64_t at)
{
	struct itimerspec when = {0};

	if (at >= timer_at || at >= SOFT_NEVER - 1)
		return;
	timer_at = at;
	when.it_value.tv_sec = (time_t) (at / 1000000000);
	when.it_value.tv_nsec = (long) (at % 1000000000);
	timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void run_timers(void)
{
	uint64_t expirations;
	struct soft_qp *qp;
	uint64_t now;

	if (read(timer_fd, &expirations, sizeof(expirations)) != sizeof(expirations))
		return;
	timer_at = SOFT_NEVER;
	now = soft_now();
	LIST_FOREACH(qp, &soft_qps, link)
	{
		soft_request_timer(qp, now);
		soft_respond_timer(qp, now);
	}
}

static void handle(const struct epoll_event *event)
{
	struct soft_context *context;
	struct soft_wire *wire;
	struct soft_qp *qp;

	if (event->data.fd == timer_fd) {
		run_timers();
		return;
	}
	LIST_FOREACH(context, &listeners, link)
	if (context->listen_fd == event->data.fd) {
		accept_from(context);
		return;
	}
	LIST_FOREACH(wire, &wires, link)
	if (wire->fd == event->data.fd)
		break;
	if (!wire || wire->is_dead)
		return;
	if (event->events & EPOLLOUT) {
		flush(wire);
		/* Who waited for room goes on. */
		if (wire->out_start == wire->out_end)
			LIST_FOREACH(qp, &soft_qps, link)
		soft_pump(qp);
	}
	if (event->events & ~(uint32_t) EPOLLOUT)
		receive(wire);
}

static void bury(void)
{
	struct soft_wire *wire;
	struct soft_wire *after;

	for (wire = LIST_FIRST(&wires); wire; wire = after) {
		after = LIST_NEXT(wire, link);
		if (!wire->is_dead)
			continue;
		LIST_REMOVE(wire, link);
		close(wire->fd);
		free(wire->in);
		free(wire->out);
		free(wire);
	}
}

static void handle_all(const struct epoll_event *events, int count)
{
	int i;

	for (i = 0; i < count; i++)
		handle(&events[i]);
	bury();
}

static void *serve(void *unused)
{
	struct epoll_event events[EVENTS];
	int count;

	(void) unused;
	for (;;) {
		count = epoll_wait(epoll_fd, events, EVENTS, -1);
		pthread_mutex_lock(&soft_lock);
		handle_all(events, count);
		pthread_mutex_unlock(&soft_lock);
	}
	return NULL;
}

void soft_progress(void)
{
	struct epoll_event events[EVENTS];

	/* Nobody to hear from, or somebody else is at it. */
	if (!atomic_load_explicit(&has_wires, memory_order_relaxed) ||
	    pthread_mutex_trylock(&soft_lock))
		return;
	handle_all(events, epoll_wait(epoll_fd, events, EVENTS, 0));
	pthread_mutex_unlock(&soft_lock);
}

/* A child has none of the adapter's objects: as ibv_fork_init(3), it may only exec, or
 * open the device anew. */
static void before_fork(void)
{
	pthread_mutex_lock(&soft_lock);
}

static void after_fork_in_parent(void)
{
	pthread_mutex_unlock(&soft_lock);
}

static void after_fork_in_child(void)
{
	struct soft_context *context;
	struct soft_wire *wire;

	LIST_FOREACH(context, &listeners, link)
	close(context->listen_fd);
	LIST_FOREACH(wire, &wires, link)
	close(wire->fd);
	if (epoll_fd >= 0)
		close(epoll_fd);
	if (timer_fd >= 0)
		close(timer_fd);
	LIST_INIT(&listeners);
	LIST_INIT(&wires);
	LIST_INIT(&soft_qps);
	has_wires = false;
	epoll_fd = -1;
	timer_fd = -1;
	timer_at = SOFT_NEVER;
	pthread_mutex_init(&soft_lock, NULL);
}

static void look_after_forks(void)
{
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static int start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all;
	sigset_t old;
	int err;

	if (epoll_fd >= 0)
		return 0;
	pthread_once(&once, look_after_forks);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (epoll_fd < 0 || timer_fd < 0 || watch(timer_fd, EPOLL_CTL_ADD, EPOLLIN))
		return errno;
	/* The program's signals are for its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&thread, &attr, serve, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

/* Takes the first slot that is free. */
int soft_wire_listen(struct soft_context *context)
{
	struct sockaddr_un name;
	socklen_t length;
	int err;
	int fd;

	err = start();
	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return errno;
	err = EADDRINUSE;
	for (context->place.slot = 0; context->place.slot < SOFT_MAX_SLOTS;
	     context->place.slot++) {
		length = name_of(&context->place, &name);
		err = bind(fd, (struct sockaddr *) &name, length) ? errno : 0;
		if (err != EADDRINUSE)
			break;
	}
	if (!err && (listen(fd, SOMAXCONN) || watch(fd, EPOLL_CTL_ADD, EPOLLIN)))
		err = errno;
	if (err) {
		close(fd);
		return err;
	}
	context->listen_fd = fd;
	LIST_INSERT_HEAD(&listeners, context, link);
	return 0;
}

void soft_wire_unlisten(struct soft_context *context)
{
	struct soft_wire *wire;

	LIST_REMOVE(context, link);
	close(context->listen_fd);
	LIST_FOREACH(wire, &wires, link)
	if (wire->context == context)
		die(wire);
}
