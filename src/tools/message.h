/* SPDX-License-Identifier: MIT */
/*
 * Messages of ccltap to its user on stderr. Hides how a line is kept whole and printable:
 * the traced program writes to stderr too, so a message is one line, is written in one
 * call, and cannot carry control characters from a path or a trace.
 */
#ifndef TAP_TOOLS_MESSAGE_H
#define TAP_TOOLS_MESSAGE_H

#include <stddef.h>

#include "common/compiler.h"

/* Exit statuses: an internal failure, and wrong use or unreadable input. */
enum tap_exit {
	TAP_EXIT_FAILURE = 1,
	TAP_EXIT_USAGE = 2,
};

/* Writes "ccltap: ", the message and a newline. Keeps errno. */
void tap_message_write(const char *format, ...) tap_printf(1, 2);

/*
 * From here on a message goes to `text`, where the last one stays; NULL: to stderr again.
 * For a process whose answer goes to another.
 */
void tap_message_keep(char *text, size_t size);

/* For a process with a part of the work: each message says first which part; "": all. */
void tap_message_set_subject(const char *name);

#endif
