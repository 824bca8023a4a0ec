/* SPDX-License-Identifier: MIT */
/*
 * Decodes babeltrace2's events into the reader's.
 *
 * Hides the library's field classes: each class of events is examined once, so that an
 * event costs no more than its values.  Events that cannot be decoded are counted in the
 * join's losses.
 */
#ifndef TAP_JOIN_BT_DECODE_H
#define TAP_JOIN_BT_DECODE_H

#include "join/join.h"

#include <babeltrace2/babeltrace.h>

struct tap_decoder;
struct tap_event_class; /* what is known about one class of events */

/* Both return NULL when memory is short. */
struct tap_decoder *tap_decoder_create(struct tap_join *join);
struct tap_event_class *tap_decoder_class(struct tap_decoder *decoder,
					  const bt_event *event);

/* Destroy it only after the join: spans keep names that belong to the classes. */
void tap_decoder_destroy(struct tap_decoder *decoder);

/* Adds the trace of a stream to the join.  NULL when memory is short. */
struct tap_trace *tap_decoder_add_stream(struct tap_decoder *decoder,
					 const bt_stream *stream);

/* A babeltrace2 trace of this trace, for properties that the join does not keep. */
const bt_trace *tap_decoder_find_trace(const struct tap_decoder *decoder,
				       const struct tap_trace *trace);

/*
 * Whether events of this class describe the process: these come first among equal times.
 */
bool tap_event_class_is_setup(const struct tap_event_class *class);

/* Whether events of this class have a time. */
bool tap_event_class_has_time(const struct tap_event_class *class);

/*
 * Fills in *ret_event, and clears its fields first; its times are converted to the
 * reference's clock, as time_ns is already.  Returns 0 or -ENOMEM.
 */
int tap_decoder_event(struct tap_decoder *decoder, struct tap_event_class *class,
		      const bt_event *event, int64_t time_ns,
		      struct tap_event *ret_event);

#endif
