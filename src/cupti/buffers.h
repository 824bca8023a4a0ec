/* SPDX-License-Identifier: MIT */
/*
 * The buffers that CUPTI fills with records: a few, made once.
 *
 * CUPTI asks for a buffer in a thread of the program's, which must not allocate then;
 * when no buffer is free, CUPTI drops records and counts them.
 *
 * It hides where the buffers are and which of them are free.
 */
#ifndef TAP_CUPTI_BUFFERS_H
#define TAP_CUPTI_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"

#define TAP_CUPTI_NR_BUFFERS 8
#define TAP_CUPTI_BUFFER_BYTES ((size_t) 1 << 20)

/* Makes the buffers, which then stay.  Returns 0 or -ENOMEM. */
int tap_cupti_buffers_make(void) tap_hidden;

/* Returns NULL when no buffer is free.  Takes no lock. */
uint8_t *tap_cupti_buffer_take(void) tap_hidden;
void tap_cupti_buffer_drop(uint8_t *buffer) tap_hidden;

#endif
