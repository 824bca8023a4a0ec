/* SPDX-License-Identifier: MIT */
/*
 * LTTng's list of its own descriptors.
 *
 * A program may close, or close all of, descriptors that it has not opened.  Its close(),
 * fclose(), close_range() and closefrom() spare what is in this list; else LTTng's threads
 * would read and write files that the program opens under the same numbers.
 *
 * Hides where LTTng has the list, and that it is there before LTTng opens anything.  LTTng
 * has a library that guards close() itself (liblttng-ust-fd), which would have to be preloaded:
 * 0.1 ms for each process, also where nothing is traced.
 */
#ifndef TAP_INTERCEPT_FD_GUARD_H
#define TAP_INTERCEPT_FD_GUARD_H

#include <stdbool.h>
#include <stdio.h>

#include "common/compiler.h"

/* Functions of liblttng-ust-common.so.1, which take LTTng's lock; it nests. */
struct tap_fd_list {
	int numbers; /* those below this one may be added */
	void (*lock)(void);
	void (*unlock)(void);
	/*
	 * Both want the lock held, and abort if fd is, or is not, in the list.  add()
	 * returns what the descriptor is from then on: none that is listed is below 3.
	 */
	int (*add)(int fd);
	void (*remove)(int fd);
	/*
	 * close_one() calls close unless fd is listed; then it does not return 0.  Who
	 * holds the lock may close all.
	 */
	int (*close_one)(int fd, int (*close)(int fd));
	/* Calls close for every number from first on that is not listed. */
	int (*close_from)(int first, int (*close)(int fd));
	/* A stream whose descriptor is listed keeps it open. */
	int (*close_stream)(FILE *stream, int (*close)(FILE *stream));
};

/* NULL: LTTng has not been loaded. */
extern const struct tap_fd_list *tap_fd_list tap_hidden;

/* For the starter, before it loads LTTng.  Without the list nothing is spared. */
void tap_fd_guard_load(void) tap_hidden;

/* For a fork's child to which LTTng's lock may have come locked. */
void tap_fd_guard_forget(void) tap_hidden;

/*
 * Whether the program must not close it.  LTTng's lock is not held any more when this
 * returns: a close may wait.
 */
bool tap_fd_guard_has(int fd) tap_hidden;

#endif
