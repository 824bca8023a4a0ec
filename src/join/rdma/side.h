/* SPDX-License-Identifier: MIT */
/*
 * What one queue pair sends to another, or gets from it: how many messages there were,
 * and how far their number can be trusted.
 */
#ifndef TAP_JOIN_RDMA_SIDE_H
#define TAP_JOIN_RDMA_SIDE_H

#include "common/list.h"

#include <stdbool.h>
#include <stdint.h>

struct tap_generation;
struct tap_message;

struct tap_flow_side {
	uint64_t number; /* of all, 0 before its first use */
	struct tap_generation *generation;
	struct tap_flow_side *other; /* NULL unknown */
	bool is_lossy;
	bool is_broken;	   /* something was missed: counts prove nothing */
	bool is_ambiguous; /* several could be the other */
	bool has_lost;	   /* of a sender: ordinals name the other no more */
	uint64_t joined;   /* of a receiver: the largest that has its other half */
	uint64_t count;	   /* the largest ordinal */
	uint64_t before;   /* ordinals up to this one are of before the recording */
	uint64_t proved;   /* up to this ordinal nothing was lost */
	int64_t last_ns;   /* of the latest */
	/* By themselves; of a sender, with their receives. */
	TAP_LIST(struct tap_message) waiting, held;
	struct tap_flow_side *next; /* of datagrams, all */
};

/* Before recording began, there were so many. */
static inline void tap_flow_side_resume(struct tap_flow_side *side, uint64_t before)
{
	side->before = before;
	side->count = before;
}

/* The ordinal of its next message, where only the events count them. */
static inline uint64_t tap_flow_side_next(const struct tap_flow_side *side)
{
	return side->count + 1;
}

/* Whether it is known to have had a message of this ordinal. */
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
