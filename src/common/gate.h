/* SPDX-License-Identifier: MIT */
/*
 * A gate that every event goes through, so that a process can end without leaving a half
 * written event in a buffer that other processes write to as well: the process shuts the
 * gate and waits for the events under way.
 *
 * It hides how the waiting thread sees that another one writes an event: each thread
 * writes a word of its own before it looks at the gate.  The thread that shuts the gate
 * has all processors pass a barrier in between, so that the others need no locked
 * instruction.
 */
#ifndef TAP_COMMON_GATE_H
#define TAP_COMMON_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"

/* What an object that writes events needs of the gate; gate.c is in another object. */
struct tap_gate {
	int nr_shut;		/* how many threads shut it; 0: it is open */
	ptrdiff_t nr_events_at; /* of tap_thread.nr_events, from the thread pointer */
	uint32_t *(*enter_slowly)(void);
	void (*leave_slowly)(void);
	uint64_t nr_refused;
	uint32_t nr_crowd; /* events of all threads without a word */
};

extern struct tap_gate tap_gate tap_hidden;

static inline char *tap_thread_pointer(void)
{
#ifdef __x86_64__
	char *at;

	__asm__("mov %%fs:0, %0" : "=r"(at));
	return at;
#else
	return __builtin_thread_pointer();
#endif
}

static inline void tap_gate_leave(const struct tap_gate *gate, uint32_t *nr_events)
{
	if (unlikely(nr_events == &gate->nr_crowd))
		gate->leave_slowly();
	else
		__atomic_store_n(nr_events, *nr_events - 1, __ATOMIC_RELEASE);
}

/*
 * Called before an event; returns what tap_gate_leave() needs, NULL if the event must not
 * be written.
 */
static inline uint32_t *tap_gate_enter(struct tap_gate *gate)
{
	uint32_t *nr_events = *(uint32_t **) (tap_thread_pointer() + gate->nr_events_at);

	if (likely(nr_events)) {
		__atomic_store_n(nr_events, *nr_events + 1, __ATOMIC_RELAXED);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} else {
		nr_events = gate->enter_slowly();
	}
	if (likely(!__atomic_load_n(&gate->nr_shut, __ATOMIC_ACQUIRE)))
		return nr_events;
	tap_gate_leave(gate, nr_events);
	__atomic_fetch_add(&gate->nr_refused, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Called before the first event. */
void tap_gate_prepare(void) tap_hidden;

/*
 * Lets no event begin, and waits at most 20 ms for those of other threads to end.
 * Returns false and does nothing if no gate was prepared, or if the gate belongs to the
 * parent whose memory this process shares (vfork).  May be called in any signal handler;
 * errno is kept.
 */
bool tap_gate_shut(void) tap_hidden;

/*
 * Opens the gate when the process goes on after all.  Returns how many events were
 * refused.
 */
uint64_t tap_gate_open(void) tap_hidden;

/* Called in the child of a fork, which has one thread. */
void tap_gate_fork_child(void) tap_hidden;

#endif
