/* SPDX-License-Identifier: MIT */
/*
 * What threads of a block do one after another with the same connections: primitives,
 * each of which receives from all or none of those to receive from, reduces, copies, and
 * sends to all or none of those to send to.
 *
 * Hides slices, turns, and flags from those that know which primitives there are.
 */
#ifndef MINI_NCCL_STRAND_H
#define MINI_NCCL_STRAND_H

#include "flow.h"
#include "topology.h"
#include "work.h"

struct mini_primitive {
	bool receives;
	bool sends;
	/* Data of this rank, to be multiplied first where the operator wants it. */
	const char *source;
	/* Where the result goes, besides to be sent. */
	char *target;
	/* Elements. */
	size_t count;
	/* All ranks' data is in it. */
	bool is_last;
};

struct mini_strand {
	struct mini_strand *next;
	struct ncclComm *comm;
	const struct mini_op *op;
	ncclDataType_t type;
	size_t type_size;
	enum mini_protocol protocol;
	int slice_steps;
	int slices;
	/* Elements of a slice at most, with SIMPLE. */
	size_t slice_room;
	struct mini_flow *froms[MINI_TREE_ARITY];
	struct mini_flow *tos[MINI_TREE_ARITY];
	int from_count;
	int to_count;
	/* Which primitive comes as the number-th; false when there is none any more. */
	bool (*plan)(const struct mini_strand *strand, size_t number,
		     struct mini_primitive *ret_primitive);
	/* Of a collective, which says loop by loop what the channel has. */
	const struct mini_coll *coll;
	int channel;
	/* Of a transfer's data: bytes. */
	size_t begin;
	size_t count;
	size_t chunk;
	/* Where a rank that sends to itself receives. */
	char *to_self;

	size_t number;
	bool has_primitive;
	struct mini_primitive primitive;
	int slice;
	size_t slice_size;
	size_t offset;
};

/* Room for a chunk of LL or LL128 without flags, twice. */
struct mini_scratch {
	char *sum;
	char *arrived;
};

/* Before the first primitive, when the strand is complete.  0 or -errno. */
int mini_strand_begin(struct mini_strand *strand);
/* 1 when it is at its end, 0 or -errno. */
int mini_strand_step(struct mini_strand *strand, const struct mini_scratch *scratch,
		     bool *moved);

/* The connection of a strand; -EIO when it is broken, or not there. */
int mini_strand_flow(struct ncclComm *comm, int peer, int channel, int index,
		     bool is_send, struct mini_flow **ret_flow);

/* What a channel does of a collective, and of a part of a transfer; added to the list. */
int mini_collective_strands(struct ncclComm *comm, const struct mini_coll *coll,
			    int channel, struct mini_strand **strands);
int mini_transfer_strands(struct ncclComm *comm, const struct mini_pair *pair,
			  int channel, struct mini_strand **strands);

#endif
