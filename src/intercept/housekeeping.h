/* SPDX-License-Identifier: MIT */
/*
 * A thread that looks once a second which calls have not returned: the thread that is in
 * one cannot say so.
 *
 * It hides that thread, which a process has from its first recorded call on, and what is
 * said of a call that does not return: tap:open_call.
 */
#ifndef TAP_INTERCEPT_HOUSEKEEPING_H
#define TAP_INTERCEPT_HOUSEKEEPING_H

#include "common/compiler.h"

/* Once in each process, also one made by fork.  The caller has set the guard. */
void tap_housekeeping_start(void) tap_hidden;

#endif
