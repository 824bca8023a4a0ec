/* SPDX-License-Identifier: MIT */
/* A few places, each for one thread: looked at without a lock, given away under it. */
#include "common/helper.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/lock.h"
#include "common/thread.h"

#define NR_HELPERS 8
#define PATIENCE_NS (TAP_SECOND_NS / 10)

enum { NONE, MOVING, LASTING };

static struct helper {
	int state;
	pid_t tid; /* 0 until it runs */
	void *(*run)(void *);
	void *data;
} helpers[NR_HELPERS];

static struct tap_lock places;

/* The kernel is the last to see a thread. */
static bool is_gone(const struct helper *helper)
{
	const pid_t tid = __atomic_load_n(&helper->tid, __ATOMIC_ACQUIRE);

	return tid && syscall(SYS_tgkill, getpid(), tid, 0) && errno == ESRCH;
}

static bool is_moving(const struct helper *helper)
{
	return __atomic_load_n(&helper->state, __ATOMIC_ACQUIRE) == MOVING &&
	       !is_gone(helper);
}

static struct helper *place(void *(*run)(void *), void *data)
{
	struct helper *helper, *found = NULL;

	if (!tap_lock_take(&places))
		return NULL;
	for (helper = helpers; helper < helpers + NR_HELPERS && !found; helper++)
		if (helper->state == NONE || is_gone(helper))
			found = helper;
	if (found) {
		found->run = run;
		found->data = data;
		__atomic_store_n(&found->tid, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&found->state, MOVING, __ATOMIC_RELEASE);
	}
	tap_lock_drop(&places);
	return found;
}

static void *run_helper(void *data)
{
	struct helper *self = data;

	tap_thread.in_tracer = true;
	__atomic_store_n(&self->tid, (pid_t) syscall(SYS_gettid), __ATOMIC_RELEASE);
	self->run(self->data);
	__atomic_store_n(&self->state, MOVING, __ATOMIC_RELEASE);
	return NULL;
}

static int make(struct helper *helper, size_t stack_bytes)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int error;

	error = pthread_attr_init(&attr);
	if (error)
		return error;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, stack_bytes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attr, run_helper, helper);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return error;
}

int tap_helper_make(void *(*run)(void *), void *data, size_t stack_bytes)
{
	struct helper *helper = place(run, data);
	int error;

	if (!helper)
		return EAGAIN;
	error = make(helper, stack_bytes);
	if (error)
		__atomic_store_n(&helper->state, NONE, __ATOMIC_RELEASE);
	return error;
}

void tap_helper_lasts(void)
{
	const pid_t self = (pid_t) syscall(SYS_gettid);
	struct helper *helper;

	for (helper = helpers; helper < helpers + NR_HELPERS; helper++)
		if (__atomic_load_n(&helper->tid, __ATOMIC_ACQUIRE) == self)
			__atomic_store_n(&helper->state, LASTING, __ATOMIC_RELEASE);
}

/*
 * By turns at first: it takes microseconds.  Whom we have waited for in vain, as one that
 * itself waits for a lock of the thread that forks, no other fork waits for.
 */
static void wait_for(struct helper *helper, int64_t until_ns)
{
	const struct timespec pause = {.tv_nsec = 100 * 1000};
	int tries;

	for (tries = 0; is_moving(helper); tries++) {
		if (tries < 100)
			sched_yield();
		else
			nanosleep(&pause, NULL);
		if (tap_now_ns() > until_ns) {
			__atomic_store_n(&helper->state, LASTING, __ATOMIC_RELEASE);
			return;
		}
	}
}

void tap_helpers_settle(void)
{
	const int64_t until_ns = tap_now_ns() + PATIENCE_NS;
	const pid_t self = (pid_t) syscall(SYS_gettid);
	struct helper *helper;

	for (helper = helpers; helper < helpers + NR_HELPERS; helper++)
		if (__atomic_load_n(&helper->tid, __ATOMIC_ACQUIRE) != self)
			wait_for(helper, until_ns);
}

void tap_helpers_fork_child(void)
{
	memset(helpers, 0, sizeof(helpers));
	memset(&places, 0, sizeof(places));
}
