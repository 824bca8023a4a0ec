/* SPDX-License-Identifier: MIT */
/*
 * Divides the messages of a connection, which are in the order of their operations, into
 * runs of one operation each.
 *
 * What is known of each run's length and of each message's operation bounds the number of
 * the message with which each run begins.  A message is of a run where it can be of no
 * other one.  Messages that are missing do no harm: only numbers count.
 */
#ifndef TAP_JOIN_NCCL_NET_RUN_H
#define TAP_JOIN_NCCL_NET_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAP_RUN_UNKNOWN UINT64_MAX

struct tap_net_run {
	uint64_t first;	      /* its place, or number of its first operation */
	uint64_t least, most; /* messages that it has; most may be TAP_RUN_UNKNOWN */
	/* Number of its first message or, where it has none, of the next run's. */
	uint64_t begin_least, begin_most;
	uint64_t number; /* of its first operation, for its owner */
};

struct tap_net_run_message {
	uint64_t number;
	uint64_t begin, end; /* operations that it may be of: begin <= operation < end */
	uint64_t more;	     /* numbers after the first that it has, too */
};

/*
 * Narrows where each run begins.  Runs follow one another by `first`, and the last one
 * says only where the one before ends.  Messages are by number, and no bound of one is
 * lower than that of the one before.  Returns false where something contradicts.
 */
bool tap_net_runs_solve(struct tap_net_run *runs, size_t run_count,
			const struct tap_net_run_message *messages, size_t message_count);

#endif
