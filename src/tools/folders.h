/* SPDX-License-Identifier: MIT */
/*
 * A folder for what a command writes, with those above it, as users expect of
 * "-o a/b/c". Hides which of them there were before.
 */
#ifndef TAP_TOOLS_FOLDERS_H
#define TAP_TOOLS_FOLDERS_H

#include <sys/types.h>

/*
 * Makes the folder with that mode, and those above it with the user's; adds how many to
 * *made, unless that is NULL. One that is there already is left as it is. Returns 0 or
 * -errno.
 */
int tap_folders_make(const char *path, mode_t mode, int *made);

#endif
