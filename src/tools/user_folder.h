/* SPDX-License-Identifier: MIT */
/*
 * The directory on this host that belongs to this user alone: the sockets of recordings,
 * the notes on running ones, and an ordinary user's LTTng.
 *
 * Hides where it is, and that other users write beside it: a directory that another user
 * made under its name is skipped, a symbolic link is not followed, and the mode is 0700.
 */
#ifndef TAP_TOOLS_USER_FOLDER_H
#define TAP_TOOLS_USER_FOLDER_H

/* Short, since the name of a socket has 107 bytes. */
#define TAP_USER_FOLDER_SIZE 64

/* Return 0 or -errno: -ENOENT when there is none yet, which the second function makes. */
int tap_user_folder_find(char ret_path[TAP_USER_FOLDER_SIZE]);
int tap_user_folder_make(char ret_path[TAP_USER_FOLDER_SIZE]);

/*
 * Takes the lock `name` in the directory. Returns a descriptor, which the caller closes
 * to release it, or -errno: -ETIMEDOUT when another process held it for that long.
 */
int tap_user_folder_lock(const char *name, unsigned patience_ms);

#endif
