/* SPDX-License-Identifier: MIT */
/*
 * Why: ranks of one node share memory that has no file.  Hides how another process gets
 * it, where NCCL has handles of the driver and files in /dev/shm.
 */
#ifndef MINI_NCCL_SHARED_MEMORY_H
#define MINI_NCCL_SHARED_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Nothing while all is zero. */
struct mini_shared {
	void *memory;
	size_t size;
	/* By which others open it, as long as it is not closed; whoever opened it: 0. */
	int fd;
};

/* What the others are told. */
struct mini_shared_handle {
	int32_t pid;
	int32_t fd;
	uint64_t size;
};

/* Zeroed.  0 or -errno. */
int mini_shared_make(struct mini_shared *shared, size_t size);
struct mini_shared_handle mini_shared_handle(const struct mini_shared *shared);
int mini_shared_open(struct mini_shared *shared, const struct mini_shared_handle *handle);
void mini_shared_close(struct mini_shared *shared);

#endif
