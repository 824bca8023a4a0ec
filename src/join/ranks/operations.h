/* SPDX-License-Identifier: MIT */
/*
 * Which calls of different ranks are one operation: the same number of the same
 * communicator, counted in the traced processes.  No time is looked at.
 *
 * Hides which calls count (a group may be dropped, a number given out again),
 * that a communicator may be known late, and what is held until all ranks are
 * there: a bounded number of operations, whatever the length of the trace.
 */
#ifndef TAP_JOIN_RANKS_OPERATIONS_H
#define TAP_JOIN_RANKS_OPERATIONS_H

#include "join/model/layer.h"
#include "join/model/link.h"

struct tap_links {
	struct tap_context *context; /* first: layer.h */

	struct tap_table groups;    /* by (process, thread) */
	struct tap_table sequences; /* by (member, direction and peer) */
	struct tap_table channels;  /* by (communicator, both ranks) */
	struct tap_table slots;	    /* by (channel, number) */
	struct tap_queue *oldest;   /* of groups and slots, in order of their making */
	struct tap_queue *newest;
	size_t held;
	bool is_settling;
	bool is_finishing; /* no more calls come */
	uint64_t changes;  /* of comms, when it was looked at last */
	struct tap_link_end *ends;
	size_t end_room;
	struct tap_queue *free_queues;
	struct tap_held *free_held;
	struct tap_channel *all_channels;
	struct tap_sequence *all_sequences;
};

extern const struct tap_layer tap_operations_layer;

#endif
