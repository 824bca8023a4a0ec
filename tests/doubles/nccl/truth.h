/* SPDX-License-Identifier: MIT */
/*
 * What really happened on the network, for tests that score what a tracer says of it:
 * with MININCCL_TRUTH=FOLDER each process writes a line per end of a message into a
 * file of its own there.  README tells what is in a line.
 */
#ifndef MINI_NCCL_TRUTH_H
#define MINI_NCCL_TRUTH_H

#include "flow.h"

/* CLOCK_MONOTONIC. */
uint64_t mini_truth_now(void);
/* Of a message that is done; counts it as such. */
void mini_truth_write(struct mini_flow *flow, const struct mini_message *message,
		      size_t size, uint64_t wanted_ns, const struct mini_way *way);

#endif
