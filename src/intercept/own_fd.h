/* SPDX-License-Identifier: MIT */
/*
 * Files and sockets that the tracer opens for a moment while the program runs.
 *
 * Hides that a program may close all descriptors meanwhile (tracepoints/own_fd.h), and
 * that nothing guards them before LTTng is loaded.  Nothing is allocated; errno changes.
 */
#ifndef TAP_INTERCEPT_OWN_FD_H
#define TAP_INTERCEPT_OWN_FD_H

#include <stddef.h>

#include "common/compiler.h"
#include "tracepoints/own_fd.h"

/* A datagram socket of AF_UNIX that does not wait. */
struct tap_own_fd tap_own_fd_socket(void) tap_hidden;
void tap_own_fd_close(struct tap_own_fd own) tap_hidden;

/*
 * Reads the beginning of a file, and ends it by 0.  Returns its length, 0 where the file
 * is missing, empty or cannot be read.
 */
size_t tap_own_fd_read(const char *path, char *ret_text, size_t size) tap_hidden;

#endif
