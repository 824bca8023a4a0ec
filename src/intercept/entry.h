/* SPDX-License-Identifier: MIT */
/*
 * One name by which a program reaches a call, and the real function behind it.
 *
 * Each row has several: the name and its profiling form, linked or handed out
 * by dlsym().  They are kept apart because they may lead into different copies
 * of a library, and a call must end in the copy that the program chose.
 *
 * The hot path of a wrapper reads the two switches and the real function, and
 * nothing else.  Until the real function is known and LTTng is there, the
 * switches point to tap_not_ready: so the first call takes the slow path, and
 * the hot path needs no test of its own for it.
 */
#ifndef TAP_INTERCEPT_ENTRY_H
#define TAP_INTERCEPT_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "common/thread.h"
#include "intercept/guard.h"
#include "tracepoints/events.h"

/* Where a linked name leads for callers in one object, as long as the epoch is this. */
struct tap_choice {
	uintptr_t start, end; /* of the object */
	void *real;
	uint32_t epoch; /* 0: it is being written */
	struct tap_choice *next;
};

struct tap_entry {
	/*
	 * Written by whoever resolves, several threads perhaps, all the same
	 * values; real before the switches, which are read before it.
	 */
	const int *entry_on, *exit_on;
	void *real;

	uint32_t epoch;	  /* tap_epoch when real was found, 0: never */
	uint32_t library; /* id of the tap:library that real lies in, 0: not asked */
	const char *name;
	void *missing; /* answers when no library has the function */
	uint16_t row;
	bool pnccl, linked;
	/*
	 * Several libraries have the function and the caller decides which: the
	 * switches stay as they are at first, and every call is looked up.
	 */
	bool by_caller;
	struct tap_choice *choices; /* of a linked one, newest first */
};

/* real is what e leads to from now on, in this epoch. */
void tap_entry_set(struct tap_entry *e, void *real) tap_hidden;

/*
 * Where e leads: the program's return address may decide.  Never NULL.
 *
 * A framework may come with a library of its own when others have begun, and no event
 * tells.  But it cannot use that before it calls something that makes a communicator, a
 * group or nothing at all; so these are asked each time, and whoever is new is noticed.
 */
void *tap_entry_resolve(struct tap_entry *e, const void *caller) tap_hidden;

/*
 * Starts recording if need be and says in ret_call->call_id whether this call is
 * recorded (0: not).  If it is, the rest is filled in but for what its hook describes,
 * the thread is inside the call until tap_call_leave(), and *ret_guard is set, for the
 * caller to clear.  errno is kept.  Returns the real function.
 */
void *tap_call_enter(struct tap_call *ret_call, struct tap_guard *ret_guard,
		     struct tap_entry *e, const void *caller) tap_hidden;

/* The next number of a call: no other event of the process has it. */
uint64_t tap_call_number(void) tap_hidden;

/*
 * Lets other threads see that this one is in the call, unless it is in one already: the
 * outermost tells where a program stands.
 */
static inline void tap_call_show(uint64_t call_id, const char *function, uint32_t comm_id,
				 uint64_t comm_key, uint64_t op_number)
{
	struct tap_open *open = &tap_thread.open;

	if (open->call_id)
		return;
	__atomic_store_n(&open->function, function, __ATOMIC_RELAXED);
	__atomic_store_n(&open->comm_id, comm_id, __ATOMIC_RELAXED);
	__atomic_store_n(&open->comm_key, comm_key, __ATOMIC_RELAXED);
	__atomic_store_n(&open->op_number, op_number, __ATOMIC_RELAXED);
	__atomic_store_n(&open->call_id, call_id, __ATOMIC_RELEASE);
}

/* Before the next call is written there; no more than that for x86. */
static inline void tap_call_hide(uint64_t call_id)
{
	struct tap_open *open = &tap_thread.open;

	if (open->call_id != call_id)
		return;
	__atomic_store_n(&open->call_id, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* The thread is where it was before tap_call_enter(). */
void tap_call_leave(const struct tap_call *call) tap_hidden;

/* How many copies of a library can be looked up; one more is passed on, and said so. */
#define TAP_NR_COPIES 4

/* All ways into a name that can be handed out instead of the real function. */
struct tap_entry_bindings {
	struct tap_entry *linked;
	struct {
		struct tap_entry *entry;
		void *wrapper;
	} looked_up[TAP_NR_COPIES];
};

void tap_entries_each(void (*each)(struct tap_entry *e)) tap_hidden;

/* NULL when name is none of ours.  Calls no function of libc. */
const struct tap_entry_bindings *tap_entry_find(const char *name) tap_hidden;

#endif
