/* SPDX-License-Identifier: MIT */
/* The cheapest NCCL: what is left when its call is timed is the cost of calling it. */
#include "nccl.h"

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
