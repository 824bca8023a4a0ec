/* SPDX-License-Identifier: MIT */
/*
 * The pager that a person reads long output in, where standard output is a terminal. Hides
 * which pager that is and its life. It begins with the first byte of output, so that
 * progress is shown before, and the exit status of a verb does not depend on it.
 */
#ifndef TAP_TOOLS_PAGER_H
#define TAP_TOOLS_PAGER_H

#include <stdbool.h>

/* From here on no pager is due: for --no-pager, and for output that never ends. */
void tap_pager_refuse(void);

/* Whether output that begins now goes through a pager. */
bool tap_pager_is_due(void);

/*
 * Starts the pager if it is due and does not run yet; standard output leads to it then,
 * and the user leaving it is no SIGPIPE but EPIPE, unless there is a handler.
 */
void tap_pager_begin(void);

/* Whether the pager runs: EPIPE is no error then. */
bool tap_pager_is_running(void);

/* Waits until the user leaves the pager, and restores standard output. */
void tap_pager_end(void);

#endif
