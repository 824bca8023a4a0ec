/* SPDX-License-Identifier: MIT */
/*
 * What is known of the times of one rank's operations, by their places: when each was
 * called, and when its kernel ran.  From that follows which operations a message of the
 * rank cannot be of.
 *
 * A communicator's kernels run one after the other, in the order of the places.  So what
 * is known of one kernel bounds all later ones, and all earlier ones, too; a kernel that
 * is missing makes the answers less narrow, but not wrong.
 *
 * The place of an operation is its number, as long as no graph is in use.  One that is
 * captured has a number and no place: it runs when the graph does, each time with a place
 * of its own.  Later operations have other places accordingly.
 *
 * Hides how the times are kept, and that the oldest are forgotten.
 */
#ifndef TAP_JOIN_NCCL_OP_TIMES_H
#define TAP_JOIN_NCCL_OP_TIMES_H

#include "common/vec.h"
#include "join/model/wire.h"
#include "join/nccl/expected.h"

#include <stdbool.h>
#include <stdint.h>

struct tap_name;

/* What an operation sends from rank to rank; from or to is the only one, -1: each does.
 */
struct tap_op_transfer {
	int32_t from, to;
	uint64_t bytes; /* to each receiver; or TAP_BYTES_UNKNOWN */
};

#define TAP_BYTES_UNKNOWN UINT64_MAX

#define TAP_OP_TRANSFERS_MAX 8

/* What those operations of a kernel send that are made of sends and receives. */
struct tap_op_transfers {
	struct tap_op_transfer items[TAP_OP_TRANSFERS_MAX];
	unsigned int count;
	bool is_cut; /* there are more, or the bytes of one are not known */
};

/* What a kernel with a single collective, not made of sends, was called for. */
struct tap_op_total {
	enum tap_ccl_function function;
	uint64_t bytes; /* by its count; 0: not known */
	int64_t root;
};

/* A kernel with all operations of its places; they have no other kernel. */
struct tap_op_kernel {
	uint64_t first, last; /* places */
	uint64_t number;      /* of the first of its operations */
	int64_t begin_ns, end_ns;
	struct tap_ccl_work asked; /* of a single collective; else what all have */
	uint64_t signature;	   /* equal of kernels that were launched for the same */
	bool is_decoded; /* function and channels are from the kernel's arguments */
	/* Of a group, some may be made of sends and receives, and some not. */
	bool has_messages, has_others;
	struct tap_op_transfers transfers;
	struct tap_op_total total;
	struct tap_work work;
	const struct tap_name *name;	  /* of the kernel's span */
	const struct tap_name *operation; /* NULL: several */
};

/* Whether both are of one kernel, for operations that are numbered apart. */
static inline bool tap_op_kernels_are_one(const struct tap_op_kernel *a,
					  const struct tap_op_kernel *b)
{
	return a && b && a->work.run.device == b->work.run.device &&
	       a->work.run.number == b->work.run.number;
}

/* Whether two ranks' kernels are of the same operations. */
static inline bool tap_op_kernels_are_same(const struct tap_op_kernel *a,
					   const struct tap_op_kernel *b)
{
	return a->first == b->first && a->last == b->last && a->number == b->number;
}

struct tap_op_call {
	uint64_t place;
	int64_t begin_ns;
	bool is_messages; /* made of sends and receives, for connections of their own */
	bool is_empty;	  /* it has no kernel: no elements, or copy engines */
	struct tap_op_transfer transfer; /* where it is_messages */
};

/* From this number on, a place is a number and this much more. */
struct tap_op_shift {
	uint64_t number;
	int64_t by;
};

/* Operations of a rank that are numbered together; empty when all zero. */
struct tap_op_times {
	/* By place.  Of each array, the items before `first_...` are forgotten. */
	TAP_VEC(struct tap_op_kernel) kernels;
	TAP_VEC(struct tap_op_call) calls;
	size_t first_kernel, first_call;
	uint64_t forgotten; /* the last place of a kernel that is forgotten */
	int64_t forgotten_end_ns;
	uint64_t lowest;   /* place of a call in the recording; 0: there was none */
	uint64_t last;	   /* the highest place that is known; 0: none */
	uint64_t numbered; /* the highest number of a call, captured or not; 0: none */
	TAP_VEC(struct tap_op_shift) shifts; /* by number; none: a place is a number */
	/* Two kernels contradict the order: nothing is to be concluded. */
	bool is_irregular;
	bool has_messages; /* there was an operation that is_messages */
};

/* Those with a result return 0 or -ENOMEM. */

/* Takes a call with this number, and gives it its place. */
int tap_op_times_call(struct tap_op_times *times, uint64_t number,
		      const struct tap_op_call *call);
/* Takes one that is captured. */
int tap_op_times_captured(struct tap_op_times *times, uint64_t number);
/* Takes one of a graph that is launched, and gives it its place. */
int tap_op_times_repeated(struct tap_op_times *times, const struct tap_op_call *call,
			  uint64_t *ret_place);
/* The call with this number has no kernel, as turns out later. */
void tap_op_times_empty(struct tap_op_times *times, uint64_t number);
/* Times of kernels may be wrong by error_ns. */
int tap_op_times_kernel(struct tap_op_times *times, const struct tap_op_kernel *kernel,
			int64_t error_ns);

/* Each forgets the oldest one. */
void tap_op_times_forget_call(struct tap_op_times *times);
void tap_op_times_forget_kernel(struct tap_op_times *times);

/* The place of the operation with this number; 0: it is not known any more. */
uint64_t tap_op_times_place(const struct tap_op_times *times, uint64_t number);

/*
 * The lowest place of an operation that certainly began after this time, with kernels'
 * times that may be wrong by error_ns; UINT64_MAX: none is known.
 */
uint64_t tap_op_times_begun_after(const struct tap_op_times *times, int64_t time_ns,
				  int64_t error_ns);
/* The lowest place of an operation that was called after this time; likewise. */
uint64_t tap_op_times_called_after(const struct tap_op_times *times, int64_t time_ns);
/* The highest place of one that certainly ended before; 0: none is known. */
uint64_t tap_op_times_ended_before(const struct tap_op_times *times, int64_t time_ns,
				   int64_t error_ns);

/* Whether a kernel is known that certainly began after, or did not end before, this time.
 */
bool tap_op_times_has_begun_after(const struct tap_op_times *times, int64_t time_ns,
				  int64_t error_ns);
bool tap_op_times_has_ended_after(const struct tap_op_times *times, int64_t time_ns);

/* The lowest place from this one on that is known; UINT64_MAX: none is. */
uint64_t tap_op_times_next(const struct tap_op_times *times, uint64_t place);

/* The kernel or call at this place; NULL: not known. */
const struct tap_op_kernel *tap_op_times_find_kernel(const struct tap_op_times *times,
						     uint64_t place);
const struct tap_op_call *tap_op_times_find_call(const struct tap_op_times *times,
						 uint64_t place);

/* What the same kernel of the rank has of these operations; NULL: nothing. */
const struct tap_op_kernel *tap_op_times_find_one(const struct tap_op_times *times,
						  const struct tap_op_kernel *kernel);

void tap_op_times_free(struct tap_op_times *times);

#endif
