/* SPDX-License-Identifier: MIT */
/* From the last folder upwards: most often only that one is new. */
#include "tools/folders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int make_one(const char *path, mode_t mode, int *made)
{
	if (mkdir(path, mode))
		return -errno;
	if (made)
		++*made;
	return 0;
}

int tap_folders_make(const char *path, mode_t mode, int *made)
{
	char *above, *slash;
	int ret = make_one(path, mode, made);

	if (ret != -ENOENT)
		return ret == -EEXIST ? 0 : ret;
	above = strdup(path);
	slash = above ? strrchr(above, '/') : NULL;
	if (!slash || slash == above) {
		free(above);
		return -ENOENT;
	}
	*slash = '\0';
	ret = tap_folders_make(above, 0777, made);
	free(above);
	if (!ret)
		ret = make_one(path, mode, made);
	return ret == -EEXIST ? 0 : ret;
}
