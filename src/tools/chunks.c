/* SPDX-License-Identifier: MIT */
/*
 * LTTng writes a chunk as ust/uid/USER/64-bit/: metadata, a file for each stream, and an
 * index of each, which a reader can do without.
 */
#include "tools/chunks.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/vec.h"
#include "tools/traces.h"

#define FOLDERS_OPEN 16

static const char metadata[] = "metadata", indexes[] = "/index/";

/* A file of the older chunk that has become longer. */
struct longer {
	char *path;
	off_t before;
};

/* nftw() passes no argument to its callback. */
static struct {
	const char *older;
	size_t newer_length; /* of the newer chunk's path */
	TAP_VEC(struct longer) all;
	bool is_to_move;
} joining;

/* Where a file of the newer chunk is in the older one. */
static bool name_older(const char *path, char *ret_path)
{
	return snprintf(ret_path, PATH_MAX, "%s%s", joining.older,
			path + joining.newer_length) < PATH_MAX;
}

static int copy_all(int to, int from)
{
	ssize_t copied;

	do {
		copied = sendfile(to, from, NULL, 1 << 30);
	} while (copied > 0 || (copied < 0 && errno == EINTR));
	return copied < 0 ? -errno : 0;
}

/* Returns 0 or -errno; what was appended is noted, also if it is a part. */
static int append(const char *path, const char *to_path)
{
	const int from = open(path, O_RDONLY | O_CLOEXEC),
		  to = open(to_path, O_WRONLY | O_CLOEXEC);
	struct longer longer = {.path = NULL};
	struct stat status;
	int ret = 0;

	if (from < 0 || to < 0 || fstat(to, &status) ||
	    lseek(to, status.st_size, SEEK_SET) < 0)
		ret = -errno;
	if (!ret) {
		longer.path = strdup(to_path);
		longer.before = status.st_size;
		if (!longer.path || tap_vec_add(&joining.all, longer)) {
			free(longer.path);
			ret = -ENOMEM;
		}
	}
	if (!ret)
		ret = copy_all(to, from);
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return ret;
}

/* In a first walk appends files to those of the same stream, in a second moves the others. */
static int visit(const char *path, const struct stat *status, int type, struct FTW *at)
{
	char to[PATH_MAX];

	(void) status;
	if (type == FTW_D && joining.is_to_move && name_older(path, to))
		mkdir(to, 0700);
	if (type != FTW_F || strstr(path + joining.newer_length, indexes))
		return 0;
	if (!name_older(path, to))
		return -ENAMETOOLONG;
	/* The newer metadata describes the older packets, too. */
	if (joining.is_to_move)
		return strcmp(path + at->base, metadata) && !access(to, F_OK)
			       ? 0
			       : rename(path, to);
	return strcmp(path + at->base, metadata) && !access(to, F_OK) ? append(path, to)
								     : 0;
}

/* An index would lack what was appended. */
static int remove_index(const char *path, const struct stat *status, int type,
			struct FTW *at)
{
	(void) status;
	(void) at;
	if (type == FTW_F && strstr(path, indexes))
		unlink(path);
	return 0;
}

/* Restores the older chunk, or keeps it as it has become. */
static void forget(bool is_to_undo)
{
	size_t i;

	for (i = 0; i < joining.all.count; i++) {
		struct longer *longer = &joining.all.items[i];

		/* A file that was made shorter before is no worse. */
		if (is_to_undo && truncate(longer->path, longer->before))
			errno = 0;
		free(longer->path);
	}
	tap_vec_free(&joining.all);
}

/* "BEGIN-END-NUMBER": the begin of one, the end and number of the other; NULL: no such. */
static char *name_joined(const char *older, const char *newer)
{
	const char *end = strchr(newer, '-'), *begin_end = strchr(older, '-');
	char *name;

	if (!end || !begin_end || asprintf(&name, "%.*s%s", (int) (begin_end - older),
					   older, end) < 0)
		return NULL;
	return name;
}

static char *join(const char *older, const char *newer, const char *joined, char *name)
{
	joining.older = older;
	joining.newer_length = strlen(newer);
	joining.is_to_move = false;
	if (nftw(newer, visit, FOLDERS_OPEN, FTW_PHYS)) {
		forget(true);
		free(name);
		return NULL;
	}
	forget(false);
	nftw(older, remove_index, FOLDERS_OPEN, FTW_PHYS);
	joining.is_to_move = true;
	nftw(newer, visit, FOLDERS_OPEN, FTW_PHYS);
	tap_traces_empty_folder(newer);
	rmdir(newer);
	if (rename(older, joined))
		errno = 0;
	return name;
}

char *tap_chunks_join(const char *archives, const char *older, const char *newer)
{
	char older_path[PATH_MAX], newer_path[PATH_MAX], joined_path[PATH_MAX];
	char *name = name_joined(older, newer);

	if (!name ||
	    snprintf(older_path, PATH_MAX, "%s/%s", archives, older) >= PATH_MAX ||
	    snprintf(newer_path, PATH_MAX, "%s/%s", archives, newer) >= PATH_MAX ||
	    snprintf(joined_path, PATH_MAX, "%s/%s", archives, name) >= PATH_MAX) {
		free(name);
		return NULL;
	}
	return join(older_path, newer_path, joined_path, name);
}
