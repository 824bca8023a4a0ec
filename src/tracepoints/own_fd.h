/* SPDX-License-Identifier: MIT */
/*
 * Descriptors that a thread of the tracer opens while the program runs.
 *
 * A program that closes all descriptors at that moment, and opens others under the same
 * numbers, would have its own read and closed by us.  Hides LTTng's list of descriptors
 * that its guards of close() and ours of close_range() spare, and that what is opened is
 * in it before anybody else can close.
 */
#ifndef TAP_TRACEPOINTS_OWN_FD_H
#define TAP_TRACEPOINTS_OWN_FD_H

#include <stdbool.h>

#include "common/compiler.h"

struct tap_own_fd {
	int fd; /* -1: none could be opened, errno says why */
	bool is_listed;
};

/*
 * open returns a new descriptor or -1; it is called while nobody who asks LTTng can close
 * one, so it must not wait.
 */
struct tap_own_fd tap_tp_own_fd_open(int (*open)(const char *path),
				     const char *path) tap_hidden;
void tap_tp_own_fd_close(struct tap_own_fd own) tap_hidden;

#endif
