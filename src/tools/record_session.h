/* SPDX-License-Identifier: MIT */
/*
 * The LTTng session of one recording.  Hides liblttng-ctl: the daemon and its start,
 * channels, events, contexts, and what its calls do when the daemon is gone or hung.
 *
 * Errors are LTTng's negative numbers, which tap_session_error() puts in words.
 */
#ifndef TAP_TOOLS_RECORD_SESSION_H
#define TAP_TOOLS_RECORD_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/record_buffers.h"

/*
 * Sets what is called, in a signal handler, when the daemon leaves a request without
 * an answer for half a minute. It must not return.
 */
void tap_session_set_watchdog(void (*expired)(int signal_number));

/*
 * Starts a session daemon unless one answers; it is left running, as LTTng's own
 * command does. Returns 0, or -errno once it has told the user why.
 */
int tap_session_start_daemon(void);

/*
 * Makes and starts session `name`, which writes to the absolute path `path`.  Where
 * that fails no session is left. Returns 0 or an error.
 */
int tap_session_begin(const char *name, const char *path,
		      const struct tap_buffers *buffers);

/*
 * Stops the session, waits until all of its data is written, and destroys it.
 * *ret_discarded is the number of events that found no room in the buffers, as far
 * as the daemon could tell; *ret_has_hole says that a process was killed while it wrote
 * one, and what came after that in the same buffer may be lost. Returns 0, or the first error, after which no more than
 * the rest is tried.
 */
int tap_session_end(const char *name, uint64_t *ret_discarded, bool *ret_has_hole);

const char *tap_session_error(int error);

#endif
