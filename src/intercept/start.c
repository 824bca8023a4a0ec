/* SPDX-License-Identifier: MIT */
/* Loads the LTTng half, once, and carries it across forks. */
#include "intercept/start.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/thread.h"
#include "intercept/libraries.h"
#include "intercept/lookup.h"
#include "intercept/process.h"

#define EVENTS_FILE "libccltap-events.so"

const struct tap_events *tap_events_table;

/*
 * NOT_STARTED, the id of the process one of whose threads is starting, ON or OFF.
 * The thread whose exchange succeeds starts, and writes what became of it.  A
 * child of a fork in that time finds its parent's id, and nobody to wait for.
 */
enum { NOT_STARTED = 0, ON = -1, OFF = -2 };
static pid_t state;
/* Calls passed on unrecorded because another thread was starting. */
static uint64_t nr_passed;
/* False in a new process, also one made by fork; set by whoever announces. */
static int announced;

/* Kept between the handlers of one fork, which run in the forking thread. */
static __thread sigset_t fork_mask __attribute__((tls_model("initial-exec")));
static __thread bool fork_guarded __attribute__((tls_model("initial-exec")));

static void fork_prepare(void)
{
	fork_guarded = !tap_thread.in_tracer;
	tap_thread.in_tracer = true;
	tap_events_table->fork_before(&fork_mask);
}

static void fork_parent(void)
{
	tap_events_table->fork_parent(&fork_mask);
	tap_thread.in_tracer = !fork_guarded;
}

static void fork_child(void)
{
	tap_events_table->fork_child(&fork_mask);
	tap_libraries_after_fork();
	__atomic_store_n(&announced, 0, __ATOMIC_RELAXED);
	tap_thread.in_tracer = !fork_guarded;
}

static const struct tap_events *load_events(void)
{
	char path[PATH_MAX];
	const struct tap_events *events;
	void *handle;

	if (tap_library_beside(EVENTS_FILE, path, sizeof(path))) {
		tap_log("start: Cannot tell where libccltap.so is");
		return NULL;
	}
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		tap_log("start: Cannot load %s: %s", path, dlerror());
		return NULL;
	}
	events = tap_real_dlsym(handle, TAP_EVENTS_SYMBOL);
	if (!events || events->version != TAP_EVENTS_VERSION) {
		tap_log("start: %s is of another version than libccltap.so", path);
		return NULL;
	}
	return events;
}

static int start(void)
{
	const struct tap_events *events = load_events();

	if (!events)
		return OFF;
	tap_events_table = events;
	if (pthread_atfork(fork_prepare, fork_parent, fork_child)) {
		tap_log("start: Cannot follow forks: out of memory");
		return OFF;
	}
	return ON;
}

/* The limit is LTTng's own, for a session daemon that does not answer. */
static pid_t wait_for_starter(pid_t self)
{
	const struct timespec pause = {.tv_nsec = 1000 * 1000};
	pid_t seen = self;
	int tries;

	for (tries = 0; tries < 3000 && seen == self; tries++) {
		nanosleep(&pause, NULL);
		seen = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
	}
	return seen;
}

enum tap_started tap_start(void)
{
	const pid_t self = getpid();
	pid_t seen = NOT_STARTED;

	if (__atomic_compare_exchange_n(&state, &seen, self, false, __ATOMIC_ACQUIRE,
					__ATOMIC_ACQUIRE)) {
		seen = start();
		__atomic_store_n(&state, seen, __ATOMIC_RELEASE);
	} else if (seen == self) {
		seen = wait_for_starter(self);
	}
	if (seen == self) {
		/*
		 * The starter may wait for a lock of the dynamic linker that this
		 * thread holds (a call made in a constructor): let it go on.
		 */
		__atomic_fetch_add(&nr_passed, 1, __ATOMIC_RELAXED);
		return TAP_STARTING;
	}
	return seen == ON ? TAP_STARTED : TAP_FAILED;
}

void tap_announce(void)
{
	uint64_t passed;

	if (likely(__atomic_load_n(&announced, __ATOMIC_ACQUIRE)))
		return;
	if (__atomic_exchange_n(&announced, 1, __ATOMIC_ACQ_REL))
		return;
	tap_process_announce();
	tap_libraries_announce();
	passed = __atomic_exchange_n(&nr_passed, 0, __ATOMIC_RELAXED);
	if (passed)
		tap_problem("not recorded", "calls made while another thread started LTTng",
			    passed);
}

void tap_problem(const char *what, const char *detail, uint64_t count)
{
	tap_log("%s: %s (%llu)", what, detail, (unsigned long long) count);
	if (tap_events_table)
		tap_events_table->problem(what, detail, count);
}
