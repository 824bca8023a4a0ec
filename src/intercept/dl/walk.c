/* SPDX-License-Identifier: MIT */
/* dl_iterate_phdr() under a lock that forks wait for. */
#include "intercept/dl/walk.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "intercept/layer.h"

/* In the order of layers.c: no thread waits for it while holding a lock of the linker. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
/* Set in the forking thread, between the handlers of one fork. */
static __thread bool held_for_fork __attribute__((tls_model("initial-exec")));

int tap_walk(int (*each)(struct dl_phdr_info *info, size_t size, void *data), void *data)
{
	int result;

	pthread_mutex_lock(&lock);
	result = dl_iterate_phdr(each, data);
	pthread_mutex_unlock(&lock);
	return result;
}

/* No thread walks during a fork, unless a walk takes over a second. */
static void fork_prepare(void)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec++;
	held_for_fork = !pthread_mutex_timedlock(&lock, &limit);
}

static void fork_parent(void)
{
	if (held_for_fork)
		pthread_mutex_unlock(&lock);
}

/* The child's thread has another id than the owner had, so it cannot unlock. */
static void fork_child(void)
{
	lock = (pthread_mutex_t) PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

const struct tap_layer tap_layer_walk = {
	.fork_prepare = fork_prepare,
	.fork_parent = fork_parent,
	.fork_child = fork_child,
};
