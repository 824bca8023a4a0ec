/* SPDX-License-Identifier: MIT */
/*
 * The child's stderr is a file in memory, since a failed assertion of babeltrace2 writes
 * there. The parent shows what is in it once the child has gone on, so that it can drop
 * what the child writes just before it dies, however long that takes.
 */
#include "tools/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/compiler.h"
#include "tools/message.h"
#include "tools/pager.h"
#include "tools/percent.h"

#define TICK_MS 250
/* Tick of work with must_end, which decides when the child is to end. */
#define SHORT_TICK_MS 50

/* Processor time for a batch of messages, which takes a millisecond at most. */
#define READ_MS 2000
/*
 * Processor time to open a trace, whose packets may have to be counted: this, and again
 * per GiB.
 */
#define OPEN_MS 4000
/*
 * Time without processor time: the child waits for data that does not come, as from a
 * pipe.
 */
#define IDLE_MS 8000

static volatile sig_atomic_t stopped_by;

static void note_stop(int number)
{
	stopped_by = number;
}

static const int stops[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

/* The default size of a pipe: how much a slow reader of the output holds up. */
#define RELAY_SIZE 65536

struct child {
	const struct tap_child_work *work;
	pid_t pid;
	int lifeline;	 /* readable once the child is gone */
	int output[2];	 /* a pipe for its standard output, or -1 */
	uint64_t read;	 /* bytes of its standard output */
	int write_error; /* errno of this process */
	bool has_left;	 /* the user the pager: what is read from here on is dropped */
	int said;	 /* its stderr */
	off_t shown, seen;
	uint64_t steps;	     /* of the watch, at the last check */
	bool has_moved;	     /* it has left babeltrace2 since the check before */
	int64_t cpu_ms;	     /* at that check */
	int64_t idle_ms;     /* time since then without processor time */
	int64_t idle_cpu_us; /* at the start of idle_ms */
	struct tap_percent percent;
};

/* ---- In the child ---- */

_Noreturn static void begin(const struct child *child, pid_t parent,
			    const struct sigaction *before)
{
	/*
	 * 1 and not 0: a program that receives core dumps through a pipe honours 1 only.
	 */
	const struct rlimit no_dump = {.rlim_cur = 1, .rlim_max = 1};
	size_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	for (i = 0; i < ARRAY_SIZE(stops); i++)
		sigaction(stops[i], &before[i], NULL);
	setrlimit(RLIMIT_CORE, &no_dump);
	dup2(child->said, STDERR_FILENO);
	if (child->work->relay)
		dup2(child->output[1], STDOUT_FILENO);
	exit(child->work->run(child->work->data));
}

/* ---- In the parent ---- */

static void show(struct child *child, off_t end)
{
	char bytes[4096];

	if (child->shown < end)
		tap_percent_clear(&child->percent);
	while (child->shown < end) {
		size_t size = sizeof(bytes);
		ssize_t length;

		if ((off_t) size > end - child->shown)
			size = (size_t) (end - child->shown);
		length = pread(child->said, bytes, size, child->shown);
		/* If nobody reads stderr, there is nobody left to inform. */
		if (length <= 0 || write(STDERR_FILENO, bytes, (size_t) length) < 0)
			return;
		child->shown += length;
	}
}

static off_t said(const struct child *child)
{
	struct stat status;

	return fstat(child->said, &status) ? 0 : status.st_size;
}

/* Processor time of the child so far. */
static int64_t cpu_us(const struct child *child)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(child->pid, &clock) || clock_gettime(clock, &used))
		return 0;
	return (int64_t) used.tv_sec * 1000000 + used.tv_nsec / 1000;
}

