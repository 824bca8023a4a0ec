/* SPDX-License-Identifier: MIT */
/* Makes and removes the directory of a recording; hides how it is known to be ours. */
#include "tools/record_output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/message.h"

/* Written once a directory is ours, and begins with `magic`. */
static const char marker[] = "ccltap-recording";
static const char magic[] = "ccltap recording 1\n";

/* The one entry that LTTng's daemons make for user space. */
static const char lttng_tree[] = "ust";

/* LTTng nests ust/uid/N/64-bit/index; deeper is not LTTng's. */
#define DEEPEST 8

enum visit { CHECK, REMOVE };

static int visit_directory(int parent, const char *name, enum visit visit, int depth);

static int visit_entry(int folder, const char *name, dev_t device, enum visit visit,
		       int depth)
{
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode) && st.st_dev == device)
		return visit_directory(folder, name, visit, depth + 1);
	if (!S_ISREG(st.st_mode) || st.st_dev != device)
		return -EEXIST;
	if (visit == REMOVE && unlinkat(folder, name, 0) < 0)
		return -errno;
	return 0;
}

/*
 * Goes through a directory that may hold nothing but regular files and directories,
 * and with REMOVE takes it all away.
 */
static int visit_directory(int parent, const char *name, enum visit visit, int depth)
{
	struct dirent *entry;
	struct stat st;
	int fd, ret = 0;
	DIR *folder;

	if (depth > DEEPEST)
		return -EEXIST;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	folder = fdopendir(fd);
	if (!folder) {
		ret = -errno;
		close(fd);
		return ret;
	}
	if (fstat(fd, &st) < 0)
		ret = -errno;
	while (!ret && (entry = readdir(folder))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		ret = visit_entry(fd, entry->d_name, st.st_dev, visit, depth);
	}
	closedir(folder);
	if (!ret && visit == REMOVE && unlinkat(parent, name, AT_REMOVEDIR) < 0)
		ret = -errno;
	return ret;
}

/* The name of an entry other than those of a recording; the caller frees it. */
static char *find_foreign(int fd, bool *ret_empty)
{
	struct dirent *entry;
	char *foreign = NULL;
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	DIR *folder = copy < 0 ? NULL : fdopendir(copy);

	*ret_empty = true;
	if (!folder)
		return strdup("something unreadable");
	rewinddir(folder);
	while (!foreign && (entry = readdir(folder))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		*ret_empty = false;
		if (strcmp(entry->d_name, marker) && strcmp(entry->d_name, lttng_tree))
			foreign = strdup(entry->d_name);
	}
	closedir(folder);
	return foreign;
}

/* The marker, locked, or -errno: -EWOULDBLOCK when its recording goes on. */
static int open_marker(int fd)
{
	char start[sizeof(magic) - 1];
	int file, ret;

	file = openat(fd, marker, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file < 0)
		return -errno;
	if (read(file, start, sizeof(start)) != (ssize_t)sizeof(start) ||
	    memcmp(start, magic, sizeof(start)))
		ret = -EEXIST;
	else if (flock(file, LOCK_EX | LOCK_NB) < 0)
		ret = -errno;
	else
		return file;
	close(file);
	return ret;
}

static int remove_recording(int fd)
{
	int ret = visit_directory(fd, lttng_tree, REMOVE, 0);

	if (ret && ret != -ENOENT)
		return ret;
	/* Last, so that what could not be removed is still known to be ours. */
	return unlinkat(fd, marker, 0) < 0 ? -errno : 0;
}

/* Replaces what is in the directory, if all of it is a recording that has ended. */
static int overwrite_recording(struct tap_output *output, int fd)
{
	int file, ret;

	file = open_marker(fd);
	if (file == -EWOULDBLOCK) {
		tap_message_write("%s is being recorded now: give another directory "
				  "with -o", output->shown);
		return -EBUSY;
	}
	if (file < 0) {
		tap_message_write("%s is not a recording and is left alone: give another "
				  "directory with -o", output->shown);
		return -EEXIST;
	}
	ret = visit_directory(fd, lttng_tree, CHECK, 0);
	if (ret == -EEXIST) {
		tap_message_write("%s/%s holds what no recording has (a link, a device, "
				  "another file system) and is left alone: give another "
				  "directory with -o", output->shown, lttng_tree);
		goto out;
	}
	ret = remove_recording(fd);
	if (ret)
		tap_message_write("cannot remove the recording in %s: %s; give another "
				  "directory with -o", output->shown, strerror(-ret));
out:
	close(file);
	return ret;
}

