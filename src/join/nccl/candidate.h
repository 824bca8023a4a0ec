/* SPDX-License-Identifier: MIT */
/*
 * Which kernels a message may be of, by times alone: the sender's kernel begins before
 * any message of it is posted, and the receiver's ends after all of them were seen to
 * arrive; nobody waits for a message of an operation that is not called yet. The times of
 * each rank are compared with its own clock.
 *
 * Hides how the operations of two ranks are compared, and which kernels need no message
 * of the connection at all.
 */
#ifndef TAP_JOIN_NCCL_CANDIDATE_H
#define TAP_JOIN_NCCL_CANDIDATE_H

#include "join/nccl/rank_ops.h"

/* Two ranks of one communicator. */
struct tap_rank_pair {
	const struct tap_member *from, *to;
	const struct tap_member *made_for; /* whose connection it is; NULL: one's own */
};

/* Operations of two ranks with common numbers; NULL: none is known. */
struct tap_rank_series {
	const struct tap_rank_pair *pair;
	const struct tap_op_times *from, *to;
	bool is_messages; /* sends and receives */
};

struct tap_rank_series tap_rank_series_find(const struct tap_ranks_ops *ranks,
					    const struct tap_rank_pair *pair,
					    bool is_messages);

/* What is known of a message. */
struct tap_message_facts {
	int64_t posted_ns;  /* no later */
	int64_t arrived_ns; /* no earlier */
	int64_t awaited_ns; /* the receiver waited for it at that time */
	int64_t channel;    /* -1 unknown */
	int64_t index;	    /* 0: of collectives, 1: of sends and receives; -1 unknown */
	uint64_t bytes;	    /* TAP_BYTES_UNKNOWN: of several requests, or messages */
	/* It is of a later send of the two ranks than this, and of an earlier one; or 0.
	 */
	uint64_t after, before;
};

enum tap_candidates {
	TAP_CANDIDATES_NONE, /* no kernel fits */
	TAP_CANDIDATES_ONE,
	TAP_CANDIDATES_SEVERAL, /* or more may become known */
	TAP_CANDIDATES_BEFORE,	/* the kernel may have run before recording began */
	TAP_CANDIDATES_MISSING, /* an operation fits whose kernel is not known */
};

/* The kernel on both ranks; its `first` is the same. */
struct tap_candidate {
	bool is_mixed; /* of a group: its operations are numbered apart */
	const struct tap_member *from_member, *to_member;
	const struct tap_op_kernel *from, *to;
	/*
	 * The sender's kernel among its sends to the receiver, of which the message is
	 * one; NULL: or it may be of another operation.
	 */
	const struct tap_op_kernel *sends;
};

struct tap_candidate_world {
	const struct tap_ranks_ops *ranks;
	int64_t error_ns; /* the most by which the times of kernels are wrong */
	bool is_whole;	  /* as far as is known, no event is missing */
	bool is_over;	  /* all events have been read */
};

/* Only TAP_CANDIDATES_ONE sets *candidate. */
enum tap_candidates tap_candidates_find(const struct tap_candidate_world *world,
					const struct tap_rank_pair *pairs, size_t count,
					const struct tap_message_facts *message,
					struct tap_candidate *candidate);

/*
 * The operations, begin <= number < end, that the message may be of by times alone;
 * begin is 0 where it may be of one from before the recording.  Returns false where
 * nothing is to be concluded.
 */
bool tap_candidates_bounds(const struct tap_candidate_world *world,
			   const struct tap_rank_pair *pair, bool is_messages,
			   const struct tap_message_facts *message, uint64_t *ret_begin,
			   uint64_t *ret_end);

/* Whether the message may be of operations of this kind, by times alone. */
bool tap_candidates_have(const struct tap_candidate_world *world,
			 const struct tap_rank_pair *pair, bool is_messages,
			 const struct tap_message_facts *message);

/*
 * Whether what an operation sends is for these ranks, and the message may be part of it
 * by its size.
 */
bool tap_candidate_may_be_sent(const struct tap_op_transfer *transfer,
			       const struct tap_rank_pair *pair,
			       const struct tap_message_facts *message);

/*
 * Whether what the kernel sends between the ranks is so little that NCCL divides no send
 * of it: all is over the first channel of the two, as what has no bytes is.
 */
bool tap_candidate_is_undivided(const struct tap_op_kernel *kernel,
				const struct tap_rank_pair *pair);

/* Whether the kernel sends between the ranks, by the message's channel and index. */
bool tap_candidate_is_possible(const struct tap_op_kernel *kernel,
			       const struct tap_rank_pair *pair,
			       const struct tap_message_facts *message);

/* Whether both ranks have reported kernels from the time of the message and after it. */
bool tap_candidates_are_reported(const struct tap_candidate_world *world,
				 const struct tap_rank_pair *pair,
				 const struct tap_message_facts *message);

#endif
