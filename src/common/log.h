/* SPDX-License-Identifier: MIT */
/*
 * The log of the code inside the traced program: silent unless CCLTAP_DEBUG is
 * set, so that a program's output stays its own.
 *
 * It hides that nothing of stdio can be used: a line is made in a buffer on
 * the stack and written with one write(2) to descriptor 2; errno is kept.
 */
#ifndef TAP_COMMON_LOG_H
#define TAP_COMMON_LOG_H

#include "common/compiler.h"

/*
 * Writes "ccltap[PID/TID] <text>\n" when the log is on.  Any thread, not from
 * a signal handler.  Longer lines than 512 bytes are cut.
 */
void tap_log(const char *format, ...) tap_printf(1, 2) tap_hidden;

#endif
