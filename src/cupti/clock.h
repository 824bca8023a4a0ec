/* SPDX-License-Identifier: MIT */
/*
 * Puts CUPTI's times on CLOCK_MONOTONIC, that of all other events.
 *
 * It hides which way: CUPTI asks us what time it is, or it does not and goes by a clock
 * of its own, which is then read together with ours.
 */
#ifndef TAP_CUPTI_CLOCK_H
#define TAP_CUPTI_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "cupti/library.h"

uint64_t tap_cupti_now(void) tap_hidden;

/* Before any kind of record is enabled, by whoever has CUPTI. */
void tap_cupti_clock_begin(const struct tap_cupti_library *library) tap_hidden;

/* Before records are handed over: reads the two clocks again, where there are two. */
void tap_cupti_clock_look(const struct tap_cupti_library *library) tap_hidden;

/* Writes gpu:clock, as it is now. */
void tap_cupti_clock_emit(void) tap_hidden;

/* What is added to CUPTI's times. */
extern int64_t tap_cupti_offset_ns tap_hidden;

#endif
