/* SPDX-License-Identifier: MIT */
/* A library whose constructor starts a thread that calls NCCL, and waits for it. */
#include <pthread.h>

int ncclGetVersion(int *version);

static void *call(void *unused)
{
	int version;

	ncclGetVersion(&version);
	return unused;
}

__attribute__((constructor)) static void start(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, call, NULL))
		pthread_join(thread, NULL);
}
