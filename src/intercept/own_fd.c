/* SPDX-License-Identifier: MIT */
/* Reads by system calls alone: no stream of libc is involved. */
#include "intercept/own_fd.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "intercept/trace.h"

/* Where a free number is looked for, and how often. */
#define FIRST 3
#define TRIES 64

/* For LTTng's callback, which has no other argument than a number. */
struct opening {
	int (*open)(const char *path);
	const char *path;
	struct tap_own_fd own;
};

static __thread struct opening *opening __attribute__((tls_model("initial-exec")));

static int open_file(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int open_socket(const char *unused)
{
	(void) unused;
	return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* ---- LTTng's list ---- */

static int hint = FIRST;

/*
 * A number that is free.  A low one: the kernel has a process with threads wait for
 * milliseconds when its table of descriptors grows.
 */
static int find_number(void)
{
	int number = __atomic_load_n(&hint, __ATOMIC_RELAXED), tries;

	if (tap_events_table->fd_numbers <= FIRST)
		return -1;
	for (tries = 0; tries < TRIES; tries++, number++) {
		if (number >= tap_events_table->fd_numbers)
			number = FIRST;
		if (fcntl(number, F_GETFD) < 0)
			break;
	}
	__atomic_store_n(&hint, number, __ATOMIC_RELAXED);
	return tries < TRIES ? number : -1;
}

/* The same descriptor under this number, or as it was. */
static int move(int fd, int number)
{
	const int moved = fcntl(fd, F_DUPFD_CLOEXEC, number);

	if (moved == number) {
		close(fd);
		return moved;
	}
	if (moved >= 0)
		close(moved);
	/* Where the program's limit is lower, or another thread took it. */
	__atomic_store_n(&hint, FIRST, __ATOMIC_RELAXED);
	return fd;
}

/* LTTng calls it under its lock, for a number that is not in its list. */
static int open_there(int number)
{
	int fd = opening->open(opening->path), listed;

	if (fd >= 0 && fd != number)
		fd = move(fd, number);
	opening->own.fd = fd;
	if (fd != number)
		return 0;
	listed = tap_events_table->fd_add(fd);
	opening->own.is_listed = listed >= 0;
	return 0;
}

/*
 * LTTng aborts where a number is added that is in its list already, as are those that the
 * program has closed by system calls of its own.  So LTTng is asked about a number, and
 * the descriptor is opened, moved there and added before it answers.  Opening must not
 * wait: nobody who asks LTTng can close anything meanwhile.
 */
static struct tap_own_fd open_own(int (*open)(const char *path), const char *path)
{
	struct opening o = {.open = open, .path = path, .own.fd = -1};
	const int number = tap_has_events() ? find_number() : -1;
	struct opening *const outer = opening; /* of whom a signal's handler interrupts */

	opening = &o;
	if (number < 0 || tap_events_table->close_one(number, open_there))
		o.own.fd = open(path);
	opening = outer;
	return o.own;
}

struct tap_own_fd tap_own_fd_socket(void)
{
	return open_own(open_socket, NULL);
}

void tap_own_fd_close(struct tap_own_fd own)
{
	if (own.fd < 0)
		return;
	if (!own.is_listed) {
		close(own.fd);
		return;
	}
	tap_events_table->fd_lock();
	tap_events_table->fd_remove(own.fd);
	close(own.fd);
	tap_events_table->fd_unlock();
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
