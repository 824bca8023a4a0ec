/* SPDX-License-Identifier: MIT */
/*
 * Makes events of CUPTI's records, and counts what is in none.
 *
 * It hides which fields a release of CUPTI has, and what is no record of anything: times
 * that were not taken, kinds that nobody asked for.
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

/* Writes gpu:lost for what was lost since the last time, and that CUPTI dropped. */
void tap_cupti_records_emit_lost(uint64_t dropped) tap_hidden;

#endif
