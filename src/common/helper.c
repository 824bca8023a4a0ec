/* SPDX-License-Identifier: MIT */
/* A few places, one for each thread: read without a lock, assigned under it. */
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
#define PATIENCE_NS (TAP_SECOND_NS / 2)

/*
 * RESTING also stands for a thread that is gone or that a fork waited for in vain, so
 * that no other fork waits for it.
 */
enum { NONE, MOVING, RESTING };

static struct helper {
	int state;
	pid_t tid; /* 0 until the thread runs */
	void *(*run)(void *);
	void *data;
} helpers[NR_HELPERS];

static struct tap_lock places;

/* The place of the calling thread; NULL in a thread of the program's. */
static __thread struct helper *self __attribute__((tls_model("initial-exec")));

static bool is_gone(const struct helper *helper)
{
	const pid_t tid = __atomic_load_n(&helper->tid, __ATOMIC_ACQUIRE);

	return tid && tap_thread_is_gone(tid);
}

static struct helper *place(void *(*run)(void *), void *data)
{
	struct helper *helper, *found = NULL;

	if (!tap_lock_take(&places))
		return NULL;
	for (helper = helpers; helper < helpers + NR_HELPERS && !found; helper++)
		if (__atomic_load_n(&helper->state, __ATOMIC_ACQUIRE) == NONE ||
		    is_gone(helper))
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
	self = data;
	tap_thread.in_tracer = true;
	__atomic_store_n(&self->tid, (pid_t) syscall(SYS_gettid), __ATOMIC_RELEASE);
	self->run(self->data);
	__atomic_store_n(&self->state, MOVING, __ATOMIC_RELEASE);
	return NULL;
}

static int make(struct helper *helper, size_t stack_bytes)
{
	pthread_attr_t attr;
	pthread_t thread;
	int error;

	error = pthread_attr_init(&attr);
	if (error)
		return error;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, stack_bytes);
	error = pthread_create(&thread, &attr, run_helper, helper);
	pthread_attr_destroy(&attr);
	return error;
}

/* Signals are blocked, so that no handler forks or jumps away in between. */
int tap_helper_make(void *(*run)(void *), void *data, size_t stack_bytes)
{
	struct helper *helper;
	sigset_t all, before;
	int error = EAGAIN;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	helper = place(run, data);
	if (helper) {
		error = make(helper, stack_bytes);
		if (error)
			__atomic_store_n(&helper->state, NONE, __ATOMIC_RELEASE);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

void tap_helper_rest(int64_t ns)
{
	const struct timespec time = {.tv_sec = ns / TAP_SECOND_NS,
				      .tv_nsec = ns % TAP_SECOND_NS};

	__atomic_store_n(&self->state, RESTING, __ATOMIC_RELEASE);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
	__atomic_store_n(&self->state, MOVING, __ATOMIC_RELEASE);
}

/* Yields at first, since most waits take microseconds. */
static void wait_for(struct helper *helper, int64_t until_ns)
{
	const struct timespec pause = {.tv_nsec = 100 * 1000};
	int state, tries;

	for (tries = 0;; tries++) {
		state = __atomic_load_n(&helper->state, __ATOMIC_ACQUIRE);
		if (state != MOVING)
			return;
		if (is_gone(helper) || tap_now_ns() > until_ns)
			break;
		if (tries < 100)
			sched_yield();
		else
			nanosleep(&pause, NULL);
	}
	__atomic_compare_exchange_n(&helper->state, &state, RESTING, false,
				    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

void tap_helpers_settle(void)
{
	const int64_t until_ns = tap_now_ns() + PATIENCE_NS;
	struct helper *helper;

	for (helper = helpers; helper < helpers + NR_HELPERS; helper++)
		wait_for(helper, until_ns);
}

void tap_helpers_fork_child(void)
{
	memset(helpers, 0, sizeof(helpers));
	memset(&places, 0, sizeof(places));
}
