/* SPDX-License-Identifier: MIT */
/*
 * What the rules have in common by which releases put collectives in order and cut them:
 * those of 2.18 and 2.19 (cut_2_18.c), of 2.20 and 2.21 (cut_2_20.c), and of all later
 * ones (cut_collectives.c, which asks the others).
 */
#ifndef MINI_NCCL_CUT_H
#define MINI_NCCL_CUT_H

#include "work.h"

static inline size_t divide_up(size_t a, size_t b)
{
	return (a + b - 1) / b;
}

static inline size_t round_up(size_t a, size_t unit)
{
	return divide_up(a, unit) * unit;
}

static inline size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Bytes of all ranks' data. */
size_t mini_whole_bytes(const struct ncclComm *comm, const struct mini_coll *coll);
/* Whether NCCL chooses for both together: one function, type and operator. */
bool mini_colls_are_alike(const struct mini_coll *a, const struct mini_coll *b);
/* How many chunks of the counted data a channel has in a loop. */
size_t mini_loop_chunks(const struct ncclComm *comm, const struct mini_op *op);
/*
 * A chunk of a tree with LL128, with its flags or without, of which there are few: so
 * many bytes over so many channels.
 */
size_t mini_tree_chunk(const struct ncclComm *comm, size_t chunk, size_t bytes,
		       size_t channels);
/* Of so many steps, whole lines of flags and data, as here a slot has no other room. */
size_t mini_steps_room(enum mini_protocol protocol, int steps);
/* As MININCCL_CHUNK_DIVISOR says; as it is without. */
size_t mini_divided_chunk(const struct mini_op *op, size_t chunk);

/* False when nothing is allowed for one of them. */
bool mini_choose_2_18(struct ncclComm *comm, struct mini_work *works);
void mini_cut_2_18(struct mini_cutter *cutter, struct mini_coll *coll);
bool mini_loop_2_18(const struct ncclComm *comm, const struct mini_coll *coll,
		    int channel, size_t number, struct mini_loop *loop);

struct mini_work *mini_sort_2_20(struct mini_work *works);
bool mini_choose_2_20(struct ncclComm *comm, struct mini_work *works);
void mini_cutter_begin_2_20(struct mini_cutter *cutter, const struct mini_work *works);
void mini_cut_2_20(struct mini_cutter *cutter, struct mini_coll *coll);

#endif
