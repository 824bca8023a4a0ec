/* SPDX-License-Identifier: MIT */
/* Reads by system calls alone: no stream of libc is involved. */
#include "intercept/own_fd.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "intercept/fd_guard.h"

/* Where a free number is looked for, and how often. */
#define FIRST 3
#define TRIES 64

static int open_file(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int open_socket(const char *unused)
{
	(void) unused;
	return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/*
 * LTTng aborts where a number is added that is in the list already, as are those that the
 * program has closed by system calls of its own, and does not say under its lock what is in
 * it.  So a number that is free and not listed is looked for before.  A low one: the
 * kernel has a process with threads wait for milliseconds when its table of descriptors
 * grows.
 */
static int find_number(const struct tap_fd_list *list)
{
	static int hint = FIRST;
	int number = __atomic_load_n(&hint, __ATOMIC_RELAXED), tries;

	for (tries = 0; tries < TRIES; tries++, number++) {
		if (number >= list->numbers)
			number = FIRST;
		if (fcntl(number, F_GETFD) < 0 && !tap_fd_guard_has(number))
			break;
	}
	__atomic_store_n(&hint, number, __ATOMIC_RELAXED);
	return tries < TRIES ? number : -1;
}

static void add_to_list(const struct tap_fd_list *list, struct tap_own_fd *own, int number)
{
	if (own->fd != number) {
		const int moved = fcntl(own->fd, F_DUPFD_CLOEXEC, number);

		if (moved < 0)
			return;
		if (moved != number) {
			close(moved);
			return;
		}
		close(own->fd);
	}
	own->fd = list->add(number);
	own->is_listed = own->fd >= 0;
}

/* Opening must not wait: nobody who asks LTTng can close anything meanwhile. */
static struct tap_own_fd open_own(int (*open)(const char *path), const char *path)
{
	const struct tap_fd_list *list = __atomic_load_n(&tap_fd_list, __ATOMIC_ACQUIRE);
	const int number = list ? find_number(list) : -1;
	struct tap_own_fd own = {0};

	if (list)
		list->lock();
	own.fd = open(path);
	if (own.fd >= 0 && number >= 0)
		add_to_list(list, &own, number);
	if (list)
		list->unlock();
	return own;
}

struct tap_own_fd tap_own_fd_socket(void)
{
	return open_own(open_socket, NULL);
}

void tap_own_fd_close(struct tap_own_fd own)
{
	const struct tap_fd_list *list = __atomic_load_n(&tap_fd_list, __ATOMIC_ACQUIRE);

	if (list)
		list->lock();
	if (own.is_listed && list)
		list->remove(own.fd);
	if (own.fd >= 0)
		close(own.fd);
	if (list)
		list->unlock();
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
