/* SPDX-License-Identifier: MIT */
/*
 * One rsync for each host. It writes the length of each file that it has copied to a
 * pipe, which shows the progress, and whose end shows that it has ended.
 */
#include "tools/fetching.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/message.h"
#include "tools/program.h"

/* Nobody is there to answer for 64 hosts. */
static const char quiet_ssh[] = "ssh -o BatchMode=yes -o ConnectTimeout=15";

/* Of a program that could not be started, as in a shell. */
#define NOT_STARTED 127

/* A file vanished meanwhile: the recording goes on, or LTTng has moved it. */
#define RSYNC_VANISHED 24

struct copy {
	const char *host; /* NULL: none now */
	pid_t pid;
	int lengths, errors;
	uint64_t number; /* that is being read */
	bool has_digits;
};

struct progress {
	bool is_wanted, is_shown;
	struct timespec shown;
	size_t done;
};

/* ---- One host ---- */

/* "HOST:PATH/", which the caller frees. */
static char *name_source(const struct tap_fetching *fetching, const char *host)
{
	char *source;
	int ret;

	if (strchr(host, ':'))
		ret = asprintf(&source, "%s/", host);
	else
		ret = asprintf(&source, "%s:%s/", host, fetching->source);
	return ret < 0 ? NULL : source;
}

static _Noreturn void run_rsync(const struct tap_fetching *fetching, const char *source,
				int lengths, int errors)
{
	const char *rsh = fetching->rsh;
	int nowhere = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* RSYNC_RSH is rsync's own. */
	if (!rsh && !getenv("RSYNC_RSH"))
		rsh = quiet_ssh;
	if (rsh)
		setenv("RSYNC_RSH", rsh, 1);
	if (nowhere >= 0 && dup2(nowhere, STDIN_FILENO) >= 0 &&
	    dup2(lengths, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0)
		execlp("rsync", "rsync", "--recursive", "--links", "--times", "--partial",
		       "--protect-args", "--chmod=u+rwX,go-rwx", "--timeout=300",
		       "--out-format=%l", "--", source, fetching->to, (char *) NULL);
	_exit(NOT_STARTED);
}

static int begin(struct copy *copy, const struct tap_fetching *fetching, const char *host)
{
	char *source = name_source(fetching, host);
	int ends[2];

	*copy = (struct copy){.lengths = -1};
	copy->errors = memfd_create("ccltap-rsync", MFD_CLOEXEC);
	if (!source || copy->errors < 0 || pipe2(ends, O_CLOEXEC) < 0) {
		free(source);
		return -errno;
	}
	copy->pid = fork();
	if (!copy->pid)
		run_rsync(fetching, source, ends[1], copy->errors);
	free(source);
	close(ends[1]);
	if (copy->pid < 0) {
		close(ends[0]);
		return -errno;
	}
	copy->lengths = ends[0];
	copy->host = host;
	return 0;
}

/* Why it failed: the first line that it wrote. */
static void report(const struct copy *copy, int status)
{
	char text[512];
	ssize_t length = pread(copy->errors, text, sizeof(text) - 1, 0);

	text[length > 0 ? length : 0] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_STARTED && !*text)
		snprintf(text, sizeof(text), "rsync cannot be run");
	tap_message_write("%s: not collected: %s", copy->host,
			  *text ? text : "rsync does not say why");
}

/* Returns whether all of the host was copied. */
static bool end(struct copy *copy)
{
	bool is_copied;
	int status = -1;

	while (waitpid(copy->pid, &status, 0) < 0 && errno == EINTR)
		;
	is_copied = WIFEXITED(status) &&
		    (!WEXITSTATUS(status) || WEXITSTATUS(status) == RSYNC_VANISHED);
	if (!is_copied)
		report(copy, status);
	close(copy->lengths);
	close(copy->errors);
	copy->host = NULL;
	return is_copied;
}

