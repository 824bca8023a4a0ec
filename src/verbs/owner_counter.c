/* SPDX-License-Identifier: MIT */
/* How a counter changes its owner. */
#include "verbs/owner_counter.h"

#include <sched.h>

#include "common/barrier.h"

/* Values of `owner` that are no thread: the owner is changing; the counter is shared. */
static const char changing, shared;

_Static_assert(_Alignof(struct tap_thread) >= TAP_OWNER_COUNTER_OWNERS_MAX,
	       "an owner's number does not fit into the lowest bits of its address");

static size_t number_of(const void *owner)
{
	return (uintptr_t) owner % _Alignof(struct tap_thread);
}

/*
 * The owner counts for a few instructions, in which it may be interrupted.  If it never
 * finishes, because a signal handler jumped out, the counter becomes shared.
 */
static uint32_t wait_while_counting(const uint32_t *stage)
{
	uint32_t seen = TAP_OWNER_COUNTER_COUNTING;
	int tries;

	for (tries = 0; tries < 10000 && seen == TAP_OWNER_COUNTER_COUNTING; tries++) {
		seen = __atomic_load_n(stage, __ATOMIC_ACQUIRE);
		if (seen == TAP_OWNER_COUNTER_COUNTING)
			sched_yield();
	}
	return seen;
}

/* Returns whether this thread owns the counter now. */
static bool take_over(struct tap_owner_counter *counter)
{
	const void *owner = __atomic_load_n(&counter->owner, __ATOMIC_ACQUIRE);
	const void *next = &shared;
	size_t nr;
	int tries;

	for (tries = 0; owner == &changing && tries < 10000; tries++) {
		sched_yield();
		owner = __atomic_load_n(&counter->owner, __ATOMIC_ACQUIRE);
	}
	/* This may be a signal handler that interrupted who changes it. */
	if (owner == &changing &&
	    __atomic_compare_exchange_n(&counter->owner, &owner, &shared, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		tap_barrier();
		for (nr = 0; nr < TAP_OWNER_COUNTER_OWNERS_MAX; nr++)
			wait_while_counting(&counter->stage[nr]);
		return false;
	}
	if (owner == &shared)
		return false;
	if (!owner && tap_barrier_is_there())
		return __atomic_compare_exchange_n(&counter->owner, &owner,
						   tap_owner_counter_me(0), false,
						   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
		       take_over(counter);
	nr = number_of(owner);
	if (!__atomic_compare_exchange_n(&counter->owner, &owner, &changing, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return take_over(counter);
	/*
	 * An owner that counts now and has yet to check the owner does so after the
	 * barrier.
	 */
	if (tap_barrier() &&
	    wait_while_counting(&counter->stage[nr]) == TAP_OWNER_COUNTER_OUT &&
	    nr + 1 < TAP_OWNER_COUNTER_OWNERS_MAX)
		next = tap_owner_counter_me(nr + 1);
	owner = &changing;
	return __atomic_compare_exchange_n(&counter->owner, &owner, next, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) &&
	       next != &shared;
}

static bool is_somebody_in(const struct tap_owner_counter *counter)
{
	unsigned i;

	for (i = 0; i < TAP_OWNER_COUNTER_OWNERS_MAX; i++)
		if (__atomic_load_n(&counter->stage[i], __ATOMIC_SEQ_CST) !=
		    TAP_OWNER_COUNTER_OUT)
			return true;
	return false;
}

/* The owner's own visit was interrupted: this is a signal handler. */
static bool begin_again(struct tap_owner_counter *counter, struct tap_visit *visit)
{
	const size_t nr = tap_owner_counter_my_number(tap_owner_counter_owner(counter));

	if (nr >= TAP_OWNER_COUNTER_OWNERS_MAX ||
	    counter->stage[nr] == TAP_OWNER_COUNTER_OUT)
		return false;
	visit->stage = &counter->stage[nr];
	visit->concurrent = true;
	tap_owner_counter_set(visit->stage, TAP_OWNER_COUNTER_IN);
	return true;
}

void tap_owner_counter_begin_slow(struct tap_owner_counter *counter,
				  struct tap_visit *visit)
{
	*visit = (struct tap_visit){0};
	if (begin_again(counter, visit))
		return;
	while (take_over(counter)) {
		visit->stage = tap_owner_counter_enter(counter);
		if (visit->stage)
			return;
	}
	visit->nr = __atomic_fetch_add(&counter->entries, 1, __ATOMIC_SEQ_CST);
	visit->concurrent =
		visit->nr != __atomic_load_n(&counter->exits, __ATOMIC_SEQ_CST) ||
		is_somebody_in(counter);
}

void tap_owner_counter_end_slow(struct tap_owner_counter *counter,
				struct tap_visit *visit)
{
	if (__atomic_load_n(&counter->entries, __ATOMIC_SEQ_CST) != visit->nr + 1)
		visit->concurrent = true;
	__atomic_fetch_add(&counter->exits, 1, __ATOMIC_SEQ_CST);
}
