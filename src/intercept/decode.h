/* SPDX-License-Identifier: MIT */
/*
 * Whether the tracer reads what NCCL keeps to itself: its kernels' arguments, and what its
 * threads send to each other.  Without it the reader has to infer what they would say.
 *
 * Hides the variable CCLTAP_DECODE.
 */
#ifndef TAP_INTERCEPT_DECODE_H
#define TAP_INTERCEPT_DECODE_H

#include <stdbool.h>

#include "common/compiler.h"

/* True until tap_decode_prepare(). */
extern bool tap_is_decoding tap_hidden;

/* Once, when events can be written. */
void tap_decode_prepare(void) tap_hidden;

#endif
