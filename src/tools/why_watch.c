/* SPDX-License-Identifier: MIT */
/*
 * Each look is a process of its own, whose output and messages are kept and compared with
 * those of the look before.
 */
#include "tools/why_watch.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/vec.h"
#include "tools/message.h"
#include "tools/parts.h"
#include "tools/snapshots.h"

/*
 * Of a long recording, the newest chunks up to this size are read: more takes longer than
 * the pause.
 */
#define NEWEST_BYTES (UINT64_C(32) << 20)

/* One finding as it is printed: its headline, and indented lines. */
struct block {
	char *text;
	bool is_here; /* in this look */
};

struct watch {
	const struct tap_why *why;
	unsigned pause_s;
	bool is_terminal;
	int signals; /* readable when a signal asks to end */
	sigset_t before;
	/* What was shown last. */
	TAP_VEC(struct block) blocks;
	char *messages;
	enum tap_verdict verdict;
	bool was_wrong;
};

/* What a look wrote. */
struct said {
	char *output, *messages;
	time_t at; /* what is read was complete then */
};

/* ---- One look ---- */

_Noreturn static void look(const struct watch *watch, int output, int messages,
			   pid_t parent)
{
	sigprocmask(SIG_SETMASK, &watch->before, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || dup2(output, STDOUT_FILENO) < 0 ||
	    dup2(messages, STDERR_FILENO) < 0)
		_exit(TAP_VERDICT_NONE);
	exit(tap_why_look(watch->why, false));
}

/* Waits for a descriptor; false when a signal asks to end. */
static bool wait_for(const struct watch *watch, int fd)
{
	struct pollfd files[] = {{.fd = watch->signals, .events = POLLIN},
				 {.fd = fd, .events = POLLIN}};

	while (poll(files, 2, -1) < 0 && errno == EINTR)
		;
	return !files[0].revents;
}

/* Whether a signal asks to end, within some time. */
static bool is_asked_to_end(const struct watch *watch, int timeout_ms)
{
	struct pollfd file = {.fd = watch->signals, .events = POLLIN};

	return poll(&file, 1, timeout_ms) > 0;
}

/* The caller frees the text; NULL when memory is short. */
static char *take_text(int fd)
{
	struct stat status;
	char *text = fstat(fd, &status) ? NULL : malloc((size_t) status.st_size + 1);
	ssize_t length = text ? pread(fd, text, (size_t) status.st_size, 0) : -1;

	if (length < 0) {
		free(text);
		return NULL;
	}
	text[length] = '\0';
	return text;
}

/*
 * Returns 1, 0 when a signal asks to end, or -errno; the caller frees what was said after
 * 1.
 */
static int look_once(struct watch *watch, struct said *said)
{
	const int output = memfd_create("ccltap-why", MFD_CLOEXEC),
		  messages = memfd_create("ccltap-said", MFD_CLOEXEC);
	const pid_t parent = getpid();
	int lifeline = -1, how = 0, ret = -ENOMEM;
	pid_t pid = -1;
	bool is_over;

	if (output < 0 || messages < 0)
		goto out;
	fflush(NULL);
	said->at = time(NULL);
	pid = fork();
	if (!pid)
		look(watch, output, messages, parent);
	lifeline = pid < 0 ? -1 : (int) syscall(SYS_pidfd_open, pid, 0);
	if (lifeline < 0)
		goto out;
	is_over = wait_for(watch, lifeline);
	if (!is_over)
		kill(pid, SIGTERM);
	while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
		;
	pid = -1;
	ret = 0;
	if (!is_over)
		goto out;
	watch->verdict = WIFEXITED(how) ? (enum tap_verdict) WEXITSTATUS(how)
					: TAP_VERDICT_NONE;
	said->output = take_text(output);
	said->messages = take_text(messages);
	ret = said->output && said->messages ? 1 : -ENOMEM;
out:
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &how, 0);
	}
	if (ret < 0 && errno)
		ret = -errno;
	if (lifeline >= 0)
		close(lifeline);
	if (output >= 0)
		close(output);
	if (messages >= 0)
		close(messages);
	return ret;
}

/* ---- What is new ---- */

/* Where the next finding begins: at a line that is not indented. */
static const char *end_of_block(const char *text)
{
	const char *line = text;

	do {
		line = strchr(line, '\n');
		line = line ? line + 1 : text + strlen(text);
	} while (*line == ' ');
	return line;
}

/* The end of a number with a unit, such as "41.3 s": it grows while nothing changes. */
static const char *skip_measure(const char *text)
{
	static const char *const units[] = {" ns", " us", " ms", " s", " min", " h", " %"};
	const char *end = text + strspn(text, "0123456789.");
	size_t i, length;

	if (end == text)
		return text;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		length = strlen(units[i]);
		if (!strncmp(end, units[i], length) &&
		    !isalnum((unsigned char) end[length]))
			return end + length;
	}
	return text;
}

/* Whether the headlines are the same, but for how long something takes. */
static bool is_alike(const char *a, const char *b)
{
	const char *after_a, *after_b;

	while (*a && *a != '\n') {
		after_a = skip_measure(a);
		after_b = skip_measure(b);
		if (after_a != a && after_b != b) {
			a = after_a;
			b = after_b;
			continue;
		}
		if (*a++ != *b++)
			return false;
	}
	return !*b || *b == '\n';
}

