/* SPDX-License-Identifier: MIT */
/*
 * The directory of this host that is this user's alone: where recordings are reached,
 * what is known of those that go on, and an ordinary user's LTTng.
 *
 * Hides where it is, and that others write beside it: a directory that another user made
 * under its name is passed over, a symbolic link is not followed, and the mode is 0700.
 */
#ifndef TAP_TOOLS_USER_FOLDER_H
#define TAP_TOOLS_USER_FOLDER_H

/* Short, since the name of a socket has 107 bytes. */
#define TAP_USER_FOLDER_SIZE 64

/* Return 0 or -errno: -ENOENT when there is none yet, which the second one makes. */
int tap_user_folder_find(char ret_path[TAP_USER_FOLDER_SIZE]);
int tap_user_folder_make(char ret_path[TAP_USER_FOLDER_SIZE]);

/*
 * Takes the lock `name` in the directory: a descriptor, which lets it go when it is
 * closed, or -errno: -ETIMEDOUT when another process had it for so long.
 */
int tap_user_folder_lock(const char *name, unsigned patience_ms);

#endif
