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
#ifndef TAP_VERBS_TURN_H
#define TAP_VERBS_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"
#include "common/thread.h"

enum { TAP_TURN_OUT, TAP_TURN_IN, TAP_TURN_COUNTING };

/* One thread sets a queue up and another works it; more than that are many. */
#define TAP_TURN_OWNERS 3

struct tap_turn {
	/* A thread, with its number among the owners in the lowest bits; NULL none yet;
	 * or one of turn.c's own. */
	const void *owner;
	uint32_t stage[TAP_TURN_OWNERS]; /* each written by that owner alone */
	uint32_t entries, exits;	 /* by whoever is not the owner */
};

/* One thread's turn. */
struct tap_visit {
	uint32_t *stage; /* the owner's; NULL of anybody else */
	uint32_t nr;	 /* of the entry of one that is not */
	bool raced;
};

void tap_turn_begin_slow(struct tap_turn *turn, struct tap_visit *ret_visit) tap_hidden;
/* What a turn of the owner, or of anybody else, comes to when it is not the owner's now.
 */
void tap_turn_end_slow(struct tap_turn *turn, struct tap_visit *visit) tap_hidden;

static inline const void *tap_turn_owner(const struct tap_turn *turn)
{
	return __atomic_load_n(&turn->owner, __ATOMIC_RELAXED);
}

/* What the owner is when it is this thread, as the one with this number. */
static inline const void *tap_turn_me(size_t nr)
{
	return (const char *) &tap_thread + nr;
}

/* Which owner this thread is; TAP_TURN_OWNERS or more: none. */
static inline size_t tap_turn_my_number(const void *owner)
{
	return (uintptr_t) owner - (uintptr_t) &tap_thread;
}

static inline void tap_turn_set(uint32_t *at, uint32_t stage)
{
	__atomic_store_n(at, stage, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/*
 * The short way: its stage for the owner, NULL for anybody else and in a signal's handler
 * that came in the middle; then nothing is begun.  After the call comes tap_turn_leave(),
 * with tap_turn_is_plain() before what is counted.
 */
static inline uint32_t *tap_turn_enter(struct tap_turn *turn)
{
	const void *const owner = tap_turn_owner(turn);
	uint32_t *stage = turn->stage;

	/* Most often the first: its stage is where no address is to be computed. */
	if (unlikely(owner != tap_turn_me(0))) {
		if (tap_turn_my_number(owner) >= TAP_TURN_OWNERS)
			return NULL;
		stage += tap_turn_my_number(owner);
	}
	if (unlikely(*stage != TAP_TURN_OUT))
		return NULL;
	tap_turn_set(stage, TAP_TURN_IN);
	if (likely(tap_turn_owner(turn) == owner))
		return stage;
	tap_turn_set(stage, TAP_TURN_OUT);
	return NULL;
}

static inline void tap_turn_leave(uint32_t *stage)
{
	tap_turn_set(stage, TAP_TURN_OUT);
}

/* Whether the owner is that still, and may count with plain loads and stores. */
static inline bool tap_turn_is_plain(const struct tap_turn *turn, uint32_t *stage)
{
	tap_turn_set(stage, TAP_TURN_COUNTING);
	if (likely(tap_turn_owner(turn) == tap_turn_me((size_t) (stage - turn->stage))))
		return true;
	tap_turn_leave(stage);
	return false;
}

static inline struct tap_visit tap_turn_begin(struct tap_turn *turn)
{
	struct tap_visit visit = {.stage = tap_turn_enter(turn)};

	if (unlikely(!visit.stage))
		tap_turn_begin_slow(turn, &visit);
	return visit;
}

/*
 * From here to tap_turn_end() the thread counts: plainly where this returns true, else
 * with locked instructions.  tap_turn_add() does either.
 */
static inline bool tap_turn_count(struct tap_turn *turn, struct tap_visit *visit)
{
	if (likely(visit->stage) && tap_turn_is_plain(turn, visit->stage))
		return true;
	tap_turn_end_slow(turn, visit);
	return false;
}

/* The count before. */
static inline uint32_t tap_turn_add(bool is_plain, uint32_t *count, uint32_t more)
{
	uint32_t before;

	if (unlikely(!is_plain))
		return __atomic_fetch_add(count, more, __ATOMIC_RELAXED);
	before = __atomic_load_n(count, __ATOMIC_RELAXED);
	__atomic_store_n(count, before + more, __ATOMIC_RELAXED);
	return before;
}

static inline void tap_turn_end(const struct tap_visit *visit)
{
	if (likely(visit->stage))
		tap_turn_leave(visit->stage);
}

/* A turn in which nothing is to be counted. */
static inline void tap_turn_pass(struct tap_turn *turn, struct tap_visit *visit)
{
	if (likely(visit->stage))
		tap_turn_leave(visit->stage);
	else
		tap_turn_end_slow(turn, visit);
}

#endif
