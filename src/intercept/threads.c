/* SPDX-License-Identifier: MIT */
/* A list through the threads' own structures, which each leaves when it ends. */
#include "intercept/threads.h"

#include <pthread.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/lock.h"
#include "common/thread.h"
#include "intercept/guard.h"
#include "intercept/nccl/comm.h"
#include "intercept/nvtx/nvtx_stack.h"
#include "intercept/trace.h"

static struct tap_lock lock;
static bool is_locked_for_fork;
static struct tap_thread *newest;
static pthread_key_t at_end;
static bool has_key;
/* A thread has made traced calls and could not be put on the list. */
static bool has_unknown;

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
	bool is_known = false;

	t->tid = gettid();
	if (tap_lock_take(&lock)) {
		is_known = has_key_now() && !pthread_setspecific(at_end, t);
		if (is_known) {
			t->earlier = newest;
			if (newest)
				newest->later = t;
			newest = t;
		}
		tap_lock_drop(&lock);
	}
	if (!is_known)
		__atomic_store_n(&has_unknown, true, __ATOMIC_RELAXED);
	tap_guard_clear(guard);
}

/* Of a group, what is read may not fit together: the thread goes on meanwhile. */
static void read_group(const struct tap_thread *t, struct tap_thread_state *ret_state)
{
	*ret_state = (struct tap_thread_state){
		.tid = t->tid,
		.group_id = __atomic_load_n(&t->group_id, __ATOMIC_RELAXED),
		.group_depth = __atomic_load_n(&t->group_depth, __ATOMIC_RELAXED),
		.function = "",
	};
}

/* Whether the thread is in a recorded call, and which. */
static bool read_open(const struct tap_thread *t, struct tap_thread_state *ret_state)
{
	const struct tap_open *open = &t->open;

	read_group(t, ret_state);
	ret_state->call_id = __atomic_load_n(&open->call_id, __ATOMIC_ACQUIRE);
	if (!ret_state->call_id)
		return false;
	ret_state->function = __atomic_load_n(&open->function, __ATOMIC_RELAXED);
	ret_state->comm_id = __atomic_load_n(&open->comm_id, __ATOMIC_RELAXED);
	ret_state->comm_key = __atomic_load_n(&open->comm_key, __ATOMIC_RELAXED);
	ret_state->op_number = __atomic_load_n(&open->op_number, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&open->call_id, __ATOMIC_RELAXED) == ret_state->call_id;
}

/* While nobody records only calls that count or change something are noted. */
static bool read_inside(const struct tap_thread *t, struct tap_thread_state *ret_state)
{
	const char *inside = __atomic_load_n(&t->inside, __ATOMIC_RELAXED);

	read_group(t, ret_state);
	if (inside)
		ret_state->function = inside;
	ret_state->comm_id =
		__atomic_load_n(&__atomic_load_n(&t->last_comm, __ATOMIC_RELAXED)->id,
				__ATOMIC_RELAXED);
	return inside || ret_state->group_depth;
}

bool tap_threads_are_on(const struct tap_comm *c)
{
	const struct tap_thread *t;
	bool is_one = false;

	if (!tap_lock_take(&lock))
		return true;
	for (t = newest; t && !is_one; t = t->earlier)
		is_one = __atomic_load_n(&t->inside, __ATOMIC_RELAXED) &&
			 __atomic_load_n(&t->last_comm, __ATOMIC_RELAXED) == c;
	tap_lock_drop(&lock);
	return is_one;
}

uint32_t tap_threads_write(bool *ret_all)
{
	struct tap_thread_state state;
	const struct tap_thread *t;
	int64_t now_ns;
	uint32_t nr = 0;

	*ret_all = false;
	if (!tap_lock_take(&lock)) {
		tap_problem("not recorded", "the state of threads", 1);
		return 0;
	}
	*ret_all = !__atomic_load_n(&has_unknown, __ATOMIC_RELAXED);
	now_ns = tap_now_ns();
	for (t = newest; t; t = t->earlier) {
		if (read_open(t, &state)) {
			if (state.call_id == t->open.seen_id)
				state.least_ns = (uint64_t) (now_ns - t->open.seen_ns);
		} else if (!read_inside(t, &state)) {
			continue;
		}
		tap_events_table->state_thread(&state);
		nr++;
	}
	tap_lock_drop(&lock);
	return nr;
}

/* Whether there is something to say of the call that t is in. */
static bool look(struct tap_thread *t, int64_t now_ns, int64_t stuck_ns,
		 struct tap_thread_seen *ret_seen)
{
	struct tap_open *open = &t->open;
	int64_t least_ns;

	if (!read_open(t, &ret_seen->state))
		return false;
	if (open->seen_id != ret_seen->state.call_id) {
		open->seen_id = ret_seen->state.call_id;
		open->seen_ns = now_ns;
		open->due_ns = TAP_SECOND_NS;
		open->is_stuck = false;
	}
	least_ns = now_ns - open->seen_ns;
	ret_seen->state.least_ns = (uint64_t) least_ns;
	ret_seen->is_due = least_ns >= open->due_ns;
	ret_seen->is_stuck = stuck_ns && least_ns >= stuck_ns && !open->is_stuck;
	return ret_seen->is_due || ret_seen->is_stuck;
}

uint32_t tap_threads_look(int64_t stuck_ns, struct tap_thread_seen *ret_seen,
			  uint32_t room)
{
	struct tap_thread *t;
	int64_t now_ns;
	uint32_t nr = 0;

	if (!tap_lock_take(&lock))
		return 0;
	now_ns = tap_now_ns();
	for (t = newest; t && nr < room; t = t->earlier) {
		if (!look(t, now_ns, stuck_ns, &ret_seen[nr]))
			continue;
		while (t->open.due_ns <= now_ns - t->open.seen_ns)
			t->open.due_ns *= 10;
		t->open.is_stuck |= ret_seen[nr].is_stuck;
		nr++;
	}
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
