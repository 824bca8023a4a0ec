/* SPDX-License-Identifier: MIT */
/*
 * The vocabulary of links between spans, which every layer makes and every view prints.
 *
 * Hides how every output names the kind of a link, and how certain it is.
 */
#ifndef TAP_JOIN_MODEL_LINK_H
#define TAP_JOIN_MODEL_LINK_H

#include "join/model/comm.h"

enum tap_link_kind {
	/* Of calls of NCCL, one of each rank: their ends have facts. */
	TAP_LINK_COLLECTIVE_RANKS,
	TAP_LINK_SEND_RECV, /* ends[0] is the send */
	/* Of work. */
	TAP_LINK_POST_COMPLETION, /* of one work request: one end, begin_ns to end_ns */
	TAP_LINK_SEND_RECEIVE,	  /* of two work requests: ends[0] is the sender's */
	TAP_LINK_CTS_MESSAGE,	/* of NCCL: the CTS, the message sent and received, and on
				   each queue pair the request that ends it */
	TAP_LINK_FLUSH_MESSAGE, /* the message received, and its flush */
	TAP_LINK_SOCKET_MESSAGE, /* of NCCL, over sockets: sent and received */
	TAP_LINK_API_LAUNCH, /* a call, which goes on, and the launch inside it; from the
				call's begin_ns to end_ns, when the launch began */
	TAP_LINK_LAUNCH_KERNEL, /* the launch and the work that ran for it, likewise */
	TAP_LINK_KERNEL_COLLECTIVE, /* a kernel and its calls of NCCL; from the first
				       call's begin_ns to end_ns, when the kernel began */
	TAP_LINK_MESSAGE_KERNEL,    /* of NCCL: the sender's kernel, the message sent and
				       received, the receiver's kernel; from the begin of the
				       first to the end of the last */
	TAP_LINK_PROXY_OP, /* of NCCL: a ProxyOp and its messages, in order; of many, each
			      so many have a link */
};

/* How the calls of different ranks that are one operation contradict each other. */
enum tap_mismatch {
	TAP_MISMATCH_NONE,
	TAP_MISMATCH_FUNCTION,
	TAP_MISMATCH_SIZE,
	TAP_MISMATCH_DATATYPE,
	TAP_MISMATCH_REDOP,
	TAP_MISMATCH_ROOT,
};

/* What a rank asked for, when and from where: of an end that is a call of NCCL. */
struct tap_call_facts {
	int64_t begin_ns;  /* -1 unknown */
	int64_t end_ns;	   /* -1: it did not return, or when is unknown */
	int64_t tid;	   /* -1 unknown */
	uint64_t group_id; /* 0 none */
	struct tap_operation operation;
	uint64_t caller_number;		  /* of the library, 0 unknown */
	const struct tap_library *caller; /* NULL unknown */
	uint64_t caller_offset;
	const struct tap_stack *stack; /* NULL unknown */
};

struct tap_link_end {
	const struct tap_process *process;
	const struct tap_member *member; /* NULL of a work request */
	struct tap_work work;		 /* the end's work, or none */
	const struct tap_name *name;
	uint64_t call_id;
	int64_t rank;		     /* -1 unknown */
	struct tap_call_facts facts; /* where the link's kind is one of calls */
};

/* One link.  It belongs to the join until the consumer's function returns. */
struct tap_link {
	enum tap_link_kind kind;
	enum tap_known known;
	bool is_mismatch;	    /* the ranks called different functions */
	enum tap_mismatch mismatch; /* the first of these that the calls show */
	bool is_complete;	    /* all ranks are there */
	bool is_pending; /* the missing ranks had not called, as the trace shows */
	int64_t peer;	 /* of the first end, for a message; else -1 */
	const struct tap_comm *comm; /* NULL of work requests and launches */
	uint64_t op_number;
	const struct tap_name *operation; /* NULL: a mismatch */
	enum tap_why why;		  /* why a link of work requests is inferred */
	int64_t begin_ns, end_ns;	  /* of cause and effect */
	bool is_end_bound;		  /* as in a span */
	uint64_t bytes;			  /* likewise */
	/* Of TAP_LINK_MESSAGE_KERNEL; -1 unknown. */
	int64_t channel;
	int64_t step;	/* which message of the kernel over its connection, from 0 */
	int64_t nranks; /* of the communicator, -1 unknown */
	const struct tap_link_end *ends; /* by rank, unknown ones last */
	size_t count;			 /* at least 2, but for a link of one request */
};

struct tap_generation;

/*
 * A message of which this trace has one end, since the other end is on a host whose trace
 * is not read.  The two halves of a message have the same key: its number, and who sends
 * it to whom.
 */
struct tap_half {
	/*
	 * What the link would be: with this end alone, its begin_ns of a sender, its
	 * end_ns of a receiver, and exact unless this end gives a reason for doubt.
	 */
	struct tap_link link;
	bool is_receive;
	uint64_t ordinal; /* of the message, from 1, among those of the sender to the
			     receiver */
	bool is_unread;	  /* the program did not read what arrived */
	bool has_bytes;	  /* link.bytes is what both ends must have */
	bool has_imm;
	uint32_t imm_data; /* likewise */
	/* Of a message between queue pairs (qp.h), else NULL: the pair's end here. */
	const struct tap_generation *generation;
	/*
	 * Of a message over sockets, else NULL: the address that the receiver listened at
	 * for this connection; and where the message begins in the stream.
	 */
	const char *listener;
	uint64_t offset;
};

/* What a call's span says of it as an end of a link. */
struct tap_call_facts tap_call_facts_of(const struct tap_span *span);

/*
 * Copies a link and its ends, which *ends owns from now on instead of those that it had.
 * Returns 0 or -ENOMEM.
 */
int tap_link_copy(struct tap_link *to, struct tap_link_end **ends,
		  const struct tap_link *link);

/* The names of a kind and of a degree of certainty in every output. */
const char *tap_link_kind_name(enum tap_link_kind kind);
const char *tap_known_name(enum tap_known known);

/* "function", "size", "datatype", "redop", "root", or NULL for none. */
const char *tap_mismatch_name(enum tap_mismatch mismatch);

/* The key of the communicator that calls, or a message's kernels, have; 0: none. */
uint64_t tap_link_comm_key(const struct tap_link *link);
/* Adds the key of their operation, as tap_operation_add_key(), where it is only one. */
void tap_link_add_op_key(struct tap_buffer *buffer, const struct tap_link *link);

/*
 * The most by which the link's times of two ends may be wrong to each other: 0 on one
 * host, -1 where they may not be compared.
 */
int64_t tap_link_uncertainty_ns(const struct tap_link *link);

/* Whether an end of the link has this rank. */
bool tap_link_has_rank(const struct tap_link *link, int64_t rank);

#endif