/* Whether babeltrace2 has taken too long for one step. */
static bool is_late(struct child *child, int tick_ms)
{
	struct tap_watch *watch = child->work->watch;
	enum tap_stage stage = watch ? atomic_load(&watch->stage) : TAP_STAGE_OWN;
	uint64_t steps = watch ? atomic_load(&watch->steps) : 0;
	int64_t now_us = cpu_us(child);

	child->has_moved = steps != child->steps || stage == TAP_STAGE_OWN;
	if (child->has_moved) {
		child->steps = steps;
		child->cpu_ms = now_us / 1000;
		child->idle_ms = 0;
		child->idle_cpu_us = now_us;
		return false;
	}
	child->idle_ms += tick_ms;
	if (child->idle_ms >= IDLE_MS) {
		if (now_us - child->idle_cpu_us < 1000)
			return true;
		child->idle_ms = 0;
		child->idle_cpu_us = now_us;
	}
	return now_us / 1000 - child->cpu_ms >
	       (stage == TAP_STAGE_READ ? READ_MS
					: OPEN_MS * (1 + (int64_t) (watch->size >> 30)));
}

/* Whether nobody wants what the child still has to write: it ends. */
static bool has_left_for_good(const struct child *child)
{
	return child->has_left && child->work->relay->ends_with_pager;
}

/*
 * Relays what the child wrote. Returns false at its end, or when nobody reads the output.
 */
static bool pass_on(struct child *child)
{
	char bytes[RELAY_SIZE], *at = bytes;
	ssize_t length = read(child->output[0], bytes, sizeof(bytes)), written;
	uint64_t again = child->work->relay->passed - child->read;

	if (length <= 0)
		return length < 0 && errno == EINTR && !stopped_by;
	child->read += (uint64_t) length;
	if (again >= (uint64_t) length || child->has_left)
		return true;
	tap_percent_clear(&child->percent);
	if (child->work->relay->is_paged)
		tap_pager_begin();
	for (at += again, length -= (ssize_t) again; length; at += written) {
		written = write(STDOUT_FILENO, at, (size_t) length);
		if (written < 0 && errno == EINTR && !stopped_by)
			written = 0;
		if (written < 0 && errno == EPIPE && tap_pager_is_running()) {
			stopped_by = stopped_by == SIGPIPE ? 0 : stopped_by;
			child->has_left = true;
			return !has_left_for_good(child);
		}
		if (written < 0) {
			child->write_error = errno;
			return false;
		}
		length -= written;
		child->work->relay->passed += (uint64_t) written;
	}
	return true;
}

static bool must_end(const struct child *child)
{
	return stopped_by || (child->work->must_end && child->work->must_end());
}

static void show_percent(struct child *child)
{
	struct tap_watch *watch = child->work->watch;

	/* What is shown while it is read shows itself how far it is. */
	if (watch && !(child->work->relay && child->read))
		tap_percent_show(&child->percent,
				 atomic_load_explicit(&watch->read_bytes,
						      memory_order_relaxed),
				 atomic_load_explicit(&watch->all_bytes,
						      memory_order_relaxed));
}

/* Waits until the child is gone, babeltrace2 is late, or this process has to end. */
static bool wait_for(struct child *child)
{
	struct pollfd files[] = {
		{.fd = child->lifeline, .events = POLLIN},
		{.fd = child->output[0], .events = POLLIN},
	};

	const int tick_ms = child->work->must_end ? SHORT_TICK_MS : TICK_MS;

	while (!must_end(child)) {
		int ret = poll(files, ARRAY_SIZE(files), tick_ms);
		off_t seen;

		if (ret > 0 && files[1].revents) {
			/*
			 * The pipe holds the child's output even after the child is gone.
			 */
			if (pass_on(child))
				continue;
			if (child->write_error || has_left_for_good(child))
				return false;
			files[1].fd = -1;
			continue;
		}
		if (ret > 0 || (ret < 0 && errno != EINTR))
			return true;
		if (ret < 0)
			continue;
		/* Before the steps: so all of it was written before the next one. */
		seen = said(child);
		if (is_late(child, tick_ms))
			return false;
		if (child->has_moved)
			show(child, child->seen);
		child->seen = seen;
		show_percent(child);
	}
	return false;
}

