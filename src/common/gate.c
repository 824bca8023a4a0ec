/* SPDX-License-Identifier: MIT */
/*
 * Each thread takes one of a fixed number of words at its first event and keeps it;
 * another thread takes over the word of a thread that is gone.  The words are no part of
 * the threads' own storage, since the thread that shuts the gate could not tell whether
 * that still exists.
 */
#include "common/gate.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/barrier.h"
#include "common/clock.h"
#include "common/thread.h"

#define NR_PLACES 512
#define PATIENCE_NS (20 * TAP_SECOND_NS / 1000)

static struct place {
	uint32_t nr_events; /* nested where a signal handler writes an event */
	pid_t tid;	    /* 0: free */
} __attribute__((aligned(64))) places[NR_PLACES];

static unsigned next;	  /* the place to try first */
static unsigned nr_known; /* places before this one have been taken */
static pid_t process;	  /* the gate's owner; a child that shares the memory has
			   * another id */

static uint32_t *enter_slowly(void);
static void leave_crowd(void);

struct tap_gate tap_gate = {.enter_slowly = enter_slowly, .leave_slowly = leave_crowd};

static void know(unsigned nr)
{
	unsigned known = __atomic_load_n(&nr_known, __ATOMIC_RELAXED);

	while (known < nr &&
	       !__atomic_compare_exchange_n(&nr_known, &known, nr, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

static struct place *take_place(void)
{
	const pid_t self = (pid_t) syscall(SYS_gettid);
	unsigned tries, i;
	pid_t before;

	for (tries = 0; tries < NR_PLACES; tries++) {
		i = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % NR_PLACES;
		before = __atomic_load_n(&places[i].tid, __ATOMIC_RELAXED);
		if (before && !tap_thread_is_gone(before))
			continue;
		if (!__atomic_compare_exchange_n(&places[i].tid, &before, self, false,
						 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&places[i].nr_events, 0, __ATOMIC_RELAXED);
		know(i + 1);
		return &places[i];
	}
	return NULL;
}

static void add_to_crowd(uint32_t what)
{
	tap_thread.nr_crowd_events += what;
	__atomic_fetch_add(&tap_gate.nr_crowd, what, __ATOMIC_SEQ_CST);
}

static void leave_crowd(void)
{
	add_to_crowd(UINT32_MAX);
}

/* Enters at a thread's first event, and at each event of a thread without a place. */
static uint32_t *enter_slowly(void)
{
	const int saved = errno;
	struct place *place = tap_thread.is_crowded ? NULL : take_place();

	errno = saved;
	if (!place) {
		tap_thread.is_crowded = true;
		add_to_crowd(1);
		return &tap_gate.nr_crowd;
	}
	__atomic_store_n(&place->nr_events, 1, __ATOMIC_SEQ_CST);
	tap_thread.nr_events = &place->nr_events;
	return &place->nr_events;
}

void tap_gate_prepare(void)
{
	tap_gate.nr_events_at = (char *) &tap_thread.nr_events - tap_thread_pointer();
	__atomic_store_n(&process, getpid(), __ATOMIC_RELEASE);
}

/* Whether a thread other than this one writes an event. */
static bool is_one_under_way(void)
{
	const unsigned nr = __atomic_load_n(&nr_known, __ATOMIC_SEQ_CST);
	const struct place *place;

	for (place = places; place < places + nr; place++)
		if (&place->nr_events != tap_thread.nr_events &&
		    __atomic_load_n(&place->nr_events, __ATOMIC_ACQUIRE))
			return true;
	return __atomic_load_n(&tap_gate.nr_crowd, __ATOMIC_ACQUIRE) !=
	       tap_thread.nr_crowd_events;
}

/* Unlike nanosleep(), no cancellation point. */
static void rest(long ns)
{
	const struct timespec time = {.tv_nsec = ns};

	syscall(SYS_nanosleep, &time, NULL);
}

/* Yields at first, since most events take less than a microsecond. */
static void wait_for_events(void)
{
	const int64_t until_ns = tap_now_ns() + PATIENCE_NS;
	int tries;

	for (tries = 0; is_one_under_way() && tap_now_ns() < until_ns; tries++) {
		if (tries < 20)
			sched_yield();
		else
			rest(50 * 1000);
	}
}

bool tap_gate_shut(void)
{
	const int saved = errno;

	if (__atomic_load_n(&process, __ATOMIC_ACQUIRE) != getpid())
		return false;
	__atomic_fetch_add(&tap_gate.nr_shut, 1, __ATOMIC_SEQ_CST);
	/* Without a barrier, wait far longer than a processor keeps a store to itself. */
	if (!tap_barrier())
		rest(1000 * 1000);
	wait_for_events();
	errno = saved;
	return true;
}

uint64_t tap_gate_open(void)
{
	__atomic_fetch_sub(&tap_gate.nr_shut, 1, __ATOMIC_SEQ_CST);
	return __atomic_exchange_n(&tap_gate.nr_refused, 0, __ATOMIC_RELAXED);
}

void tap_gate_fork_child(void)
{
	struct place *place;

	tap_gate.nr_shut = 0;
	tap_gate.nr_refused = 0;
	tap_gate.nr_crowd = tap_thread.nr_crowd_events;
	for (place = places; place < places + nr_known; place++) {
		if (&place->nr_events == tap_thread.nr_events)
			place->tid = (pid_t) syscall(SYS_gettid);
		else
			*place = (struct place){0};
	}
	if (process)
		process = getpid();
}
