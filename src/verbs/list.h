/* SPDX-License-Identifier: MIT */
/*
 * What the tracer reads of a list of requests before the post: when the real call
 * returns, another thread may already have seen the requests complete and freed them.
 *
 * It hides where this is kept: for a short list on the stack; for a long one in memory
 * that the thread takes, and grows if need be, before the call and returns after it.
 */
#ifndef TAP_VERBS_LIST_H
#define TAP_VERBS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/compiler.h"
#include "tracepoints/verbs_events.h"

/* A limit for queues that do not report their depth, or report more. */
#define TAP_LIST_DEPTH (1u << 20)

static inline uint32_t tap_list_depth(uint32_t max_wr)
{
	return likely(max_wr && max_wr < TAP_LIST_DEPTH) ? max_wr : TAP_LIST_DEPTH;
}

/*
 * How many requests the tracer reads at most.  A provider that rounds up to a power of
 * two (rdma_rxe) accepts more than the depth it reports, but at most twice as many.
 */
static inline uint32_t tap_list_limit(uint32_t depth)
{
	return likely(depth < TAP_LIST_DEPTH / 2) ? 2 * depth : TAP_LIST_DEPTH;
}

/* The address of a request, and the tally (request.c) of the requests before it. */
struct tap_mark {
	const void *at; /* compared with the request that a provider refused, never
			 * followed */
	uint64_t tally;
};

/*
 * One more than an event has room for, for the tally before the first request of the
 * next.
 */
#define TAP_LIST_FEW (TAP_VERBS_LIST_MAX + 1)

/* Memory for one post at a time. */
struct tap_list_room {
	pid_t tid; /* the thread that holds it; 0: it is free */
	size_t size;
	char *memory;
};

struct tap_list {
	uint32_t context_id;
	uint32_t depth;	   /* for how many requests the queue has room */
	uint32_t nr;	   /* how many requests were read */
	uint64_t tally;	   /* of all that were read */
	const void *rest;  /* the first request that was not read, or NULL */
	uint32_t nr_marks; /* marks of the first requests; fewer than nr without memory */
	struct tap_mark *marks;
	struct tap_list_room *room;
	struct tap_mark few[TAP_LIST_FEW];
};

static inline void tap_list_begin(struct tap_list *list, uint32_t context_id,
				  uint32_t max_wr)
{
	list->context_id = context_id;
	list->depth = tap_list_depth(max_wr);
	list->nr_marks = TAP_LIST_FEW;
	list->marks = list->few;
	list->room = NULL;
}

/*
 * Gives the list `nr` marks, which the caller fills in anew, and returns other_bytes of
 * further memory.  Returns NULL and changes nothing when there is no memory.  errno is
 * kept.
 */
void *tap_list_grow(struct tap_list *list, uint32_t nr, size_t other_bytes) tap_hidden;
void tap_list_give_back(struct tap_list_room *room) tap_hidden;

static inline void tap_list_end(const struct tap_list *list)
{
	if (unlikely(list->room))
		tap_list_give_back(list->room);
}

/* The number of events that describe nr requests. */
static inline size_t tap_list_nr_events(uint32_t nr)
{
	return (nr + TAP_VERBS_LIST_MAX - 1) / TAP_VERBS_LIST_MAX;
}

/*
 * Sets how many requests of a failed list the provider accepted: none if bad is not in
 * the list, as with a provider that returns early; for a list that leads back to itself,
 * as many as an empty queue has room for.  Returns false when the tracer has not read the
 * request that was refused.
 */
bool tap_list_accepted(const struct tap_list *list, const void *bad,
		       uint32_t *ret_accepted) tap_hidden;

/* Reports that accepted requests were counted but cannot be described. */
void tap_list_emit_forgotten(const struct tap_list *list) tap_hidden;
/*
 * Reports a list that was accepted though the queue has no room for all of it: the tracer
 * did not read, and so did not count, the rest.
 */
void tap_list_emit_unread(const struct tap_list *list) tap_hidden;

#endif
