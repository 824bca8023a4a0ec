/* SPDX-License-Identifier: MIT */
/*
 * One binding of a wrapped call, and the real function behind it.
 *
 * Each row has several bindings: the name and its profiling form, linked or returned by
 * dlsym().  They are kept apart because they may lead into different copies of a library,
 * and a call must reach the copy that the program chose.
 *
 * The hot path of a wrapper reads the two switches and the real function, and nothing
 * else.  Until the real function is known and LTTng has started, both switches point to
 * tap_not_ready.  The first call therefore takes the slow path, and the hot path needs no
 * test for it.
 */
#ifndef TAP_INTERCEPT_ENTRY_H
#define TAP_INTERCEPT_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "common/thread.h"
#include "intercept/guard.h"
#include "tracepoints/events.h"

/* The real function of a linked name for callers in one object; valid in one epoch. */
struct tap_choice {
	uintptr_t start, end; /* address range of the object */
	void *real;
	uint32_t epoch; /* 0: a thread is writing this choice */
	struct tap_choice *next;
};

struct tap_entry {
	/*
	 * The thread that resolves the entry writes these.  Several threads may do so at
	 * once, with the same values.  They write real before the switches, and readers
	 * read it after them.
	 */
	const int *entry_on, *exit_on;
	void *real;
	/*
	 * While calls are counted both switches point to tap_counts where LTTng is
	 * loaded; these are what they would point to otherwise: whether the call is
	 * recorded, too. Where it is not, they point to tap_counts_alone and to what the
	 * supervisor sets when the process is to be recorded (metrics.h).
	 */
	const int *counted_entry_on, *counted_exit_on;

	uint32_t epoch;	  /* tap_epoch when real was resolved, 0: never */
	uint32_t library; /* id in tap:library of the library that holds real, 0: not
			     looked up */
	const char *name;
	void *missing; /* the function called when no library defines the name */
	uint16_t row;
	bool pnccl, linked;
	bool is_counted; /* --metrics counts its calls */
	/*
	 * Several libraries define the function and the caller decides which one is
	 * called: the switches stay at tap_not_ready, and every call is looked up.
	 */
	bool by_caller;
	struct tap_choice *choices; /* of a linked entry, newest first */
};

/*
 * Makes the entry of a copy, which is empty, ready for calls as the linked one of its
 * name. A process binds few copies: what is not written at the start needs no page of
 * memory.
 */
void tap_entry_prepare(struct tap_entry *copy, const struct tap_entry *linked) tap_hidden;

/*
 * The switches of an entry point whose calls are counted, 1 and TAP_COUNTS_ALONE: a call
 * whose switches have that value together is counted and nothing else.
 */
enum { TAP_COUNTS_ALONE = 2 };
extern const int tap_counts tap_hidden, tap_counts_alone tap_hidden;

/* Sets the real function of e, valid in the current epoch. */
void tap_entry_set(struct tap_entry *e, void *real) tap_hidden;

/*
 * Returns the real function of e, which may depend on the program's return address.
 * Never NULL.
 *
 * A framework may load a library of its own after other calls were resolved, and no event
 * announces that.  But the framework cannot use that library before it calls a function
 * that makes a communicator or a group, or one that takes no communicator.  Those
 * functions are therefore resolved at each call, which finds the new library.
 */
void *tap_entry_resolve(struct tap_entry *e, const void *caller) tap_hidden;

/*
 * Starts recording if need be and sets ret_call->call_id, to 0 if this call is not
 * recorded.  If the call is recorded, the function fills in the rest of *ret_call except
 * what the hook describes, marks the thread as inside the call until tap_call_leave(),
 * and sets *ret_guard, which the caller clears.  Keeps errno.  Returns the real function.
 */
void *tap_call_enter(struct tap_call *ret_call, struct tap_guard *ret_guard,
		     struct tap_entry *e, const void *caller) tap_hidden;

/* Returns a new call number, unique in the process. */
uint64_t tap_call_number(void) tap_hidden;

/*
 * Publishes the call to other threads, unless the thread is inside a call already: only
 * the outermost call is shown.
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

/* Orders this store before those of the next call; costs no instruction on x86. */
static inline void tap_call_hide(uint64_t call_id)
{
	struct tap_open *open = &tap_thread.open;

	if (open->call_id != call_id)
		return;
	__atomic_store_n(&open->call_id, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* Undoes what tap_call_enter() did to the thread. */
void tap_call_leave(const struct tap_call *call) tap_hidden;

/*
 * Copies of a library that have wrappers of their own when looked up; calls to a further
 * copy are not recorded, which tap:problem reports.
 */
#define TAP_NR_COPIES 4

/* All bindings of a name: the linked one, and those that dlsym() may return. */
struct tap_entry_bindings {
	struct tap_entry *linked;
	struct {
		struct tap_entry *entry;
		void *wrapper;
	} looked_up[TAP_NR_COPIES];
};

void tap_entries_each(void (*each)(struct tap_entry *e)) tap_hidden;

/* NULL when name is not wrapped.  Calls no function of libc. */
const struct tap_entry_bindings *tap_entry_find(const char *name) tap_hidden;

#endif
