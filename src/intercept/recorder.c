/* SPDX-License-Identifier: MIT */
/*
 * Each message is one datagram to a socket in the abstract namespace of unix(7).
 */
#include "intercept/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/metrics_page.h"
#include "intercept/own_fd.h"

/* How long a program may wait for a supervisor that does not read. */
#define PATIENCE_MS 500

struct recorder {
	unsigned uid;
	uint64_t time_namespace; /* as an inode number, 0 unknown */
	char token[33];		 /* proves that the sender is one of the recorder's
				    processes */
	struct sockaddr_un socket;
	socklen_t socket_length;
};

/* The session exists but has not started, so no event is enabled yet. */
static bool is_paused;
/* The recorder is a flight recorder: it writes the newest events when asked. */
static bool is_flight;
static struct recorder flight;

static bool find(struct recorder *ret)
{
	const char *about = getenv("CCLTAP_RECORDER");
	size_t length;
	int at = 0;

	if (!about ||
	    sscanf(about, "%u %" SCNu64 " %32s %n", &ret->uid, &ret->time_namespace,
		   ret->token, &at) != 3 ||
	    !at)
		return false;
	length = strlen(about + at);
	if (!length || length >= sizeof(ret->socket.sun_path))
		return false;
	ret->socket = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(ret->socket.sun_path + 1, about + at, length);
	ret->socket_length =
		(socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + length);
	return true;
}

static uint64_t own_time_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/time", &st) ? 0 : st.st_ino;
}

/* Timestamps of another clock would be out of order among those of other processes. */
const char *tap_recorder_objection(void)
{
	const uint64_t own = own_time_namespace();
	struct recorder recorder;

	if (own && find(&recorder) && recorder.time_namespace &&
	    recorder.time_namespace != own)
		return "it is in another time namespace";
	return NULL;
}

/* "<token><prefix>process <pid>: <why>" */
static void send_note(const struct recorder *recorder, const char *prefix,
		      const char *why)
{
	char text[288];
	const struct tap_own_fd own = tap_own_fd_socket();
	int length;

	if (own.fd < 0)
		return;
	length = snprintf(text, sizeof(text), "%s%sprocess %d: %s", recorder->token,
			  prefix, getpid(), why);
	if (length >= (int) sizeof(text))
		length = sizeof(text) - 1;
	sendto(own.fd, text, (size_t) length, MSG_NOSIGNAL | MSG_DONTWAIT,
	       (const struct sockaddr *) &recorder->socket, recorder->socket_length);
	tap_own_fd_close(own);
}

void tap_recorder_notify(const char *why)
{
	struct recorder recorder;

	if (find(&recorder))
		send_note(&recorder, "", why);
}

void tap_recorder_notify_unreached(void)
{
	struct recorder recorder;

	if (!find(&recorder))
		return;
	if (recorder.uid && recorder.uid != getuid())
		tap_recorder_notify(
			"it is another user's, whom the session daemon does not "
			"serve");
	else if (!is_paused)
		tap_recorder_notify(
			"it reaches no session daemon: ccltap doctor says why");
}

/* Signals that come again and again do not put off the end of patience. */
static bool send_patiently(int fd, const struct msghdr *message)
{
	struct pollfd writable = {.fd = fd, .events = POLLOUT};
	const int64_t deadline_ms = tap_now_ms() + PATIENCE_MS;
	int64_t left_ms;

	for (;;) {
		if (sendmsg(fd, message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			return true;
		left_ms = deadline_ms - tap_now_ms();
		if ((errno != EAGAIN && errno != EINTR) || left_ms <= 0)
			return false;
		poll(&writable, 1, (int) left_ms);
	}
}

bool tap_recorder_send_page(int page_fd)
{
	const int saved_errno = errno;
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.room = {0}};
	char text[80];
	struct iovec part = {text, 0};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.room),
	};
	struct tap_own_fd own;
	struct recorder recorder;
	bool is_sent;

	if (!find(&recorder))
		return false;
	own = tap_own_fd_socket();
	if (own.fd < 0) {
		errno = saved_errno;
		return false;
	}
	part.iov_len =
		(size_t) snprintf(text, sizeof(text), "%s" TAP_METRICS_NOTE "process %d",
				  recorder.token, getpid());
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &page_fd, sizeof(page_fd));
	/* Of a socket that is not connected poll() does not know whether there is room.
	 */
	is_sent = !connect(own.fd, (const struct sockaddr *) &recorder.socket,
			   recorder.socket_length) &&
		  send_patiently(own.fd, &message);
	tap_own_fd_close(own);
	errno = saved_errno;
	return is_sent;
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && !strcmp(value, "1");
}

void tap_recorder_prepare(void)
{
	is_paused = is_set("CCLTAP_PAUSED");
	if (is_set("CCLTAP_FLIGHT") && find(&flight))
		__atomic_store_n(&is_flight, true, __ATOMIC_RELEASE);
}

void tap_recorder_ask_snapshot(const char *why)
{
	if (__atomic_load_n(&is_flight, __ATOMIC_ACQUIRE))
		send_note(&flight, "snapshot ", why);
}
