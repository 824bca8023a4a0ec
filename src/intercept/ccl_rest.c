/* SPDX-License-Identifier: MIT */
/*
 * pthread_cond_wait() and sched_yield(): where a thread of a CCL's rests that has nothing
 * to do.  A proxy's progress thread sleeps on a condition variable while no operation is
 * posted, and yields its processor after each look that found nothing to do.  For every
 * other thread both are a test and a jump.
 *
 * std::condition_variable::wait() calls pthread_cond_wait(), too.  Its version is given,
 * since libc has an older one, for condition variables of another layout.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "intercept/ccl_threads.h"
#include "intercept/dl/real.h"
#include "intercept/guard.h"
#include "intercept/metrics.h"
#include "intercept/start.h"
#include "intercept/trace.h"

typedef int (*wait_function)(pthread_cond_t *, pthread_mutex_t *);
typedef int (*yield_function)(void);

static wait_function real_wait;
static yield_function real_yield;

/*
 * Before the other constructors, one of which starts a thread: the linker's lock is not to be
 * taken in a wrapper.
 */
__attribute__((constructor(101))) static void prepare(void)
{
	real_wait = (wait_function) tap_real_dlsym(RTLD_NEXT, "pthread_cond_wait");
	real_yield = (yield_function) tap_real_dlsym(RTLD_NEXT, "sched_yield");
}

static void write_now(bool is_asleep)
{
	struct tap_thread *t = &tap_thread;
	struct tap_guard guard;

	__atomic_store_n(&t->ccl.is_asleep, is_asleep, __ATOMIC_RELAXED);
	tap_metrics_proxy_rests(&t->ccl, is_asleep);
	if (!tap_has_started())
		return;
	guard = tap_guard_set();
	tap_announce();
	if (is_asleep)
		tap_events_table->ccl_thread_sleep(t);
	else
		tap_events_table->ccl_thread_wake(t);
	tap_guard_clear(guard);
}

/* A thread that is cancelled in the wait does not wake. */
tap_apart static int wait_traced(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	int error;

	tap_thread_does(TAP_THREAD_SLEEP);
	write_now(true);
	error = real_wait(cond, mutex);
	write_now(false);
	return error;
}

tap_exported int tap_libc_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
tap_exported int tap_libc_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	if (unlikely(!real_wait))
		prepare();
	if (tap_thread_is_ccls() && !tap_thread.in_tracer)
		return wait_traced(cond, mutex);
	return real_wait(cond, mutex);
}
__asm__(".symver tap_libc_cond_wait, pthread_cond_wait@@" TAP_COND_WAIT_VERSION);

tap_exported int sched_yield(void)
{
	struct tap_thread *t = &tap_thread;

	if (unlikely(!real_yield))
		return (int) syscall(SYS_sched_yield);
	if (tap_thread_is_ccls() && !t->in_tracer) {
		__atomic_store_n(&t->ccl.yields, t->ccl.yields + 1, __ATOMIC_RELAXED);
		if (unlikely(!(t->ccl.yields % TAP_METRICS_YIELDS)))
			tap_metrics_proxy_yields(&t->ccl);
		if (unlikely(!(t->ccl.does & TAP_THREAD_YIELD)))
			tap_thread_does(TAP_THREAD_YIELD);
	}
	return real_yield();
}
