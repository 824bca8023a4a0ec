/* SPDX-License-Identifier: MIT */
/*
 * Callbacks for a module that knows what the program uses its queue pairs for; the rdma
 * modules know only queues and peers.
 *
 * Hides which module that is.  The observer keeps its data for a queue pair behind a
 * pointer in struct tap_qp, and its data for a request in a note; the rdma modules store
 * both and hand them back, and read only the note's owner.
 */
#ifndef TAP_JOIN_RDMA_OBSERVER_H
#define TAP_JOIN_RDMA_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tap_fields;
struct tap_generation;
struct tap_process;
struct tap_qp;

/* Longer lists are not reported: NCCL posts at most 8 writes and one with their sizes. */
#define TAP_RDMA_LIST_MAX 9

/* The observer's data for a request. */
struct tap_rdma_note {
	const void *owner; /* NULL: the observer wants no more calls for it */
	unsigned int role;
	uint64_t number, ordinal;
};

struct tap_rdma_request {
	uint64_t opcode, flags, wr_id, num_sge, length, addr, remote_addr, rkey, imm_data;
};

/* Requests that one call posted. */
struct tap_rdma_list {
	struct tap_generation *generation;
	int64_t begin_ns, end_ns;
	int64_t tid;
	uint64_t seq;	    /* of the first request */
	uint64_t consuming; /* ordinal of the last, if it uses up a receive */
	bool is_concurrent;
	size_t count; /* from 1 to TAP_RDMA_LIST_MAX */
	struct tap_rdma_request requests[TAP_RDMA_LIST_MAX];
};

/* Callbacks with a result return 0 or -errno; an error ends the reading. */
struct tap_rdma_observer {
	void *data;
	/* A memory region was registered. */
	void (*registered)(void *data, const struct tap_process *process,
			   uint64_t length);
	/* The receiver is known to be the sender's peer; called for each direction. */
	int (*met)(void *data, struct tap_generation *sender,
		   struct tap_generation *receiver);
	/* The queue pair was destroyed; its requests may still complete. */
	void (*destroyed)(void *data, struct tap_qp *qp);
	/*
	 * Requests were posted; their spans have not begun.  Fills zeroed notes, one for
	 * each.
	 */
	int (*posted)(void *data, const struct tap_rdma_list *list,
		      struct tap_rdma_note *notes);
	/* A receive was posted to the queue pair's own receive queue. */
	void (*receive_posted)(void *data, struct tap_generation *generation,
			       uint64_t seq, uint64_t wr_id, uint64_t num_sge,
			       struct tap_rdma_note *note);
	/* A request with an owner has ended, or was given up; adds fields to its span. */
	void (*ended)(void *data, const struct tap_generation *generation,
		      struct tap_rdma_note *note, struct tap_fields *exit);
	/*
	 * A request with an owner has completed; it uses up the peer's receive `ordinal`.
	 */
	int (*sent)(void *data, struct tap_generation *generation, uint64_t ordinal,
		    int64_t time_ns, uint64_t status);
	/* The receive `ordinal` has completed. */
	int (*received)(void *data, struct tap_generation *generation, uint64_t ordinal,
			int64_t time_ns, uint32_t imm_data);
};

#endif
