/* SPDX-License-Identifier: MIT */
/* What nccl.c exports; hides that the numbers of NCCL's enumerations are plain ints. */
#ifndef TAP_BENCH_NCCL_H
#define TAP_BENCH_NCCL_H

#include <stddef.h>

int ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count, int datatype,
		  int op, void *comm, void *stream);
void bench_unrelated(void);
int ncclGroupEnd(void);
int ncclCommInitRank(void);
int pncclCommInitRank(void);
/* Runs a function in a thread that this library's group creates, and waits for it. */
void bench_thread(void (*run)(void));

/* One set of arguments for all that calls: a handle is a pointer that nobody follows. */
#define BENCH_ARGUMENTS(turn) \
	(const void *) 0x7f0000001000, (void *) 0x7f0000002000, (size_t) (turn), 7, 0, \
		(void *) 0x5500deadb000, (void *) 0x5500deadc000

#endif
