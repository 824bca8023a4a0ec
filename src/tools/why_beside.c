/* SPDX-License-Identifier: MIT */
/* Runs the program that runs: /proc/self/exe. */
#include "tools/why_beside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/record_output.h"
#include "tools/why_look.h"

/* Processor time for a look, of the two processes that it takes. */
#define CPU_SECONDS 20
#define NICENESS 10

/* How long it is waited for, and how often it is asked whether somebody still wants it. */
#define PATIENCE_MS 5000
#define TICK_MS 20

#define LONGEST_LINE 1024

/* In the child, before anything of ours runs: only what is safe after a fork. */
_Noreturn static void run(const char *output, const char *trace, pid_t parent)
{
	const struct rlimit time = {CPU_SECONDS, CPU_SECONDS};
	const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (nowhere < 0 || dup2(nowhere, fd) < 0)
			_exit(TAP_VERDICT_NONE);
	if (getppid() != parent || (nice(NICENESS) < 0 && errno == EPERM))
		_exit(TAP_VERDICT_NONE);
	setrlimit(RLIMIT_CPU, &time);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execl("/proc/self/exe", "ccltap", "why", "--overwrite", "-o", output, trace,
	      (char *) NULL);
	_exit(TAP_VERDICT_NONE);
}

static pid_t start(const char *output, const char *trace)
{
	const pid_t parent = getpid(), pid = fork();

	if (!pid)
		run(output, trace, parent);
	return pid < 0 ? -errno : pid;
}

/* The path of a file in the recording; the caller frees it. */
static char *name(const char *folder, const char *file)
{
	char *path;

	return asprintf(&path, "%s/%s", folder, file) < 0 ? NULL : path;
}

pid_t tap_why_beside_start(const char *folder, const char *trace)
{
	char *path = name(folder, TAP_OUTPUT_WHY_NEW);
	pid_t pid = path ? start(path, trace) : -ENOMEM;

	free(path);
	return pid;
}

static bool has_found(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == TAP_VERDICT_WRONG;
}

void tap_why_beside_end(const char *folder, int status)
{
	char *new = name(folder, TAP_OUTPUT_WHY_NEW), *path = name(folder, TAP_OUTPUT_WHY);

	if (new && path && (!has_found(status) || rename(new, path)))
		unlink(new);
	free(new);
	free(path);
}

static char *read_line(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[LONGEST_LINE];
	bool is_there = file && fgets(line, sizeof(line), file);

	if (file)
		fclose(file);
	line[is_there ? strcspn(line, "\n") : 0] = '\0';
	return is_there ? strdup(line) : NULL;
}

char *tap_why_beside_line(const char *folder)
{
	char *path = name(folder, TAP_OUTPUT_WHY), *line = path ? read_line(path) : NULL;

	free(path);
	return line;
}

int tap_why_beside_wait(pid_t pid, bool (*must_end)(void))
{
	const struct timespec tick = {.tv_nsec = TICK_MS * 1000000};
	int status = -1, waited_ms;
	pid_t ended;

	for (waited_ms = 0; !(ended = waitpid(pid, &status, WNOHANG));
	     waited_ms += TICK_MS) {
		if (waited_ms >= PATIENCE_MS || (must_end && must_end())) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		nanosleep(&tick, NULL);
	}
	return ended == pid ? status : -1;
}

char *tap_why_first_line(const char *trace, bool (*must_end)(void))
{
	/* Not closed on exec: the child's output has its name. */
	const int fd = memfd_create("ccltap-why", 0);
	char path[64], *line = NULL;
	pid_t pid;

	if (fd < 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	pid = start(path, trace);
	if (pid > 0 && has_found(tap_why_beside_wait(pid, must_end)))
		line = read_line(path);
	close(fd);
	return line;
}
