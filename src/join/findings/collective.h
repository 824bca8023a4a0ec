/* SPDX-License-Identifier: MIT */
/*
 * An operation with what each rank did for it: its call, its launch, its kernel.
 *
 * Hides that the link between the ranks' calls, the launches and what CUPTI reports of
 * the kernels come at different times and in any order, and how long an operation waits
 * for all of them: at most as many operations as the reader holds.
 */
#ifndef TAP_JOIN_FINDINGS_COLLECTIVE_H
#define TAP_JOIN_FINDINGS_COLLECTIVE_H

#include "join/base/time.h"
#include "join/model/context.h"
#include "join/model/link.h"

/* One rank's part of an operation.  A time that is not known is -1. */
struct tap_arrival {
	/*
	 * From the end of the rank's previous operation in this thread to the beginning
	 * of this one; and the longest other call of the thread in between, NULL for
	 * none.
	 */
	int64_t gap_ns;
	const struct tap_name *before;
	int64_t before_ns;
	int64_t launch_begin_ns, launch_end_ns;
	int64_t kernel_begin_ns, kernel_end_ns;
	/* How much of the time since the launch the stream had other work, and what, by
	 * name. */
	int64_t blocked_ns;
	const char *blocker; /* of the collector; NULL for none */
	bool is_shared;	     /* the kernel carried other operations, too */
	bool is_captured;    /* a CUDA graph repeats the call: its times say nothing */
	/*
	 * When the rank was ready for the transfer: its kernel began or, without kernels
	 * of all ranks, it had called, and the operation before was called by all.
	 */
	int64_t start_ns;
	/* Whether start_ns may be compared with that of other ranks. */
	bool is_comparable;
	struct tap_link_end end; /* the call: process, rank, facts */
};

struct tap_collective {
	const struct tap_comm *comm;
	const struct tap_name *name; /* NULL: the ranks called different functions */
	uint64_t number;
	int64_t nranks;	      /* of the communicator, -1 unknown */
	bool is_message;      /* a send and its receive; arrivals[0] is the send */
	bool is_complete;     /* all ranks are there */
	enum tap_known known; /* of the link */
	enum tap_mismatch mismatch;
	int64_t bytes; /* of one rank's count, as in tap_operation_bytes(); -1 unknown */
	bool has_kernels; /* the kernels of all arrivals are known */
	/* As NCCL's function numbers say; "" unknown. */
	char algorithm[16], protocol[16];
	const struct tap_arrival *arrivals; /* by rank */
	size_t count;
	/*
	 * Of the arrivals that are comparable: the index of the first and of the last to
	 * start, and how wrong the time between them may be.  is_timed: there are two or
	 * more.
	 */
	bool is_timed;
	size_t first, last;
	int64_t uncertainty_ns;
	int64_t end_ns; /* of the last kernel, -1 unknown */
};

/* How long the arrival waited for the last one; -1 unknown. */
static inline int64_t tap_collective_wait_ns(const struct tap_collective *collective,
					     const struct tap_arrival *arrival)
{
	return collective->is_timed && arrival->is_comparable
		       ? tap_since_ns(collective->arrivals[collective->last].start_ns,
				      arrival->start_ns)
		       : -1;
}

struct tap_collectives;

/*
 * Makes a collector that gives each operation to take(), once, nearly in order.  Returns
 * NULL when memory is short.
 */
struct tap_collectives *
tap_collectives_create(int (*take)(void *data, const struct tap_collective *collective),
		       void *data);
void tap_collectives_destroy(struct tap_collectives *collectives);

/* Each returns 0, -ENOMEM or what take() returns. */

/* Takes a span that has ended. */
int tap_collectives_span(struct tap_collectives *collectives,
			 const struct tap_context *context, const struct tap_span *span);
int tap_collectives_link(struct tap_collectives *collectives,
			 const struct tap_context *context, const struct tap_link *link);
/* Nothing comes any more: gives what still waits. */
int tap_collectives_finish(struct tap_collectives *collectives);

#endif
