/* SPDX-License-Identifier: MIT */
/*
 * spawn COUNT PROGRAM: starts PROGRAM so many times, one after the other, and prints
 * the median of the ms from before its start to its end.  What is preloaded is
 * inherited.
 */
#include <spawn.h>
#include <sys/wait.h>

#include "bursts.h"

static int compare(const void *left, const void *right)
{
	double a = *(const double *) left, b = *(const double *) right;

	return (a > b) - (a < b);
}

static int run(char *program)
{
	char *argv[] = {program, NULL};
	int status;
	pid_t pid;

	if (posix_spawn(&pid, program, NULL, NULL, argv, environ))
		return -1;
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

int main(int argc, char **argv)
{
	long i, count = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
	double begin, *ms;

	if (count < 1)
		return 2;
	ms = calloc((size_t) count, sizeof(*ms));
	if (!ms)
		return 1;
	for (i = 0; i < count; i++) {
		begin = bursts_now_ns();
		if (run(argv[2])) {
			fprintf(stderr, "spawn: %s failed\n", argv[2]);
			free(ms);
			return 1;
		}
		ms[i] = (bursts_now_ns() - begin) / 1e6;
	}
	qsort(ms, (size_t) count, sizeof(*ms), compare);
	printf("%.4f\n", ms[count / 2]);
	free(ms);
	return 0;
}
