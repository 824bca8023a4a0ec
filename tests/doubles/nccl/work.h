/* SPDX-License-Identifier: MIT */
/*
 * What a kernel is given to do: a collective on a range of channels, or a transfer to one
 * peer together with one from another.  NCCL's ncclDevWorkColl and ncclDevWorkP2p.
 *
 * Hides how operations are cut into channels, chunks and messages.
 */
#ifndef MINI_NCCL_WORK_H
#define MINI_NCCL_WORK_H

#include "plan.h"

/* Of a collective's channels the first and the last may have less than those between. */
enum { MINI_FIRST, MINI_MIDDLE, MINI_LAST, MINI_PARTS };

struct mini_coll {
	struct mini_op *op;
	/* All-gather and broadcast are of bytes. */
	ncclDataType_t type;
	size_t count;
	size_t traffic;
	int most_channels;
	int warps;
	int first_channel;
	int last_channel;
	/* Elements of a channel, and bytes of a chunk. */
	size_t counts[MINI_PARTS];
	size_t chunks[MINI_PARTS];
	/* From 2.20 on: elements of which the chunks of a last loop are a multiple. */
	size_t grain;
	/*
	 * Before 2.20 all channels have a share of each loop: how many they are, which of
	 * them each one is, and what NCCL says of the chunks of the last loop, in
	 * elements.
	 */
	int shares;
	uint8_t places[MINI_MAX_CHANNELS];
	size_t last_chunk;
	/*
	 * In 2.20 and 2.21: how many channels the collectives of the group have together,
	 * and bytes of all for which this one was chosen.
	 */
	int usable_channels;
	size_t chosen_bytes;
};

/* Of one loop: the chunks of a channel, in elements; none reaches beyond the end. */
struct mini_loop {
	size_t begin;
	/* From one to the next. */
	size_t stride;
	size_t chunk;
	size_t end;
};

/* One direction of a transfer; no operation: nothing to do. */
struct mini_side {
	struct mini_op *op;
	int peer;
	size_t bytes;
	/* Each has a part: that many bytes, and the last one what is left. */
	int channels;
	size_t part_bytes;
	enum mini_protocol protocol;
	/* Of data, and as NCCL writes it in a byte. */
	size_t chunk;
	uint8_t chunk_code;
	/* Of the last part; others than above only before 2.22. */
	enum mini_protocol last_protocol;
	size_t last_chunk;
};

/* What of a transfer a part has. */
struct mini_share {
	size_t begin;
	size_t end;
	enum mini_protocol protocol;
	size_t chunk;
};

enum { MINI_RECEIVING, MINI_SENDING, MINI_DIRECTIONS };

struct mini_pair {
	struct mini_side sides[MINI_DIRECTIONS];
	int round;
	/* The channel of the first part. */
	int base;
};

struct mini_work {
	struct mini_work *next;
	bool is_pair;
	struct mini_coll coll;
	struct mini_pair pair;
};

/*
 * What of a collective a channel has: elements, and bytes of a chunk.  Before 2.20 each
 * has a share of all.
 */
void mini_coll_part(const struct mini_coll *coll, int channel, size_t *ret_begin,
		    size_t *ret_count, size_t *ret_chunk);
/* False where the channel has no such loop any more, which are counted from 0. */
bool mini_coll_loop(const struct ncclComm *comm, const struct mini_coll *coll,
		    int channel, size_t number, struct mini_loop *loop);
/* Elements of the chunks of a channel's last loop, as the kernel is told from 2.20 on. */
size_t mini_coll_last_chunk(const struct ncclComm *comm, const struct mini_coll *coll,
			    int channel);
/* Without bytes beyond its channels. */
struct mini_share mini_side_share(const struct mini_side *side, int part);

/* Steps of a collective's chunks and of its messages: of a ring with SIMPLE more than
 * one. */
int mini_chunk_steps(const struct mini_op *op);
int mini_slice_steps(const struct mini_op *op);
/* How many steps a connection of the collective takes on a channel. */
int mini_coll_steps(const struct ncclComm *comm, const struct mini_coll *coll,
		    int channel);

/*
 * Puts the collectives of a group in the order in which they run, and chooses how.  False
 * when NCCL_ALGO and NCCL_PROTO allow nothing for one of them.
 */
bool mini_colls_prepare(struct ncclComm *comm, struct mini_work **works);
/* Gives those of one launch their channels, one after another. */
struct mini_cutter {
	struct ncclComm *comm;
	size_t traffic_per_channel;
	size_t traffic;
	int most_channels;
	int channel;
	/* Before 2.22: bytes that the channels have so far, and should have. */
	size_t loads[MINI_MAX_CHANNELS];
	size_t most_load;
	/* Of all that is not yet in a launch. */
	size_t bytes;
};
void mini_cutter_begin(struct mini_cutter *cutter, struct ncclComm *comm,
		       const struct mini_work *works, int count);
void mini_cutter_cut(struct mini_cutter *cutter, struct mini_coll *coll);

/* Cuts a transfer; `least` and `most` channels if it is large enough. */
void mini_pair_cut(const struct ncclComm *comm, struct mini_pair *pair, int least,
		   int most);

#endif
