/* SPDX-License-Identifier: MIT */
/*
 * A list of the threads' own structures; each thread removes its own when it ends.
 */
#include "intercept/threads.h"

#include <pthread.h>
#include <unistd.h>

#include "common/lock.h"
#include "common/thread.h"
#include "intercept/guard.h"
#include "intercept/layer.h"

static struct tap_lock lock;
static struct tap_thread *newest;
static pthread_key_t at_end;
static bool has_key;
/* A thread that has made traced calls could not be put on the list. */
static bool has_unknown;

/*
 * Run by a thread when it ends; its structure disappears with its stack.  So this
 * function waits until it has the lock, whose holder writes events, at a microsecond
 * each.
 */
static void leave(void *data)
{
	struct tap_thread *t = data;

	TAP_LAYERS_CALL(thread_ends, t);
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

bool tap_threads_lock(void)
{
	return tap_lock_take(&lock);
}

void tap_threads_unlock(void)
{
	tap_lock_drop(&lock);
}

struct tap_thread *tap_threads_newest(void)
{
	return newest;
}

bool tap_threads_all_known(void)
{
	return !__atomic_load_n(&has_unknown, __ATOMIC_RELAXED);
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

/* The fork held the lock, so the list is consistent; the child has one thread. */
static void fork_child(void)
{
	struct tap_thread *t = &tap_thread;

	newest = NULL;
	if (t->tid) {
		t->tid = gettid();
		t->earlier = t->later = NULL;
		newest = has_key && pthread_getspecific(at_end) ? t : NULL;
	}
}

const struct tap_layer tap_layer_threads = {
	.lock = &lock,
	.is_locked_by_fork = true,
	.fork_child = fork_child,
};
