/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the program `configuration` share: one operation of one rank, with
 * data of which every element is known beforehand.
 *
 * Hides how values are chosen, so that what the ranks make of them is exact in every data
 * type, whatever the order in which they are added.
 */
#ifndef DOUBLES_TESTS_CONFIGURED_H
#define DOUBLES_TESTS_CONFIGURED_H

#include <cuda.h>
#include <nccl.h>

#include <stdbool.h>
#include <stdint.h>

enum { MAX_RANKS = 16, MAX_BATCH = 6 };

enum kind {
	ALL_REDUCE,
	ALL_GATHER,
	REDUCE_SCATTER,
	BROADCAST,
	REDUCE,
	SEND_RECV,
	ALL_TO_ALL,
	GATHER,
	SCATTER,
	KINDS
};
extern const char *const kind_names[KINDS];

struct op {
	enum kind kind;
	ncclDataType_t type;
	/* ncclNumOps stands for one of PreMulSum, made when it is used. */
	ncclRedOp_t redop;
	/* Of one rank's part where there are parts. */
	size_t count;
	/* Modulo the number of ranks. */
	int root;
	bool is_in_place;
	/* Makes the values of one operation unlike those of another. */
	unsigned int salt;
};

/* Of one rank, for one operation at a time. */
struct buffers {
	char *send;
	char *recv;
	size_t size;
	/* Of what is a window, which stays as it is; else 0. */
	size_t room;
};

struct member {
	/* In the world, and in the communicator that is used. */
	int number;
	int rank;
	int nranks;
	ncclComm_t comm;
	CUcontext context;
	/* Each communicator has its own; the one that is used. */
	CUstream streams[2];
	CUstream stream;
	struct buffers buffers[MAX_BATCH];
	bool is_nonblocking;
};

uint64_t draw(uint64_t *state, uint64_t below);
/* An operation of that kind; its data is of at most so many bytes on a rank. */
struct op draw_op(uint64_t *state, enum kind kind, int nranks, size_t most_bytes);

size_t type_size(ncclDataType_t type);
void put(ncclDataType_t type, void *data, size_t i, long value);
/* Rounded; what was put is found again. */
double get(ncclDataType_t type, const void *data, size_t i);

/* Says why and returns false where anything is wrong. */
bool prepare(struct member *member, int slot, const struct op *op);
bool enqueue(struct member *member, int slot, const struct op *op);
bool verify(struct member *member, int slot, const struct op *op);
/* Where the result is. */
char *target(const struct member *member, int slot, const struct op *op);

/* Waits until a call of a nonblocking communicator is over; passes on what was wrong. */
ncclResult_t settled(const struct member *member, ncclResult_t result);

#endif
