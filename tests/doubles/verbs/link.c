/* SPDX-License-Identifier: MIT */
/*
 * Who is connected with whom: each open context listens at a socket in the abstract
 * namespace, under a name made of its place, so that nothing is left of a process that is
 * killed.  Whoever sends there connects, hands over memory for two rings, and gets its
 * answers through the same.  The socket carries nothing more, but breaks when its peer
 * ends.  One thread per process sleeps until somebody comes or goes.
 */
#include "wire.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define EVENTS 64
#define GREETING_FDS 2

struct soft_wires soft_wires = LIST_HEAD_INITIALIZER(soft_wires);
struct soft_bell *soft_own_bell;

static LIST_HEAD(, soft_context) listeners = LIST_HEAD_INITIALIZER(listeners);
static int epoll_fd = -1;
static int bell_fd = -1;

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

static int watch(int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static struct soft_wire *new_wire(int fd)
{
	struct soft_wire *wire = calloc(1, sizeof(*wire));

	if (!wire || watch(fd)) {
		free(wire);
		close(fd);
		return NULL;
	}
	wire->fd = fd;
	LIST_INSERT_HEAD(&soft_wires, wire, link);
	return wire;
}

void soft_wire_die(struct soft_wire *wire)
{
	if (wire->is_dead)
		return;
	wire->is_dead = true;
	shutdown(wire->fd, SHUT_RDWR);
	soft_forget_wire(wire);
	if (wire->is_outgoing)
		soft_unreachable(&wire->place);
}

/* One byte, and descriptors with it. */
static int greet(int fd, const int *fds, size_t count)
{
	char byte = 0;
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(GREETING_FDS * sizeof(int))];
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = CMSG_SPACE(count * sizeof(int))};
	struct cmsghdr *header;

	memset(control, 0, sizeof(control));
	header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(header), fds, count * sizeof(int));
	return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 ? 0 : -EPIPE;
}

/* How many descriptors came; 0: not yet, -EPIPE: and never will. */
static int take_greeting(int fd, int *fds)
{
	char byte;
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(GREETING_FDS * sizeof(int))];
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	ssize_t bytes = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *header = bytes == 1 ? CMSG_FIRSTHDR(&message) : NULL;
	size_t size;

	if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (!header || header->cmsg_type != SCM_RIGHTS)
		return -EPIPE;
	size = header->cmsg_len - CMSG_LEN(0);
	memcpy(fds, CMSG_DATA(header), size);
	return (int) (size / sizeof(int));
}

static int begin(struct soft_wire *wire)
{
	int fds[GREETING_FDS] = {soft_rings_new(), bell_fd};
	int err = -ENOMEM;

	if (fds[0] >= 0 && !soft_rings_map(fds[0], true, &wire->out, &wire->in)) {
		wire->is_mapped = true;
		err = greet(wire->fd, fds, 2);
	}
	if (fds[0] >= 0)
		close(fds[0]);
	return err;
}

struct soft_wire *soft_wire_to(const struct soft_place *place)
{
	struct soft_wire *wire;
	struct sockaddr_un name;
	socklen_t length;
	int fd;

	LIST_FOREACH(wire, &soft_wires, link)
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
	if (!wire)
		return NULL;
	wire->is_outgoing = true;
	wire->place = *place;
	if (!begin(wire))
		return wire;
	soft_wire_die(wire);
	return NULL;
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

/* Of who connected: the rings and the bell.  Of who was connected to: the bell. */
static int take_descriptors(struct soft_wire *wire, const int *fds, int count)
{
	if (count != (wire->is_outgoing ? 1 : 2) || wire->bell)
		return -EPROTO;
	wire->bell = soft_bell_map(fds[count - 1]);
	if (!wire->bell)
		return -ENOMEM;
	if (wire->is_outgoing) {
		/* For what was sent before the bell was there. */
		soft_bell_ring(wire->bell);
		return 0;
	}
	if (soft_rings_map(fds[0], false, &wire->out, &wire->in))
		return -ENOMEM;
	wire->is_mapped = true;
	return greet(wire->fd, &bell_fd, 1);
}

static void hear(struct soft_wire *wire)
{
	int fds[GREETING_FDS];
	int count = take_greeting(wire->fd, fds);
	int err = count < 0 ? count : 0;
	int i;

	if (count > 0)
		err = take_descriptors(wire, fds, count);
	for (i = 0; i < count; i++)
		close(fds[i]);
	/* What the peer sent before it ended has come. */
	if (wire->is_mapped)
		soft_wire_receive(wire);
	if (err)
		soft_wire_die(wire);
}

static void handle(int fd)
{
	struct soft_context *context;
	struct soft_wire *wire;

	LIST_FOREACH(context, &listeners, link)
	if (context->listen_fd == fd) {
		accept_from(context);
		return;
	}
	LIST_FOREACH(wire, &soft_wires, link)
	if (wire->fd == fd && !wire->is_dead) {
		hear(wire);
		return;
	}
}

static void bury(void)
{
	struct soft_wire *wire;
	struct soft_wire *after;

	for (wire = LIST_FIRST(&soft_wires); wire; wire = after) {
		after = LIST_NEXT(wire, link);
		if (!wire->is_dead)
			continue;
		LIST_REMOVE(wire, link);
		close(wire->fd);
		if (wire->is_mapped)
			soft_rings_unmap(&wire->out, &wire->in, wire->is_outgoing);
		soft_bell_unmap(wire->bell);
		free(wire->in_data);
		free(wire->out_data);
		free(wire);
	}
}

static void *serve(void *unused)
{
	struct epoll_event events[EVENTS];
	int count;
	int i;

	(void) unused;
	for (;;) {
		count = epoll_wait(epoll_fd, events, EVENTS, -1);
		pthread_mutex_lock(&soft_lock);
		for (i = 0; i < count; i++)
			handle(events[i].data.fd);
		bury();
		pthread_mutex_unlock(&soft_lock);
	}
	return NULL;
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
	LIST_FOREACH(wire, &soft_wires, link)
	close(wire->fd);
	if (epoll_fd >= 0)
		close(epoll_fd);
	if (bell_fd >= 0)
		close(bell_fd);
	LIST_INIT(&listeners);
	LIST_INIT(&soft_qps);
	soft_wire_forget_all();
	soft_own_bell = NULL;
	epoll_fd = -1;
	bell_fd = -1;
	pthread_mutex_init(&soft_lock, NULL);
}

static void look_after_forks(void)
{
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static int start_thread(void *(*main)(void *) )
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all;
	sigset_t old;
	int err;

	/* The program's signals are for its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&thread, &attr, main, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

static int start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int err;

	if (epoll_fd >= 0)
		return 0;
	pthread_once(&once, look_after_forks);
	bell_fd = soft_bell_new();
	soft_own_bell = bell_fd < 0 ? NULL : soft_bell_map(bell_fd);
	if (!soft_own_bell)
		return ENOMEM;
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0)
		return errno;
	err = start_thread(serve);
	return err ? err : start_thread(soft_wire_serve);
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
	if (!err && (listen(fd, SOMAXCONN) || watch(fd)))
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
	LIST_FOREACH(wire, &soft_wires, link)
	if (wire->context == context)
		soft_wire_die(wire);
}
