/* SPDX-License-Identifier: MIT */
/*
 * One process for each rank, and how they find each other: the parent, which touches
 * neither CUDA nor NCCL, forks them, and rank 0 hands its unique id to the others through
 * pipes.  Where ranks are more than GPUs each is told that it is on a host of its own
 * (NCCL_HOSTID, SOFTVERBS_HOST), since NCCL refuses two of one host on one GPU.
 */
#ifndef GPU_RANKS_H
#define GPU_RANKS_H

#include "gpu.h"

/* What a rank does, in its process; `id` is the same in all. */
typedef void rank_function(int rank, int ranks, ncclUniqueId id);

/* The exit status: 77 when a rank ended with that, 1 when one failed. */
int run_ranks(int ranks, rank_function *run);

/* Waits for the stream, and ends the program when the communicator has failed. */
void wait_for(CUstream stream, ncclComm_t comm);

#endif
