/* SPDX-License-Identifier: MIT */
/*
 * One direction of messages at a queue pair: how many it sent to a peer, or received from
 * it, and how far these counts can be trusted.
 *
 * Hides how messages before the recording are counted.
 */
#ifndef TAP_JOIN_RDMA_SIDE_H
#define TAP_JOIN_RDMA_SIDE_H

#include "common/list.h"

#include <stdbool.h>
#include <stdint.h>

struct tap_generation;
struct tap_message;

struct tap_flow_side {
	uint64_t number; /* among all sides, 0 before its first use */
	struct tap_generation *generation;
	struct tap_flow_side *other; /* side of the peer, NULL: unknown */
	bool is_lossy;
	bool is_broken;	   /* events are missing: counts prove nothing */
	bool is_ambiguous; /* several sides may be the peer's */
	bool has_lost;	   /* of a sender: ordinals no longer match the peer's */
	uint64_t joined;   /* of a receiver: the largest matched ordinal */
	uint64_t count;	   /* the largest ordinal */
	uint64_t before;   /* ordinals up to this one precede the recording */
	uint64_t proved;   /* up to this ordinal nothing was lost */
	int64_t last_ns;   /* of the latest message */
	/* Endpoints without a match; of a sender, pairs that are not proved exact. */
	TAP_LIST(struct tap_message) waiting, held;
	struct tap_flow_side *next; /* of all datagram sides */
};

/* Starts a side that had this many messages before recording began. */
static inline void tap_flow_side_resume(struct tap_flow_side *side, uint64_t before)
{
	side->before = before;
	side->count = before;
}

/* The ordinal of the next message, for datagrams: only the reader counts these. */
static inline uint64_t tap_flow_side_next(const struct tap_flow_side *side)
{
	return side->count + 1;
}

/* Whether the side has had a message of this ordinal. */
static inline bool tap_flow_side_has(const struct tap_flow_side *side, uint64_t ordinal)
{
	return ordinal <= side->count;
}

static inline void tap_flow_side_doubt(struct tap_flow_side *side, bool is_ambiguous,
				       bool is_broken)
{
	side->is_ambiguous |= is_ambiguous;
	side->is_broken |= is_broken;
}

#endif
