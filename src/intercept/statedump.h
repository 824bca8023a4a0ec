/* SPDX-License-Identifier: MIT */
/*
 * Tells a recording that starts late how things are: what the process is, and which
 * libraries, communicators and threads of interest live in it.
 *
 * It hides who asks: LTTng does when a session starts, and somebody who types "lttng
 * regenerate statedump".
 */
#ifndef TAP_INTERCEPT_STATEDUMP_H
#define TAP_INTERCEPT_STATEDUMP_H

#include "common/compiler.h"

/* Once the events can be written. */
void tap_statedump_prepare(void) tap_hidden;

/* Tells it unasked.  The caller holds no lock. */
void tap_statedump_write(void) tap_hidden;

#endif
