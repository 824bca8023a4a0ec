/* SPDX-License-Identifier: MIT */
/*
 * What CUPTI reports in the thread that makes a call: the correlation id, by which its
 * records name the call, and nodes of graphs.
 *
 * The wrapper around the call (intercept/cuda/cuda_call.c) records the correlation id,
 * which costs no event.  A call that the driver makes inside another one has a
 * correlation id of its own, which the tracer ignores.
 *
 * It hides which callbacks a release of CUPTI has.
 */
#ifndef TAP_CUPTI_CALLBACK_H
#define TAP_CUPTI_CALLBACK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "cupti/library.h"

/*
 * Enables the callbacks; userdata is the library.  Returns 0 or the first error of
 * CUPTI's.
 */
int tap_cupti_callbacks_enable(const struct tap_cupti_library *library,
			       void *subscriber) tap_hidden;

/* The callback of the subscriber. */
void tap_cupti_callback(void *userdata, uint32_t domain, uint32_t cbid,
			const void *data) tap_hidden;

/* Whether events may be written of what CUPTI reports. */
extern int tap_cupti_is_reporting tap_hidden;

/*
 * Has CUPTI record the calls that put work on a GPU, or stop.  Returns 0 or an error of
 * CUPTI's.
 */
int tap_cupti_calls_enable(const struct tap_cupti_library *library, bool on) tap_hidden;

/* Whether the driver function of this number puts work on a GPU. */
bool tap_cupti_is_work(uint32_t cbid) tap_hidden;

#endif
