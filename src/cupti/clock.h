/* SPDX-License-Identifier: MIT */
/*
 * Converts CUPTI's times to CLOCK_MONOTONIC, the clock of all other events.
 *
 * It hides how: CUPTI asks the tracer for the time by a callback, or it has no such
 * callback and goes by a clock of its own, which the tracer reads together with
 * CLOCK_MONOTONIC.
 */
#ifndef TAP_CUPTI_CLOCK_H
#define TAP_CUPTI_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "cupti/library.h"

uint64_t tap_cupti_now(void) tap_hidden;

/* Called by the thread that takes CUPTI, before any kind of record is enabled. */
void tap_cupti_clock_begin(const struct tap_cupti_library *library) tap_hidden;

/*
 * Called before records are handed over: compares the two clocks again, if there are two.
 */
void tap_cupti_clock_look(const struct tap_cupti_library *library) tap_hidden;

/* Writes gpu:clock with the present offset. */
void tap_cupti_clock_emit(void) tap_hidden;

/* The offset to add to CUPTI's times. */
extern int64_t tap_cupti_offset_ns tap_hidden;

#endif
