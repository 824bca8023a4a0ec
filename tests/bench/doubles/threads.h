/* SPDX-License-Identifier: MIT */
/* What threads.c exports; hides that ncclCommInitRank() has arguments. */
#ifndef TAP_BENCH_THREADS_H
#define TAP_BENCH_THREADS_H

int ncclCommInitRank(void);
int pncclCommInitRank(void);
void *bench_idle(void *argument);

#endif
