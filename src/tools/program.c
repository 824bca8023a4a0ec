/* SPDX-License-Identifier: MIT */
/* Runs the recorded program; hides the gate, signals and job control. */
#include "tools/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/compiler.h"
#include "common/vec.h"

/* Waited for instead of handled, so that no call of this process is interrupted. */
static const int expected[] = {
	SIGINT,	 SIGTERM,  SIGHUP,  SIGQUIT, SIGUSR1,
	SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT, SIGCHLD,
};

/* Free room for each read from the gate. */
#define READ_MIN 4096

static void fill_expected(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		sigaddset(set, expected[i]);
}

static int check_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == EACCES ? -EACCES : -ENOENT;
	if (!S_ISREG(st.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		return -EACCES;
	return 0;
}

int tap_program_find(const char *name, char *ret_path, size_t size)
{
	const char *folders = getenv("PATH");
	char usual[256];
	int found, ret = -ENOENT;
	size_t length;

	if (!*name)
		return -ENOENT;
	if (strchr(name, '/')) {
		if (snprintf(ret_path, size, "%s", name) >= (int)size)
			return -ENOENT;
		return check_program(name);
	}
	if (!folders) {
		if (!confstr(_CS_PATH, usual, sizeof(usual)))
			return -ENOENT;
		folders = usual;
	}
	for (;; folders += length + 1) {
		length = strcspn(folders, ":");
		if (snprintf(ret_path, size, "%.*s%s%s", (int)length, folders,
			     length ? "/" : "", name) < (int)size) {
			found = check_program(ret_path);
			if (!found)
				return 0;
			if (found == -EACCES)
				ret = found;
		}
		if (!folders[length])
			return ret;
	}
}

/*
 * Receives the variables through the gate: "NAME=VALUE" and a 0 for each, and an empty
 * one last. The text then belongs to the environment. False when nothing or only a part
 * came.
 */
static bool receive_variables(int gate_fd)
{
	size_t size = 0, room = 0;
	char *text = NULL;
	ssize_t got = 1;

	while (got) {
		if (tap_array_reserve(text, room, size + READ_MIN))
			return false;
		got = read(gate_fd, text + size, room - size);
		if (got < 0 && errno != EINTR)
			break;
		if (got > 0)
			size += (size_t)got;
	}
	if (!size || text[size - 1] || (size > 1 && text[size - 2]))
		return false;
	for (; *text; text += strlen(text) + 1)
		if (putenv(text))
			return false;
	return true;
}

/* The child's side; `unanswered` is the time left on the program's alarm clock. */
static void run_program(int gate_fd, int failure_fd, char **argv, unsigned int unanswered)
{
	int failure;

	if (!receive_variables(gate_fd))
		_exit(0);
	alarm(unanswered);
	execvp(argv[0], argv);
	failure = errno;
	if (write(failure_fd, &failure, sizeof(failure)) < 0)
		_exit(127);
	_exit(failure == ENOENT ? 127 : 126);
}

int tap_program_fork(struct tap_program *program, char **argv)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	struct sigaction ignored = { .sa_handler = SIG_IGN };
	struct sigaction present;
	unsigned int unanswered;
	int gate[2], failure[2], ret;
	sigset_t set;

	if (pipe2(gate, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(failure, O_CLOEXEC) < 0) {
		ret = -errno;
		goto out_gate;
	}
	/* The alarm clock belongs to the program: exec keeps it, fork does not. */
	unanswered = alarm(0);
	/* A process that ignores SIGCHLD never gets a status. */
	sigaction(SIGCHLD, &usual, &present);
	program->pid = fork();
	if (program->pid < 0) {
		ret = -errno;
		goto out_failure;
	}
	if (!program->pid) {
		sigaction(SIGCHLD, &present, NULL);
		close(gate[1]);
		close(failure[0]);
		run_program(gate[0], failure[1], argv, unanswered);
	}
	fill_expected(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/*
	 * A closed pipe, to the child or to the daemon, is an error and must not kill
	 * ccltap.
	 */
	sigaction(SIGPIPE, &ignored, NULL);
	close(gate[0]);
	close(failure[1]);
	program->gate_fd = gate[1];
	program->failure_fd = failure[0];
	return 0;
out_failure:
	close(failure[0]);
	close(failure[1]);
out_gate:
	close(gate[0]);
	close(gate[1]);
	return ret;
}

void tap_program_start(struct tap_program *program,
		       const struct tap_program_variable *variables, size_t count)
{
	/* If this fails, the child has been killed, which tap_program_wait() reports. */
	FILE *gate = fdopen(program->gate_fd, "w");

	for (size_t i = 0; gate && i < count; i++) {
		const char *present = getenv(variables[i].name);

		if (variables[i].value &&
		    !(variables[i].is_default && present && *present))
			fprintf(gate, "%s=%s%c", variables[i].name, variables[i].value, 0);
	}
	if (gate) {
		fputc(0, gate);
		fclose(gate);
	} else {
		close(program->gate_fd);
	}
	program->gate_fd = -1;
}

void tap_program_abandon(struct tap_program *program)
{
	siginfo_t info;

	close(program->gate_fd);
	close(program->failure_fd);
	/* The child may have been stopped together with ccltap while it waited. */
	kill(program->pid, SIGCONT);
	while (waitid(P_PID, program->pid, &info, WEXITED) < 0 && errno == EINTR)
		;
}

/* The state of the child. is_stop_wanted: ccltap got a SIGTSTP. */
struct state {
	bool has_ended;
	bool is_stopped;
	bool is_stop_wanted;
};

/*
 * Collects every change of state, also of orphans, which ccltap gets as a container's
 * first process.
 */
static void collect(struct tap_program *program, struct state *state,
		    struct tap_program_end *end)
{
	siginfo_t info;

	while (!state->has_ended) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info,
			   WEXITED | WSTOPPED | WCONTINUED | WNOHANG) < 0) {
			if (errno == EINTR)
				continue;
			state->has_ended = errno == ECHILD;
			return;
		}
		if (!info.si_pid)
			return;
		if (info.si_pid != program->pid)
			continue;
		state->is_stopped = info.si_code == CLD_STOPPED;
		if (state->is_stopped || info.si_code == CLD_CONTINUED)
			continue;
		end->code = info.si_code;
		end->status = info.si_status;
		state->has_ended = true;
	}
}

