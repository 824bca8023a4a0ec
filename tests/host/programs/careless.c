/* SPDX-License-Identifier: MIT */
/*
 * Stands for an allocator that does not see to its lock around a fork, as a sanitizer's
 * may: each thread holds that for a while as it begins, and as it ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

bool careless_is_free(void);
bool careless_is_idle(void);

struct start {
	void *(*run)(void *);
	void *data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int at_work;

static void work(void)
{
	__atomic_fetch_add(&at_work, 1, __ATOMIC_ACQ_REL);
	pthread_mutex_lock(&lock);
	usleep(10000);
	pthread_mutex_unlock(&lock);
	__atomic_fetch_sub(&at_work, 1, __ATOMIC_ACQ_REL);
}

static void *begin_and_end(void *data)
{
	struct start start = *(struct start *) data;
	void *result;

	free(data);
	work();
	result = start.run(start.data);
	work();
	return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
		   void *data)
{
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*) (void *), void *);
	struct start *start = malloc(sizeof(*start));

	*(void **) &next = dlsym(RTLD_NEXT, "pthread_create");
	*start = (struct start){.run = run, .data = data};
	return next(thread, attr, begin_and_end, start);
}

/* Whether no thread has the lock or wants it. */
bool careless_is_idle(void)
{
	return !__atomic_load_n(&at_work, __ATOMIC_ACQUIRE);
}

/* Whether the lock can be had, within two seconds. */
bool careless_is_free(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 2;
	if (pthread_mutex_timedlock(&lock, &until))
		return false;
	pthread_mutex_unlock(&lock);
	return true;
}
