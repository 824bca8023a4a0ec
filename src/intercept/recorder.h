/* SPDX-License-Identifier: MIT */
/*
 * What the process knows of `ccltap record`, which it runs under, and how it tells it
 * that it is not recorded: a trace cannot say that of a process that has no part in it;
 * and, of a flight recorder, that now is the time to keep what the buffers hold.
 *
 * It hides the variable CCLTAP_RECORDER, "<user> <time namespace> <token> <socket>", and
 * that the recorder may be out of reach: then nothing is said.
 */
#ifndef TAP_INTERCEPT_RECORDER_H
#define TAP_INTERCEPT_RECORDER_H

#include <stdbool.h>

#include "common/compiler.h"

/* Why nothing of this process may be recorded, NULL when it may. */
const char *tap_recorder_objection(void) tap_hidden;

/* Tells the recorder, if there is one.  No event, no output, never blocks. */
void tap_recorder_notify(const char *why) tap_hidden;

/* LTTng is there, but no session records this process: tells why, as far as is known. */
void tap_recorder_notify_unreached(void) tap_hidden;

/*
 * Reads CCLTAP_FLIGHT and CCLTAP_PAUSED, with which the recorder says how it records;
 * once, before the two below.
 */
void tap_recorder_prepare(void) tap_hidden;

/* Asks for a snapshot, of a flight recorder alone.  Never blocks, keeps no lock. */
void tap_recorder_ask_snapshot(const char *why) tap_hidden;

#endif
