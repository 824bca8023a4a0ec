/* SPDX-License-Identifier: MIT */
/*
 * Ends in each way that a program can while two other threads make calls.  "held": there
 * is one, which is held up wherever it is, most likely in the midst of an event, by the
 * handler of a signal that takes a millisecond.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "moment.h"

extern char **environ;

static int nr_busy, is_held;

static void hold(int signal)
{
	const struct timespec time = {.tv_nsec = 1000 * 1000};

	(void) signal;
	__atomic_store_n(&is_held, 1, __ATOMIC_RELEASE);
	nanosleep(&time, NULL);
}

static void *make_calls(void *unused)
{
	int i;

	for (i = 0;; i++) {
		if (outcome())
			abort();
		if (i == 1000)
			__atomic_fetch_add(&nr_busy, 1, __ATOMIC_ACQ_REL);
	}
	return unused;
}

static void begin(int is_to_hold)
{
	const int nr = is_to_hold ? 1 : 2;
	pthread_t threads[2];
	int i;

	signal(SIGUSR1, hold);
	for (i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, make_calls, NULL);
	while (__atomic_load_n(&nr_busy, __ATOMIC_ACQUIRE) < nr)
		usleep(100);
	if (!is_to_hold)
		return;
	pthread_kill(threads[0], SIGUSR1);
	while (!__atomic_load_n(&is_held, __ATOMIC_ACQUIRE))
		usleep(100);
}

/* What another way of the same call cannot be told from is not tried twice. */
static int leave(const char *way)
{
	char *const args[] = {(char *) "true", NULL};
	int fd;

	if (!strcmp(way, "exit"))
		exit(0);
	if (!strcmp(way, "quick_exit"))
		quick_exit(0);
	if (!strcmp(way, "_exit"))
		_exit(0);
	if (!strcmp(way, "_Exit"))
		_Exit(0);
	if (!strcmp(way, "execv"))
		execv("/bin/true", args);
	if (!strcmp(way, "execve"))
		execve("/bin/true", args, environ);
	if (!strcmp(way, "execvp"))
		execvp("true", args);
	if (!strcmp(way, "execvpe"))
		execvpe("true", args, environ);
	if (!strcmp(way, "execl"))
		execl("/bin/true", "true", (char *) NULL);
	if (!strcmp(way, "execle"))
		execle("/bin/true", "true", (char *) NULL, environ);
	if (!strcmp(way, "execlp"))
		execlp("true", "true", (char *) NULL);
	fd = open("/bin/true", O_RDONLY);
	if (!strcmp(way, "fexecve"))
		fexecve(fd, args, environ);
	if (!strcmp(way, "execveat"))
		execveat(AT_FDCWD, "/bin/true", args, environ, 0);
	return strcmp(way, "main") != 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	begin(argc > 2 && !strcmp(argv[2], "held"));
	return leave(argv[1]);
}
