/* SPDX-License-Identifier: MIT */
/* man(1) finds its pages; those of a portable folder are beside the command. */
#include "tools/manual.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/place.h"

/* Runs man with these arguments; returns whether it succeeds. */
static bool run_man(const char *const *arguments, bool is_quiet)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		int null_fd = is_quiet ? open("/dev/null", O_RDWR) : -1;

		if (null_fd >= 0) {
			dup2(null_fd, STDOUT_FILENO);
			dup2(null_fd, STDERR_FILENO);
		}
		execvp("man", (char *const *) arguments);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       !WEXITSTATUS(status);
}

bool tap_manual_show(const char *page)
{
	const char *find[] = {"man", "-w", page, NULL}, *show[] = {"man", page, NULL};
	char file[64], path[PATH_MAX];

	if (!isatty(STDOUT_FILENO))
		return false;
	snprintf(file, sizeof(file), "share/man/man1/%s.1", page);
	if (tap_place_bundled(file, path, sizeof(path)))
		find[2] = show[1] = path;
	fflush(NULL);
	return run_man(find, true) && run_man(show, false);
}
