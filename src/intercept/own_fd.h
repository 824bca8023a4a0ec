/* SPDX-License-Identifier: MIT */
/*
 * Files and sockets that a thread of the tracer opens for a moment while the program runs.
 *
 * A program that closes all descriptors at that moment, and opens others under the same
 * numbers, would have its own read and closed by us.  Hides that ours are in LTTng's list
 * of descriptors, which its guard of close() and ours of close_range() spare, before
 * anybody else can close them.  Before LTTng is loaded nothing guards them.  errno
 * changes.
 */
#ifndef TAP_INTERCEPT_OWN_FD_H
#define TAP_INTERCEPT_OWN_FD_H

#include <stdbool.h>
#include <stddef.h>

#include "common/compiler.h"

struct tap_own_fd {
	int fd; /* -1: none could be opened, errno says why */
	bool is_listed;
};

/* A datagram socket of AF_UNIX that does not wait. */
struct tap_own_fd tap_own_fd_socket(void) tap_hidden;
void tap_own_fd_close(struct tap_own_fd own) tap_hidden;

/*
 * Reads the beginning of a file, and ends it by 0.  Returns its length, 0 where the file
 * is missing, empty or cannot be read.
 */
size_t tap_own_fd_read(const char *path, char *ret_text, size_t size) tap_hidden;

#endif
