/* SPDX-License-Identifier: MIT */
/*
 * What the views are told of work requests: which one a span is, which two belong
 * together, how that is known, and why something has no other.
 *
 * Hides the numbers of <infiniband/verbs.h>, which the events carry.
 */
#ifndef TAP_JOIN_MODEL_WIRE_H
#define TAP_JOIN_MODEL_WIRE_H

#include <stdbool.h>
#include <stdint.h>

struct tap_qp;

enum tap_work_kind {
	TAP_WORK_NONE, /* the span is no work request */
	TAP_WORK_SEND, /* on a send queue, whatever it does */
	TAP_WORK_RECEIVE,
	TAP_WORK_REFUSED, /* the call that posts it failed */
	/* Messages of NCCL's network code. */
	TAP_WORK_NET_SEND,
	TAP_WORK_NET_RECEIVE,
	TAP_WORK_GPU, /* what ran on a GPU */
};

/* Which work a span is: the kind says which of the members is filled. */
struct tap_work {
	enum tap_work_kind kind;
	union {
		/* Which request of which queue; on a send queue or not, or refused. */
		struct {
			const struct tap_qp *qp; /* NULL: of a shared receive queue,
						    not completed yet */
			uint64_t qp_id;	 /* the process's own, from 1; 0 when srq_id says
					    the queue */
			uint64_t srq_id; /* 0 none */
			uint64_t generation; /* of the queue pair, from 1 */
			uint64_t seq;	 /* of the queue, from 1 */
		} request;
		/* Which message of which connection. */
		struct {
			uint64_t net_id; /* the process's own, from 1 */
			uint64_t number; /* from 1 */
		} message;
		/* What ran on which stream. */
		struct {
			uint64_t device, stream;
			uint64_t number; /* of all that ran */
		} run;
	};
};

/* Kinds of relation; each is counted, and says how it is known. */
enum tap_match_kind {
	TAP_MATCH_POST_COMPLETION,
	TAP_MATCH_REQUEST_MEMORY, /* of one that names memory of the peer */
	TAP_MATCH_SEND_RECEIVE,
	TAP_MATCH_CTS_MESSAGE,
	TAP_MATCH_FLUSH_MESSAGE,
	TAP_MATCH_API_LAUNCH, /* of what was launched inside a call */
	TAP_MATCH_LAUNCH_KERNEL,
	TAP_MATCH_KERNEL_COLLECTIVE,
	TAP_MATCH_KINDS,
};

enum tap_known {
	TAP_KNOWN_EXACT,    /* by a key */
	TAP_KNOWN_DECODED,  /* by what a release of NCCL is known to write */
	TAP_KNOWN_INFERRED, /* a call has not returned, and may yet fail; or, see why */
};

/* Why a relation is not exact, or not there. */
enum tap_why {
	TAP_WHY_NONE,
	TAP_WHY_AMBIGUOUS,	 /* several could be it */
	TAP_WHY_BEFORE,		 /* it was before recording began */
	TAP_WHY_COMPLETION_LOST, /* later ones have completed */
	TAP_WHY_CONTRADICTED,	 /* the ordinals name two that are not alike */
	TAP_WHY_DROPPED,	 /* records are missing: it may be one of them */
	TAP_WHY_FAILED,		 /* the request completed with an error */
	TAP_WHY_FLUSHED,	 /* one before it failed */
	TAP_WHY_GIVEN_UP,	 /* too many waited at once */
	TAP_WHY_LATE,	      /* how often the two were connected before is not known */
	TAP_WHY_LOST,	      /* on the way: later ones arrived */
	TAP_WHY_NOT_RECORDED, /* the call that it is of is not, and nothing was dropped */
	TAP_WHY_IN_USE,	      /* another has CUPTI */
	TAP_WHY_ORDER,	      /* no more than the order tells */
	TAP_WHY_PEER_MISSING, /* the peer is traced, its part is not there */
	TAP_WHY_PEER_UNKNOWN, /* nobody in the trace says to be the peer */
	TAP_WHY_POST_LOST,
	TAP_WHY_QUEUE,	    /* an error, of either queue of a pair */
	TAP_WHY_CONCURRENT, /* two threads took ordinals at once */
	TAP_WHY_SETUP,	    /* how the queue pair was made is not known */
	TAP_WHY_UNPROVED,   /* something may have been lost on the way */
	TAP_WHY_ZERO_TIME,  /* CUPTI told no times of as many */
	TAP_WHY_COUNT,
};

struct tap_matches {
	uint64_t exact;
	uint64_t decoded;
	uint64_t inferred;
	uint64_t unmatched;
	uint64_t outstanding; /* had not completed when the queue, or the trace, ended */
	uint64_t why[TAP_WHY_COUNT]; /* of inferred and unmatched ones */
};

/* A relation was found, or was not. */
void tap_matches_count(struct tap_matches *matches, enum tap_known known,
		       enum tap_why why);
void tap_matches_lack(struct tap_matches *matches, enum tap_why why);

const char *tap_match_name(enum tap_match_kind kind);
const char *tap_why_name(enum tap_why why);

/* What an event of this layer is. */
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
	TAP_VERBS_POST_SEND,
	TAP_VERBS_POST_SEND_LIST,
	TAP_VERBS_POST_RECV,
	TAP_VERBS_POST_RECV_LIST,
	TAP_VERBS_POST_FAILED,
	TAP_VERBS_POLL,
	TAP_VERBS_NONE,
};

/* What the event of this name is; of the layer "tap", too. */
enum tap_verbs_event tap_verbs_event(const char *name);

/* "RDMA_WRITE", or NULL: no name is known. */
const char *tap_opcode_name(uint64_t opcode);
/* "RETRY_EXC_ERR", or NULL. */
const char *tap_wc_status_name(uint64_t status);
/* Whether a request of this opcode uses up a receive of the peer. */
bool tap_opcode_is_consuming(uint64_t opcode);
/* Whether it names memory of the peer. */
bool tap_opcode_is_one_sided(uint64_t opcode);
/* Whether it carries a number for the receiver. */
bool tap_opcode_has_imm(uint64_t opcode);

/* Whether it is a request of a queue, refused or not. */
bool tap_work_is_request(const struct tap_work *work);
/* Whether it is a message of NCCL's. */
bool tap_work_is_message(const struct tap_work *work);
bool tap_work_is_receive(const struct tap_work *work);

/* Whether it is a request of a shared receive queue. */
bool tap_work_is_shared(const struct tap_work *work);
/* The number of its queue, or of its connection; not of what ran on a GPU. */
uint64_t tap_work_queue_id(const struct tap_work *work);

/* Whether it ran on a GPU. */
bool tap_work_is_run(const struct tap_work *work);

#endif
