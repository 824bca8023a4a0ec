/* SPDX-License-Identifier: MIT */
/*
 * Applies a completion: ends its request, links the post to the completion, and passes a
 * received message to its flow.
 *
 * Hides that the post of a completion may be missing, and that unsignalled requests end
 * with the next signalled one.
 */
#ifndef TAP_JOIN_RDMA_OUTCOME_H
#define TAP_JOIN_RDMA_OUTCOME_H

#include "join/rdma/request.h"

/* A completion that the program polled. */
struct tap_completion {
	TAP_LIST_LINK(struct tap_completion) link; /* for completion.c */
	const struct tap_process *process;
	struct tap_generation *generation;
	struct tap_srq *srq; /* NULL: none */
	int64_t time_ns;
	int64_t tid; /* of the polling thread */
	uint64_t cq_id, wr_id, seq, status, opcode, byte_len, imm_data, wc_flags, src_qp,
		vendor_err;
	bool is_receive;
	bool is_concurrent; /* two threads polled at once */
	bool is_of_either;  /* failed; a send or a receive, unknown which */
};

#define TAP_WC_RECEIVED 128 /* ibv_wc_opcode of a received SEND; of a write, 129 */

/* The modules that outcomes use; the owner sets them. */
struct tap_outcomes {
	struct tap_context *context;
	const struct tap_rdma_observer *observer; /* NULL none */
	struct tap_flows *flows;
	struct tap_requests *requests;
};

/* Each returns 0 or -errno; `why` is the reason of doubt, or what is missing. */

/* Ends the request with this completion. */
int tap_outcome_complete(const struct tap_outcomes *outcomes, struct tap_request *request,
			 const struct tap_completion *wc, enum tap_why why);
/*
 * Ends the unsignalled requests before `last` that end with completion `due`.  `last` is
 * the request that completed, NULL where its post is missing.
 */
int tap_outcome_complete_before(const struct tap_outcomes *outcomes,
				const struct tap_work_queue *queue,
				const struct tap_request *last, uint64_t due,
				const struct tap_completion *wc, enum tap_why why);
/* Counts a completion whose post is missing, and passes on what it received. */
int tap_outcome_lose(const struct tap_outcomes *outcomes, const struct tap_completion *wc,
		     enum tap_why why);

#endif
