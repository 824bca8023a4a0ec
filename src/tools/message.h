/* SPDX-License-Identifier: MIT */
/*
 * What ccltap says to its user on stderr.  A traced program writes there too, so a
 * message is one line, leaves in one write, and cannot carry control characters
 * that came in with a path or with a trace.
 */
#ifndef TAP_TOOLS_MESSAGE_H
#define TAP_TOOLS_MESSAGE_H

#include "common/compiler.h"

/* Exit statuses: a failure of ours, and wrong use or unreadable input. */
enum tap_exit {
	TAP_EXIT_FAILURE = 1,
	TAP_EXIT_USAGE = 2,
};

/* Writes "ccltap: ", the message and a newline. Keeps errno. */
void tap_message_write(const char *format, ...) tap_printf(1, 2);

#endif
