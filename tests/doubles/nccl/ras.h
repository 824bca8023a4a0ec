/* SPDX-License-Identifier: MIT */
/*
 * The thread that asks after the other processes of all communicators, NCCL's RAS, since
 * 2.24: one per process, connected by TCP with the next and the previous one in the order
 * of their addresses, to which it says once a second that it lives.
 *
 * Hides the thread, its sockets and what it says (NCCL 2.28.9, ras/ras.cc,
 * ras/rasnet.cc).
 */
#ifndef MINI_NCCL_RAS_H
#define MINI_NCCL_RAS_H

#include <netinet/in.h>

struct ncclComm;

/* Starts it, if the release has it and it is wanted; else the address is zeros. */
void mini_ras_start(struct sockaddr_in *ret_address);
/* Tells it of all ranks of a communicator, once they have told each other. */
void mini_ras_add_ranks(const struct ncclComm *comm);

#endif
