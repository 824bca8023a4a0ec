/* SPDX-License-Identifier: MIT */
/*
 * What each connection has carried of each kernel, of the messages that are ascribed and
 * gone.
 *
 * Hides that the oldest is forgotten.
 */
#ifndef TAP_JOIN_NCCL_NET_LEDGER_H
#define TAP_JOIN_NCCL_NET_LEDGER_H

#include "join/base/table.h"
#include "join/nccl/net_fit.h"
#include "join/nccl/op_times.h"

struct tap_net_entry;

struct tap_net_ledger {
	/* The owner sets it; the rest starts as zero. */
	size_t kept_max;

	struct tap_table entries; /* by number of the connection and of the kernel */
	struct tap_net_entry *first, *last; /* by age */
	/* When a kernel began of which something is forgotten, at the latest. */
	bool has_forgotten;
	int64_t forgotten_ns;
};

/*
 * Takes a message of the sender's kernel; is_left_over: what is ascribed by sums of other
 * operations proves none itself.  Returns 0 or -ENOMEM.
 */
int tap_net_ledger_add(struct tap_net_ledger *ledger, uint64_t connection,
		       const struct tap_op_kernel *kernel, uint64_t bytes,
		       bool is_left_over);

/*
 * What is known of the kernel on the connection; *has_left_over is set where some of it
 * is.
 */
struct tap_fit_sum tap_net_ledger_find(const struct tap_net_ledger *ledger,
				       uint64_t connection,
				       const struct tap_op_kernel *kernel,
				       bool *has_left_over);

void tap_net_ledger_free(struct tap_net_ledger *ledger);

#endif
