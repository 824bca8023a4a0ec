/* SPDX-License-Identifier: MIT */
/*
 * Writes CUPTI's records as events, and counts those that cannot be written.
 *
 * It hides which fields a release of CUPTI has, and which records are worthless: times
 * that CUPTI did not take, kinds that the tracer did not enable.
 */
#ifndef TAP_CUPTI_RECORDS_H
#define TAP_CUPTI_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"
#include "cupti/library.h"

/* Writes an event for each record of a buffer.  The caller has set the guard. */
void tap_cupti_records(const struct tap_cupti_library *library, uint8_t *buffer,
		       size_t valid) tap_hidden;

/*
 * Writes gpu:lost for the records lost since the last call and for those that CUPTI
 * dropped.
 */
void tap_cupti_records_emit_lost(uint64_t dropped) tap_hidden;

#endif
