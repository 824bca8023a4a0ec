/* SPDX-License-Identifier: MIT */
/* Makes and removes the directory of a recording; hides how ccltap knows its own. */
#include "tools/record_output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/compiler.h"
#include "tools/folders.h"
#include "tools/message.h"

/* Written once the directory is ccltap's; begins with `magic`. */
static const char marker[] = TAP_OUTPUT_MARKER;
static const char magic[] = "ccltap recording 1\n";

/*
 * What LTTng's daemons make for user space, "ust" for a recording that is never rotated;
 * and ccltap's parts for late ranks.
 */
static const char *const trees[] = { "ust", "archives", "snapshot-", "part-",
				     TAP_OUTPUT_LOOK };
static const char archives[] = "archives";

/* What a user can do about a directory, and about an older recording in it. */
static const char *remedy = "give another directory with -o";
static const char *remedy_of_older = "replace it with --overwrite, or give another "
				     "directory with -o";

void tap_output_choose_no_other(void)
{
	remedy = remedy_of_older =
		"free that place or mend it, \"ccltap start\" records nowhere else";
}

/* What is wrong with the program, in words, and that before it is complete. */
static const char *const verdicts[] = { TAP_OUTPUT_WHY, TAP_OUTPUT_WHY_NEW };

/*
 * LTTng nests part-N/archives/CHUNK/ust/uid/N/64-bit/index; anything deeper is not
 * LTTng's.
 */
#define DEEPEST 10

/* More than fit on a disk; twice this is still a valid number for the reader. */
#define COUNT_MAX 1000000000

/* The name of a chunk that is being written is its time: 20261121T193645+0000-1. */
static bool is_chunk(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits == 8 && name[8] == 'T';
}

static bool is_tree(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(trees); i++)
		if (!strcmp(name, trees[i]) ||
		    (trees[i][strlen(trees[i]) - 1] == '-' &&
		     !strncmp(name, trees[i], strlen(trees[i]))))
			return true;
	return is_chunk(name);
}

static bool is_verdict(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++)
		if (!strcmp(name, verdicts[i]))
			return true;
	return false;
}

/* How long a recording may take to end after its last program has. */
#define ENDING_TRIES 6000
#define ENDING_PAUSE_MS 10

/* How long after the end of the others a rank of the same job may come. */
#define LATE_SECONDS 30

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
 * Walks a directory that may hold nothing but regular files and directories, and with
 * REMOVE removes it all.
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

/* The name of an entry that is not a recording's; the caller frees it. */
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
		if (strcmp(entry->d_name, marker) && !is_tree(entry->d_name) &&
		    !is_verdict(entry->d_name))
			foreign = strdup(entry->d_name);
	}
	closedir(folder);
	return foreign;
}

/*
 * Opens and locks the marker, or returns -errno: -EWOULDBLOCK while its recording runs.
 */
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

/* Visits everything that LTTng and ccltap have put beside the marker. */
static int visit_trees(int fd, enum visit visit)
{
	int ret = 0, copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	DIR *folder = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!folder)
		return -errno;
	rewinddir(folder);
	while ((!ret || ret == -ENOENT) && (entry = readdir(folder)))
		if (is_tree(entry->d_name))
			ret = visit_directory(fd, entry->d_name, visit, 0);
	closedir(folder);
	return ret == -ENOENT ? 0 : ret;
}

static int remove_recording(int fd)
{
	int ret = visit_trees(fd, REMOVE);

	if (ret)
		return ret;
	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++)
		if (unlinkat(fd, verdicts[i], 0) < 0 && errno != ENOENT)
			return -errno;
	/* Last, so that what could not be removed is still marked as ccltap's. */
	return unlinkat(fd, marker, 0) < 0 ? -errno : 0;
}

/*
 * Locks the marker of a recording that has ended. Returns its descriptor, or -errno after
 * a message.
 */
static int lock_recording(const char *shown, int fd)
{
	int file = open_marker(fd);

	if (file == -EWOULDBLOCK) {
		tap_message_write("%s is being recorded now: %s", shown, remedy);
		return -EBUSY;
	}
	if (file < 0) {
		tap_message_write("%s is not a recording and is left alone: %s", shown,
				  remedy);
		return -EEXIST;
	}
	return file;
}

