/* SPDX-License-Identifier: MIT */
/*
 * Requests that have not completed, in the order of their queues.
 *
 * A request becomes a span when it is posted; when it is over, the consumer and the
 * observer get it, and its message goes on its way.  Hides how many may be open at once,
 * that receives of a shared queue are found by wr_id, which several may have, and when
 * it is known which memory of its peer a request names.
 */
#ifndef TAP_JOIN_RDMA_REQUEST_H
#define TAP_JOIN_RDMA_REQUEST_H

#include "join/model/context.h"
#include "join/rdma/observer.h"
#include "join/rdma/queue.h"

struct tap_flow_side;
struct tap_flows;
struct tap_generation;
struct tap_memory;
struct tap_qps;
struct tap_srq;

struct tap_request {
	struct tap_span *span;
	struct tap_work_queue *queue;
	TAP_LIST_LINK(struct tap_request) of_queue;
	TAP_LIST_LINK(struct tap_request) of_all;
	/* Of a shared queue, with equal wr_id; before the first is the last. */
	struct tap_request *same_earlier, *same_later;
	bool is_doubtful; /* of the first: others that are over may be among them */
	struct tap_flow_side *flow; /* that it is a message of, NULL none */
	uint64_t ordinal;	    /* of the message */
	uint64_t signaled;	    /* ordinal of the completion, 0 none */
	uint64_t due;		    /* ordinal of the one that it ends with */
	uint64_t wr_id;
	uint64_t length;
	uint64_t imm_data;
	struct tap_rdma_note note;
	uint64_t remote_addr, rkey;
	bool has_imm;
	bool is_concurrent;
	bool is_one_sided; /* and its memory is not known yet */
};

struct tap_requests {
	/* Set by the owner; the rest is zero at first. */
	struct tap_context *context;
	const struct tap_rdma_observer *observer; /* NULL none */
	const struct tap_qps *qps;
	const struct tap_memory *memory;
	struct tap_flows *flows;

	struct tap_table by_wr_id; /* of shared queues, by (queue, wr_id) */
	TAP_LIST(struct tap_request) all, unused;
	size_t open; /* of all */
};

/* Of this span, which is its own now, and in no queue.  NULL: memory is short. */
struct tap_request *tap_request_make(struct tap_requests *requests,
				     struct tap_span *span);

/* Those that return a number return 0 or -errno. */

/* It is posted: into its queue, and the consumer gets the span. */
int tap_request_begin(struct tap_requests *requests, struct tap_work_queue *queue,
		      struct tap_request *request);
/* Before that, into those that a shared queue has of equal wr_id. */
int tap_request_share(struct tap_requests *requests, struct tap_srq *srq,
		      struct tap_request *request);
/* The first of a shared queue that has this wr_id, or NULL. */
struct tap_request *tap_request_find_shared(const struct tap_requests *requests,
					    const struct tap_srq *srq, uint64_t wr_id);
/* Adds to fields which memory of the peer it names, if that is traced and known. */
void tap_request_find_memory(struct tap_requests *requests, struct tap_request *request,
			     const struct tap_generation *generation,
			     struct tap_fields *fields);

/* It is over, and leaves its queue; failure says why its message may not arrive. */
int tap_request_end(struct tap_requests *requests, struct tap_request *request,
		    enum tap_span_state state, enum tap_why failure);
/* Gives up the span and what is kept of a request that is over. */
void tap_request_release(struct tap_requests *requests, struct tap_request *request);
/* Both, where its completion is missing, or is not to be told from others; */
int tap_request_lose(struct tap_requests *requests, struct tap_request *request,
		     enum tap_why why);
/* or where it had not completed when the queue ended. */
int tap_request_leave_open(struct tap_requests *requests, struct tap_request *request);

/* Drops what is in a queue: a reading was broken off, or is over. */
void tap_requests_forget(struct tap_requests *requests, struct tap_work_queue *queue);
void tap_requests_free(struct tap_requests *requests);

#endif
