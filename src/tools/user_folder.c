/* SPDX-License-Identifier: MIT */
/*
 * Root's directory is below LTTng's, where nobody else writes: a process that shares
 * root's session daemon, in a container for instance, shares root's recordings. An
 * ordinary user's is below /tmp, whatever TMPDIR and XDG_RUNTIME_DIR say: they differ
 * between a job and the terminal that controls it, and the directories they name may be
 * removed when the user logs out.
 */
#include "tools/user_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char roots_parent[] = "/var/run/lttng", parent[] = "/tmp";

/* How often two processes of the user may make a directory at the same time. */
#define MAKE_TRIES 100
#define PAUSE_MS 10

static void sleep_ms(long ms)
{
	const struct timespec time = {.tv_nsec = ms * 1000000};

	nanosleep(&time, NULL);
}

static bool is_own(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 077);
}

static void fill_usual(char ret_path[TAP_USER_FOLDER_SIZE])
{
	if (geteuid())
		snprintf(ret_path, TAP_USER_FOLDER_SIZE, "%s/ccltap-%u", parent,
			 geteuid());
	else
		snprintf(ret_path, TAP_USER_FOLDER_SIZE, "%s/ccltap", roots_parent);
}

/* Finds one made because another user has the usual name, but not `except`. */
static int find_other(const char *except, char ret_path[TAP_USER_FOLDER_SIZE])
{
	char path[TAP_USER_FOLDER_SIZE], prefix[32];
	struct dirent *entry;
	int ret = -ENOENT;
	DIR *folder;

	if (!geteuid())
		return ret;
	snprintf(prefix, sizeof(prefix), "ccltap-%u-", geteuid());
	folder = opendir(parent);
	while (folder && ret && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)) ||
		    strlen(entry->d_name) != strlen(prefix) + 6)
			continue;
		snprintf(path, sizeof(path), "%s/%.40s", parent, entry->d_name);
		if (!is_own(path) || !strcmp(path, except))
			continue;
		strcpy(ret_path, path);
		ret = 0;
	}
	if (folder)
		closedir(folder);
	return ret;
}

int tap_user_folder_find(char ret_path[TAP_USER_FOLDER_SIZE])
{
	fill_usual(ret_path);
	return is_own(ret_path) ? 0 : find_other("", ret_path);
}

/* Makes it under the usual name, or beside what another user put there. */
static int make(char ret_path[TAP_USER_FOLDER_SIZE])
{
	fill_usual(ret_path);
	if (!mkdir(ret_path, 0700))
		return 0;
	if (errno != EEXIST)
		return -errno;
	/*
	 * Nobody else could make root's: something that is no such directory has its
	 * name.
	 */
	if (!geteuid())
		return -EPERM;
	snprintf(ret_path, TAP_USER_FOLDER_SIZE, "%s/ccltap-%u-XXXXXX", parent,
		 geteuid());
	return mkdtemp(ret_path) ? 0 : -errno;
}

int tap_user_folder_make(char ret_path[TAP_USER_FOLDER_SIZE])
{
	char other[TAP_USER_FOLDER_SIZE];
	int ret;

	if (!geteuid() && mkdir(roots_parent, 0755) < 0 && errno != EEXIST)
		return -errno;
	for (int tries = 0; tries < MAKE_TRIES; tries++) {
		if (!tap_user_folder_find(ret_path))
			return 0;
		ret = make(ret_path);
		if (ret && !tap_user_folder_find(ret_path))
			return 0;
		if (ret)
			return ret;
		/*
		 * A process that sees another directory after it made its own removes its
		 * own, so one is left.
		 */
		fill_usual(other);
		if (find_other(ret_path, other) &&
		    (!strcmp(ret_path, other) || !is_own(other)))
			return 0;
		rmdir(ret_path);
		sleep_ms(random() % PAUSE_MS);
	}
	return -EAGAIN;
}

int tap_user_folder_lock(const char *name, unsigned patience_ms)
{
	char folder[TAP_USER_FOLDER_SIZE], path[TAP_USER_FOLDER_SIZE + 32];
	int fd, ret = tap_user_folder_make(folder);

	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	for (unsigned waited = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; waited += PAUSE_MS) {
		ret = errno == EINTR || errno == EWOULDBLOCK ? 0 : -errno;
		if (!ret && waited >= patience_ms)
			ret = -ETIMEDOUT;
		if (ret) {
			close(fd);
			return ret;
		}
		sleep_ms(PAUSE_MS);
	}
	return fd;
}
