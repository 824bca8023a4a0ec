/* SPDX-License-Identifier: MIT */
/*
 * A program that does as it likes with descriptors which it has not opened.  What it
 * opens afterwards must stay its own: nobody reads from it, writes to it or closes it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "moment.h"

#define FIRST 3
#define LAST 64

/* Descriptors of our own wherever others may have been, and whether all stay as they are.
 */
static int pairs[LAST][2];

static void open_pairs(void)
{
	int i;

	for (i = 0; i < LAST; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i])) {
			printf("no pair: %s\n", strerror(errno));
			exit(1);
		}
}

static void check_pairs(void)
{
	int damaged = 0, i;
	char c;

	for (i = 0; i < LAST; i++) {
		c = 0;
		if (write(pairs[i][0], "x", 1) != 1)
			damaged++;
	}
	for (i = 0; i < LAST; i++)
		if (recv(pairs[i][1], &c, 1, MSG_DONTWAIT) != 1 || c != 'x' ||
		    recv(pairs[i][1], &c, 1, MSG_DONTWAIT) != -1)
			damaged++;
	printf("damaged: %d\n", damaged);
}

static void close_each(void)
{
	int fd;

	for (fd = FIRST; fd < 1024; fd++)
		close(fd);
}

static void close_from(void)
{
	closefrom(FIRST);
}

static void close_a_range(void)
{
	close_range(FIRST, ~0U, 0);
}

static void close_at_exec(void)
{
	close_range(FIRST, ~0U, CLOSE_RANGE_CLOEXEC);
}

/* Past all of libc, where nobody could spare anything: only before the first call. */
static void close_by_number(void)
{
	int fd;

	for (fd = FIRST; fd < 1024; fd++)
		syscall(SYS_close, fd);
}

/* What is there is replaced without a word. */
static void put_over(void)
{
	int fd;

	for (fd = FIRST; fd < LAST; fd++)
		dup2(STDIN_FILENO, fd);
}

/* Whoever is spoken to answers on what was its descriptor. */
static void stir(void)
{
	const char *command = getenv("STIR");

	if (command && system(command))
		printf("not stirred\n");
	usleep(100000);
}

static void around(void (*close_all)(void), int first)
{
	if (first)
		close_all();
	call("before");
	if (!first)
		close_all();
	open_pairs();
	call("between");
	stir();
	call("after");
	check_pairs();
}

/* With no standard descriptors the first that are opened become them. */
static void no_standard(void)
{
	int result_fd = fcntl(STDOUT_FILENO, F_DUPFD, 100);
	int failed = 0, fd;

	for (fd = 0; fd < 3; fd++)
		close(fd);
	failed = outcome();
	for (fd = 0; fd < 3; fd++)
		if (open("/dev/null", O_RDWR) != fd)
			failed += 10;
	dup2(result_fd, STDOUT_FILENO);
	printf("failed: %d\n", failed);
	call("after");
}

/* Whoever has all that it may have, and frees one, has that one. */
static void none_left(void)
{
	int fd, last = -1;

	while ((fd = open("/dev/null", O_RDONLY)) >= 0)
		last = fd;
	call("none left");
	close(last);
	call("one left");
	printf("it is still there: %d\n", open("/dev/null", O_RDONLY) == last);
	call("none left");
}

#define WAY(name, close_all) \
	static void name##_first(void) \
	{ \
		around(close_all, 1); \
	} \
	static void name##_later(void) \
	{ \
		around(close_all, 0); \
	}

WAY(each, close_each)
WAY(from, close_from)
WAY(range, close_a_range)
WAY(cloexec, close_at_exec)

static void number_first(void)
{
	around(close_by_number, 1);
}

/* Nobody can spare anything here: only that the calls go on is looked at. */
static void dup2_over(void)
{
	call("before");
	put_over();
	stir();
	call("after");
}

int main(int argc, char **argv)
{
	static const struct moment moments[] = {
		{"close-first", each_first},	    {"close-later", each_later},
		{"closefrom-first", from_first},    {"closefrom-later", from_later},
		{"close_range-first", range_first}, {"close_range-later", range_later},
		{"at-exec-first", cloexec_first},   {"at-exec-later", cloexec_later},
		{"by-number-first", number_first},  {"dup2", dup2_over},
		{"no-standard", no_standard},	    {"none-left", none_left},
	};

	return RUN_MOMENT(argc, argv);
}
