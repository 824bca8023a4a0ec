/* SPDX-License-Identifier: MIT */
/* Who is waited for when the gate of events is shut, and who is refused. */
#include "common/gate.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/thread.h"
#include "unit/tap.h"

struct tap_comm {
	int unused;
};
struct tap_comm tap_no_comm;

/* A thread that writes one event for as long as it is told to, and says when it did. */
struct writer {
	pthread_t thread;
	int stay_us; /* -1: until it is told to leave */
	sem_t is_in, may_leave;
	int has_left;
};

static void *write_event(void *data)
{
	struct writer *w = data;
	uint32_t *nr_events = tap_gate_enter(&tap_gate);

	sem_post(&w->is_in);
	if (w->stay_us < 0)
		sem_wait(&w->may_leave);
	else
		usleep((useconds_t) w->stay_us);
	__atomic_store_n(&w->has_left, 1, __ATOMIC_RELEASE);
	tap_gate_leave(&tap_gate, nr_events);
	return NULL;
}

static void begin(struct writer *w, int stay_us)
{
	w->stay_us = stay_us;
	w->has_left = 0;
	sem_init(&w->is_in, 0, 0);
	sem_init(&w->may_leave, 0, 0);
	pthread_create(&w->thread, NULL, write_event, w);
	sem_wait(&w->is_in);
}

static void end(struct writer *w)
{
	sem_post(&w->may_leave);
	pthread_join(w->thread, NULL);
}

static bool has_left(const struct writer *w)
{
	return __atomic_load_n(&w->has_left, __ATOMIC_ACQUIRE);
}

static bool is_refused(void)
{
	uint32_t *nr_events = tap_gate_enter(&tap_gate);

	if (nr_events)
		tap_gate_leave(&tap_gate, nr_events);
	return !nr_events;
}

static bool is_not_prepared(void)
{
	return !tap_gate_shut();
}

static bool waits_for_an_event(void)
{
	bool is_passed = true;
	struct writer w;

	begin(&w, 5000);
	errno = 7;
	CHECK(tap_gate_shut());
	CHECK(errno == 7);
	CHECK(has_left(&w));
	CHECK(tap_gate_open() == 0);
	end(&w);
	return is_passed;
}

static bool gives_up(void)
{
	bool is_passed = true;
	struct writer w;
	int64_t begin_ns;

	begin(&w, -1);
	begin_ns = tap_now_ns();
	CHECK(tap_gate_shut());
	CHECK(tap_now_ns() - begin_ns >= TAP_SECOND_NS / 50);
	CHECK(!has_left(&w));
	tap_gate_open();
	end(&w);
	return is_passed;
}

static bool refuses_what_comes_after(void)
{
	bool is_passed = true;

	CHECK(!is_refused());
	CHECK(tap_gate_shut());
	CHECK(is_refused());
	CHECK(is_refused());
	/* Another thread tries to leave as well. */
	CHECK(tap_gate_shut());
	CHECK(tap_gate_open() == 2);
	CHECK(is_refused());
	CHECK(tap_gate_open() == 1);
	CHECK(!is_refused());
	return is_passed;
}

/* The least of some: the machine may have been busy in one of them. */
static bool does_not_wait(void)
{
	int64_t begin_ns, min_ns = INT64_MAX;
	int i;

	for (i = 0; i < 20; i++) {
		begin_ns = tap_now_ns();
		if (!tap_gate_shut())
			return false;
		if (tap_now_ns() - begin_ns < min_ns)
			min_ns = tap_now_ns() - begin_ns;
		tap_gate_open();
	}
	return min_ns < TAP_SECOND_NS / 50;
}

/* A signal's handler ends the process in the midst of an event of the same thread. */
static bool does_not_wait_for_itself(void)
{
	bool is_passed = true;
	uint32_t *nr_events = tap_gate_enter(&tap_gate);

	CHECK(nr_events);
	CHECK(does_not_wait());
	tap_gate_leave(&tap_gate, nr_events);
	return is_passed;
}

/* More threads than there are places, at once and one after the other. */
#define NR_WRITERS 600

static bool knows_a_crowd(void)
{
	static struct writer w[NR_WRITERS];
	bool is_passed = true;
	int i;

	for (i = 0; i < NR_WRITERS; i++)
		begin(&w[i], -1);
	for (i = 0; i < NR_WRITERS - 1; i++)
		end(&w[i]);
	CHECK(tap_gate_shut());
	CHECK(!has_left(&w[i]));
	tap_gate_open();
	end(&w[i]);
	/* All of them have gone: who comes now has a word of its own again. */
	begin(&w[0], 5000);
	CHECK(tap_gate.nr_crowd == 0);
	CHECK(tap_gate_shut());
	CHECK(has_left(&w[0]));
	tap_gate_open();
	end(&w[0]);
	return is_passed;
}

static int status_of(pid_t child)
{
	int status = -1;

	return waitpid(child, &status, 0) == child ? status : -1;
}

/* It has no other thread, whatever these did when it was made. */
static bool child_waits_for_nobody(void)
{
	bool is_passed = true;
	struct writer w;
	pid_t child;

	begin(&w, -1);
	child = fork();
	if (!child) {
		tap_gate_fork_child();
		_exit(does_not_wait() && tap_gate_shut() && is_refused() ? 0 : 1);
	}
	CHECK(status_of(child) == 0);
	end(&w);
	return is_passed;
}

static pid_t shut_in_child(bool *ret_was_shut)
{
	const pid_t child = vfork();

	if (!child) {
		*ret_was_shut = tap_gate_shut();
		_exit(0);
	}
	return child;
}

/* vfork(), as the shell and Python's subprocess have it: the child shares our memory. */
static bool child_that_shares_shuts_nothing(void)
{
	static bool was_shut = true;
	bool is_passed = true;

	CHECK(status_of(shut_in_child(&was_shut)) == 0);
	CHECK(!was_shut);
	CHECK(!is_refused());
	return is_passed;
}

int main(void)
{
	report("one that was not prepared is not shut", is_not_prepared);
	tap_gate_prepare();
	report("an event that is under way is waited for", waits_for_an_event);
	report("for 20 ms at most", gives_up);
	report("none begins after that, until the gate is open again",
	       refuses_what_comes_after);
	report("a thread does not wait for itself", does_not_wait_for_itself);
	report("more threads than there are places are known", knows_a_crowd);
	report("a child of a fork waits for nobody", child_waits_for_nobody);
	report("a child that shares the memory shuts nothing",
	       child_that_shares_shuts_nothing);
	printf("1..%u\n", tap_number);
	return 0;
}
