/* SPDX-License-Identifier: MIT */
/*
 * An interrupt at any moment while DuckDB runs ends DuckDB, and leaves who started it to
 * clean up.
 */
#include "tools/duckdb.h"
#include "unit/tap.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

pid_t __real_fork(void);
pid_t __wrap_fork(void);

/* As on a busy machine: the child has run before the parent goes on. */
pid_t __wrap_fork(void)
{
	const pid_t pid = __real_fork();

	if (pid > 0)
		usleep(300000);
	return pid;
}

static bool make_program(const char *path, const char *script)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return false;
	fputs(script, file);
	return !fclose(file) && !chmod(path, 0700);
}

int main(void)
{
	char folder[] = "duckdb-XXXXXX", path[64];
	FILE *statements;
	int ret;

	alarm(60);
	if (!mkdtemp(folder))
		return EXIT_FAILURE;
	snprintf(path, sizeof(path), "%s/program", folder);

	/* Nobody has asked to pass over it: the shell ends by its own signal. */
	signal(SIGINT, SIG_DFL);
	ok(make_program(path, "#!/bin/sh\nkill -INT $PPID; kill -INT $$\n"), "a program");
	statements = tap_duckdb_begin();
	ret = statements ? tap_duckdb_run(path, statements, NULL, NULL, true) : 0;
	ok(ret == -SIGINT, "an interrupt before the wait ends the program alone");
	ok(signal(SIGINT, SIG_DFL) == SIG_DFL, "and the signal is as before");

	make_program(path, "#!/bin/sh\nexit 0\n");
	statements = tap_duckdb_begin();
	ret = statements ? tap_duckdb_run(path, statements, NULL, NULL, true) : 1;
	ok(ret == 0, "one without an interrupt ends well");

	unlink(path);
	rmdir(folder);
	return tap_done();
}
