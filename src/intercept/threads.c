/* SPDX-License-Identifier: MIT */
/* A list through the threads' own structures, which each leaves when it ends. */
#include "intercept/threads.h"

#include <pthread.h>
#include <unistd.h>

#include "common/lock.h"
#include "common/thread.h"
#include "intercept/comm.h"
#include "intercept/entry.h"
#include "intercept/nvtx_stack.h"
#include "intercept/start.h"

static struct tap_lock lock;
static bool is_locked_for_fork;
static struct tap_thread *newest;
static pthread_key_t at_end;
static bool has_key;

/*
 * Run by the thread itself when it ends; its structure goes with its stack.  So this one
 * must have the lock, and waits: who holds it writes events, a microsecond each.
 */
static void leave(void *data)
{
	struct tap_thread *t = data;

	tap_nvtx_stack_leave(t->nvtx);
	t->nvtx = NULL;
	while (!tap_lock_take(&lock))
		;
	if (t->later)
		t->later->earlier = t->earlier;
	else
		newest = t->earlier;
	if (t->earlier)
		t->earlier->later = t->later;
	tap_lock_drop(&lock);
}

static bool has_key_now(void)
{
	if (!has_key)
		has_key = !pthread_key_create(&at_end, leave);
	return has_key;
}

void tap_thread_know(void)
{
	struct tap_thread *t = &tap_thread;
	const struct tap_guard guard = tap_guard_set();

	t->tid = gettid();
	if (tap_lock_take(&lock)) {
		if (has_key_now() && !pthread_setspecific(at_end, t)) {
			t->earlier = newest;
			if (newest)
				newest->later = t;
			newest = t;
		}
		tap_lock_drop(&lock);
	}
	tap_guard_clear(guard);
}

/* Read while the thread goes on: each number is whole, together they may not fit. */
static bool write_thread(const struct tap_thread *t)
{
	struct tap_thread_state state = {
		.tid = t->tid,
		.group_id = __atomic_load_n(&t->group_id, __ATOMIC_RELAXED),
		.group_depth = __atomic_load_n(&t->group_depth, __ATOMIC_RELAXED),
		.call_id = __atomic_load_n(&t->call_id, __ATOMIC_RELAXED),
		.function = __atomic_load_n(&t->inside, __ATOMIC_RELAXED),
	};
	const struct tap_comm *comm = __atomic_load_n(&t->last_comm, __ATOMIC_RELAXED);

	if (!state.function && !state.group_depth)
		return false;
	if (!state.function)
		state.function = "";
	state.comm_id = comm->about.comm_id;
	tap_events_table->state_thread(&state);
	return true;
}

uint32_t tap_threads_write(void)
{
	const struct tap_thread *t;
	uint32_t nr = 0;

	if (!tap_lock_take(&lock)) {
		tap_problem("not recorded", "the state of threads", 1);
		return 0;
	}
	for (t = newest; t; t = t->earlier)
		nr += write_thread(t);
	tap_lock_drop(&lock);
	return nr;
}

void tap_threads_fork_prepare(void)
{
	is_locked_for_fork = tap_lock_take(&lock);
}

void tap_threads_fork_parent(void)
{
	if (is_locked_for_fork)
		tap_lock_drop(&lock);
}

void tap_threads_fork_child(void)
{
	struct tap_thread *t = &tap_thread;

	newest = NULL;
	if (t->tid) {
		t->tid = gettid();
		t->earlier = t->later = NULL;
		newest = has_key && pthread_getspecific(at_end) ? t : NULL;
	}
	tap_lock_drop(&lock);
}
