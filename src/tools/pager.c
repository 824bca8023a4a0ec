/* SPDX-License-Identifier: MIT */
/* One pager for the process, as there is one standard output. */
#include "tools/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/message.h"
#include "tools/program.h"

/* Ends if all fits the screen, passes colours on, and leaves the text on the screen. */
#define LESS_OPTIONS "FRX"

static bool is_refused;
static pid_t pager; /* 0: none runs */
static int terminal_fd = -1;

/* NULL: none. */
static const char *choose(void)
{
	const char *chosen = getenv("CCLTAP_PAGER"), *term = getenv("TERM");
	char path[PATH_MAX];

	if (!term || !*term || !strcmp(term, "dumb"))
		return NULL;
	if (!chosen)
		chosen = getenv("PAGER");
	if (chosen)
		return *chosen && strcmp(chosen, "cat") != 0 ? chosen : NULL;
	return tap_program_find("less", path, sizeof(path)) ? NULL : "less";
}

void tap_pager_refuse(void)
{
	is_refused = true;
}

bool tap_pager_is_due(void)
{
	return pager || (!is_refused && isatty(STDOUT_FILENO) && choose());
}

bool tap_pager_is_running(void)
{
	return pager;
}

static void ignore_if_default(int number)
{
	struct sigaction present;

	if (!sigaction(number, NULL, &present) && present.sa_handler == SIG_DFL)
		signal(number, SIG_IGN);
}

void tap_pager_begin(void)
{
	const char *command = pager || !tap_pager_is_due() ? NULL : choose();
	int ends[2];

	if (!command)
		return;
	fflush(stdout);
	terminal_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (terminal_fd < 0 || pipe2(ends, O_CLOEXEC))
		return;
	pager = fork();
	if (!pager) {
		dup2(ends[0], STDIN_FILENO);
		setenv("LESS", LESS_OPTIONS, 0);
		execl("/bin/sh", "sh", "-c", command, (char *) NULL);
		_exit(127);
	}
	if (pager > 0) {
		dup2(ends[1], STDOUT_FILENO);
		ignore_if_default(SIGPIPE);
	} else {
		pager = 0;
	}
	close(ends[0]);
	close(ends[1]);
}

void tap_pager_end(void)
{
	int status = 0;

	if (!pager)
		return;
	fflush(stdout);
	/* The keys for these are the pager's until it ends. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	dup2(terminal_fd, STDOUT_FILENO);
	close(terminal_fd);
	while (waitpid(pager, &status, 0) < 0 && errno == EINTR)
		;
	pager = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) >= 126)
		tap_message_write("the pager cannot be run: set CCLTAP_PAGER or PAGER to "
				  "another one, or give --no-pager");
}
