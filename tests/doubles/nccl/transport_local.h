/* SPDX-License-Identifier: MIT */
/*
 * Why: between ranks of one node the sender's device writes where the receiver's reads.
 * Hides how the memory gets to the other process: a file in /dev/shm for SHM, as NCCL has
 * it, and memory without a name for P2P, where NCCL has handles of the driver.
 */
#ifndef MINI_NCCL_TRANSPORT_LOCAL_H
#define MINI_NCCL_TRANSPORT_LOCAL_H

#include "transport.h"

struct mini_local {
	int fd;
	/* Of SHM; empty once both ends have it. */
	char name[32];
	void *memory;
	size_t size;
	struct mini_direct direct;
};

/* The receiver makes it and fills the handle, by which the sender opens it. */
int mini_local_make(enum mini_kind kind, struct mini_local *local, char *handle);
int mini_local_open(enum mini_kind kind, struct mini_local *local, const char *handle);
void mini_local_close(struct mini_local *local);

#endif
