/* SPDX-License-Identifier: MIT */
/*
 * Brings the events of many streams into one order and gives them to a join.
 *
 * Hides streams that begin late, end, have no event yet, or break off.  Each stream has
 * its own iterator here. babeltrace2's own muxer looks at every stream for every event;
 * this looks at the logarithm of their number.
 */
#ifndef TAP_JOIN_BT_MERGE_H
#define TAP_JOIN_BT_MERGE_H

#include "join/bt/decode.h"

struct tap_merge;

enum tap_merge_status {
	TAP_MERGE_OK,	 /* call again */
	TAP_MERGE_AGAIN, /* a stream has no event yet: call again later */
	TAP_MERGE_END,
};

/* Returns NULL when memory is short. */
struct tap_merge *tap_merge_create(struct tap_decoder *decoder, struct tap_join *join);
void tap_merge_destroy(struct tap_merge *merge);

/* Adds a stream, whose iterator the merge then owns.  Returns 0 or -ENOMEM. */
int tap_merge_add(struct tap_merge *merge, bt_message_iterator *iterator);

/*
 * Takes up to budget events.  Returns 0 and a status, or -errno of memory or of
 * the join's consumer.
 */
int tap_merge_run(struct tap_merge *merge, unsigned int budget,
		  enum tap_merge_status *status);

/* Events taken so far, including those that were ignored. */
uint64_t tap_merge_event_count(const struct tap_merge *merge);

#endif
