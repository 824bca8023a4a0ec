/* SPDX-License-Identifier: MIT */
/*
 * Who this process is: host, namespaces, job, rank, command.
 *
 * It hides which launcher says what in which environment variable, and which
 * files of /proc know the rest.
 */
#ifndef TAP_INTERCEPT_PROCESS_H
#define TAP_INTERCEPT_PROCESS_H

#include "common/compiler.h"

/* Writes tap:process.  What cannot be found out is left empty, 0 or -1. */
void tap_process_announce(void) tap_hidden;
/* Writes tap:state_process, the same. */
void tap_process_write(void) tap_hidden;

/* In the child of a fork, before any other use. */
void tap_process_fork_child(void) tap_hidden;

#endif