/* Removes what is in the directory, if all of it is a recording that has ended. */
static int overwrite_recording(const char *shown, int fd)
{
	int ret, file = lock_recording(shown, fd);

	if (file < 0)
		return file;
	ret = visit_trees(fd, CHECK);
	if (ret == -EEXIST) {
		tap_message_write("%s holds what no recording has (a link, a device, "
				  "another file system) and is left alone: %s", shown,
				  remedy);
		goto out;
	}
	ret = remove_recording(fd);
	if (ret)
		tap_message_write("cannot remove the recording in %s: %s; %s", shown,
				  strerror(-ret), remedy);
out:
	close(file);
	return ret;
}

/* Returns -EEXIST after a message if the directory holds what is not of a recording. */
static int refuse_foreign(const char *shown, int fd, bool *ret_empty)
{
	char *foreign = find_foreign(fd, ret_empty);

	if (!foreign)
		return 0;
	tap_message_write("%s holds \"%s\", which is not of a recording: %s", shown,
			  foreign, remedy);
	free(foreign);
	return -EEXIST;
}

/* ---- The older recording ---- */

/* Removes DIR.old/<host>, if it is a recording. */
static int remove_oldest(struct tap_output *output, int old_fd)
{
	int ret, fd = openat(old_fd, output->host,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char shown[PATH_MAX + sizeof(output->host)];
	bool empty;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	snprintf(shown, sizeof(shown), "%s/%s", output->old, output->host);
	ret = refuse_foreign(shown, fd, &empty);
	if (!ret && !empty)
		ret = overwrite_recording(shown, fd);
	close(fd);
	if (ret)
		return -EEXIST; /* the user knows why */
	return unlinkat(old_fd, output->host, AT_REMOVEDIR) < 0 ? -errno : 0;
}

/* Opens DIR.old, which is made if need be. */
static int open_old(const char *path)
{
	struct stat st;
	int fd;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_uid == geteuid())
		return fd;
	close(fd);
	return -EPERM;
}

/*
 * Whether the directory is still in its place: another host's process, or one in another
 * container, may have moved it before this one had the lock of its marker.
 */
static bool is_in_place(const struct tap_output *output, int fd)
{
	struct stat here, there;

	return !fstat(fd, &here) &&
	       !fstatat(output->base_fd, output->host, &there, AT_SYMLINK_NOFOLLOW) &&
	       here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/*
 * Moves DIR/<host>, the recording in `fd`, to DIR.old. Whoever moves it has the lock of
 * its marker, so of several processes one does. Each host moves its own: the processes of
 * other hosts may be recording into DIR already.
 */
static int move_recording(struct tap_output *output, int fd)
{
	int file = lock_recording(output->shown, fd), old_fd = -1, ret = 0;

	if (file < 0)
		return file;
	if (asprintf(&output->old, "%s.old", output->real) < 0) {
		output->old = NULL;
		ret = -ENOMEM;
	} else {
		old_fd = ret = open_old(output->old);
	}
	if (ret >= 0)
		ret = remove_oldest(output, old_fd);
	if (!ret && !is_in_place(output, fd))
		ret = -EBUSY;
	if (!ret && renameat(output->base_fd, output->host, old_fd, output->host) < 0)
		ret = -errno;
	if (ret && ret != -EEXIST)
		tap_message_write("cannot keep the recording in %s as %s: %s; %s",
				  output->shown, output->old ? output->old : "DIR.old",
				  strerror(-ret), remedy_of_older);
	if (ret) {
		free(output->old);
		output->old = NULL;
	}
	if (old_fd >= 0)
		close(old_fd);
	close(file);
	return ret;
}

/* The new recording came to nothing: the older one returns. */
static void return_older(struct tap_output *output)
{
	int old_fd = output->old ? open_old(output->old) : -1;

	if (old_fd < 0)
		return;
	if (renameat(old_fd, output->host, output->base_fd, output->host) < 0)
		tap_message_write("the older recording is now in %s/%s", output->old,
				  output->host);
	rmdir(output->old); /* unless others are in it */
	close(old_fd);
}

/* ---- The marker ---- */

/*
 * Calls each for every line of the marker that begins with `key`, with the text after it.
 */
static void read_marker(int folder, const char *key,
			void (*each)(const char *text, void *data), void *data)
{
	int fd = openat(folder, marker, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	size_t length = strlen(key);
	char line[512];
	struct stat st;

	/* A file of unknown origin may be a device, which can be endless. */
	if (!file || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		if (file)
			fclose(file);
		else if (fd >= 0)
			close(fd);
		return;
	}
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, key, length) && line[length] == ' ')
			each(line + length + 1, data);
	}
	fclose(file);
}