/* Adds up the numbers, one in each line. Returns false at the end. */
static bool read_lengths(struct copy *copy, struct tap_fetching *fetching)
{
	char text[4096];
	const ssize_t length = read(copy->lengths, text, sizeof(text));
	ssize_t i;

	if (length < 0)
		return errno == EINTR;
	for (i = 0; i < length; i++) {
		if (text[i] >= '0' && text[i] <= '9') {
			copy->number = copy->number * 10 + (uint64_t) (text[i] - '0');
			copy->has_digits = true;
			continue;
		}
		fetching->bytes += copy->number;
		fetching->files += copy->has_digits;
		copy->number = 0;
		copy->has_digits = false;
	}
	return length;
}

/* ---- Progress, on a terminal ---- */

static void clear(struct progress *progress)
{
	if (progress->is_shown && write(STDERR_FILENO, "\r\033[K", 4) < 0)
		errno = 0;
	progress->is_shown = false;
}

static void show(struct progress *progress, const struct tap_fetching *fetching)
{
	struct timespec now;
	char line[96];
	int length;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!progress->is_wanted ||
	    (progress->is_shown && now.tv_sec == progress->shown.tv_sec))
		return;
	length = snprintf(line, sizeof(line), "\r%zu of %zu hosts, %" PRIu64 " MiB",
			  progress->done, fetching->hosts->names.count,
			  fetching->bytes >> 20);
	if (write(STDERR_FILENO, line, (size_t) length) < 0)
		errno = 0;
	progress->is_shown = true;
	progress->shown = now;
}

/* ---- All hosts ---- */

struct copies {
	struct copy *all;
	struct pollfd *polled;
	size_t next; /* host to begin with */
	size_t running;
};

static void begin_more(struct copies *copies, struct tap_fetching *fetching,
		       struct progress *progress)
{
	const struct tap_hosts *hosts = fetching->hosts;
	unsigned i;
	int ret;

	for (i = 0; i < fetching->at_once && copies->next < hosts->names.count; i++) {
		if (copies->all[i].host)
			continue;
		ret = begin(&copies->all[i], fetching,
			    hosts->names.items[copies->next++]);
		if (!ret) {
			copies->running++;
			continue;
		}
		clear(progress);
		tap_message_write("%s: not collected: %s",
				  hosts->names.items[copies->next - 1], strerror(-ret));
		fetching->failed++;
		progress->done++;
	}
}

static void look_once(struct copies *copies, struct tap_fetching *fetching,
		      struct progress *progress)
{
	unsigned i;

	for (i = 0; i < fetching->at_once; i++)
		copies->polled[i] = (struct pollfd){
			.fd = copies->all[i].host ? copies->all[i].lengths : -1,
			.events = POLLIN,
		};
	show(progress, fetching);
	if (poll(copies->polled, fetching->at_once, 1000) <= 0)
		return;
	for (i = 0; i < fetching->at_once; i++) {
		if (!copies->polled[i].revents || read_lengths(&copies->all[i], fetching))
			continue;
		clear(progress);
		fetching->failed += !end(&copies->all[i]);
		progress->done++;
		copies->running--;
	}
}

int tap_fetching_run(struct tap_fetching *fetching)
{
	struct copies copies = {
		.all = calloc(fetching->at_once, sizeof(*copies.all)),
		.polled = calloc(fetching->at_once, sizeof(*copies.polled)),
	};
	struct progress progress = {.is_wanted = isatty(STDERR_FILENO)};
	char path[PATH_MAX];
	int ret = 0;

	if (tap_program_find("rsync", path, sizeof(path))) {
		tap_message_write(
			"no program \"rsync\" here: install it (Debian: rsync), here and "
			"on the hosts");
		ret = TAP_EXIT_USAGE;
	} else if (!copies.all || !copies.polled) {
		tap_message_write("out of memory");
		ret = TAP_EXIT_FAILURE;
	}
	while (!ret && (copies.running || copies.next < fetching->hosts->names.count)) {
		begin_more(&copies, fetching, &progress);
		if (copies.running)
			look_once(&copies, fetching, &progress);
	}
	clear(&progress);
	free(copies.all);
	free(copies.polled);
	return ret;
}
