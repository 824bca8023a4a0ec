/* SPDX-License-Identifier: MIT */
/*
 * A thread that looks once a second which calls have not returned: the thread that is in
 * one cannot say so.
 *
 * It hides that thread, which a process has from its first recorded call on, and what is
 * done about a call that does not return: tap:open_call, and a snapshot asked for.
 */
#ifndef TAP_INTERCEPT_WATCHDOG_H
#define TAP_INTERCEPT_WATCHDOG_H

#include "common/compiler.h"

/* Reads CCLTAP_STUCK_AFTER; once, when the events can be written. */
void tap_housekeeping_prepare(void) tap_hidden;

/* Once in each process, also one made by fork.  The caller has set the guard. */
void tap_housekeeping_start(void) tap_hidden;

#endif
