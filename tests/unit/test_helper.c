/* SPDX-License-Identifier: MIT */
/* Whom a fork waits for: helpers that begin, work and end, and none that rests. */
#include "common/helper.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/thread.h"
#include "unit/tap.h"

#define STACK_BYTES (256 << 10)
#define WORK_US 20000

struct tap_comm {
	int unused;
};
struct tap_comm tap_no_comm;

static pthread_key_t key;
static int at_work, works, ends, is_over, is_gone;
static bool is_right;

static int get(const int *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static void add(int *at, int what)
{
	__atomic_fetch_add(at, what, __ATOMIC_ACQ_REL);
}

static void work(void)
{
	add(&at_work, 1);
	usleep(WORK_US);
	add(&at_work, -1);
	add(&works, 1);
}

/* The last of a thread that a program can see. */
static void end(void *unused)
{
	(void) unused;
	usleep(WORK_US);
	add(&ends, 1);
}

static void *work_and_end(void *data)
{
	sigset_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	is_right = data == &key && tap_thread.in_tracer && sigismember(&mask, SIGUSR1) &&
		   sigismember(&mask, SIGTERM);
	pthread_setspecific(key, &key);
	work();
	return NULL;
}

static void *work_and_rest(void *unused)
{
	while (!get(&is_over)) {
		work();
		tap_helper_rest(TAP_SECOND_NS / 1000);
	}
	__atomic_store_n(&is_gone, 1, __ATOMIC_RELEASE);
	return unused;
}

static void *rest(void *unused)
{
	while (!get(&is_over))
		tap_helper_rest(TAP_SECOND_NS / 100);
	return unused;
}

/* As one that waits for what the thread has that forks. */
static void *stay(void *unused)
{
	while (!get(&is_over))
		usleep(1000);
	return unused;
}

static void begin(void)
{
	works = ends = is_over = is_gone = 0;
}

/* All are gone after it. */
static void finish(void)
{
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	tap_helpers_settle();
	usleep(5 * WORK_US);
	tap_helpers_settle();
}

static bool waits_for_beginning_and_end(void)
{
	bool is_passed = true;
	sigset_t before, after;

	begin();
	sigemptyset(&before);
	pthread_sigmask(SIG_BLOCK, NULL, &before);
	CHECK(!tap_helper_make(work_and_end, &key, STACK_BYTES));
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	CHECK(sigismember(&before, SIGUSR1) == sigismember(&after, SIGUSR1));
	tap_helpers_settle();
	CHECK(is_right);
	CHECK(get(&works) == 1);
	CHECK(get(&ends) == 1);
	return is_passed;
}

static bool is_waited_for(void)
{
	bool is = true;
	int i;

	begin();
	if (tap_helper_make(work_and_rest, NULL, STACK_BYTES))
		return false;
	for (i = 0; is && i < 10; i++) {
		const int before = get(&works);

		while (!get(&at_work))
			usleep(100);
		tap_helpers_settle();
		is = get(&works) > before;
	}
	finish();
	while (!get(&is_gone))
		usleep(1000);
	return is;
}

/*
 * On a busy machine a thread may get no processor for as long as it is waited for: then
 * once more.
 */
static bool waits_for_what_wakes(void)
{
	bool is_passed = true, is = false;
	int i;

	for (i = 0; !is && i < 10; i++)
		is = is_waited_for();
	CHECK(is);
	return is_passed;
}

/* More than there are places, one after the other. */
static bool places_are_given_again(void)
{
	bool is_passed = true;
	int i;

	begin();
	for (i = 0; i < 20; i++) {
		CHECK(!tap_helper_make(work_and_end, &key, STACK_BYTES));
		tap_helpers_settle();
	}
	CHECK(get(&ends) == 20);
	return is_passed;
}

static bool too_many_are_refused(void)
{
	bool is_passed = true;
	int made = 0;

	begin();
	while (made < 100 && !tap_helper_make(rest, NULL, STACK_BYTES))
		made++;
	CHECK(made > 3 && made < 100);
	CHECK(tap_helper_make(rest, NULL, STACK_BYTES) == EAGAIN);
	finish();
	CHECK(!tap_helper_make(work_and_end, &key, STACK_BYTES));
	tap_helpers_settle();
	CHECK(get(&ends) == 1);
	return is_passed;
}

/* A wait that is in vain ends; who waits for it again is not held up, or 200 times would
 * be longer than a test may take. */
static bool does_not_wait_for_ever(void)
{
	bool is_passed = true;
	int i;

	begin();
	CHECK(!tap_helper_make(stay, NULL, STACK_BYTES));
	for (i = 0; i < 200; i++)
		tap_helpers_settle();
	CHECK(!get(&is_over));
	finish();
	return is_passed;
}

static bool child_has_none(void)
{
	bool is_passed = true;
	int status = -1;
	pid_t child;

	begin();
	while (!tap_helper_make(rest, NULL, STACK_BYTES))
		;
	tap_helpers_settle();
	child = fork();
	if (!child) {
		tap_helpers_fork_child();
		tap_helpers_settle();
		if (tap_helper_make(work_and_end, &key, STACK_BYTES))
			_exit(1);
		tap_helpers_settle();
		_exit(get(&ends) == 1 ? 0 : 2);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(status == 0);
	finish();
	return is_passed;
}

int main(void)
{
	pthread_key_create(&key, end);
	report("a helper that begins and ends is waited for",
	       waits_for_beginning_and_end);
	report("one that works is, until it rests", waits_for_what_wakes);
	report("places are given again", places_are_given_again);
	report("too many are refused, until they are gone", too_many_are_refused);
	report("one that does not rest is not waited for again", does_not_wait_for_ever);
	report("a child has none, and can make one", child_has_none);
	printf("1..%u\n", tap_number);
	return 0;
}
