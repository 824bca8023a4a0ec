/* SPDX-License-Identifier: MIT */
/*
 * The messages that NCCL's network code sends for a send, or for each of those that
 * all-to-all, gather and scatter are made of, over the connection of one channel.
 *
 * A send is divided into parts, one for each channel that it uses.  How many these are
 * depends on what the trace does not say: the network, the number of channels, whether
 * there are several nodes.  All of that is the same for each send of a connection, so
 * every shape that a connection may have is tried, and those that its messages contradict
 * are dropped.
 *
 * Hides NCCL's rules, which are those of 2.22 to 2.30, and of 2.18 to 2.21.  Where the
 * release is not known those of 2.22 and of 2.18 are tried, and for later ones those of
 * 2.30: they are believed once a connection's messages have fit, and prove nothing.
 * Before 2.22 a chunk that is no power of two is not rounded here as NCCL does it; then
 * no shape is left.  Where from, in 2.28.9:
 *
 * - how many channels: enqueue.cc:891-903, 1025-1029 (addP2pToPlan,
 *   scheduleP2pTasksToPlan); all numbers are powers of 2: graph/paths.cc:880-886
 * - which part a channel has: include/device.h:254-276; the same each time, as
 *   include/channel.h:23-36 is of the two ranks alone
 * - chunks: enqueue.cc:838-856, init.cc:704-718; nothing is one message: enqueue.cc:970
 * - no chunk is larger than a slot of SIMPLE's buffer, from 2.19 on: init.cc:723; and its
 *   size has four binary digits: bitops.h:407-433 (u32fpEncode)
 * - LL only where it is asked for: init.cc:737 (NCCL_ALLOC_P2P_NET_LL_BUFFERS), and of
 *   little: enqueue.cc:821-850 (addP2pToPlan), in 2.29.2 enqueue.cc:880-916; each 8 bytes
 *   are a line of 16: device/prims_ll.h:56-65
 *
 * In 2.18.3 each part is an operation of its own, whose size tells its chunks:
 * enqueue.cc:601-609, 628-676 (calcP2pChunkSize, scheduleP2pTasksToPlan; the least part
 * in 2.20.3: enqueue.cc:903); channels: include/channel.h:20-51; chunks:
 * proxy.cc:598-620.
 *
 * Other settings and registered buffers make others; then no shape is left.
 */
#ifndef TAP_JOIN_NCCL_TRANSFER_H
#define TAP_JOIN_NCCL_TRANSFER_H

#include "join/nccl/expected.h"

#define TAP_SHAPES 1926

/* The shapes that a connection may have; all zero is all of them. */
struct tap_shapes {
	uint64_t dropped[(TAP_SHAPES + 63) / 64];
	uint64_t changes;
	bool is_proved; /* one had the bytes of a run */
};

/*
 * Larger ones are of no real program.  No chunk has less than 4096 bytes but of a send of
 * a few chunks, or of 2^35 bytes by LL, where none has less than 128: so the messages of
 * TAP_SENDS_MAX of the largest ones fit in 32 bits.
 */
#define TAP_SEND_BYTES_MAX (UINT64_C(1) << 40)
#define TAP_SENDS_MAX 8

/* What one kernel sends from one rank to another one. */
struct tap_sends {
	uint64_t bytes[TAP_SENDS_MAX];
	unsigned int count; /* 0: not known */
	uint32_t version;   /* of NCCL; 0: not known */
	struct tap_ccl_sizes sizes;
};

/* What the shapes have for them. */
struct tap_sends_range {
	uint32_t least, most; /* messages */
	bool is_any;	      /* there is a shape */
	bool is_single;	      /* all have the same messages: */
	struct tap_expected first;
};

/* Whether the rules are those of this release. */
bool tap_sends_have_rule(uint32_t version);

/*
 * Whether the send is so small that no release from 2.18 to 2.30 divides it: it is one
 * message, over the first channel of the two ranks.
 */
bool tap_send_is_undivided(uint64_t bytes, const struct tap_ccl_sizes *sizes);
/* The same of all of them, by a release of which that is known, or that is not known. */
bool tap_sends_are_undivided(const struct tap_sends *sends);

struct tap_sends_range tap_sends_find(const struct tap_shapes *shapes,
				      const struct tap_sends *sends);

/*
 * Drops the shapes that have fewer or more messages than these were, or, of all of them,
 * other bytes (UINT64_MAX: not known).  Returns whether there were any.
 */
bool tap_shapes_drop(struct tap_shapes *shapes, const struct tap_sends *sends,
		     uint64_t least, uint64_t most, uint64_t bytes);

#endif
