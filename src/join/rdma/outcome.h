/* SPDX-License-Identifier: MIT */
/*
 * What comes of a completion: requests are over, a link says how sure that is, and what
 * was received is a message for the other end.
 *
 * Hides that a completion may be all that is known of a request, and that requests which
 * are not signalled are over with one that is.
 */
#ifndef TAP_JOIN_RDMA_OUTCOME_H
#define TAP_JOIN_RDMA_OUTCOME_H

#include "join/rdma/request.h"

/* One completion that was read. */
struct tap_completion {
	TAP_LIST_LINK(struct tap_completion) link; /* of completion.c */
	const struct tap_process *process;
	struct tap_generation *generation;
	struct tap_srq *srq; /* NULL: none */
	int64_t time_ns;
	int64_t tid; /* who read it */
	uint64_t cq_id, wr_id, seq, status, opcode, byte_len, imm_data, wc_flags, src_qp,
		vendor_err;
	bool is_receive;
	bool is_concurrent; /* two threads polled at once */
	bool is_of_either; /* of an error nobody knows more */
};

#define TAP_WC_RECEIVED 128 /* of ibv_wc_opcode: a SEND; one more, a write */

/* Of whom that needs.  Set by the owner. */
struct tap_outcomes {
	struct tap_context *context;
	const struct tap_rdma_observer *observer; /* NULL none */
	struct tap_flows *flows;
	struct tap_requests *requests;
};

/* Each returns 0 or -errno; why says that it is not sure, or what is missing. */

/* The request completed with this. */
int tap_outcome_complete(const struct tap_outcomes *outcomes, struct tap_request *request,
			 const struct tap_completion *wc, enum tap_why why);
/*
 * What has no completion of its own is over with the next request that has, whose post
 * may be missing: last is NULL then, or one further on.
 */
int tap_outcome_complete_before(const struct tap_outcomes *outcomes,
				const struct tap_work_queue *queue,
				const struct tap_request *last, uint64_t due,
				const struct tap_completion *wc, enum tap_why why);
/* A completion without its post. */
int tap_outcome_lose(const struct tap_outcomes *outcomes, const struct tap_completion *wc,
		     enum tap_why why);

#endif
