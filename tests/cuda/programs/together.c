/* SPDX-License-Identifier: MIT */
/*
 * Threads launch one function after the other, each of which nobody has launched before:
 * all at once, or a little later than the first one, by up to some microseconds.
 *
 * usage: together THREADS FUNCTIONS
 */
#include <cuda.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int threads, functions, arrived;

static void *launch(void *number)
{
	volatile int waited;
	int i;

	for (i = 1; i <= functions; i++) {
		__atomic_fetch_add(&arrived, 1, __ATOMIC_ACQ_REL);
		while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < threads * i)
			;
		for (waited = (i % 512) * (int) (intptr_t) number * 4; waited > 0;
		     waited--)
			;
		if (cuLaunchKernel((CUfunction) (uintptr_t) (i * 64), 1, 1, 1, 1, 1, 1, 0,
				   NULL, NULL, NULL))
			exit(1);
	}
	return number;
}

int main(int argc, char **argv)
{
	pthread_t others[8];
	int i;

	threads = argc > 2 ? atoi(argv[1]) : 2;
	functions = argc > 2 ? atoi(argv[2]) : 1;
	if (threads < 1 || threads > 8)
		return 1;
	for (i = 0; i < threads; i++)
		if (pthread_create(&others[i], NULL, launch, (void *) (intptr_t) i))
			return 1;
	for (i = 0; i < threads; i++)
		pthread_join(others[i], NULL);
	printf("together: %d functions\n", functions);
	return 0;
}