static bool is_well(const char *block)
{
	return !strncmp(block, "OK ", 3);
}

static struct block *find_block(struct watch *watch, const char *text)
{
	size_t i;

	for (i = 0; i < watch->blocks.count; i++)
		if (!watch->blocks.items[i].is_here &&
		    is_alike(watch->blocks.items[i].text, text))
			return &watch->blocks.items[i];
	return NULL;
}

/* Prints the findings that the last look did not have. Returns 0 or -ENOMEM. */
static int show_new(struct watch *watch, const char *text)
{
	struct block *block, added = {.is_here = true};
	const char *end;

	for (; *text; text = end) {
		end = end_of_block(text);
		block = find_block(watch, text);
		if (block) {
			block->is_here = true;
			continue;
		}
		added.text = strndup(text, (size_t) (end - text));
		if (!added.text || tap_vec_add(&watch->blocks, added)) {
			free(added.text);
			return -ENOMEM;
		}
		fwrite(text, 1, (size_t) (end - text), stdout);
	}
	return 0;
}

/* Forgets the findings that are gone, and says so. */
static void show_gone(struct watch *watch)
{
	size_t i, kept = 0;

	for (i = 0; i < watch->blocks.count; i++) {
		struct block *block = &watch->blocks.items[i];

		if (block->is_here) {
			block->is_here = false;
			watch->blocks.items[kept++] = *block;
			continue;
		}
		if (!is_well(block->text))
			printf("GONE     %.*s\n", (int) strcspn(block->text, "\n"),
			       block->text);
		free(block->text);
	}
	watch->blocks.count = kept;
}

/* ---- Showing ---- */

static void redraw(const struct watch *watch, const struct said *said)
{
	char when[16] = "";
	struct tm at;
	int i;

	if (localtime_r(&said->at, &at))
		strftime(when, sizeof(when), "%H:%M:%S", &at);
	printf("\033[H\033[2J%s, every %u s; ^C ends:", when, watch->pause_s);
	for (i = 0; i < watch->why->count; i++)
		printf(" %s", watch->why->folders[i]);
	printf("\n\n%s%s", said->output, said->messages);
}

/* Shows what was said, and frees or keeps it. Returns 0 or -errno. */
static int show(struct watch *watch, struct said *said)
{
	int ret = 0;

	if (watch->why->is_json) {
		fputs(said->output, stdout);
	} else if (watch->is_terminal) {
		redraw(watch, said);
	} else {
		ret = show_new(watch, said->output);
		if (!ret)
			show_gone(watch);
	}
	if ((watch->why->is_json || !watch->is_terminal) &&
	    (!watch->messages || strcmp(watch->messages, said->messages)))
		fputs(said->messages, stderr);
	free(said->output);
	free(watch->messages);
	watch->messages = said->messages;
	return fflush(stdout) ? -errno : ret;
}

/* ---- The loop ---- */

static bool is_running(const struct tap_why *why)
{
	int i;

	for (i = 0; i < why->count; i++)
		if (tap_parts_is_running(why->folders[i]))
			return true;
	return false;
}

/* Returns 0 when the watch is over, or -errno. */
static int watch_until_end(struct watch *watch)
{
	bool goes_on = true;

	while (goes_on) {
		const int64_t begin = tap_now_ms();
		struct said said = {0};
		int64_t rest;
		int ret;

		/* What ends during the look is looked at once more. */
		goes_on = is_running(watch->why);
		ret = look_once(watch, &said);
		if (ret > 0)
			ret = show(watch, &said) ? -errno : 1;
		if (ret <= 0)
			return ret;
		if (watch->was_wrong && watch->verdict == TAP_VERDICT_WELL)
			return 0;
		watch->was_wrong |= watch->verdict == TAP_VERDICT_WRONG;
		rest = begin + watch->pause_s * INT64_C(1000) - tap_now_ms();
		if (goes_on && is_asked_to_end(watch, rest > 0 ? (int) rest : 0))
			return 0;
	}
	return 0;
}

static int watch_signals(sigset_t *ret_before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, ret_before);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

enum tap_verdict tap_why_watch(const struct tap_why *why, unsigned pause_s)
{
	const struct tap_parts_wish wish = {.wants_look = !tap_snapshots_is_chosen(),
					    .newest_bytes = NEWEST_BYTES};
	struct watch watch = {.why = why,
			      .pause_s = pause_s,
			      .is_terminal = isatty(STDOUT_FILENO),
			      .verdict = TAP_VERDICT_NONE};
	int ret;
	size_t i;

	tap_parts_wish(&wish);
	watch.signals = watch_signals(&watch.before);
	ret = watch.signals < 0 ? -errno : watch_until_end(&watch);
	if (ret) {
		tap_message_write("cannot go on: %s", strerror(-ret));
		watch.verdict = TAP_VERDICT_NONE;
	}
	for (i = 0; i < watch.blocks.count; i++)
		free(watch.blocks.items[i].text);
	tap_vec_free(&watch.blocks);
	free(watch.messages);
	if (watch.signals >= 0)
		close(watch.signals);
	return watch.verdict;
}
