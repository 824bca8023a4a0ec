/* SPDX-License-Identifier: MIT */
/*
 * Memory of all ranks of a communicator, each of which sees that of the others: what
 * ncclCommWindowRegister() makes.  As in NCCL there is a flat space of addresses with a
 * stride for each rank, in which a memory lies at one offset on all of them.
 *
 * Hides how the memory of another process gets there.
 */
#ifndef MINI_NCCL_WINDOW_H
#define MINI_NCCL_WINDOW_H

#include <nccl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mini_memory;
struct mini_window;

/* ncclWindow_t of NCCL 2.28.9 (nccl_device/impl/core__types.h): its kernels read it. */
struct ncclWindow_vidmem {
	struct mini_window *window;
	char *flat_base;
	int lsa_rank;
	int world_rank;
	uint32_t stride_4g;
	uint32_t multicast_offset_4k;
	uint32_t gin_offset_4k;
	void *gin_windows[4];
};

struct mini_window {
	struct mini_window *next;
	struct mini_memory *memory;
	char *address;
	size_t size;
	int flags;
	/* From the beginning of each rank's part of the flat space. */
	size_t offset;
	/* What ncclCommRegister() gave. */
	void *handle;
	struct ncclWindow_vidmem vidmem;
};

/* A communicator's. */
struct mini_windows {
	/* Of each rank; 0: there is no space yet. */
	size_t stride;
	char *base;
	struct mini_memory *memories;
	struct mini_window *windows;
	/* What kernels of the ranks tell each other by; NULL: none has been needed. */
	struct mini_window *resources;
	/* Barriers that there were in it. */
	uint32_t epoch;
	/* Kernels that were launched and that are over. */
	unsigned int launched;
	atomic_uint finished;
};

/* A window that is asked for in a group. */
struct mini_registration {
	struct mini_registration *next;
	void *address;
	size_t size;
	int flags;
	ncclWindow_t *window;
};

/* Whether the ranks see each other's memory: once they have met. */
bool mini_windows_are_supported(const struct ncclComm *comm);
/* All ranks have to call it; NCCL_WIN_COLL_SYMMETRIC makes the resources, too. */
ncclResult_t mini_window_register(struct ncclComm *comm,
				  const struct mini_registration *registration);
ncclResult_t mini_window_deregister(struct ncclComm *comm, ncclWindow_t window);
/* The one that the address is in; NULL where there is none. */
struct mini_window *mini_window_find(const struct ncclComm *comm, const void *address);
/* The same for what both is registered as NCCL_WIN_COLL_SYMMETRIC; else false. */
bool mini_window_find_both(const struct ncclComm *comm, const void *send,
			   const void *recv, struct mini_window **ret_send,
			   struct mini_window **ret_recv);
/* Where a rank has what this one has at the address. */
char *mini_window_peer(const struct ncclComm *comm, const struct mini_window *window,
		       const void *address, int rank);
/* Of the communicator, with all that is left. */
void mini_windows_close(struct ncclComm *comm);

#endif
