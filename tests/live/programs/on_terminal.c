/* SPDX-License-Identifier: MIT */
/*
 * Runs a command as the foreground job of a terminal of its own, as an interactive
 * shell does, and presses a key there once the command says that it is ready:
 *
 *   on_terminal interrupt|stop COMMAND [ARG...]
 *
 * What the command writes is copied to stdout.  When the key has shown its effect,
 * SIGUSR1 goes to the command alone, which is to pass it on and then end.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char seen[65536];
static size_t seen_length;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Returns whether there was something; a terminal whose last user is gone ends. */
static int copy_some(int terminal)
{
	ssize_t length = read(terminal, seen + seen_length,
			      sizeof(seen) - 1 - seen_length);

	if (length <= 0)
		return 0;
	fwrite(seen + seen_length, 1, length, stdout);
	fflush(stdout);
	seen_length += length;
	seen[seen_length] = '\0';
	return 1;
}

static void expect(int terminal, const char *text)
{
	while (!strstr(seen, text))
		if (!copy_some(terminal)) {
			fprintf(stderr, "the terminal ended before \"%s\"\n", text);
			exit(1);
		}
}

static pid_t start_job(const char *terminal_name, char **command)
{
	int slave = open(terminal_name, O_RDWR);
	pid_t job;

	if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
		fail(terminal_name);
	/* Else giving the terminal away from the background would stop the job. */
	signal(SIGTTOU, SIG_IGN);
	job = fork();
	if (job < 0)
		fail("fork");
	if (!job) {
		if (setpgid(0, 0) < 0 || tcsetpgrp(slave, getpid()) < 0)
			fail("tcsetpgrp");
		signal(SIGTTOU, SIG_DFL);
		signal(SIGINT, SIG_DFL);
		dup2(slave, STDIN_FILENO);
		dup2(slave, STDOUT_FILENO);
		dup2(slave, STDERR_FILENO);
		execvp(command[0], command);
		fail(command[0]);
	}
	close(slave);
	return job;
}

static int drive(const char *key, char **command)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), status;
	pid_t job;

	/* Nothing here waits long; a job that never ends is to fail, not to hang. */
	alarm(120);
	if (terminal < 0 || grantpt(terminal) < 0 || unlockpt(terminal) < 0 ||
	    setsid() < 0)
		fail("terminal");
	job = start_job(ptsname(terminal), command);
	expect(terminal, "ready");
	if (!strcmp(key, "interrupt")) {
		if (write(terminal, "\003", 1) != 1)
			fail("write");
		expect(terminal, "signal 2\r");
	} else {
		if (write(terminal, "\032", 1) != 1)
			fail("write");
		if (waitpid(job, &status, WUNTRACED) != job || !WIFSTOPPED(status)) {
			fprintf(stderr, "the job did not stop\n");
			return 1;
		}
		printf("job stopped\n");
		kill(-job, SIGCONT);
		expect(terminal, "signal 18\r");
	}
	kill(job, SIGUSR1);
	while (copy_some(terminal))
		;
	if (waitpid(job, &status, 0) != job)
		fail("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	int status;
	pid_t driver;

	if (argc < 3 || (strcmp(argv[1], "interrupt") && strcmp(argv[1], "stop"))) {
		fprintf(stderr, "on_terminal interrupt|stop COMMAND [ARG...]\n");
		return 2;
	}
	/* The leader of a process group cannot begin a session. */
	driver = fork();
	if (driver < 0)
		fail("fork");
	if (!driver)
		exit(drive(argv[1], argv + 2));
	while (waitpid(driver, &status, 0) < 0)
		if (errno != EINTR)
			fail("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
