/* SPDX-License-Identifier: MIT */
/*
 * Messages from the traced process to the `ccltap record` that it runs under: that the
 * process is not recorded, since no trace shows that, and, to a flight recorder, a
 * request for a snapshot of the buffers.
 *
 * It hides the variable CCLTAP_RECORDER, "<user> <time namespace> <token> <socket>", and
 * that the recorder may be out of reach: then no message is sent.
 */
#ifndef TAP_INTERCEPT_RECORDER_H
#define TAP_INTERCEPT_RECORDER_H

#include <stdbool.h>

#include "common/compiler.h"

/* The reason why this process must not be recorded, NULL when there is none. */
const char *tap_recorder_objection(void) tap_hidden;

/*
 * Sends `why` to the recorder, if there is one.  Writes no event and no output, never
 * blocks.
 */
void tap_recorder_notify(const char *why) tap_hidden;

/*
 * Tells the recorder why no session records this process although LTTng has started, as
 * far as the process knows.
 */
void tap_recorder_notify_unreached(void) tap_hidden;

/*
 * Reads CCLTAP_FLIGHT and CCLTAP_PAUSED, which the recorder sets.  Called once, before
 * tap_recorder_notify_unreached() and tap_recorder_ask_snapshot().
 */
void tap_recorder_prepare(void) tap_hidden;

/*
 * Gives the recorder the descriptor of this process's counters.  Waits half a second at
 * most for a recorder that is busy; returns whether it was sent.
 */
bool tap_recorder_send_page(int page_fd) tap_hidden;

/*
 * Asks a flight recorder for a snapshot; does nothing under any other.  Never blocks,
 * takes no lock.
 */
void tap_recorder_ask_snapshot(const char *why) tap_hidden;

#endif
