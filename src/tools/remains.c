/* SPDX-License-Identifier: MIT */
/* Files "SESSION.session", with a lock that the kernel releases when its owner dies. */
#include "tools/remains.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "tools/control_socket.h"
#include "tools/record_output.h"
#include "tools/record_session.h"
#include "tools/user_folder.h"

static const char suffix[] = ".session";

static int fill_path(const char *session, char *ret_path, size_t size)
{
	char folder[TAP_USER_FOLDER_SIZE];
	int ret = tap_user_folder_find(folder);

	if (ret)
		return ret;
	ret = snprintf(ret_path, size, "%s/%s%s", folder, session, suffix);
	return ret < (int) size ? 0 : -ENAMETOOLONG;
}

int tap_remains_note(const char *session, const char *recording)
{
	const char *home = getenv("LTTNG_HOME");
	char path[PATH_MAX];
	int fd, ret = fill_path(session, path, sizeof(path));

	if (ret)
		return ret;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (!flock(fd, LOCK_EX | LOCK_NB) &&
	    dprintf(fd, "home %s\npath %s\n", home ? home : "",
		    recording ? recording : "") > 0)
		return fd;
	ret = -errno;
	unlink(path);
	close(fd);
	return ret;
}

void tap_remains_note_made(int note_fd, const char *session)
{
	if (note_fd >= 0 &&
	    dprintf(note_fd, "made %" PRIu64 "\n", tap_session_made(session)) < 0)
		errno = 0;
}

void tap_remains_note_joined(int note_fd)
{
	if (note_fd >= 0 && dprintf(note_fd, "joined\n") < 0)
		errno = 0;
}

void tap_remains_forget(int note_fd, const char *session)
{
	char path[PATH_MAX];

	if (note_fd < 0)
		return;
	if (!fill_path(session, path, sizeof(path)))
		unlink(path);
	close(note_fd);
}

/* Opens a note, which the caller closes; -errno while its recording lives. */
static int open_dead(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	close(fd);
	return -EBUSY;
}

struct note {
	char home[PATH_MAX], path[PATH_MAX]; /* LTTng's, the recording's */
	uint64_t made;			     /* 0: perhaps not made */
	bool was_joined;
};

static void read_note(int fd, struct note *ret_note)
{
	FILE *file = fdopen(fd, "r");
	char line[PATH_MAX];

	*ret_note = (struct note){0};
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "home ", 5))
			strcpy(ret_note->home, line + 5);
		else if (!strncmp(line, "path ", 5))
			strcpy(ret_note->path, line + 5);
		else if (!strncmp(line, "made ", 5))
			ret_note->made = strtoull(line + 5, NULL, 10);
		else if (!strcmp(line, "joined"))
			ret_note->was_joined = true;
	}
	if (file)
		fclose(file);
	else
		close(fd);
}

static void set_home(const char *home)
{
	if (home && *home)
		setenv("LTTNG_HOME", home, 1);
	else
		unsetenv("LTTNG_HOME");
}

/* Whether this user has no live recording. */
static bool is_alone(void)
{
	char folder[TAP_USER_FOLDER_SIZE], path[PATH_MAX];
	struct dirent *entry;
	bool is_it = true;
	DIR *list;
	int fd;

	if (tap_user_folder_find(folder))
		return true;
	list = opendir(folder);
	while (list && is_it && (entry = readdir(list))) {
		size_t length = strlen(entry->d_name);

		if (length <= strlen(suffix) ||
		    strcmp(entry->d_name + length - strlen(suffix), suffix))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		fd = open_dead(path);
		is_it = fd != -EBUSY;
		if (fd >= 0)
			close(fd);
	}
	if (list)
		closedir(list);
	return is_it;
}

/* Read by a signal handler. */
static volatile pid_t doomed;

bool tap_remains_doom_daemon(void)
{
	doomed = is_alone() ? tap_session_own_daemon() : 0;
	return doomed;
}

void tap_remains_spare_daemon(void)
{
	doomed = 0;
}

bool tap_remains_end_hung(void)
{
	pid_t pid = doomed;

	doomed = 0;
	return pid > 0 && !kill(pid, SIGKILL);
}

static void clean_one(const char *path, const char *session,
		      void (*ended)(const char *session))
{
	int fd = open_dead(path);
	struct note note;

	if (fd < 0)
		return;
	read_note(fd, &note);
	set_home(note.home);
	tap_remains_doom_daemon();
	tap_session_end_dead(session, note.made);
	tap_session_end_daemon();
	if (!note.was_joined)
		tap_output_discard_dead(note.path, session);
	unlink(path);
	if (ended)
		ended(session);
}

static void clean_all(const char *folder, void (*ended)(const char *session))
{
	char path[PATH_MAX], session[NAME_MAX + 1];
	struct dirent *entry;
	size_t length;
	DIR *list = opendir(folder);

	while (list && (entry = readdir(list))) {
		length = strlen(entry->d_name);
		if (length <= strlen(suffix) ||
		    strcmp(entry->d_name + length - strlen(suffix), suffix))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		snprintf(session, sizeof(session), "%.*s",
			 (int) (length - strlen(suffix)), entry->d_name);
		clean_one(path, session, ended);
	}
	if (list)
		closedir(list);
}

void tap_remains_clean(void (*ended)(const char *session))
{
	const char *present = getenv("LTTNG_HOME");
	char folder[TAP_USER_FOLDER_SIZE], *kept = present ? strdup(present) : NULL;

	tap_link_clean();
	if (!tap_user_folder_find(folder)) {
		clean_all(folder, ended);
		/*
		 * A supervisor that was killed before it wrote a note may have left a
		 * daemon.
		 */
		set_home(geteuid() ? folder : NULL);
		tap_remains_doom_daemon();
		tap_session_end_daemon();
		tap_remains_spare_daemon();
	}
	set_home(kept);
	free(kept);
	/* First the consumer, then the process that waits for it. */
	tap_session_end_orphans();
	tap_session_end_orphans();
}
