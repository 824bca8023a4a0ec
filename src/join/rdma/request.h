/* SPDX-License-Identifier: MIT */
/*
 * Open requests, in the order of their queues.
 *
 * A request becomes a span when it is posted.  When it ends, the module emits its span,
 * calls the observer and passes the message to its flow.  Hides the bound on open
 * requests, the search by wr_id in a shared queue, where several requests may have the
 * same one, and when the peer's memory that a request names becomes known.
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
	/*
	 * Receives of a shared queue with equal wr_id; same_earlier of the first is the
	 * last.
	 */
	struct tap_request *same_earlier, *same_later;
	bool is_doubtful;	    /* of the first: one of the list may have completed */
	struct tap_flow_side *flow; /* of its message, NULL: none */
	uint64_t ordinal;	    /* of the message */
	uint64_t signaled;	    /* ordinal of the completion, 0 none */
	uint64_t due;		    /* ordinal of the completion that ends it */
	uint64_t wr_id;
	uint64_t length;
	uint64_t imm_data;
	struct tap_rdma_note note;
	uint64_t remote_addr, rkey;
	bool has_imm;
	bool is_concurrent;
	bool is_one_sided; /* and the peer's memory is not known yet */
};

struct tap_requests {
	/* The owner sets these; the rest starts as zero. */
	struct tap_context *context;
	const struct tap_rdma_observer *observer; /* NULL none */
	const struct tap_qps *qps;
	const struct tap_memory *memory;
	struct tap_flows *flows;

	struct tap_table by_wr_id; /* of shared queues, by (queue, wr_id) */
	TAP_LIST(struct tap_request) all, unused;
	size_t open; /* entries in all */
};

/* Makes a request that owns the span and is in no queue.  NULL: memory is short. */
struct tap_request *tap_request_make(struct tap_requests *requests,
				     struct tap_span *span);

/* Functions with an int result return 0 or -errno. */

/* Puts a posted request into its queue, and emits the begin of its span. */
int tap_request_begin(struct tap_requests *requests, struct tap_work_queue *queue,
		      struct tap_request *request);
/* Call before tap_request_begin() for a shared queue: files the request by wr_id. */
int tap_request_share(struct tap_requests *requests, struct tap_srq *srq,
		      struct tap_request *request);
/* The first open request of a shared queue with this wr_id, or NULL. */
struct tap_request *tap_request_find_shared(const struct tap_requests *requests,
					    const struct tap_srq *srq, uint64_t wr_id);
/* Adds the peer's memory region that a request names to fields, if it is known. */
void tap_request_find_memory(struct tap_requests *requests, struct tap_request *request,
			     const struct tap_generation *generation,
			     struct tap_fields *fields);

/*
 * Ends a request and takes it out of its queue; failure says why its message may not
 * arrive.
 */
int tap_request_end(struct tap_requests *requests, struct tap_request *request,
		    enum tap_span_state state, enum tap_why failure);
/* Frees an ended request and its span. */
void tap_request_release(struct tap_requests *requests, struct tap_request *request);
/* Ends and frees a request whose completion is missing or ambiguous. */
int tap_request_lose(struct tap_requests *requests, struct tap_request *request,
		     enum tap_why why);
/* Ends and frees a request that had not completed when its queue ended. */
int tap_request_leave_open(struct tap_requests *requests, struct tap_request *request);

/* Drops the requests of a queue without emitting their ends, when the reading stops. */
void tap_requests_forget(struct tap_requests *requests, struct tap_work_queue *queue);
void tap_requests_free(struct tap_requests *requests);

#endif
