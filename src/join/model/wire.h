/* SPDX-License-Identifier: MIT */
/*
 * The vocabulary of work requests for the views: which request a span is, which two
 * match, how the match is known, and why something has none.
 *
 * Hides the numbers of <infiniband/verbs.h>, which the events contain.
 */
#ifndef TAP_JOIN_MODEL_WIRE_H
#define TAP_JOIN_MODEL_WIRE_H

#include <stdbool.h>
#include <stdint.h>

struct tap_qp;

enum tap_work_kind {
	TAP_WORK_NONE, /* the span is no work request */
	TAP_WORK_SEND, /* on a send queue, of any opcode */
	TAP_WORK_RECEIVE,
	TAP_WORK_REFUSED, /* the call that posts it failed */
	/* Messages of NCCL's network code. */
	TAP_WORK_NET_SEND,
	TAP_WORK_NET_RECEIVE,
	TAP_WORK_GPU, /* work that ran on a GPU */
	/* Of NCCL's proxy: an operation on a connection; what a thread does. */
	TAP_WORK_PROXY_OP,
	TAP_WORK_PROXY_CTRL,
};

/* The work that a span represents: the kind selects the member. */
struct tap_work {
	enum tap_work_kind kind;
	union {
		/* A request of a queue: send, receive or refused. */
		struct {
			const struct tap_qp *qp; /* NULL: of a shared receive queue, not
						    completed yet */
			uint64_t qp_id;	     /* the process's own, from 1; 0 when srq_id
						identifies the queue */
			uint64_t srq_id;     /* 0 none */
			uint64_t generation; /* of the queue pair, from 1 */
			uint64_t seq;	     /* of the queue, from 1 */
		} request;
		/* A message of a connection. */
		struct {
			uint64_t net_id; /* the process's own, from 1 */
			uint64_t number; /* from 1 */
		} message;
		/* Work on a stream. */
		struct {
			uint64_t device, stream;
			uint64_t number; /* among all work on GPUs */
		} run;
		/* Of a connection, or of a thread. */
		struct {
			uint64_t id;	 /* net_id, or the thread's id */
			uint64_t number; /* among all of its kind */
			bool is_receive;
		} proxy;
	};
};

/* Kinds of matches; each is counted by how it is known. */
enum tap_match_kind {
	TAP_MATCH_POST_COMPLETION,
	TAP_MATCH_REQUEST_MEMORY, /* of a request that names memory of the peer */
	TAP_MATCH_SEND_RECEIVE,
	TAP_MATCH_CTS_MESSAGE,
	TAP_MATCH_FLUSH_MESSAGE,
	TAP_MATCH_SOCKET_MESSAGE,
	TAP_MATCH_API_LAUNCH, /* of a launch inside a call */
	TAP_MATCH_LAUNCH_KERNEL,
	TAP_MATCH_KERNEL_COLLECTIVE,
	TAP_MATCH_MESSAGE_KERNEL,
	TAP_MATCH_KINDS,
};

enum tap_known {
	TAP_KNOWN_EXACT,    /* by a key */
	TAP_KNOWN_DECODED,  /* by what a release of NCCL is known to write */
	TAP_KNOWN_INFERRED, /* a call has not returned; or see tap_why */
};

