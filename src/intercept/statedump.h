/* SPDX-License-Identifier: MIT */
/*
 * Writes a state dump for a recording that starts late: the process, and its libraries,
 * communicators, threads and queues.
 *
 * It hides who requests one: LTTng does, when a session starts and on "lttng regenerate
 * statedump".
 */
#ifndef TAP_INTERCEPT_STATEDUMP_H
#define TAP_INTERCEPT_STATEDUMP_H

#include "common/compiler.h"

/* Called once, when events can be written. */
void tap_statedump_prepare(void) tap_hidden;

/* Writes a state dump without a request from LTTng.  The caller holds no lock. */
void tap_statedump_write(void) tap_hidden;

#endif
