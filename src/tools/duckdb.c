/* SPDX-License-Identifier: MIT */
/* The statements are the program's standard input. */
#include "tools/duckdb.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/message.h"
#include "tools/program.h"

/* Of a program that could not be started, as in a shell. */
#define NOT_STARTED 127

#define OPTIONS_MAX 8

/* A full path, since the program runs in another folder. */
static bool find(const char *name, char path[PATH_MAX])
{
	char found[PATH_MAX];

	return !tap_program_find(name, found, sizeof(found)) && realpath(found, path);
}

const char *tap_duckdb_find(const char *instead)
{
	static char path[PATH_MAX];
	const char *chosen = getenv("CCLTAP_DUCKDB");

	if (chosen && *chosen) {
		if (find(chosen, path))
			return path;
		tap_message_write("CCLTAP_DUCKDB names %s, which cannot be run: name the "
				  "program duckdb%s",
				  chosen, instead);
		return NULL;
	}
	if (find("duckdb", path))
		return path;
	tap_message_write(
		"no program \"duckdb\": \"pip install duckdb-cli\" or "
		"https://duckdb.org has it; name it in CCLTAP_DUCKDB if it is not "
		"in PATH%s",
		instead);
	return NULL;
}

FILE *tap_duckdb_begin(void)
{
	const int fd = memfd_create("ccltap-duckdb", MFD_CLOEXEC);
	FILE *statements = fd < 0 ? NULL : fdopen(fd, "w+");

	if (statements)
		return statements;
	tap_message_write("cannot begin: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return NULL;
}

void tap_duckdb_add_quoted(FILE *statements, const char *text)
{
	putc('\'', statements);
	for (; *text; text++) {
		if (*text == '\'')
			putc('\'', statements);
		putc(*text, statements);
	}
	putc('\'', statements);
}

static _Noreturn void start(const char *program, int input, int errors,
			    const char *folder, const char *const *options,
			    const sigset_t *mask)
{
	/* Not the user's ~/.duckdbrc; and it stops at the first error. */
	const char *line[OPTIONS_MAX + 6] = {"duckdb", "-init", "/dev/null", "-batch",
					     "-bail"};
	size_t i, count = 5;

	for (i = 0; options && options[i] && i < OPTIONS_MAX; i++)
		line[count++] = options[i];
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (dup2(input, STDIN_FILENO) >= 0 &&
	    (errors < 0 || dup2(errors, STDERR_FILENO) >= 0) &&
	    (!folder || !chdir(folder)))
		execv(program, (char *const *) line);
	_exit(NOT_STARTED);
}

/* The first line that was written to the file. */
static void tell_first(int errors)
{
	char text[512];
	const ssize_t length = pread(errors, text, sizeof(text) - 1, 0);

	text[length > 0 ? length : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	tap_message_write("duckdb failed: %s", *text ? text : "it does not say why");
}

/* The exit status, or minus the signal that ended it. */
static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/*
 * Starts it and waits. Who interrupts it wants this process to clean up, and then to end,
 * too. The signals are blocked from before fork(), so that none ends this process before
 * it passes over them. Returns as tap_duckdb_run(), or NOT_STARTED, or minus a signal; if
 * there is no process, *error is why.
 */
static int run_one(const char *program, int input, int errors, const char *folder,
		   const char *const *options, int *error)
{
	void (*interrupt)(int), (*quit)(int);
	sigset_t keyboard, mask;
	pid_t pid;
	int status = TAP_EXIT_FAILURE;

	sigemptyset(&keyboard);
	sigaddset(&keyboard, SIGINT);
	sigaddset(&keyboard, SIGQUIT);
	sigprocmask(SIG_BLOCK, &keyboard, &mask);
	pid = fork();
	if (!pid)
		start(program, input, errors, folder, options, &mask);
	*error = pid < 0 ? errno : 0;
	interrupt = signal(SIGINT, SIG_IGN);
	quit = signal(SIGQUIT, SIG_IGN);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (pid > 0)
		status = wait_for(pid);
	signal(SIGINT, interrupt);
	signal(SIGQUIT, quit);
	return status;
}

int tap_duckdb_run(const char *program, FILE *statements, const char *folder,
		   const char *const *options, bool is_quiet)
{
	const int errors = is_quiet ? memfd_create("ccltap-duckdb", MFD_CLOEXEC) : -1;
	const bool is_whole = !fflush(statements) && !ferror(statements);
	int status = TAP_EXIT_FAILURE, error = is_whole ? 0 : errno;

	rewind(statements);
	fflush(NULL);
	if (is_whole)
		status = run_one(program, fileno(statements), errors, folder, options,
				 &error);
	if (error)
		tap_message_write("cannot start %s: %s", program, strerror(error));
	else if (status == NOT_STARTED)
		tap_message_write("cannot run %s", program);
	else if (status == -SIGKILL)
		tap_message_write("duckdb was killed; is memory short?");
	else if (status > 0 && is_quiet)
		tell_first(errors);
	if (errors >= 0)
		close(errors);
	fclose(statements);
	if (status < 0 && status != -SIGKILL)
		return status;
	return status ? TAP_EXIT_FAILURE : 0;
}
