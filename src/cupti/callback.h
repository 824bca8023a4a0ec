/* SPDX-License-Identifier: MIT */
/*
 * What CUPTI tells in the thread that makes a call: the number by which its records name
 * the call, and nodes of graphs.
 *
 * The first is kept for the wrapper that is around the call (intercept/cuda/cuda_call.c), and
 * costs no event.  A call that the driver makes inside another one has another number,
 * which is not the call's.
 */
#ifndef TAP_CUPTI_CALLBACK_H
#define TAP_CUPTI_CALLBACK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "cupti/library.h"

/* Has CUPTI call us; 0 or the first error of CUPTI's.  userdata is the library. */
int tap_cupti_callbacks_enable(const struct tap_cupti_library *library,
			       void *subscriber) tap_hidden;

/* The subscriber's. */
void tap_cupti_callback(void *userdata, uint32_t domain, uint32_t cbid,
			const void *data) tap_hidden;

/* Whether events may be written of what it tells. */
extern int tap_cupti_is_reporting tap_hidden;

/* Has CUPTI make records of these calls; 0 or an error of CUPTI's. */
int tap_cupti_calls_enable(const struct tap_cupti_library *library, bool on) tap_hidden;

/* Whether the driver's function of this number puts work on a GPU. */
bool tap_cupti_is_work(uint32_t cbid) tap_hidden;

#endif