/* What a marker says about the job and about one rank. */
struct reported {
	const struct tap_job *job;
	bool is_same, has_ranks, has_rank;
};

static void look_at_job(const char *text, void *data)
{
	struct reported *reported = data;

	reported->is_same = strtoull(text, NULL, 16) == reported->job->key;
}

static void look_at_rank(const char *text, void *data)
{
	struct reported *reported = data;

	reported->has_ranks = true;
	if (atoi(text) == reported->job->rank)
		reported->has_rank = true;
}

static void take_name(const char *text, void *data)
{
	struct tap_output *output = data;

	snprintf(output->job_name, sizeof(output->job_name), "%s", text);
}

/*
 * If the directory has a recording of the same job that ended before this rank came,
 * makes a directory for this rank beside it. Returns 1 if so, 0 if not, or -errno.
 */
static int add_part(struct tap_output *output, int fd, const struct tap_job *job)
{
	const struct timespec pause = { .tv_nsec = ENDING_PAUSE_MS * 1000000 };
	struct reported reported = {.job = job};
	struct stat st;
	char part[32];
	char *longer;
	int file = -EWOULDBLOCK, ret;

	if (job->rank < 0)
		return 0;
	read_marker(fd, "job", look_at_job, &reported);
	read_marker(fd, "rank", look_at_rank, &reported);
	if (!reported.is_same || !reported.has_ranks || reported.has_rank)
		return 0;
	read_marker(fd, "name", take_name, output);
	/* Nobody can join that recording any more, but it may not be complete yet. */
	for (int tries = 0; tries < ENDING_TRIES; tries++) {
		file = open_marker(fd);
		if (file != -EWOULDBLOCK)
			break;
		nanosleep(&pause, NULL);
	}
	if (file < 0)
		return 0;
	/* The same shell may have started another job since then. */
	if (fstat(file, &st) < 0 || time(NULL) - st.st_mtime > LATE_SECONDS) {
		close(file);
		return 0;
	}
	for (int i = 2;; i++) {
		snprintf(part, sizeof(part), "part-%d", i);
		if (!mkdirat(fd, part, 0700))
			break;
		if (errno != EEXIST) {
			ret = -errno;
			close(file);
			return ret;
		}
	}
	if (asprintf(&longer, "%s/%s", output->absolute, part) < 0) {
		close(file);
		return -ENOMEM;
	}
	free(output->absolute);
	output->absolute = longer;
	output->marker_fd = file;
	output->is_part = true;
	lseek(file, 0, SEEK_END);
	return 1;
}

/*
 * Returns 1 when the directory has this recording's marker, 0 when the caller has to
 * write it into the directory, which may not be there any more, or -errno.
 */
static int make_room(struct tap_output *output, int fd, enum tap_output_older older,
		     const struct tap_job *job)
{
	bool empty;
	int ret;

	ret = refuse_foreign(output->shown, fd, &empty);
	if (ret || empty)
		return ret;
	ret = add_part(output, fd, job);
	if (ret)
		return ret;
	switch (older) {
	case TAP_OUTPUT_MOVE_OLDER:
		return move_recording(output, fd);
	case TAP_OUTPUT_REPLACE_OLDER:
		return overwrite_recording(output->shown, fd);
	case TAP_OUTPUT_REFUSE_OLDER:
		break;
	}
	tap_message_write("%s has a recording, which --no-overwrite keeps there: %s",
			  output->shown, remedy);
	return -EEXIST;
}

