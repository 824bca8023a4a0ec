/* SPDX-License-Identifier: MIT */
/*
 * How late things are on purpose: the delays and the jitter that settings.def names,
 * drawn from a seed, so that a run can be repeated.
 *
 * Hides how they are drawn, and of whom.
 */
#ifndef MINI_NCCL_DELAY_H
#define MINI_NCCL_DELAY_H

#include <stdbool.h>
#include <stdint.h>

struct ncclComm;

/* Of one connection: zeros before the first message. */
struct mini_delay {
	uint64_t state;
	/* When the next message may begin, CLOCK_MONOTONIC; 0: not drawn yet. */
	uint64_t due_ns;
};

/* Whether the next message may begin: asked until it is so.  Never waits. */
bool mini_delay_is_over(struct mini_delay *delay, int rank, uint64_t stream);
/* The next message has begun: there is another one to draw for. */
void mini_delay_next(struct mini_delay *delay);
/* Before a launch: waits. */
void mini_delay_launch(const struct ncclComm *comm, uint64_t number);

#endif
