/* SPDX-License-Identifier: MIT */
/* Threads: many at once, and what ends one, or all of them, in the midst of a call. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "moment.h"

int ncclGroupStart(void);
int ncclGroupEnd(void);
extern int slow_go;

#define NR_THREADS 64

static pthread_barrier_t start;

static void *call_often(void *failed)
{
	int i;

	pthread_barrier_wait(&start);
	for (i = 0; i < 200; i++) {
		*(int *) failed += outcome();
		*(int *) failed += ncclGroupStart() || errno != 103;
		*(int *) failed += ncclGroupEnd() || errno != 104;
	}
	return failed;
}

static void all_at_once(void)
{
	int failed[NR_THREADS] = {0}, sum = 0, i;
	pthread_t threads[NR_THREADS];

	slow_go = 1;
	pthread_barrier_init(&start, NULL, NR_THREADS);
	for (i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, call_often, &failed[i]);
	for (i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += failed[i];
	}
	printf("failed %d\n", sum);
}

/* The first call of 64 threads is the first of the process, again and again. */
static void first_at_once(void)
{
	int i;

	for (i = 0; i < 5; i++) {
		const pid_t child = fork();

		if (!child) {
			all_at_once();
			exit(0);
		}
		wait_for("child", child);
	}
}

static void *call_once(void *failed)
{
	*(int *) failed += outcome();
	return failed;
}

static void short_lives(void)
{
	int failed = 0, i;
	pthread_t thread;

	for (i = 0; i < 2000; i++)
		if (pthread_create(&thread, NULL, call_once, &failed) ||
		    pthread_join(thread, NULL))
			failed++;
	printf("failed %d\n", failed);
}

static void cleaned_up(void *unused)
{
	(void) unused;
	printf("cleaned up\n");
	call("cleaning up");
}

static void *be_cancelled(void *unused)
{
	pthread_cleanup_push(cleaned_up, NULL);
	ncclGroupStart();
	pthread_cleanup_pop(0);
	printf("not cancelled\n");
	return unused;
}

/* In the midst of the real call, where the program could be cancelled without us too. */
static void cancel(void)
{
	pthread_t thread;
	void *result = NULL;

	pthread_create(&thread, NULL, be_cancelled, NULL);
	usleep(100000);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	printf("cancelled %d\n", result == PTHREAD_CANCELED);
	call("after");
}

static void *be_cancelled_anywhere(void *nr_calls)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;) {
		outcome();
		__atomic_fetch_add((int *) nr_calls, 1, __ATOMIC_RELAXED);
	}
	return nr_calls;
}

/*
 * Where it was held back until we were done, some glibc (2.36) gives the thread's
 * result as NULL; so only that it ends is looked at.
 */
static void cancel_anywhere(void)
{
	int nr_calls = 0, ended = 0, i;
	pthread_t thread;

	call("before");
	for (i = 0; i < 200; i++) {
		pthread_create(&thread, NULL, be_cancelled_anywhere, &nr_calls);
		usleep((useconds_t) (i * 7 % 400));
		pthread_cancel(thread);
		ended += !pthread_join(thread, NULL);
	}
	printf("ended %d\n", ended);
	call("after");
}

static pthread_key_t key;
static int failed_at_end;

/* As often as libc asks, so after everybody else's too. */
static void call_at_end(void *value)
{
	failed_at_end += outcome();
	pthread_setspecific(key, value);
}

static void *end_with_data(void *value)
{
	pthread_setspecific(key, value);
	return value;
}

static void *call_and_end_with_data(void *value)
{
	failed_at_end += outcome();
	return end_with_data(value);
}

static void specific_data(void)
{
	pthread_t thread;
	int i;

	pthread_key_create(&key, call_at_end);
	for (i = 0; i < 100; i++) {
		pthread_create(&thread, NULL,
			       i % 2 ? call_and_end_with_data : end_with_data, &key);
		pthread_join(thread, NULL);
	}
	printf("failed %d\n", failed_at_end);
	call("after");
}

static void *call_for_ever(void *unused)
{
	for (;; usleep(10))
		outcome();
	return unused;
}

static void begin_for_ever(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&thread, NULL, call_for_ever, NULL);
	usleep(20000);
}

/* The process ends while others call, in each way that it can. */
static void end_of_all(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		const pid_t child = fork();

		if (!child) {
			alarm(20);
			begin_for_ever();
			if (i % 4 == 0)
				exit(9);
			if (i % 4 == 1)
				quick_exit(10);
			if (i % 4 == 2)
				_exit(11);
			pthread_exit(NULL);
		}
		if (i % 4 == 3) {
			usleep(50000);
			kill(child, SIGKILL);
		}
		wait_for("child", child);
	}
}

static void *call_without_pause(void *unused)
{
	for (;;)
		outcome();
	return unused;
}

/* What LTTng takes away as the process ends, a thread may be about to use. */
static void ends_in_a_call(void)
{
	int i, t;

	for (i = 0; i < 30; i++) {
		const pid_t child = fork();
		pthread_t thread;

		if (!child) {
			for (t = 0; t < 4; t++)
				pthread_create(&thread, NULL, call_without_pause, NULL);
			usleep(5000);
			exit(9);
		}
		wait_for("child", child);
	}
}

static void *outlive(void *main_thread)
{
	pthread_join(*(pthread_t *) main_thread, NULL);
	call("last");
	exit(12);
}

static void outlived(void)
{
	static pthread_t self;
	pthread_t thread;

	self = pthread_self();
	call("first");
	pthread_create(&thread, NULL, outlive, &self);
	pthread_exit(NULL);
}

int main(int argc, char **argv)
{
	static const struct moment moments[] = {
		{"all-at-once", all_at_once},
		{"first-at-once", first_at_once},
		{"short-lives", short_lives},
		{"cancel", cancel},
		{"cancel-anywhere", cancel_anywhere},
		{"specific-data", specific_data},
		{"end-of-all", end_of_all},
		{"ends-in-a-call", ends_in_a_call},
		{"outlived", outlived},
	};

	return RUN_MOMENT(argc, argv);
}