/*
 * The shell watches ccltap, not the program, so ccltap stops too. But only after a
 * SIGTSTP: a process that stops the program alone will continue it alone, and ccltap
 * would stay stopped. Besides, the program may catch the signal and stop later, or never.
 */
static void stop_alike(struct state *state)
{
	if (!state->is_stopped || !state->is_stop_wanted)
		return;
	state->is_stop_wanted = false;
	raise(SIGSTOP);
}

/*
 * A signal from the terminal goes to the whole group, and one that the program sends to
 * its group has reached the program.
 */
static bool has_reached_program(const siginfo_t *info,
				const struct tap_program *program)
{
	return info->si_code == SI_KERNEL ||
	       (info->si_code <= 0 && info->si_pid == program->pid);
}

void tap_program_wait(struct tap_program *program, struct tap_program_end *ret_end)
{
	const struct timespec at_once = { 0 };
	struct state state = { 0 };
	siginfo_t info;
	sigset_t set;
	int failure;

	*ret_end = (struct tap_program_end){ .code = CLD_EXITED, .status = 1 };
	fill_expected(&set);
	for (;;) {
		collect(program, &state, ret_end);
		if (state.has_ended)
			break;
		stop_alike(&state);
		if (sigwaitinfo(&set, &info) < 0 || info.si_signo == SIGCHLD)
			continue;
		if (info.si_signo == SIGTSTP)
			state.is_stop_wanted = true;
		else if (info.si_signo == SIGCONT)
			state.is_stop_wanted = false;
		if (!has_reached_program(&info, program))
			kill(program->pid, info.si_signo);
	}
	/* Signals up to here were for the program; only later ones are for ccltap. */
	while (sigtimedwait(&set, NULL, &at_once) > 0)
		;
	if (read(program->failure_fd, &failure, sizeof(failure)) == sizeof(failure))
		ret_end->exec_errno = failure;
	close(program->failure_fd);
	program->failure_fd = -1;
}

void tap_program_end_alike(const struct tap_program_end *end)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t set;

	if (end->code == CLD_EXITED)
		_exit(end->status);
	/*
	 * RLIMIT_CORE does not count where core files are piped to a program; this does.
	 */
	prctl(PR_SET_DUMPABLE, 0);
	sigaction(end->status, &usual, NULL);
	sigemptyset(&set);
	sigaddset(&set, end->status);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(end->status);
	/* The first process of a container is not killed by its own signal. */
	_exit(128 + end->status);
}
