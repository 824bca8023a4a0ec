/* SPDX-License-Identifier: MIT */
/*
 * A program with threads of its own and a NCCL that makes threads: threads ROUNDS.
 *
 * Each round makes two communicators, of one rank each, the second of which does not
 * block, an operation on each, and ends them.  The program also checks for itself that
 * its own threads are what it asks for: their attributes, what they return, that they can
 * be cancelled, and the error when they cannot be made; and that errno is left alone.
 *
 * With THREADS_GATE=FILE it makes FILE.here when all threads are there, and goes on once
 * FILE is there.
 */
#include <nccl.h>

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int bad;

static void check(int holds, const char *what)
{
	if (!holds)
		printf("not so: %s\n", what);
	bad |= !holds;
}

static void *measure(void *unused)
{
	pthread_attr_t attr;
	size_t size = 0;

	(void) unused;
	if (!pthread_getattr_np(pthread_self(), &attr))
		pthread_attr_getstacksize(&attr, &size);
	pthread_attr_destroy(&attr);
	return (void *) size;
}

static void unlock(void *mutex)
{
	pthread_mutex_unlock(mutex);
}

static void *wait_for_ever(void *mutex)
{
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(mutex);
	pthread_cleanup_push(unlock, mutex);
	for (;;)
		pthread_cond_wait(&never, mutex);
	pthread_cleanup_pop(1);
	return NULL;
}

static void try_own(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_attr_t attr;
	pthread_t thread;
	void *result;

	errno = E2BIG;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 300 << 10);
	check(!pthread_create(&thread, &attr, measure, NULL), "a thread can be made");
	check(!pthread_join(thread, &result) && (size_t) result == 300 << 10,
	      "it has the stack and returns what it should");
	check(errno == E2BIG, "errno is left alone");
	pthread_attr_setstacksize(&attr, (size_t) 1 << 62);
	check(pthread_create(&thread, &attr, measure, NULL) == EAGAIN,
	      "a thread that is too large is refused");
	pthread_attr_destroy(&attr);
	check(!pthread_create(&thread, NULL, wait_for_ever, &mutex), "another is made");
	check(!pthread_cancel(thread) && !pthread_join(thread, &result) &&
		      result == PTHREAD_CANCELED,
	      "it is cancelled where it waits");
}

static void operate(ncclComm_t comm, ncclResult_t expected)
{
	ncclResult_t state = ncclInProgress;

	check(ncclAllReduce(NULL, NULL, 0, ncclFloat, ncclSum, comm, NULL) == expected,
	      "an operation");
	while (!ncclCommGetAsyncError(comm, &state) && state == ncclInProgress)
		usleep(1000);
}

static void pass_gate(void)
{
	const char *gate = getenv("THREADS_GATE");
	char here[PATH_MAX];
	FILE *file;

	if (!gate)
		return;
	snprintf(here, sizeof(here), "%s.here", gate);
	file = fopen(here, "w");
	if (file)
		fclose(file);
	while (access(gate, F_OK))
		usleep(1000);
}

static void try_nccl(void)
{
	ncclConfig_t config;
	ncclComm_t comms[2];
	ncclResult_t state;
	ncclUniqueId id;
	int i;

	memset(&config, 0, sizeof(config));
	check(!ncclGetUniqueId(&id), "an identifier");
	check(!ncclCommInitRank(&comms[0], 1, id, 0), "a communicator");
	check(!ncclGetUniqueId(&id), "another identifier");
	check(ncclCommInitRankConfig(&comms[1], 1, id, 0, &config) == ncclInProgress,
	      "a communicator that does not block");
	while (!ncclCommGetAsyncError(comms[1], &state) && state == ncclInProgress)
		usleep(1000);
	operate(comms[0], ncclSuccess);
	operate(comms[1], ncclInProgress);
	pass_gate();
	operate(comms[1], ncclInProgress);
	for (i = 0; i < 2; i++)
		check(!ncclCommDestroy(comms[i]), "its end");
}

int main(int argc, char **argv)
{
	int i, rounds = argc > 1 ? atoi(argv[1]) : 1;

	for (i = 0; i < rounds; i++) {
		try_own();
		try_nccl();
	}
	printf("%d rounds, %s\n", rounds, bad ? "bad" : "all is well");
	return bad;
}
