/* SPDX-License-Identifier: MIT */
/* A pipe that no worker writes to tells of its end, so that the wait for it has a limit.
 */
#include "tools/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/compiler.h"
#include "tools/message.h"
#include "tools/percent.h"

#define TICK_MS 250

struct worker {
	pid_t pid; /* 0: not started, or gone */
	int lifeline;
	int said; /* its standard error */
	bool is_over;
};

struct all {
	const struct tap_workers *workers;
	struct worker *list;
	struct pollfd *files;
	size_t started, running, shown, idle;
	struct tap_percent percent;
	int failed; /* the first status that is not 0 */
};

static volatile sig_atomic_t stopped_by;

static void note_stop(int number)
{
	stopped_by = number;
}

static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction before[ARRAY_SIZE(stops)];

static void restore_signals(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(stops); i++)
		sigaction(stops[i], &before[i], NULL);
}

static void take_signals(void)
{
	const struct sigaction stop = {.sa_handler = note_stop};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(stops); i++) {
		sigaction(stops[i], NULL, &before[i]);
		if (before[i].sa_handler == SIG_DFL)
			sigaction(stops[i], &stop, NULL);
	}
}

/* ---- A worker ---- */

_Noreturn static void begin(const struct all *all, size_t number, pid_t parent)
{
	const struct tap_workers *workers = all->workers;
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	restore_signals();
	dup2(all->list[number].said, STDERR_FILENO);
	tap_message_set_subject(workers->name(number, workers->data));
	status = workers->run(number, workers->data);
	if (status < 0) {
		signal(-status, SIG_DFL);
		raise(-status);
	}
	/* What else this process has open belongs to its parent. */
	_exit(status < 0 ? EXIT_FAILURE : status);
}

/* Returns 0 or -errno. */
static int start(struct all *all)
{
	struct worker *worker = &all->list[all->started];
	const pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	worker->lifeline = ends[0];
	worker->said = memfd_create("ccltap", MFD_CLOEXEC);
	fflush(NULL);
	worker->pid = worker->said < 0 ? -1 : fork();
	if (!worker->pid)
		begin(all, all->started, parent);
	if (worker->pid < 0) {
		const int ret = -errno;

		worker->pid = 0;
		close(ends[1]);
		return ret;
	}
	close(ends[1]);
	all->started++;
	all->running++;
	return 0;
}

/* ---- Their end ---- */

static void show(struct all *all, const struct worker *worker)
{
	char bytes[4096];
	ssize_t length;
	off_t at;

	for (at = 0; (length = pread(worker->said, bytes, sizeof(bytes), at)) > 0;
	     at += length) {
		tap_percent_clear(&all->percent);
		/* If nobody reads stderr, there is nobody left to inform. */
		if (write(STDERR_FILENO, bytes, (size_t) length) < 0)
			return;
	}
}

/* What was said by all up to the first that is not over. */
static void show_ready(struct all *all)
{
	for (; all->shown < all->started && all->list[all->shown].is_over; all->shown++) {
		struct worker *worker = &all->list[all->shown];

		show(all, worker);
		close(worker->said);
		worker->said = -1;
	}
}

static void judge(struct all *all, size_t number, int how)
{
	const struct tap_workers *workers = all->workers;
	const char *name = workers->name(number, workers->data);

	if (WIFEXITED(how) && WEXITSTATUS(how) == TAP_WORKERS_NOTHING) {
		all->idle++;
		return;
	}
	if (WIFEXITED(how) && !WEXITSTATUS(how))
		return;
	/* Those that are ended because of the first have nothing to say. */
	if (all->failed || stopped_by)
		return;
	all->failed = WIFEXITED(how) ? WEXITSTATUS(how) : TAP_EXIT_FAILURE;
	show(all, &all->list[number]);
	if (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL)
		tap_message_write(
			"cannot go on: the process for %s was killed; is memory "
			"short?",
			name);
	else if (WIFSIGNALED(how))
		tap_message_write("cannot go on: the process for %s ended by signal %d",
				  name, WTERMSIG(how));
}

static void collect(struct all *all, size_t number)
{
	struct worker *worker = &all->list[number];
	int how = 0;

	while (waitpid(worker->pid, &how, 0) < 0 && errno == EINTR)
		;
	worker->pid = 0;
	worker->is_over = true;
	close(worker->lifeline);
	worker->lifeline = -1;
	all->running--;
	judge(all, number, how);
}

/* Ends those that run. Each cleans up after itself. */
static void end_all(struct all *all)
{
	size_t i;

	for (i = 0; i < all->started; i++)
		if (all->list[i].pid)
			kill(all->list[i].pid, SIGTERM);
	for (i = 0; i < all->started; i++)
		if (all->list[i].pid)
			collect(all, i);
}

/* ---- All of them ---- */

static void show_percent(struct all *all)
{
	const struct tap_workers *workers = all->workers;
	uint64_t done = 0, of = 0;

	if (!workers->progress)
		return;
	workers->progress(workers->data, &done, &of);
	tap_percent_show(&all->percent, done, of);
}

/* Waits until one or more are over, or for a tick. */
static void wait_for_some(struct all *all)
{
	nfds_t count = 0;
	size_t i;

	for (i = 0; i < all->started; i++)
		if (all->list[i].pid)
			all->files[count++] = (struct pollfd){.fd = all->list[i].lifeline,
							      .events = POLLIN};
	if (poll(all->files, count, TICK_MS) <= 0)
		return;
	for (i = 0, count = 0; i < all->started; i++)
		if (all->list[i].pid && all->files[count++].revents)
			collect(all, i);
}

static int run_all(struct all *all)
{
	const struct tap_workers *workers = all->workers;
	int ret = 0;

	while (!stopped_by && !all->failed &&
	       (all->running || all->started < workers->count)) {
		while (!ret && all->running < workers->processes &&
		       all->started < workers->count)
			ret = start(all);
		if (ret) {
			tap_message_write("cannot start a process: %s", strerror(-ret));
			all->failed = TAP_EXIT_FAILURE;
			break;
		}
		wait_for_some(all);
		if (!all->failed)
			show_ready(all);
		show_percent(all);
	}
	end_all(all);
	tap_percent_clear(&all->percent);
	if (stopped_by)
		return -stopped_by;
	if (all->failed)
		return all->failed;
	return all->idle == workers->count ? TAP_WORKERS_NOTHING : 0;
}

int tap_workers_run(const struct tap_workers *workers)
{
	struct all all = {.workers = workers,
			  .percent.is_wanted = workers->shows_percent};
	int ret = TAP_EXIT_FAILURE;
	size_t i;

	all.list = calloc(workers->count, sizeof(*all.list));
	all.files = calloc(workers->count, sizeof(*all.files));
	for (i = 0; all.list && i < workers->count; i++)
		all.list[i].lifeline = all.list[i].said = -1;
	if (all.list && all.files) {
		tap_percent_begin(&all.percent);
		take_signals();
		ret = run_all(&all);
		restore_signals();
	} else {
		tap_message_write("out of memory");
	}
	for (i = 0; all.list && i < workers->count; i++) {
		if (all.list[i].lifeline >= 0)
			close(all.list[i].lifeline);
		if (all.list[i].said >= 0)
			close(all.list[i].said);
	}
	free(all.files);
	free(all.list);
	return ret;
}
