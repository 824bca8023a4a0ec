/* SPDX-License-Identifier: MIT */
/* Looks with the lock of threads.c, writes without it. */
#include "intercept/housekeeping.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "common/thread.h"
#include "intercept/start.h"
#include "intercept/threads.h"

/* LTTng's own need, and what a program may have of thread storage. */
#define STACK_BYTES (256 << 10)

/* At one look; the rest is told at the next one. */
#define NR_SEEN 64

static void look(void)
{
	static struct tap_thread_seen seen[NR_SEEN];
	const uint32_t nr = tap_threads_look(0, seen, NR_SEEN);
	uint32_t i;

	for (i = 0; i < nr; i++)
		if (seen[i].is_due)
			tap_events_table->open_call(&seen[i].state);
}

static void *keep_house(void *unused)
{
	const struct timespec often = {.tv_sec = 1}, seldom = {.tv_sec = 5};
	bool is_wanted;

	tap_thread.in_tracer = true;
	prctl(PR_SET_NAME, "ccltap");
	for (;;) {
		is_wanted =
			__atomic_load_n(tap_events_table->open_call_on, __ATOMIC_RELAXED);
		if (is_wanted)
			look();
		clock_nanosleep(CLOCK_MONOTONIC, 0, is_wanted ? &often : &seldom, NULL);
	}
	return unused;
}

void tap_housekeeping_start(void)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int error;

	error = pthread_attr_init(&attr);
	if (!error) {
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		pthread_attr_setstacksize(&attr, STACK_BYTES);
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		error = pthread_create(&thread, &attr, keep_house, NULL);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		pthread_attr_destroy(&attr);
	}
	if (error)
		tap_problem("not recorded", "calls that are open for long: no thread", 1);
}
