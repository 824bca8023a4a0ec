/* SPDX-License-Identifier: MIT */
/* A recording is DIR/<host> with a marker, which changes last when the recording ends. */
#include "tools/here.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "tools/message.h"
#include "tools/record_output.h"

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* What an older recording was moved to is read only where it is named. */
static bool is_old(const char *path)
{
	const size_t length = strcspn(path, "/");

	return length > 4 && !strncmp(path + length - 4, ".old", 4);
}

/* Sets *ret_path to the newest marker that the pattern matches, and *ret_time to its time. */
static void find_newest(const char *pattern, char **ret_path, struct timespec *ret_time)
{
	glob_t found;
	size_t i;

	*ret_path = NULL;
	if (glob(pattern, GLOB_NOSORT, NULL, &found))
		return;
	for (i = 0; i < found.gl_pathc; i++) {
		const char *path = found.gl_pathv[i];
		struct stat status;

		if (lstat(path, &status) || !S_ISREG(status.st_mode) || is_old(path) ||
		    (*ret_path && !is_newer(&status.st_mtim, ret_time)))
			continue;
		free(*ret_path);
		*ret_path = strdup(path);
		*ret_time = status.st_mtim;
	}
	globfree(&found);
}

char *tap_here_find(void)
{
	/* The current folder may be a host's, or a recording's. */
	static const char *const patterns[] = {TAP_OUTPUT_MARKER, "*/" TAP_OUTPUT_MARKER,
					       "*/*/" TAP_OUTPUT_MARKER};
	static char *path;
	struct timespec time;
	char when[64] = "";
	struct tm parts;
	size_t i;

	for (i = 0; !path && i < sizeof(patterns) / sizeof(patterns[0]); i++)
		find_newest(patterns[i], &path, &time);
	if (!path)
		return NULL;
	if (i < sizeof(patterns) / sizeof(patterns[0]))
		strcpy(path, ".");
	else
		*strchr(path, '/') = '\0';
	if (localtime_r(&time.tv_sec, &parts))
		strftime(when, sizeof(when), ", of %Y-%m-%d %H:%M:%S", &parts);
	tap_message_write("reading %s, the newest recording here%s", path, when);
	return path;
}
