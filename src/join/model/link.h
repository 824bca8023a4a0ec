/* SPDX-License-Identifier: MIT */
/*
 * What belongs together: the vocabulary of links, which every layer makes and every view
 * prints.
 *
 * Hides how a kind of link, and how sure it is, is called in every output.
 */
#ifndef TAP_JOIN_MODEL_LINK_H
#define TAP_JOIN_MODEL_LINK_H

#include "join/model/comm.h"

enum tap_link_kind {
	TAP_LINK_COLLECTIVE_RANKS,
	TAP_LINK_SEND_RECV,	  /* ends[0] is the send */
	TAP_LINK_POST_COMPLETION, /* of one work request: one end, from begin_ns to end_ns
				   */
	TAP_LINK_SEND_RECEIVE,	  /* of two: ends[0] is the sender's */
	TAP_LINK_CTS_MESSAGE,	/* NCCL's: the CTS, the message sent and received, and the
				   request that ends it on each queue pair */
	TAP_LINK_FLUSH_MESSAGE, /* the message received, and its flush */
	TAP_LINK_API_LAUNCH,	/* a call, which goes on, and what it put on a stream;
				   from begin_ns of the one to end_ns, when the other
				   began */
	TAP_LINK_LAUNCH_KERNEL, /* that, and what ran for it, likewise */
	TAP_LINK_KERNEL_COLLECTIVE, /* what ran, and the calls of NCCL that it is of; from
				   the first one's begin_ns to end_ns, when it began */
};

struct tap_link_end {
	const struct tap_process *process;
	const struct tap_member *member; /* NULL of a work request */
	struct tap_work work;		 /* that it is, or none */
	const struct tap_name *name;
	uint64_t call_id;
	int64_t rank; /* -1 unknown */
};

/* Spans that are one operation.  It belongs to the join, until the call returns. */
struct tap_link {
	enum tap_link_kind kind;
	enum tap_known known;
	bool is_mismatch;	     /* the ranks called different functions */
	bool is_complete;	     /* all ranks are there */
	bool is_pending;	     /* those missing had not come, as the trace shows */
	int64_t peer;		     /* of the first end, if it is a message's; else -1 */
	const struct tap_comm *comm; /* NULL of work requests and launches */
	uint64_t op_number;
	const struct tap_name *operation; /* NULL: a mismatch */
	enum tap_why why;		  /* it is inferred, of work requests */
	int64_t begin_ns, end_ns;	  /* of cause and effect, of work requests */
	bool is_end_bound;		  /* as in a span */
	uint64_t bytes;			  /* likewise */
	int64_t nranks;			  /* of the communicator, -1 unknown */
	const struct tap_link_end *ends;  /* by rank, unknown ones last */
	size_t count;			  /* at least 2, but of one request's own */
};

/* How a kind, and how it is known, is called in every output. */
const char *tap_link_kind_name(enum tap_link_kind kind);
const char *tap_known_name(enum tap_known known);

/* Whether an end of it is of this rank. */
bool tap_link_has_rank(const struct tap_link *link, int64_t rank);

#endif
