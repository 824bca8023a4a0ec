/* SPDX-License-Identifier: MIT */
/*
 * A gate that every event goes through, so that a process can end without leaving one
 * half written in a buffer that others write to as well: it is shut, and what is under
 * way is waited for.
 *
 * It hides how other threads see that one writes an event: a word of the thread's own,
 * which is written before the gate is looked at.  Who shuts it has all processors pass a
 * barrier between the two, so that the thread needs no locked instruction.
 */
#ifndef TAP_COMMON_GATE_H
#define TAP_COMMON_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"

/* What an object needs that writes events and is not the one in which gate.c is. */
struct tap_gate {
	int nr_shut;		/* by so many threads; 0: it is open */
	ptrdiff_t nr_events_at; /* of tap_thread.nr_events, from the thread pointer */
	uint32_t *(*enter_slowly)(void);
	void (*leave_slowly)(void);
	uint64_t nr_refused;
	uint32_t nr_crowd; /* events of all threads that have no word of their own */
};

extern struct tap_gate tap_gate tap_hidden;

static inline char *tap_thread_pointer(void)
{
	char *at;

	__asm__("mov %%fs:0, %0" : "=r"(at));
	return at;
}

static inline void tap_gate_leave(const struct tap_gate *gate, uint32_t *nr_events)
{
	if (unlikely(nr_events == &gate->nr_crowd))
		gate->leave_slowly();
	else
		__atomic_store_n(nr_events, *nr_events - 1, __ATOMIC_RELEASE);
}

/* Before an event; for tap_gate_leave().  NULL: it is not to be written. */
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

/* Before the first event. */
void tap_gate_prepare(void) tap_hidden;

/*
 * No event is begun after it, and those of other threads are over, unless one took more
 * than 20 ms.  False, and nothing is done: the gate is another process's, of which this
 * one is a child that shares its memory (vfork), or none was prepared.  May be called in
 * any signal's handler; errno is kept.
 */
bool tap_gate_shut(void) tap_hidden;

/* The process goes on after all; how many events were refused meanwhile. */
uint64_t tap_gate_open(void) tap_hidden;

/* In the child of a fork, which has one thread. */
void tap_gate_fork_child(void) tap_hidden;

#endif
