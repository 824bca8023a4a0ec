/* SPDX-License-Identifier: MIT */
/* An idle connection to the relay daemon's control port shows whether the daemon is
 * there. */
#include "tools/relayd.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* LTTng's own defaults. */
#define CONTROL_PORT 5342
#define DATA_PORT 5343

#define CONNECT_MS 5000

/* A host that lost power says nothing any more; this finds out within half a minute. */
#define IDLE_SECONDS 15
#define PROBE_SECONDS 5
#define PROBES 3

/* Reads ":PORT" at *text and goes on behind it; true also where there is none. */
static bool take_port(const char **text, unsigned *port)
{
	unsigned long number;
	char *end;

	if (!**text)
		return true;
	if (**text != ':' || (*text)[1] < '0' || (*text)[1] > '9')
		return false;
	number = strtoul(*text + 1, &end, 10);
	*text = end;
	*port = (unsigned) number;
	return number > 0 && number < 65536;
}

int tap_relayd_parse(const char *text, struct tap_relayd *ret_relayd)
{
	const bool is_bracketed = *text == '[';
	const char *host = text + is_bracketed, *rest;
	size_t length = strcspn(host, is_bracketed ? "]" : ":");

	*ret_relayd =
		(struct tap_relayd){.control_port = CONTROL_PORT, .data_port = DATA_PORT};
	if (!length || length >= sizeof(ret_relayd->host) ||
	    (is_bracketed && !host[length]) || strcspn(host, "/ @") < length)
		return -EINVAL;
	memcpy(ret_relayd->host, host, length);
	rest = host + length + is_bracketed;
	if (*rest) {
		if (!take_port(&rest, &ret_relayd->control_port))
			return -EINVAL;
		ret_relayd->data_port = ret_relayd->control_port + 1;
		if (!take_port(&rest, &ret_relayd->data_port) || *rest)
			return -EINVAL;
	}
	snprintf(ret_relayd->shown, sizeof(ret_relayd->shown),
		 is_bracketed ? "[%s]:%u" : "%s:%u", ret_relayd->host,
		 ret_relayd->control_port);
	return 0;
}

/* Returns 0 or -errno. */
static int wait_connected(int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLOUT};
	socklen_t size = sizeof(int);
	int error = 0;

	if (poll(&polled, 1, CONNECT_MS) != 1)
		return -ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		return -errno;
	return -error;
}

static void keep_alive(int fd)
{
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &(int){1}, sizeof(int));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &(int){IDLE_SECONDS}, sizeof(int));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &(int){PROBE_SECONDS}, sizeof(int));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &(int){PROBES}, sizeof(int));
}

/* Returns a descriptor or -errno. */
static int connect_one(const struct addrinfo *address)
{
	int ret, fd = socket(address->ai_family,
			     SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	ret = connect(fd, address->ai_addr, address->ai_addrlen) < 0 ? -errno : 0;
	if (ret == -EINPROGRESS)
		ret = wait_connected(fd);
	if (!ret) {
		keep_alive(fd);
		return fd;
	}
	close(fd);
	return ret;
}

int tap_relayd_connect(const struct tap_relayd *relayd,
		       char ret_number[TAP_RELAYD_NUMBER_SIZE], const char **ret_why)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *all, *one;
	char port[16];
	int ret, fd = -ENOENT;

	snprintf(port, sizeof(port), "%u", relayd->control_port);
	ret = getaddrinfo(relayd->host, port, &hints, &all);
	if (ret) {
		*ret_why = gai_strerror(ret);
		return -1;
	}
	for (one = all; one; one = one->ai_next) {
		fd = connect_one(one);
		if (fd >= 0)
			break;
	}
	if (fd < 0)
		*ret_why = strerror(-fd);
	else if (getnameinfo(one->ai_addr, one->ai_addrlen, ret_number,
			     TAP_RELAYD_NUMBER_SIZE, NULL, 0, NI_NUMERICHOST))
		*ret_number = '\0';
	freeaddrinfo(all);
	return fd < 0 ? -1 : fd;
}

char *tap_relayd_url(const struct tap_relayd *relayd, const char *number,
		     const char *folder)
{
	const bool is_ipv6 = strchr(number, ':');
	char *url;

	return asprintf(&url, is_ipv6 ? "net6://[%s]:%u:%u/%s" : "net://%s:%u:%u/%s",
			number, relayd->control_port, relayd->data_port, folder) < 0
		       ? NULL
		       : url;
}
