/* SPDX-License-Identifier: MIT */
/*
 * Owner-biased counters: exact counts of what threads do with a queue, and whether two
 * threads were in a call on it at once, so that the order of their requests is unknown.
 *
 * Nearly every queue is used by one thread alone, and a locked instruction costs as much
 * as all else that the tracer does for a post.  So the first thread owns the counter and
 * uses plain loads and stores.  A thread that comes later makes all processors see that
 * it came (membarrier), waits for the few instructions in which the owner may be
 * counting, and takes over.  After TAP_OWNER_COUNTER_OWNERS_MAX owners the counter is
 * shared, and all threads use locked instructions.
 *
 * It hides who owns the counter.  No thread holds anything while the real call runs.
 */
#ifndef TAP_VERBS_OWNER_COUNTER_H
#define TAP_VERBS_OWNER_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"
#include "common/thread.h"

enum { TAP_OWNER_COUNTER_OUT, TAP_OWNER_COUNTER_IN, TAP_OWNER_COUNTER_COUNTING };

/* One thread may set a queue up and another use it; with more, the queue is shared. */
#define TAP_OWNER_COUNTER_OWNERS_MAX 3

struct tap_owner_counter {
	/*
	 * A thread, with its number among the owners in the lowest bits; NULL if there is
	 * none yet; or a value of owner_counter.c.
	 */
	const void *owner;
	uint32_t stage[TAP_OWNER_COUNTER_OWNERS_MAX]; /* each written by its owner */
	uint32_t entries, exits; /* of threads that are not the owner */
};

/* One call of one thread on the queue. */
struct tap_visit {
	uint32_t *stage; /* the owner's; NULL for any other thread */
	uint32_t nr;	 /* which entry it is, without a stage */
	bool concurrent;
};

void tap_owner_counter_begin_slow(struct tap_owner_counter *counter,
				  struct tap_visit *ret_visit) tap_hidden;
/* Ends a visit of a thread that did not own the counter when it began. */
void tap_owner_counter_end_slow(struct tap_owner_counter *counter,
				struct tap_visit *visit) tap_hidden;

static inline const void *tap_owner_counter_owner(const struct tap_owner_counter *counter)
{
	return __atomic_load_n(&counter->owner, __ATOMIC_RELAXED);
}

/* The value of `owner` when this thread is the owner with this number. */
static inline const void *tap_owner_counter_me(size_t nr)
{
	return (const char *) &tap_thread + nr;
}

/* This thread's number as an owner; TAP_OWNER_COUNTER_OWNERS_MAX or more: it is none. */
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
 * The fast path: returns the owner's stage.  Returns NULL, and begins nothing, for any
 * other thread and in a signal handler that interrupts a visit.  The caller ends with
 * tap_owner_counter_leave(), and calls tap_owner_counter_is_plain() before it counts.
 */
static inline uint32_t *tap_owner_counter_enter(struct tap_owner_counter *counter)
{
	const void *const owner = tap_owner_counter_owner(counter);
	uint32_t *stage = counter->stage;

	/* The first owner is the common case: its stage needs no address arithmetic. */
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

/*
 * Whether the thread still owns the counter and may use plain loads and stores.  If not,
 * it counts with locked instructions, and stays in its visit until it has: else the
 * thread that takes over could own the counter meanwhile and use plain ones.
 */
static inline bool tap_owner_counter_is_plain(const struct tap_owner_counter *counter,
					      uint32_t *stage)
{
	tap_owner_counter_set(stage, TAP_OWNER_COUNTER_COUNTING);
	if (likely(tap_owner_counter_owner(counter) ==
		   tap_owner_counter_me((size_t) (stage - counter->stage))))
		return true;
	tap_owner_counter_set(stage, TAP_OWNER_COUNTER_IN);
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
 * From here to tap_owner_counter_end() the thread counts: with plain loads and stores if
 * this returns true, else with locked instructions.  tap_owner_counter_add() does either.
 */
static inline bool tap_owner_counter_count(struct tap_owner_counter *counter,
					   struct tap_visit *visit)
{
	if (likely(visit->stage)) {
		if (likely(tap_owner_counter_is_plain(counter, visit->stage)))
			return true;
		/* Another thread took over while this one was in its call. */
		visit->concurrent = true;
	} else {
		tap_owner_counter_end_slow(counter, visit);
	}
	return false;
}

/* Returns the count before the addition. */
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

/* Ends a visit that counts nothing. */
static inline void tap_owner_counter_pass(struct tap_owner_counter *counter,
					  struct tap_visit *visit)
{
	if (likely(visit->stage))
		tap_owner_counter_leave(visit->stage);
	else
		tap_owner_counter_end_slow(counter, visit);
}

#endif
