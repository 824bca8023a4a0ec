/* SPDX-License-Identifier: MIT */
/*
 * What the programs here share: the first argument names a moment, which makes calls
 * and prints what came of them.  Nothing here knows of ccltap.
 */
#ifndef TAP_TESTS_HOST_MOMENT_H
#define TAP_TESTS_HOST_MOMENT_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

int ncclGetVersion(int *version);

struct moment {
	const char *name;
	void (*run)(void);
};

/* The whole outcome of one call: 0 when it is what tests/link/programs/copy.c, as copy 2, gives.
 */
static inline int outcome(void)
{
	int version = -1, result;

	errno = 7;
	result = ncclGetVersion(&version);
	return result || version != 2 || errno != 102;
}

static inline void call(const char *who)
{
	int version = -1, result;

	errno = 7;
	result = ncclGetVersion(&version);
	printf("%s: result %d version %d errno %d\n", who, result, version, errno);
}

static inline void wait_for(const char *who, pid_t child)
{
	int status = -1;

	if (waitpid(child, &status, 0) != child)
		printf("%s: not there: %s\n", who, strerror(errno));
	else if (WIFSIGNALED(status))
		printf("%s: signal %d\n", who, WTERMSIG(status));
	else
		printf("%s: status %d\n", who, WEXITSTATUS(status));
}

static inline int run_moment(const struct moment *moments, unsigned nr, int argc,
			     char **argv)
{
	unsigned i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; argc > 1 && i < nr; i++)
		if (!strcmp(argv[1], moments[i].name)) {
			moments[i].run();
			return 0;
		}
	fprintf(stderr, "usage: %s MOMENT\n", argv[0]);
	return 2;
}

#define RUN_MOMENT(argc, argv) \
	run_moment(moments, sizeof(moments) / sizeof(moments[0]), argc, argv)

#endif