static int make_room(struct tap_output *output, int fd, bool overwrite)
{
	char *foreign;
	bool empty;

	foreign = find_foreign(fd, &empty);
	if (foreign) {
		tap_message_write("%s holds \"%s\", which is not of a recording: give "
				  "another directory with -o", output->shown, foreign);
		free(foreign);
		return -EEXIST;
	}
	if (empty)
		return 0;
	if (!overwrite) {
		tap_message_write("%s is not empty: give another directory with -o, or "
				  "replace the recording with --overwrite",
				  output->shown);
		return -EEXIST;
	}
	return overwrite_recording(output, fd);
}

static int write_marker(struct tap_output *output, int fd, const char *session)
{
	int file = openat(fd, marker, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (file < 0)
		return -errno;
	if (flock(file, LOCK_EX | LOCK_NB) < 0 ||
	    dprintf(file, "%ssession %s\n", magic, session) < 0) {
		int ret = -errno;

		close(file);
		unlinkat(fd, marker, 0);
		return ret;
	}
	output->marker_fd = file;
	return 0;
}

static int open_host(struct tap_output *output, bool *ret_made)
{
	struct stat st;
	int fd;

	*ret_made = !mkdirat(output->base_fd, output->host, 0700);
	if (!*ret_made && errno != EEXIST) {
		fd = -errno;
		tap_message_write("cannot make %s: %s; give another directory with -o",
				  output->shown, strerror(-fd));
		return fd;
	}
	fd = openat(output->base_fd, output->host,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		fd = -errno;
		tap_message_write("%s is there and is no directory that can be used: %s; "
				  "give another one with -o",
				  output->shown, strerror(-fd));
		return fd;
	}
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid()) {
		tap_message_write("%s belongs to another user: give another directory "
				  "with -o", output->shown);
		close(fd);
		return -EPERM;
	}
	return fd;
}

static int open_base(struct tap_output *output)
{
	int ret;

	output->made_base = !mkdir(output->base, 0700);
	if (output->made_base || errno == EEXIST)
		output->base_fd = open(output->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (output->base_fd >= 0)
		return 0;
	ret = -errno;
	tap_message_write("cannot make %s: %s; give another directory with -o",
			  output->base, strerror(-ret));
	return ret;
}

static int name_host(struct tap_output *output)
{
	if (gethostname(output->host, sizeof(output->host) - 1) < 0 || !*output->host ||
	    strchr(output->host, '/') || output->host[0] == '.') {
		tap_message_write("this host has no name to call its directory by: "
				  "set one with hostname");
		return -EINVAL;
	}
	return 0;
}

static int name_paths(struct tap_output *output)
{
	char *real = realpath(output->base, NULL);

	if (real && asprintf(&output->absolute, "%s/%s", real, output->host) < 0)
		output->absolute = NULL;
	free(real);
	if (asprintf(&output->shown, "%s/%s", output->base, output->host) < 0)
		output->shown = NULL;
	if (output->absolute && output->shown)
		return 0;
	tap_message_write("cannot tell where %s is: %s; give another directory with -o",
			  output->base, strerror(errno));
	return -EINVAL;
}

int tap_output_make(struct tap_output *output, const char *base, bool overwrite,
		    const char *session)
{
	bool made = false;
	int fd = -1, ret;

	*output = (struct tap_output){ .base = base, .base_fd = -1, .marker_fd = -1 };
	ret = name_host(output);
	if (!ret)
		ret = open_base(output);
	if (ret)
		return ret;
	ret = name_paths(output);
	if (ret)
		goto out;
	fd = open_host(output, &made);
	if (fd < 0) {
		ret = fd;
		goto out;
	}
	ret = make_room(output, fd, overwrite);
	if (ret)
		goto out;
	if (fchmod(fd, 0700) < 0)
		ret = -errno;
	else
		ret = write_marker(output, fd, session);
	if (ret)
		tap_message_write("cannot write to %s: %s; give another directory "
				  "with -o", output->shown, strerror(-ret));
out:
	if (fd >= 0)
		close(fd);
	if (ret) {
		if (made)
			unlinkat(output->base_fd, output->host, AT_REMOVEDIR);
		if (output->made_base)
			rmdir(base);
		tap_output_close(output);
	}
	return ret;
}

void tap_output_discard(struct tap_output *output)
{
	int fd = openat(output->base_fd, output->host,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	if (!remove_recording(fd))
		unlinkat(output->base_fd, output->host, AT_REMOVEDIR);
	close(fd);
	if (output->made_base)
		rmdir(output->base);
}

void tap_output_close(struct tap_output *output)
{
	if (output->marker_fd >= 0)
		close(output->marker_fd);
	if (output->base_fd >= 0)
		close(output->base_fd);
	free(output->shown);
	free(output->absolute);
	*output = (struct tap_output){ .base_fd = -1, .marker_fd = -1 };
}
