/* SPDX-License-Identifier: MIT */
/*
 * Which algorithm and protocol a collective gets, and how many channels and warps.
 *
 * Hides what NCCL_ALGO and NCCL_PROTO allow, and how NCCL chooses among what is allowed.
 */
#ifndef MINI_NCCL_CHOICE_H
#define MINI_NCCL_CHOICE_H

#include "plan.h"

struct mini_choice {
	enum mini_algorithm algorithm;
	enum mini_protocol protocol;
	int channels;
	int warps;
};

/*
 * For that many bytes, which may be those of several operations of one kind, where each
 * channel has so many operations one after another; of that many channels at most.  False
 * when nothing is allowed.
 */
bool mini_choose(const struct ncclComm *comm, const struct mini_op *op, size_t bytes,
		 int operations, int channels, struct mini_choice *choice);
/* How many channels it would have with what is chosen. */
int mini_choose_channels(const struct ncclComm *comm, const struct mini_choice *choice,
			 size_t bytes);

#endif
