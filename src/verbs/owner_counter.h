/* SPDX-License-Identifier: MIT */
/*
 * Threads that take turns at a queue: counts that are always right, and whether two were
 * in it at once, so that nobody can say whose request came first.
 *
 * A queue is nearly always one thread's, and a locked instruction costs as much as all
 * else that we do for a post.  So the first thread owns the counts and uses plain loads
 * and stores; one that comes later makes all processors see that it came (membarrier),
 * waits for the few instructions in which the owner may be counting, and takes over.
 * After a few times of that the queue is everybody's, and counted with locked
 * instructions.
 *
 * It hides who owns the queue.  Nothing is held while the real call runs.
 */
#ifndef TAP_VERBS_OWNER_COUNTER_H
#define TAP_VERBS_OWNER_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"
#include "common/thread.h"

enum { TAP_OWNER_COUNTER_OUT, TAP_OWNER_COUNTER_IN, TAP_OWNER_COUNTER_COUNTING };

/* One thread sets a queue up and another works it; more than that are many. */
#define TAP_OWNER_COUNTER_OWNERS_MAX 3

struct tap_owner_counter {
	/* A thread, with its number among the owners in the lowest bits; NULL none yet;
	 * or one of turn.c's own. */
	const void *owner;
	uint32_t stage[TAP_OWNER_COUNTER_OWNERS_MAX]; /* each written by that owner alone
						       */
	uint32_t entries, exits;	 /* by whoever is not the owner */
};

/* One thread's turn. */
struct tap_visit {
	uint32_t *stage; /* the owner's; NULL of anybody else */
	uint32_t nr;	 /* of the entry of one that is not */
	bool concurrent;
};

void tap_owner_counter_begin_slow(struct tap_owner_counter *counter,
				  struct tap_visit *ret_visit) tap_hidden;
/* What a turn of the owner, or of anybody else, comes to when it is not the owner's now.
 */
void tap_owner_counter_end_slow(struct tap_owner_counter *counter,
				struct tap_visit *visit) tap_hidden;

static inline const void *tap_owner_counter_owner(const struct tap_owner_counter *counter)
{
	return __atomic_load_n(&counter->owner, __ATOMIC_RELAXED);
}

/* What the owner is when it is this thread, as the one with this number. */
static inline const void *tap_owner_counter_me(size_t nr)
{
	return (const char *) &tap_thread + nr;
}

/* Which owner this thread is; TAP_OWNER_COUNTER_OWNERS_MAX or more: none. */
static inline size_t tap_owner_counter_my_number(const void *owner)
{
	return (uintptr_t) owner - (uintptr_t) &tap_thread;
}

static inline void tap_owner_counter_set(uint32_t *at, uint32_t stage)
{
	__atomic_store_n(at, stage, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/*
 * The short way: its stage for the owner, NULL for anybody else and in a signal's handler
 * that came in the middle; then nothing is begun.  After the call comes
 * tap_owner_counter_leave(), with tap_owner_counter_is_plain() before what is counted.
 */
static inline uint32_t *tap_owner_counter_enter(struct tap_owner_counter *counter)
{
	const void *const owner = tap_owner_counter_owner(counter);
	uint32_t *stage = counter->stage;

	/* Most often the first: its stage is where no address is to be computed. */
	if (unlikely(owner != tap_owner_counter_me(0))) {
		if (tap_owner_counter_my_number(owner) >= TAP_OWNER_COUNTER_OWNERS_MAX)
			return NULL;
		stage += tap_owner_counter_my_number(owner);
	}
	if (unlikely(*stage != TAP_OWNER_COUNTER_OUT))
		return NULL;
	tap_owner_counter_set(stage, TAP_OWNER_COUNTER_IN);
	if (likely(tap_owner_counter_owner(counter) == owner))
		return stage;
	tap_owner_counter_set(stage, TAP_OWNER_COUNTER_OUT);
	return NULL;
}

static inline void tap_owner_counter_leave(uint32_t *stage)
{
	tap_owner_counter_set(stage, TAP_OWNER_COUNTER_OUT);
}

/* Whether the owner is that still, and may count with plain loads and stores. */
static inline bool tap_owner_counter_is_plain(const struct tap_owner_counter *counter,
					      uint32_t *stage)
{
	tap_owner_counter_set(stage, TAP_OWNER_COUNTER_COUNTING);
	if (likely(tap_owner_counter_owner(counter) ==
		   tap_owner_counter_me((size_t) (stage - counter->stage))))
		return true;
	tap_owner_counter_leave(stage);
	return false;
}

static inline struct tap_visit tap_owner_counter_begin(struct tap_owner_counter *counter)
{
	struct tap_visit visit = {.stage = tap_owner_counter_enter(counter)};

	if (unlikely(!visit.stage))
		tap_owner_counter_begin_slow(counter, &visit);
	return visit;
}

/*
 * From here to tap_owner_counter_end() the thread counts: plainly where this returns
 * true, else with locked instructions.  tap_owner_counter_add() does either.
 */
static inline bool tap_owner_counter_count(struct tap_owner_counter *counter,
					   struct tap_visit *visit)
{
	if (likely(visit->stage) && tap_owner_counter_is_plain(counter, visit->stage))
		return true;
	tap_owner_counter_end_slow(counter, visit);
	return false;
}

/* The count before. */
static inline uint32_t tap_owner_counter_add(bool is_plain, uint32_t *count,
					     uint32_t more)
{
	uint32_t before;

	if (unlikely(!is_plain))
		return __atomic_fetch_add(count, more, __ATOMIC_RELAXED);
	before = __atomic_load_n(count, __ATOMIC_RELAXED);
	__atomic_store_n(count, before + more, __ATOMIC_RELAXED);
	return before;
}

static inline void tap_owner_counter_end(const struct tap_visit *visit)
{
	if (likely(visit->stage))
		tap_owner_counter_leave(visit->stage);
}

/* A turn in which nothing is to be counted. */
static inline void tap_owner_counter_pass(struct tap_owner_counter *counter,
					  struct tap_visit *visit)
{
	if (likely(visit->stage))
		tap_owner_counter_leave(visit->stage);
	else
		tap_owner_counter_end_slow(counter, visit);
}

#endif
