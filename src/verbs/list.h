/* SPDX-License-Identifier: MIT */
/*
 * What is kept of a list of requests from before it is posted: another thread may have
 * seen them complete, and have freed them, when the real call returns.
 *
 * It hides where that is: on the stack of a short list; of a long one in memory that
 * grows before the call, and that a thread has for as long as the post takes.
 */
#ifndef TAP_VERBS_LIST_H
#define TAP_VERBS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/compiler.h"
#include "tracepoints/verbs_events.h"

/* No queue has more room than that, or says how much. */
#define TAP_LIST_DEPTH (1u << 20)

static inline uint32_t tap_list_depth(uint32_t max_wr)
{
	return likely(max_wr && max_wr < TAP_LIST_DEPTH) ? max_wr : TAP_LIST_DEPTH;
}

/*
 * So many are read at most: no provider takes more, though one that rounds up to a power of
 * two (rdma_rxe) takes more than it says that there is room for.
 */
static inline uint32_t tap_list_limit(uint32_t depth)
{
	return likely(depth < TAP_LIST_DEPTH / 2) ? 2 * depth : TAP_LIST_DEPTH;
}

/* Of a request, and of what request.c counts, those before it. */
struct tap_mark {
	const void *at; /* compared with what a provider refused, and not followed */
	uint64_t tally;
};

/* One more than an event has room for, so that what is before the others is known. */
#define TAP_LIST_FEW (TAP_VERBS_LIST_MAX + 1)

/* Memory for one post at a time. */
struct tap_list_room {
	pid_t tid; /* whose it is now; 0: nobody's */
	size_t size;
	char *memory;
};

struct tap_list {
	uint32_t context_id;
	uint32_t depth;	   /* the queue says that it has room for so many */
	uint32_t nr;	   /* were read */
	uint64_t tally;	   /* of them all */
	const void *rest;  /* the one after them, NULL none */
	uint32_t nr_marks; /* those of the first ones; fewer than nr without memory */
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
 * Has it have a mark for each of `nr`, to be filled in anew, and returns other_bytes of
 * memory besides; NULL: all is as it was, since there is no memory.  errno is kept.
 */
void *tap_list_grow(struct tap_list *list, uint32_t nr, size_t other_bytes) tap_hidden;
void tap_list_give_back(struct tap_list_room *room) tap_hidden;

static inline void tap_list_end(const struct tap_list *list)
{
	if (unlikely(list->room))
		tap_list_give_back(list->room);
}

/* The events of so many requests. */
static inline size_t tap_list_nr_events(uint32_t nr)
{
	return (nr + TAP_VERBS_LIST_MAX - 1) / TAP_VERBS_LIST_MAX;
}

/*
 * How many were accepted of a list that failed: none where the provider names none of the
 * list, as one that returns early may do.  Of a list that leads back to itself as many as
 * an empty queue has room for, since nothing tells.  False: the next one, which was
 * refused, was not read.
 */
bool tap_list_accepted(const struct tap_list *list, const void *bad,
		       uint32_t *ret_accepted) tap_hidden;

/* Requests that were accepted were counted, and cannot be described. */
void tap_list_emit_forgotten(const struct tap_list *list) tap_hidden;
/* A list was accepted although the queue has no room for all of it: it was not counted.
 */
void tap_list_emit_unread(const struct tap_list *list) tap_hidden;

#endif
