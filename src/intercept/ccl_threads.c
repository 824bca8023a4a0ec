/* SPDX-License-Identifier: MIT */
/*
 * pthread_create().  std::thread calls it too, from libstdc++, with a routine of
 * libstdc++'s and a state object whose class, and so whose virtual table, is the
 * library's.  The state of std::thread(routine, argument) is laid out as: table,
 * argument, routine (libstdc++ stores a tuple from its last element to its first); that
 * of std::thread(routine) as: table, routine.  In a state that is laid out otherwise no
 * word leads into the library's code, and the routine is 0.
 */
#include "intercept/ccl_threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include "common/clock.h"
#include "common/safe_read.h"
#include "intercept/dl/libraries.h"
#include "intercept/dl/nccl_at.h"
#include "intercept/dl/real.h"
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/metrics.h"
#include "intercept/start.h"
#include "intercept/threads.h"
#include "intercept/trace.h"

typedef void *(*routine_function)(void *);
typedef int (*create_function)(pthread_t *, const pthread_attr_t *, routine_function,
			       void *);

/* What the creator hands to the new thread, which frees it as its first act. */
struct start {
	bool is_used;
	routine_function routine;
	void *argument;
	struct tap_ccl_thread ccl;
};

/*
 * Records of threads that have not begun yet.  They are not allocated: the first free()
 * of a thread would give that an arena of the allocator's, which it may never need.
 */
static struct start starts[64];

/* ---- In the new thread ---- */

static void emit(const struct tap_thread *t,
		 void (*write)(const struct tap_ccl_thread_event *event))
{
	struct tap_ccl_thread_event event = {.tid = t->tid, .ccl = &t->ccl};

	event.routine_library =
		tap_library_of((const void *) t->ccl.routine, &event.routine_offset);
	event.caller_library =
		tap_library_of((const void *) t->ccl.caller, &event.caller_offset);
	write(&event);
}

static void begin(const struct tap_ccl_thread *ccl)
{
	struct tap_guard guard;

	tap_thread.ccl = *ccl;
	tap_thread.is_ccl = true;
	tap_thread_know();
	if (!tap_has_started())
		return;
	guard = tap_guard_set();
	tap_announce();
	emit(&tap_thread, tap_events_table->ccl_thread);
	tap_guard_clear(guard);
}

static void *run(void *data)
{
	struct start *own = data;
	const struct start start = *own;

	__atomic_store_n(&own->is_used, false, __ATOMIC_RELEASE);
	begin(&start.ccl);
	return start.routine(start.argument);
}

/* ---- In the creator ---- */

static bool is_code(const struct tap_library_range *range, uintptr_t address)
{
	return address >= range->code_start && address < range->code_end;
}

/*
 * NCCL's threads are all that libnccl makes, and of an object that has NCCL linked in
 * those that it makes in a call of NCCL's or on a thread of NCCL's.
 */
static bool is_from(const struct tap_library_range *range)
{
	const struct tap_thread *t = &tap_thread;

	return range->nccl == TAP_IS_NCCL ||
	       (range->nccl == TAP_HAS_NCCL && (t->is_ccl || t->inside || t->call_id));
}

static uintptr_t word(const void *at, unsigned nr)
{
	return __atomic_load_n((const uintptr_t *) at + nr, __ATOMIC_RELAXED);
}

/*
 * Reads the state of a std::thread into *ret_ccl, if its virtual table lies in a CCL. The
 * smallest state has two words; the third may lie behind its end, so the kernel is asked.
 */
static bool is_ccls_state(const void *state, struct tap_ccl_thread *ret_ccl)
{
	const uintptr_t table = word(state, 0);
	const struct tap_library_range range = tap_nccl_at(table);

	if (!range.start || !is_from(&range) || is_code(&range, table))
		return false;
	ret_ccl->via = TAP_THREAD_STATE;
	ret_ccl->routine = ret_ccl->argument = ret_ccl->nr_arguments = 0;
	if (is_code(&range, word(state, 1))) {
		ret_ccl->routine = word(state, 1);
	} else if (tap_safe_page((uintptr_t) state + 3 * sizeof(table) - 1) &&
		   is_code(&range, word(state, 2))) {
		ret_ccl->argument = word(state, 1);
		ret_ccl->routine = word(state, 2);
		ret_ccl->nr_arguments = 1;
	}
	return true;
}

/* Whether there may be a state of two words, the least that one has. */
static bool is_readable(uintptr_t at)
{
	return at && at % sizeof(at) == 0 && tap_safe_page(at) &&
	       tap_safe_page(at + 2 * sizeof(at) - 1);
}

/*
 * libstdc++'s own routine always has a state as its argument; so may a routine of a
 * library that has libstdc++ linked in, but its argument may be anything else as well.
 */
static bool is_ccls(routine_function routine, const void *argument,
		    struct tap_ccl_thread *ret_ccl)
{
	const struct tap_library_range range = tap_nccl_at((uintptr_t) routine);
	const uintptr_t at = (uintptr_t) argument;
	struct tap_ccl_thread state = {0};

