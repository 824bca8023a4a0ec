/* SPDX-License-Identifier: MIT */
/*
 * Why: what mini-NCCL posts must be what NCCL posts.  This program has NET/IB of either
 * move the same messages, and writes what it asked of libibverbs.
 * Hides how calls of libibverbs are seen: netib.c has the messages, observe.c the calls.
 */
#ifndef NETIB_H
#define NETIB_H

#include <stdio.h>

/* Writes each call from now on; what is made gets names that begin with `part`. */
void observe_begin(FILE *file);
void observe_part(const char *part);

#endif