static int write_marker(struct tap_output *output, int fd, const char *session,
			const struct tap_job *job)
{
	int file = openat(fd, marker, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (file < 0)
		return -errno;
	if (flock(file, LOCK_EX | LOCK_NB) < 0 ||
	    dprintf(file, "%ssession %s\njob %016" PRIx64 "\nname %s\n", magic, session,
		    job->key, output->job_name) < 0) {
		int ret = -errno;

		close(file);
		unlinkat(fd, marker, 0);
		return ret;
	}
	output->marker_fd = file;
	return 0;
}

void tap_output_note_rank(struct tap_output *output, int rank)
{
	if (rank >= 0 && dprintf(output->marker_fd, "rank %d\n", rank) < 0)
		errno = 0;
}

void tap_output_note_end(struct tap_output *output)
{
	if (dprintf(output->marker_fd, "ended %jd\n", (intmax_t)time(NULL)) < 0)
		errno = 0;
}

void tap_output_note_removed(struct tap_output *output, unsigned chunks)
{
	if (dprintf(output->marker_fd, "removed %u\n", chunks) < 0)
		errno = 0;
}

void tap_output_note_unrecorded(struct tap_output *output)
{
	if (dprintf(output->marker_fd, "unrecorded 1\n") < 0)
		errno = 0;
}

void tap_output_note_snapshot(struct tap_output *output, const char *reason)
{
	if (dprintf(output->marker_fd, "snapshot %s\n", reason) < 0)
		errno = 0;
}

void tap_output_note_sent(struct tap_output *output, const char *relay,
			  const char *folder)
{
	if (dprintf(output->marker_fd, "sent %s %s/%s\n", relay, output->host, folder) < 0)
		errno = 0;
}

void tap_output_note_lost(struct tap_output *output, const char *lost)
{
	if (*lost && dprintf(output->marker_fd, "lost %s\n", lost) < 0)
		errno = 0;
}

/* A damaged number reads as 0 or as more than any recording has. */
static void add(unsigned *sum, const char *text)
{
	unsigned long count = strtoul(text, NULL, 10);

	if (count <= COUNT_MAX && *sum <= COUNT_MAX)
		*sum += (unsigned)count;
}

static void add_removed(const char *text, void *data)
{
	add(&((struct tap_output_about *)data)->removed, text);
}

static void add_unrecorded(const char *text, void *data)
{
	add(&((struct tap_output_about *)data)->unrecorded, text);
}

static void take_job(const char *text, void *data)
{
	struct tap_output_about *about = data;

	snprintf(about->job, sizeof(about->job), "%s", text);
}

static void note_ended(const char *text, void *data)
{
	(void)text;
	*(bool *)data = true;
}

static void take_sent(const char *text, void *data)
{
	struct tap_output_about *about = data;

	snprintf(about->sent, sizeof(about->sent), "%s", text);
}

static void take_lost(const char *text, void *data)
{
	struct tap_output_about *about = data;

	snprintf(about->lost, sizeof(about->lost), "%s", text);
}

/* Returns whether the recording whose directory this is was sent to a relay daemon. */
static bool is_sent(const char *path, struct tap_output_about *ret_about)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*ret_about = (struct tap_output_about){ 0 };
	if (fd < 0)
		return false;
	read_marker(fd, "sent", take_sent, ret_about);
	read_marker(fd, "lost", take_lost, ret_about);
	close(fd);
	return *ret_about->sent;
}

bool tap_output_find_sent(const char *folder, struct tap_output_about *ret_about)
{
	bool found = is_sent(folder, ret_about);
	char below[PATH_MAX];
	struct dirent *entry;
	DIR *hosts = found ? NULL : opendir(folder);

	while (!found && hosts && (entry = readdir(hosts)))
		if (*entry->d_name != '.' &&
		    snprintf(below, sizeof(below), "%s/%s", folder, entry->d_name) <
			    (int)sizeof(below))
			found = is_sent(below, ret_about);
	if (hosts)
		closedir(hosts);
	return found;
}

bool tap_output_describe(const char *trace, struct tap_output_about *ret_about)
{
	char *path = realpath(trace, NULL), *slash = path;
	struct stat st;
	bool found = false;

	*ret_about = (struct tap_output_about){ 0 };
	for (int depth = 0; slash && *path && !found && depth <= DEEPEST; depth++) {
		int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		found = fd >= 0 && !faccessat(fd, marker, R_OK, 0) && !fstat(fd, &st);
		if (found) {
			read_marker(fd, "name", take_job, ret_about);
			read_marker(fd, "removed", add_removed, ret_about);
			read_marker(fd, "unrecorded", add_unrecorded, ret_about);
			read_marker(fd, "ended", note_ended, &ret_about->has_ended);
			ret_about->device = st.st_dev;
			ret_about->inode = st.st_ino;
		}
		if (fd >= 0)
			close(fd);
		slash = strrchr(path, '/');
		if (slash)
			*slash = '\0';
	}
	free(path);
	return found;
}

