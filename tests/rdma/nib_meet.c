/* SPDX-License-Identifier: MIT */
/*
 * How the two processes tell each other what NCCL's bootstrap would: by files in a folder
 * that both see, which may be on another machine.  A file is there with all its bytes or
 * not at all.
 */
#include "nib.h"

#include <stdio.h>
#include <stdlib.h>

static char *path_of(const char *folder, const char *what, int rank, const char *suffix)
{
	char *path;

	if (asprintf(&path, "%s/%s.%d%s", folder, what, rank, suffix) < 0)
		nib_die("no memory");
	return path;
}

void nib_tell(const char *folder, const char *what, int rank, const void *data,
	      size_t size)
{
	char *written = path_of(folder, what, rank, ".new");
	char *path = path_of(folder, what, rank, "");
	FILE *file = fopen(written, "w");

	if (!file || fwrite(data, 1, size, file) != size || fclose(file) ||
	    rename(written, path))
		nib_die("%s: cannot be written", path);
	free(written);
	free(path);
}

bool nib_heard(const char *folder, const char *what, int rank, void *data, size_t size)
{
	char *path = path_of(folder, what, rank, "");
	FILE *file = fopen(path, "r");
	size_t got;

	if (file) {
		got = fread(data, 1, size, file);
		fclose(file);
		if (got != size)
			nib_die("%s: %zu bytes, and not %zu", path, got, size);
	}
	free(path);
	return file != NULL;
}
