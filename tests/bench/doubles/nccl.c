/* SPDX-License-Identifier: MIT */
/* The cheapest NCCL: what is left when its call is timed is the cost of calling it. */
#include "nccl.h"

#include <pthread.h>

int ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count, int datatype,
		  int op, void *comm, void *stream)
{
	__asm__ volatile(""
			 :
			 : "r"(sendbuff), "r"(recvbuff), "r"(count), "r"(datatype),
			   "r"(op), "r"(comm), "r"(stream));
	return 0;
}

void bench_unrelated(void)
{
}

static void *run_in_thread(void *data)
{
	(*(void (**)(void)) data)();
	return NULL;
}

static void (*job)(void);

/* As NCCL does for a job: a library of another name is known as one only inside a call. */
int ncclGroupEnd(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, run_in_thread, &job))
		pthread_join(thread, NULL);
	return 0;
}

/* What tells a NCCL from a library that wraps one; nobody calls them. */
int ncclCommInitRank(void)
{
	return 0;
}
int pncclCommInitRank(void) __attribute__((alias("ncclCommInitRank")));

void bench_thread(void (*run)(void))
{
	job = run;
	ncclGroupEnd();
}
