/* SPDX-License-Identifier: MIT */
/*
 * What a job does, drawn from its seed, and the one fault in it: the same on all ranks,
 * so that they agree on it without a word.
 *
 * Hides how a plan is drawn, and which of its operations a fault can be in.
 */
#ifndef FAULTS_PLAN_H
#define FAULTS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_RANKS = 8, MAX_COUNT = 1 << 15, OPS = 28 };

enum op_kind {
	ALL_REDUCE,
	BROADCAST,
	ALL_GATHER,
	REDUCE,
	REDUCE_SCATTER,
	COLLECTIVES, /* how many of them there are */
	TWO,	     /* two all-reduces in one group */
	EXCHANGE,    /* each rank sends to the next, in a group */
	PAIR,	     /* `root` sends to `peer` */
	SPLIT,	     /* makes the child communicator */
};

enum comm_kind { WORLD, CHILD };

struct op {
	enum op_kind kind;
	enum comm_kind comm;
	size_t count;
	int type; /* ncclDataType_t */
	int root;
	int peer;
	bool is_synced; /* the ranks wait for the stream after it */
};

enum fault_kind {
	HEALTHY,
	MISSING,
	MISSING_IN_INIT,
	MISSING_IN_SPLIT,
	HALF_PAIR,
	OTHER_FUNCTION,
	OTHER_SIZE,
	OTHER_TYPE,
	OTHER_ROOT,
	OTHER_ORDER,
	LATE_HOST,
	LATE_GPU,
	SLOW_LINK,
	BROKEN_QP,
	KILLED,
	STUCK_KERNEL,
	POLLING,
	FAULTS, /* how many of them there are */
};

struct plan {
	int ranks;
	uint64_t seed;
	bool is_polling; /* the ranks poll instead of waiting for their streams */
	struct op ops[OPS];

	enum fault_kind fault;
	int guilty;
	int at;		/* the operation with the fault, or the first one; -1 none */
	long late_ms;	/* how late the straggler comes */
	bool is_sender; /* which half of a pair is there */
	int link_peer;	/* the other end of the slow link */
};

extern const char *const fault_names[FAULTS];

/* Draws a plan whose fault is in the moment-th of the operations that it can be in. */
void draw_plan(struct plan *plan, int ranks, enum fault_kind fault, int guilty,
	       unsigned int moment, uint64_t seed);

/* Whether it is a collective of all ranks. */
bool is_of_all(const struct op *op);

/* The next number of a generator, whose state is `*state`. */
uint64_t draw(uint64_t *state);
/* A number below the limit. */
unsigned int draw_below(uint64_t *state, unsigned int limit);

/* What a rank does in place of an operation that it gets wrong. */
struct op wrong_op(const struct plan *plan);

/* In a child: its size, and the place of a rank of the world in it. */
int child_color(const struct plan *plan, int rank);
int child_size(const struct plan *plan, int rank);
int child_rank(const struct plan *plan, int rank);

#endif
