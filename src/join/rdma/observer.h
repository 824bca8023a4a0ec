/* SPDX-License-Identifier: MIT */
/*
 * What one who knows the program better wants to know of requests as they come: here
 * there are queues and peers alone, and nothing says what a program uses them for.
 *
 * Hides who that is.  What the observer knows of a queue pair is behind a pointer in
 * struct tap_qp, and what it knows of a request in a note; both are stored here, handed
 * back, and not read.
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

/* Longer lists are not reported: NCCL posts 8 writes and their sizes at most. */
#define TAP_RDMA_LIST_MAX 9

/* Of a request. */
struct tap_rdma_note {
	const void *owner; /* NULL: no more is to be reported of it */
	unsigned int role;
	uint64_t number, ordinal;
};

struct tap_rdma_request {
	uint64_t opcode, flags, wr_id, num_sge, length, addr, remote_addr, rkey, imm_data;
};

/* Requests that were posted by one call. */
struct tap_rdma_list {
	struct tap_generation *generation;
	int64_t begin_ns, end_ns;
	int64_t tid;
	uint64_t seq;	    /* of the first */
	uint64_t consuming; /* ordinal of the last, where it uses up a receive */
	bool is_concurrent;
	size_t count; /* from 1 to TAP_RDMA_LIST_MAX */
	struct tap_rdma_request requests[TAP_RDMA_LIST_MAX];
};

/* Those that return a number return 0 or -errno, which ends the reading. */
struct tap_rdma_observer {
	void *data;
	/* A memory region is registered. */
	void (*registered)(void *data, const struct tap_process *process,
			   uint64_t length);
	/* Two are known to be each other's peers. */
	int (*met)(void *data, struct tap_generation *sender,
		   struct tap_generation *receiver);
	/* The queue pair is destroyed; what it has posted may complete yet. */
	void (*destroyed)(void *data, struct tap_qp *qp);
	/* Requests are posted, before their spans begin; a note for each, all zero. */
	int (*posted)(void *data, const struct tap_rdma_list *list,
		      struct tap_rdma_note *notes);
	/* A receive is posted, to a queue of the queue pair's own. */
	void (*receive_posted)(void *data, struct tap_generation *generation,
			       uint64_t seq, uint64_t wr_id, uint64_t num_sge,
			       struct tap_rdma_note *note);
	/* A request with an owner is over, or will never be: what is added to its span.
	 */
	void (*ended)(void *data, const struct tap_generation *generation,
		      struct tap_rdma_note *note, struct tap_fields *exit);
	/* A request with an owner has completed, which uses up this receive. */
	int (*sent)(void *data, struct tap_generation *generation, uint64_t ordinal,
		    int64_t time_ns, uint64_t status);
	/* The receive of this ordinal has completed. */
	int (*received)(void *data, struct tap_generation *generation, uint64_t ordinal,
			int64_t time_ns, uint32_t imm_data);
};

#endif