/*
 * Whether the program itself caused the signal: an assertion, an access or an
 * instruction.
 */
static bool is_own_doing(int number)
{
	return number == SIGABRT || number == SIGSEGV || number == SIGBUS ||
	       number == SIGFPE || number == SIGILL || number == SIGTRAP ||
	       number == SIGSYS;
}

static enum tap_child_end follow(struct child *child, int *status)
{
	bool is_over = wait_for(child);
	int how = 0;

	tap_percent_clear(&child->percent);
	if (!is_over)
		kill(child->pid, SIGKILL);
	while (waitpid(child->pid, &how, 0) < 0 && errno == EINTR)
		;
	if (stopped_by) {
		*status = stopped_by;
		return TAP_CHILD_KILLED;
	}
	if (has_left_for_good(child)) {
		*status = 0;
		return TAP_CHILD_DONE;
	}
	if (child->write_error) {
		tap_message_write("cannot write standard output: %s",
				  strerror(child->write_error));
		*status = TAP_EXIT_FAILURE;
		return TAP_CHILD_DONE;
	}
	if (WIFSIGNALED(how) && getenv("CCLTAP_DEBUG"))
		show(child, said(child));
	if (!is_over && WIFSIGNALED(how))
		return TAP_CHILD_LATE;
	if (WIFSIGNALED(how)) {
		*status = WTERMSIG(how);
		return is_own_doing(*status) ? TAP_CHILD_DIED : TAP_CHILD_KILLED;
	}
	show(child, said(child));
	*status = WEXITSTATUS(how);
	return TAP_CHILD_DONE;
}

static void close_all(const struct child *child, const int *ends)
{
	const int fds[] = {child->said, child->output[0], child->output[1], ends[0],
			   ends[1]};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/*
 * Starts the child. The parent closes the child's ends of the pipes, so that it sees
 * their end.
 */
static int start(struct child *child, int *ends, const struct sigaction *before)
{
	const pid_t parent = getpid();

	fflush(NULL);
	child->pid = fork();
	if (child->pid < 0)
		return -errno;
	if (!child->pid)
		begin(child, parent, before);
	close(ends[1]);
	ends[1] = -1;
	if (child->output[1] >= 0)
		close(child->output[1]);
	child->output[1] = -1;
	return 0;
}

void tap_child_fill_standard(void)
{
	int fd;

	/* open() returns the lowest free descriptor. */
	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
			return;
}

int tap_child_run(const struct tap_child_work *work, int *status)
{
	const struct sigaction stop = {.sa_handler = note_stop};
	struct sigaction before[ARRAY_SIZE(stops)];
	struct child child = {.work = work,
			      .output = {-1, -1},
			      .percent.is_wanted = work->shows_percent};
	int ends[2] = {-1, -1}, ret = 0;
	size_t i;

	tap_percent_begin(&child.percent);
	tap_child_fill_standard();
	child.said = memfd_create("ccltap", MFD_CLOEXEC);
	if (child.said < 0 || pipe2(ends, O_CLOEXEC) ||
	    (work->relay && pipe2(child.output, O_CLOEXEC))) {
		ret = -errno;
		close_all(&child, ends);
		return ret;
	}
	child.lifeline = ends[0];
	for (i = 0; i < ARRAY_SIZE(stops); i++) {
		sigaction(stops[i], NULL, &before[i]);
		if (before[i].sa_handler == SIG_DFL)
			sigaction(stops[i], &stop, NULL);
	}
	ret = start(&child, ends, before);
	if (!ret)
		ret = (int) follow(&child, status);
	for (i = 0; i < ARRAY_SIZE(stops); i++)
		sigaction(stops[i], &before[i], NULL);
	close_all(&child, ends);
	return ret;
}

void tap_child_follow(int number)
{
	tap_pager_end();
	signal(number, SIG_DFL);
	raise(number);
	exit(128 + number);
}