bool tap_output_is_held(const char *path)
{
	int file, fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool has_ended = false, is_held;

	if (fd < 0)
		return false;
	read_marker(fd, "ended", note_ended, &has_ended);
	file = has_ended ? -1 :
			   openat(fd, marker,
				  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	is_held = file >= 0 && flock(file, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	if (file >= 0)
		close(file);
	close(fd);
	return is_held;
}

static int open_host(struct tap_output *output, bool *ret_made)
{
	struct stat st;
	int fd;

	*ret_made = !mkdirat(output->base_fd, output->host, 0700);
	if (!*ret_made && errno != EEXIST) {
		fd = -errno;
		tap_message_write("cannot make %s: %s; %s", output->shown, strerror(-fd),
				  remedy);
		return fd;
	}
	fd = openat(output->base_fd, output->host,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		fd = -errno;
		tap_message_write("%s is there and is no directory that can be used: %s; "
				  "%s",
				  output->shown, strerror(-fd), remedy);
		return fd;
	}
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid()) {
		tap_message_write("%s belongs to another user: %s", output->shown, remedy);
		close(fd);
		return -EPERM;
	}
	return fd;
}

char *tap_output_resolve(const char *path)
{
	char *real = realpath(path, NULL), *copy, *name, *slash;

	if (real || errno != ENOENT || !*path)
		return real;
	copy = strdup(path);
	if (!copy)
		return NULL;
	for (size_t end = strlen(copy); end > 1 && copy[end - 1] == '/'; end--)
		copy[end - 1] = '\0';
	name = strrchr(copy, '/');
	if (name)
		*name++ = '\0';
	else
		name = copy;
	real = tap_output_resolve(name == copy ? "." : *copy ? copy : "/");
	if (real && !strcmp(name, "..")) {
		/* Parts that are missing are no links, so this is the one above. */
		slash = strrchr(real, '/');
		slash[slash == real] = '\0';
	} else if (real && *name && strcmp(name, ".")) {
		char *above = real;

		if (asprintf(&real, "%s/%s", strcmp(above, "/") ? above : "", name) < 0)
			real = NULL;
		free(above);
	}
	free(copy);
	return real;
}

/* Removes the folders that were made for the recording and hold nothing else. */
static void remove_folders(const struct tap_output *output)
{
	char *path = strdup(output->real), *slash;

	for (int i = 0; path && i < output->made && !rmdir(path); i++) {
		slash = strrchr(path, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	free(path);
}

static int open_base(struct tap_output *output)
{
	int ret = 0;

	output->real = tap_output_resolve(output->base);
	if (!output->real)
		ret = -errno;
	else
		ret = tap_folders_make(output->real, 0700, &output->made);
	if (!ret) {
		output->base_fd = open(output->real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ret = output->base_fd < 0 ? -errno : 0;
	}
	if (ret)
		tap_message_write("cannot make %s: %s; %s", output->base, strerror(-ret),
				  remedy);
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
	if (asprintf(&output->absolute, "%s/%s", output->real, output->host) < 0)
		output->absolute = NULL;
	if (asprintf(&output->shown, "%s/%s", output->base, output->host) < 0)
		output->shown = NULL;
	if (output->absolute && output->shown)
		return 0;
	tap_message_write("cannot record into %s: out of memory", output->base);
	return -ENOMEM;
}

char *tap_output_find(const char *base)
{
	char host[256] = "", *real, *path = NULL;

	if (gethostname(host, sizeof(host) - 1) < 0)
		return NULL;
	real = tap_output_resolve(base);
	if (real && asprintf(&path, "%s/%s", real, host) < 0)
		path = NULL;
	free(real);
	return path;
}

static int is_complete_chunk(const struct dirent *entry)
{
	return is_chunk(entry->d_name);
}

/* Chunks are named by their times, and by their numbers where the times are equal. */
static int compare_chunks(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

int tap_output_chunks(const struct tap_output *output, struct dirent ***ret_names)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", output->absolute, archives);
	*ret_names = NULL;
	return scandir(path, ret_names, is_complete_chunk, compare_chunks);
}

/* nftw() passes no argument to its callback. */
static uint64_t walked_bytes;

static int add_size(const char *path, const struct stat *st, int type, struct FTW *place)
{
	(void)path;
	(void)place;
	if (type == FTW_F)
		walked_bytes += (uint64_t)st->st_size;
	return 0;
}

uint64_t tap_output_size(const struct tap_output *output, const char *chunk)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s%s%s%s", output->absolute, chunk ? "/" : "",
		 chunk ? archives : "", chunk ? "/" : "", chunk ? chunk : "");
	walked_bytes = 0;
	nftw(path, add_size, 16, FTW_PHYS);
	return walked_bytes;
}

int tap_output_remove_chunk(const struct tap_output *output, const char *name)
{
	char path[PATH_MAX];
	int ret, fd;

	snprintf(path, sizeof(path), "%s/%s", output->absolute, archives);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = visit_directory(fd, name, REMOVE, 0);
	close(fd);
	return ret;
}

void tap_output_remove_look(const struct tap_output *output, const char *name)
{
	int fd = open(output->absolute, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	visit_directory(fd, name, REMOVE, 0);
	close(fd);
}

/*
 * Makes room in DIR/<host>, and returns it as a descriptor, or -errno. *ret_is_part: it
 * has this recording's marker.
 */
static int take_host(struct tap_output *output, enum tap_output_older older,
		     const struct tap_job *job, bool *ret_made, bool *ret_is_part)
{
	int ret, fd = open_host(output, ret_made);

	if (fd < 0)
		return fd;
	ret = make_room(output, fd, older, job);
	*ret_is_part = ret > 0;
	if (ret >= 0 && !output->old)
		return fd;
	close(fd);
	return ret < 0 ? ret : open_host(output, ret_made);
}

int tap_output_make(struct tap_output *output, const char *base,
		    enum tap_output_older older, const char *session,
		    const char *job_name, const struct tap_job *job)
{
	bool made = false, is_part = false;
	int fd = -1, ret;

	*output = (struct tap_output){ .base = base, .base_fd = -1, .marker_fd = -1 };
	snprintf(output->job_name, sizeof(output->job_name), "%s", job_name);
	ret = name_host(output);
	if (!ret)
		ret = open_base(output);
	if (!ret)
		ret = name_paths(output);
	if (ret)
		goto out;
	fd = take_host(output, older, job, &made, &is_part);
	if (fd < 0) {
		ret = fd;
		goto out;
	}
	if (fchmod(fd, 0700) < 0)
		ret = -errno;
	else
		ret = is_part ? 0 : write_marker(output, fd, session, job);
	if (ret)
		tap_message_write("cannot write to %s: %s; %s", output->shown,
				  strerror(-ret), remedy);
out:
	if (fd >= 0)
		close(fd);
	if (ret) {
		if (made)
			unlinkat(output->base_fd, output->host, AT_REMOVEDIR);
		return_older(output);
		if (output->real)
			remove_folders(output);
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
	if (output->is_part)
		visit_directory(fd, strrchr(output->absolute, '/') + 1, REMOVE, 0);
	else if (!remove_recording(fd))
		unlinkat(output->base_fd, output->host, AT_REMOVEDIR);
	close(fd);
	return_older(output);
	remove_folders(output);
}

static void compare_session(const char *text, void *data)
{
	const char **session = data;

	if (*session && !strcmp(text, *session))
		*session = NULL; /* found */
}

void tap_output_discard_dead(const char *path, const char *session)
{
	int file, fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	file = fstat(fd, &st) < 0 || st.st_uid != geteuid() ? -EPERM : open_marker(fd);
	if (file >= 0) {
		read_marker(fd, "session", compare_session, &session);
		if (!session && !remove_recording(fd))
			rmdir(path);
		close(file);
	} else if (file == -EEXIST && !fstatat(fd, marker, &st, AT_SYMLINK_NOFOLLOW) &&
		   S_ISREG(st.st_mode) && !st.st_size && st.st_uid == geteuid()) {
		/* The supervisor was killed before it wrote the session's name. */
		unlinkat(fd, marker, 0);
		rmdir(path);
	}
	close(fd);
}

void tap_output_close(struct tap_output *output)
{
	if (output->marker_fd >= 0)
		close(output->marker_fd);
	if (output->base_fd >= 0)
		close(output->base_fd);
	free(output->shown);
	free(output->absolute);
	free(output->real);
	free(output->old);
	*output = (struct tap_output){ .base_fd = -1, .marker_fd = -1 };
}
