/* SPDX-License-Identifier: MIT */
/*
 * A library whose constructor starts a thread that closes ranges of descriptors, of which
 * none is open, and calls NCCL, and waits for it: nothing there may wait for the linker.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

#define NEVER_OPEN (1 << 30)

int ncclGetVersion(int *version);

static void *call(void *unused)
{
	int version;

	close_range(NEVER_OPEN, NEVER_OPEN, 0);
	closefrom(NEVER_OPEN);
	ncclGetVersion(&version);
	return unused;
}

__attribute__((constructor)) static void start(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, call, NULL))
		pthread_join(thread, NULL);
}