	*ret_ccl = (struct tap_ccl_thread){.routine = (uintptr_t) routine,
					   .argument = at,
					   .nr_arguments = 1};
	if (!range.start)
		return false;
	if (range.nccl == TAP_NO_NCCL)
		return range.starts_std_threads && argument &&
		       is_ccls_state(argument, ret_ccl);
	if (!is_from(&range))
		return false;
	if (range.starts_std_threads && is_readable(at) &&
	    is_ccls_state(argument, &state) && state.routine)
		*ret_ccl = state;
	return true;
}

static void describe_creator(struct tap_ccl_thread *ccl, const void *caller)
{
	struct tap_thread *t = &tap_thread;

	if (unlikely(!t->tid))
		tap_thread_know();
	ccl->creator = t->tid;
	ccl->creator_is_ccl = t->is_ccl;
	ccl->call_id = t->call_id;
	ccl->outer_call_id = t->open.call_id;
	ccl->function = t->function ? t->function : t->inside ? t->inside : "";
	ccl->caller = (uintptr_t) caller;
	ccl->begin_ns = (uint64_t) tap_now_ns();
}

static create_function real_create(void)
{
	static create_function real;
	create_function found = __atomic_load_n(&real, __ATOMIC_RELAXED);

	if (unlikely(!found)) {
		found = (create_function) tap_real_dlsym(RTLD_NEXT, "pthread_create");
		__atomic_store_n(&real, found, __ATOMIC_RELAXED);
	}
	return found;
}

static struct start *take_start(void)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(starts); i++)
		if (!__atomic_load_n(&starts[i].is_used, __ATOMIC_RELAXED) &&
		    !__atomic_exchange_n(&starts[i].is_used, true, __ATOMIC_ACQUIRE))
			return &starts[i];
	return NULL;
}

/*
 * Not at the program's first call: a look-up takes the error that dlerror() has for the
 * program, and waits for the linker's lock.
 */
__attribute__((constructor(101))) static void prepare(void)
{
	(void) real_create();
}

/* Where too many threads have not begun yet, one more starts as any other. */
tap_exported int pthread_create(pthread_t *ret_thread, const pthread_attr_t *attr,
				routine_function routine, void *argument)
{
	const create_function real = real_create();
	struct tap_ccl_thread ccl;
	struct tap_guard guard;
	struct start *start;
	int error;

	if (unlikely(!real))
		return EAGAIN;
	if (likely(tap_thread.in_tracer || !is_ccls(routine, argument, &ccl)))
		return real(ret_thread, attr, routine, argument);
	describe_creator(&ccl, __builtin_return_address(0));
	start = take_start();
	if (!start) {
		guard = tap_guard_set();
		tap_problem("not recorded", "a thread of NCCL's: too many begin at once",
			    1);
		tap_guard_clear(guard);
		return real(ret_thread, attr, routine, argument);
	}
	start->routine = routine;
	start->argument = argument;
	start->ccl = ccl;
	error = real(ret_thread, attr, run, start);
	if (error)
		__atomic_store_n(&start->is_used, false, __ATOMIC_RELEASE);
	return error;
}

/* A child has only the thread that forked. */
static void fork_child(void)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(starts); i++)
		starts[i].is_used = false;
}

/* ---- The layer ---- */

void tap_thread_does(uint8_t what)
{
	struct tap_thread *t = &tap_thread;
	struct tap_guard guard;

	if (t->ccl.does & what)
		return;
	__atomic_store_n(&t->ccl.does, t->ccl.does | what, __ATOMIC_RELAXED);
	if (what != TAP_THREAD_ASYNC)
		tap_metrics_proxy_rests(&t->ccl, false);
	if (!tap_has_started())
		return;
	guard = tap_guard_set();
	tap_announce();
	tap_events_table->ccl_thread_does(t);
	tap_guard_clear(guard);
}

/* Oldest first, so that a thread comes after the one that created it. */
static void emit_all(void (*write)(const struct tap_ccl_thread_event *event),
		     uint32_t *nr)
{
	const struct tap_thread *t;

	if (!tap_threads_lock())
		return;
	for (t = tap_threads_newest(); t && t->earlier; t = t->earlier)
		;
	for (; t; t = t->later) {
		if (!t->is_ccl)
			continue;
		emit(t, write);
		++*nr;
	}
	tap_threads_unlock();
}

/* The threads that were made before LTTng was there. */
static void announce(void)
{
	uint32_t nr = 0;

	emit_all(tap_events_table->ccl_thread, &nr);
}

static void write_statedump(struct tap_state_counts *counts)
{
	emit_all(tap_events_table->statedump_ccl_thread, &counts->ccl_threads);
}

static void thread_ends(struct tap_thread *t)
{
	struct tap_guard guard;

	if (!t->is_ccl)
		return;
	tap_metrics_proxy_ends(&t->ccl);
	if (!tap_has_started())
		return;
	guard = tap_guard_set();
	tap_events_table->ccl_thread_end(t);
	tap_guard_clear(guard);
}

const struct tap_layer tap_layer_ccl_threads = {
	.announce = announce,
	.write_statedump = write_statedump,
	.thread_ends = thread_ends,
	.fork_child = fork_child,
};
