/* SPDX-License-Identifier: MIT */
/* Reads by system calls alone: no stream of libc is involved. */
#include "intercept/own_fd.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "intercept/trace.h"

static int open_file(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int open_socket(const char *unused)
{
	(void) unused;
	return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static struct tap_own_fd open_own(int (*open)(const char *path), const char *path)
{
	if (tap_has_events())
		return tap_events_table->own_fd_open(open, path);
	return (struct tap_own_fd){.fd = open(path)};
}

struct tap_own_fd tap_own_fd_socket(void)
{
	return open_own(open_socket, NULL);
}

void tap_own_fd_close(struct tap_own_fd own)
{
	if (own.is_listed)
		tap_events_table->own_fd_close(own);
	else if (own.fd >= 0)
		close(own.fd);
}

size_t tap_own_fd_read(const char *path, char *ret_text, size_t size)
{
	const struct tap_own_fd own = open_own(open_file, path);
	size_t used = 0;
	ssize_t got;

	while (own.fd >= 0 && used < size - 1) {
		got = read(own.fd, ret_text + used, size - 1 - used);
		if (got <= 0)
			break;
		used += (size_t) got;
	}
	tap_own_fd_close(own);
	ret_text[used] = 0;
	return used;
}
