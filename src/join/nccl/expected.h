/* SPDX-License-Identifier: MIT */
/*
 * The messages that NCCL's network code sends for one collective over one connection of a
 * channel: how many, and of which size.
 *
 * Hides NCCL's rules for dividing data among channels, into loops, chunks and slices.
 * They are those of 2.18 to 2.30; later releases are asked for by those of 2.30, which
 * are believed once messages have fit, and prove nothing.  For earlier ones, algorithms
 * other than ring and tree, and where a rule needs what the trace does not say, there is
 * no answer.  Where from, in 2.28.9:
 *
 * - elements of each channel: enqueue.cc:606-642 (scheduleCollTasksToPlan); 2.22 to 2.25
 *   do not weigh LL by 4, 2.29 and 2.30 have cells of twice the size, 2.22 cells of 16
 *   bytes, and a first channel that is filled no further than its share
 * - chunk, steps and loops: enqueue.cc:1979-2134 (calcCollChunking)
 * - in 2.20 and 2.21 shares are multiples of what all threads take at once: 2.21.5,
 *   enqueue.cc:187-245, 431-488, 834 (computeCollSteps, addCBDCollToPlan); chunks:
 *   enqueue.cc:1722-1776
 * - in 2.18 and 2.19 all channels have as many loops: 2.18.3, enqueue.cc:1277-1395
 *   (computeColl); how full the last one is on each, follows from threads
 *   (collectives/device/all_reduce.h:13-60); a tree's depth: graph/connect.cc:133-135;
 *   2.18's buffer on ARM: init.cc:503
 * - steps of a chunk and of a slice: include/collectives.h:17-32; buffers:
 * init.cc:697-715; grains: include/device.h:309-314
 * - who sends to whom: proxy.cc:30-43 and 587-620 (NeedProxy, ncclProxySaveOp)
 * - what a message carries: device/all_reduce.h:30-83, prims_ll.h:56-65,
 * prims_ll128.h:301
 *
 * Buffers have the sizes that the environment sets, or NCCL's own; sizes of messages show
 * where they have others.  Since 2.30 a tuner plugin may choose chunks, and a registered
 * buffer changes the number: both show in the same way.
 */
#ifndef TAP_JOIN_NCCL_EXPECTED_H
#define TAP_JOIN_NCCL_EXPECTED_H

#include <stdbool.h>
#include <stdint.h>

enum tap_ccl_function {
	TAP_CCL_NO_FUNCTION,
	TAP_CCL_ALL_REDUCE,
	TAP_CCL_ALL_GATHER,
	TAP_CCL_REDUCE_SCATTER,
	TAP_CCL_BROADCAST,
	TAP_CCL_REDUCE,
};

enum tap_ccl_algorithm { TAP_CCL_NO_ALGORITHM, TAP_CCL_RING, TAP_CCL_TREE };

enum tap_ccl_protocol {
	TAP_CCL_NO_PROTOCOL,
	TAP_CCL_LL,
	TAP_CCL_LL128,
	TAP_CCL_SIMPLE,
};

/* What joins the GPUs of a send. */
enum tap_ccl_path { TAP_CCL_NET, TAP_CCL_PCI, TAP_CCL_NVLINK, TAP_CCL_PATHS };

/* A size that a setting says otherwise than as a number. */
#define TAP_CCL_UNKNOWN UINT64_MAX

/* Bytes of buffers and chunks, as settings say; 0: NCCL's own size. */
struct tap_ccl_sizes {
	uint64_t buffers[TAP_CCL_SIMPLE + 1]; /* by protocol */
	uint64_t chunks[TAP_CCL_PATHS];	      /* of sends */
	uint64_t has_ll_sends;		      /* 1: sends over a network may use LL */
	uint64_t ll_threshold; /* by so many bytes for each channel: transfer.c */
};

/* What a kernel with a single collective was launched for. */
struct tap_ccl_work {
	uint32_t version; /* of NCCL, such as 22809 */
	enum tap_ccl_function function;
	enum tap_ccl_algorithm algorithm;
	enum tap_ccl_protocol protocol;
	uint64_t count; /* as the program gave it */
	uint64_t element_bytes;
	int64_t root; /* -1 none */
	uint64_t channel_mask;
	struct tap_ccl_sizes sizes;
	/* The algorithm is that of the kernel's name; the protocol is not known. */
	bool is_named;
};

/* From NCCL's names, as funcid.h gives them; what is not known stays 0. */
struct tap_ccl_work tap_ccl_work_named(const char *collective, const char *algorithm,
				       const char *protocol);

/* By the name of the call. */
enum tap_ccl_function tap_ccl_function_named(const char *call);

struct tap_expected {
	uint32_t messages, most_messages; /* the same where there is a single answer */
	uint64_t least_bytes, most_bytes; /* of all of them together */
	bool is_vague;			  /* answers differ in bytes */
	uint64_t largest_bytes;		  /* no message is larger */
	bool is_small;			  /* twice as much would be as many messages */
};

/* Whether the rules are those of this release. */
bool tap_expected_has_rule(uint32_t version);

/* A connection: from which rank to which, of how many, over which channel. */
struct tap_ccl_place {
	int64_t nranks, from, to, channel; /* -1 unknown */
};

/*
 * What is sent over the connection, where it is between neighbours in the ring, or in the
 * tree, if the channel, where it is not known, is one that is used.  Where the rule has
 * several answers, it is the one with so many messages (0: none
 * is known).  Returns false where there is no rule, or no single answer.
 */
bool tap_expected_find(const struct tap_ccl_work *work, const struct tap_ccl_place *place,
		       uint32_t messages, struct tap_expected *ret);

/* Makes of two answers one that holds for either. */
void tap_expected_merge(struct tap_expected *all, const struct tap_expected *one);

/* The same where several answers have other numbers: the least, and the most of each. */
bool tap_expected_find_range(const struct tap_ccl_work *work,
			     const struct tap_ccl_place *place, uint32_t messages,
			     struct tap_expected *ret);

#endif
