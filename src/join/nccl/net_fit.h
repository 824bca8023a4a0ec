/* SPDX-License-Identifier: MIT */
/*
 * Divides the messages between two ranks among operations, of some of which the bytes are
 * known.
 *
 * What a rank sends another one for an operation, over all connections together, follows
 * from the call alone, however NCCL divides it among channels, chunks and slices.  A
 * connection has the messages of one operation after the other, so all that is open is
 * where each operation ends on each connection: every such cut that times allow is tried,
 * and a message is of an operation where it is in all those that give each operation its
 * bytes.
 *
 * Hides how each protocol carries bytes, which is not known of an operation: SIMPLE as
 * they are, LL 8 bytes in 16, LL128 1920 in 2048, both in whole lines of each message
 * (NCCL 2.28.9, device/prims_ll.h:56-65; prims_ll128.h:301).  And that no operation
 * begins with an empty message, unless all that it has on a connection are empty; but one
 * of which the bytes are not known may.
 */
#ifndef TAP_JOIN_NCCL_NET_FIT_H
#define TAP_JOIN_NCCL_NET_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Connections and operations of one search. */
#define TAP_FIT_LANES_MAX 64
#define TAP_FIT_OPS_MAX 64

#define TAP_FIT_NONE SIZE_MAX

/* Messages together. */
struct tap_fit_sum {
	uint64_t bytes;
	uint64_t messages; /* that are not empty */
	uint64_t bits;	   /* of all their sizes */
};

struct tap_fit_op {
	bool is_open;		    /* nothing is known of its bytes, as of several */
	uint64_t bytes;		    /* that it sends; 0: it has no messages */
	struct tap_fit_sum certain; /* what is known to be of it, on any connection */
	bool has_data[TAP_FIT_LANES_MAX]; /* some of that, not empty, is on this one */
};

/* One of which the operation is asked for. */
struct tap_fit_message {
	size_t lane;	    /* connection */
	size_t least, most; /* operations that it may be of */
	uint64_t bytes;
	size_t op;    /* the answer; TAP_FIT_NONE: not known */
	size_t tried; /* of the search itself */
};

void tap_fit_add(struct tap_fit_sum *sum, uint64_t bytes);

/* Whether an operation of so many bytes may have these messages, by any protocol. */
bool tap_fit_is_whole(const struct tap_fit_sum *sum, uint64_t bytes);

enum tap_fit {
	TAP_FIT_NO, /* no cut gives each operation its bytes */
	TAP_FIT_YES,
	TAP_FIT_TOO_MANY, /* cuts to try: nothing is found */
};

/*
 * Finds the operations of the messages, which are in the order of connections and, of
 * each, in their own.
 */
enum tap_fit tap_fit_find(const struct tap_fit_op *ops, size_t op_count,
			  struct tap_fit_message *messages, size_t message_count);

#endif
