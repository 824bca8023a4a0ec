/* SPDX-License-Identifier: MIT */
/*
 * Durations and sizes as a person reads them, in a sentence or a name.
 *
 * Hides how many digits of an estimate mean something: two.
 */
#ifndef TAP_JOIN_BASE_QUANTITY_H
#define TAP_JOIN_BASE_QUANTITY_H

#include "join/base/buffer.h"

/* "200 ms", "2.0 s", "35 us": two digits in the largest unit that fits. */
void tap_quantity_add_duration(struct tap_buffer *text, int64_t ns);
/* "256 KiB", "1.5 MiB", "100 B": exact where the unit divides it, else two digits. */
void tap_quantity_add_bytes(struct tap_buffer *text, int64_t bytes);
/* "1st", "2nd", "10th" */
void tap_quantity_add_ordinal(struct tap_buffer *text, uint64_t number);

#endif
