/* SPDX-License-Identifier: MIT */
/*
 * Which calls of different ranks are one operation: the same number of the same
 * communicator, counted in the traced processes.  No time is looked at.
 *
 * Hides which calls count (a group may be dropped, a number given out again),
 * that a communicator may be known late, and what is held until all ranks are
 * there: a bounded number of operations, whatever the length of the trace.
 */
#ifndef TAP_JOIN_RANKS_OPERATIONS_H
#define TAP_JOIN_RANKS_OPERATIONS_H

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

enum tap_known {
	TAP_KNOWN_EXACT,    /* by a key */
	TAP_KNOWN_DECODED,  /* by what a release of NCCL is known to write */
	TAP_KNOWN_INFERRED, /* a call has not returned, and may yet fail; or, see why */
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
	bool is_awaiting;	     /* those missing had not come, as the trace shows */
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

/* What its owner does not set is zero at first. */
struct tap_links {
	/* Set by the owner. */
	size_t held_max; /* operations, at least 1 */
	struct tap_comms *comms;
	struct tap_loss *loss;
	int (*link)(void *data, const struct tap_link *link);	/* may be NULL */
	int (*defect)(void *data, const struct tap_link *link); /* the same */
	void *data;

	struct tap_table groups;    /* by (process, thread) */
	struct tap_table sequences; /* by (member, direction and peer) */
	struct tap_table channels;  /* by (communicator, both ranks) */
	struct tap_table slots;	    /* by (channel, number) */
	struct tap_queue *oldest;   /* of groups and slots, in order of their making */
	struct tap_queue *newest;
	size_t held;
	bool is_settling;
	bool is_finishing; /* no more calls come */
	uint64_t changes;  /* of comms, when it was looked at last */
	struct tap_link_end *ends;
	size_t end_room;
	struct tap_queue *free_queues;
	struct tap_held *free_held;
	struct tap_channel *all_channels;
	struct tap_sequence *all_sequences;
};

/* Each returns 0, -ENOMEM or what link returned. */

/* A span has ended. */
int tap_links_take(struct tap_links *links, const struct tap_span *span);
/* All spans have ended: what is held is linked as far as it can be. */
int tap_links_finish(struct tap_links *links);

void tap_links_free(struct tap_links *links);

#endif
