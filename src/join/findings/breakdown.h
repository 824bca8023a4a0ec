/* SPDX-License-Identifier: MIT */
/*
 * Where the time of collectives went, summed up: for each function of a communicator and
 * size, and for each rank.
 *
 * Hides how the time of an operation is told apart into waiting for the last rank and
 * transfer, that a median is taken without keeping every value, and that kernels of one
 * rank which overlap must not be summed twice.
 */
#ifndef TAP_JOIN_FINDINGS_BREAKDOWN_H
#define TAP_JOIN_FINDINGS_BREAKDOWN_H

#include "join/findings/analysis.h"
#include "join/model/link.h"

/*
 * The operations of one function and size class in a communicator.  A class has sizes
 * from one power of two up to the next.  A number that is not known is -1.
 */
struct tap_breakdown_operation {
	const struct tap_comm *comm;
	const struct tap_name *name;  /* ncclSend for messages */
	bool is_message;	      /* a send and its receive */
	int64_t min_bytes, max_bytes; /* smallest and largest, as the program counts */
	uint64_t count;		      /* operations */
	uint64_t timed;		      /* of them with the kernels of all ranks */
	/* Of those with kernels: from the first rank's start to the end. */
	int64_t median_ns, total_ns;
	int64_t deviation_ns; /* the median of the distances from median_ns */
	/*
	 * From the first rank's start to the last one's: of total_ns; without kernels, by
	 * the beginnings of the calls.
	 */
	int64_t waiting_ns;
	enum tap_known waiting_known; /* inferred: by the calls */
	/* waiting_ns of total_ns, in per cent; unknown without kernels. */
	int64_t waiting_percent;
	int64_t transfer_ns; /* the median from the last rank's start to the end */
	/*
	 * Medians of the ranks' ways to it: from the call to the launch of the kernel, of
	 * the launch, and from the launch's beginning to the kernel's.
	 */
	int64_t call_ns, launch_ns, queue_ns;
	/*
	 * Bytes per second while the transfer lasts, as nccl-tests defines both
	 * (tap_breakdown_bandwidth()); medians.
	 */
	int64_t algorithm_bandwidth, bus_bandwidth;
	/* As the kernels' arguments say; "" unknown, "various" where they differ. */
	char algorithm[16], protocol[16];
};

/* A GPU of a process, which is a rank.  A number that is not known is -1. */
struct tap_breakdown_rank {
	const struct tap_process *process;
	int64_t rank; /* of the job, or else in the communicator with most operations */
	int64_t device;
	uint64_t collectives;	     /* in which it is known when each rank started */
	uint64_t times_last;	     /* of them */
	int64_t waited_ns;	     /* for the last rank, in these */
	enum tap_known waited_known; /* inferred: by the calls */
	int64_t kernels_ns; /* with a kernel of NCCL on the GPU; -1: none is known */
};

struct tap_breakdown;

/* What a reading has summed up, after tap_findings_conclude(). */
const struct tap_breakdown *tap_findings_breakdown(const struct tap_findings *findings);

/* By time, most first; of equal ones by communicator and name. */
size_t tap_breakdown_operations(const struct tap_breakdown *breakdown,
				const struct tap_breakdown_operation **ret_first);
/* By rank, unknown ones last. */
size_t tap_breakdown_ranks(const struct tap_breakdown *breakdown,
			   const struct tap_breakdown_rank **ret_first);

/*
 * The bandwidths of an operation that took time_ns, in bytes per second, as nccl-tests
 * defines them (doc/PERFORMANCE.md there): algbw is S / t, busbw is algbw times
 * 2 (n - 1) / n for an all-reduce, (n - 1) / n for all-gather, reduce-scatter,
 * all-to-all, gather and scatter, and 1 for broadcast, reduce and messages.  S is the
 * size of the larger buffer: of an all-gather or reduce-scatter n times the rank's count.
 * bytes are those of one rank's count.  Returns false for another function, or without a
 * size.
 */
bool tap_breakdown_bandwidth(const struct tap_name *name, int64_t bytes, int64_t nranks,
			     int64_t time_ns, int64_t *ret_algorithm, int64_t *ret_bus);

extern const struct tap_analysis tap_breakdown_analysis;

#endif