/* Why a match is not exact, or is missing. */
enum tap_why {
	TAP_WHY_NONE,
	TAP_WHY_AMBIGUOUS,	 /* several candidates */
	TAP_WHY_BEFORE,		 /* the other event was before recording began */
	TAP_WHY_COMPLETION_LOST, /* later ones have completed */
	TAP_WHY_CONTRADICTED,	 /* two with the same ordinal differ */
	TAP_WHY_DROPPED,      /* records are missing; the other event may be among them */
	TAP_WHY_FAILED,	      /* the request completed with an error */
	TAP_WHY_FLUSHED,      /* an earlier request failed */
	TAP_WHY_GRAPH,	      /* what graphs repeat is unknown */
	TAP_WHY_GIVEN_UP,     /* too many waited at once */
	TAP_WHY_LATE,	      /* earlier connections of the two are unknown */
	TAP_WHY_LOST,	      /* lost on the way: later ones arrived */
	TAP_WHY_NOT_RECORDED, /* its call was not recorded, and nothing was dropped */
	TAP_WHY_IN_USE,	      /* another tool uses CUPTI */
	TAP_WHY_ORDER,	      /* only the order matches them */
	TAP_WHY_PEER_MISSING, /* the peer is traced, its event is missing */
	TAP_WHY_PEER_UNKNOWN, /* no process in the trace is the peer */
	TAP_WHY_POST_LOST,
	TAP_WHY_QUEUE,	    /* an error, of either queue of a queue pair */
	TAP_WHY_CONCURRENT, /* two threads took ordinals at once */
	TAP_WHY_SETUP,	    /* the creation of the queue pair is unknown */
	TAP_WHY_TIMES,	    /* no other one fits the times */
	TAP_WHY_UNPROVED,   /* something may have been lost on the way */
	TAP_WHY_ZERO_TIME,  /* CUPTI reported no times of that many */
	TAP_WHY_COUNT,
};

struct tap_matches {
	uint64_t exact;
	uint64_t decoded;
	uint64_t inferred;
	uint64_t unmatched;
	uint64_t outstanding; /* not completed when the queue, or the trace, ended */
	uint64_t why[TAP_WHY_COUNT]; /* of inferred and unmatched matches */
};

const char *tap_match_name(enum tap_match_kind kind);
const char *tap_why_name(enum tap_why why);

/* The events of the layer of verbs. */
enum tap_verbs_event {
	TAP_VERBS_CONTEXT,
	TAP_VERBS_PORT,
	TAP_VERBS_GID,
	TAP_VERBS_MR,
	TAP_VERBS_MR_FREE,
	TAP_VERBS_QP,
	TAP_VERBS_QP_STATEDUMP,
	TAP_VERBS_SRQ_STATEDUMP,
	TAP_VERBS_QP_MODIFY,
	TAP_VERBS_QP_DESTROY,
	TAP_VERBS_AH,
	TAP_VERBS_AH_DESTROY,
	TAP_VERBS_UNOBSERVED,
	TAP_VERBS_ASYNC,
	TAP_VERBS_POST_SEND,
	TAP_VERBS_POST_SEND_LIST,
	TAP_VERBS_POST_RECV,
	TAP_VERBS_POST_RECV_LIST,
	TAP_VERBS_POST_FAILED,
	TAP_VERBS_POLL,
	TAP_VERBS_NONE,
};

/* The event of this name; of the layer "tap", too. */
enum tap_verbs_event tap_verbs_event(const char *name);

/* "RDMA_WRITE", or NULL: unknown. */
const char *tap_opcode_name(uint64_t opcode);
/* "RETRY_EXC_ERR", or NULL: unknown. */
const char *tap_wc_status_name(uint64_t status);
/* "QP_FATAL", or NULL: no asynchronous event that is an error. */
const char *tap_async_error_name(uint64_t event);
/* Whether a request of this opcode uses up a receive of the peer. */
bool tap_opcode_is_consuming(uint64_t opcode);
/* Whether the request names memory of the peer. */
bool tap_opcode_is_one_sided(uint64_t opcode);
/* Whether the request carries an immediate value for the receiver. */
bool tap_opcode_has_imm(uint64_t opcode);

/* Whether the work is a request of a queue, refused or not. */
bool tap_work_is_request(const struct tap_work *work);
/* Whether the work is a message of NCCL's network code. */
bool tap_work_is_message(const struct tap_work *work);
bool tap_work_is_receive(const struct tap_work *work);

/* Whether the work is a request of a shared receive queue. */
bool tap_work_is_shared(const struct tap_work *work);
/* The number of the work's queue or connection; not for work on a GPU. */
uint64_t tap_work_queue_id(const struct tap_work *work);

/* Whether the work ran on a GPU. */
bool tap_work_is_run(const struct tap_work *work);

/* Whether the work is of NCCL's proxy: a ProxyOp or a ProxyCtrl. */
bool tap_work_is_proxy(const struct tap_work *work);
/* Whether the reader learns of the work long after its end. */
bool tap_work_is_known_late(const struct tap_work *work);

#endif
