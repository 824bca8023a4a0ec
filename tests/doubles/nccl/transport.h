/* SPDX-License-Identifier: MIT */
/*
 * How bytes get from one rank to another: NCCL's own interface to networks in
 * small.  A connection goes one way.  Messages of a connection arrive in the order
 * in which they were sent; the service thread makes connections, all other calls
 * come from the progress thread.
 */
#ifndef MINI_NCCL_TRANSPORT_H
#define MINI_NCCL_TRANSPORT_H

#include "socket.h"

/* How many messages of a connection may be under way: NCCL_STEPS. */
#define MINI_STEPS 8
/* An eighth of NCCL's default buffer of 4 MiB: no message has more. */
#define MINI_STEP_BYTES ((size_t) 512 << 10)
/* NCCL_NET_IB_MAX_RECVS. */
#define MINI_MAX_RECEIVES 8
#define MINI_MAX_QPS 128

struct mini_connection;
struct mini_request;

/* Who connects, told to the accepting side. */
struct mini_connect_info {
	uint64_t comm_hash;
	int32_t rank;
	int32_t channel;
	/* 0 for collectives, 1 for point to point, as NCCL's connIndex. */
	int32_t index;
};

/* How a message went, for the truth file. */
struct mini_way {
	uint64_t wr_id;
	/* Of the queue pairs that carried a piece of it; none over TCP. */
	uint32_t qp_nums[MINI_MAX_QPS];
	int qp_count;
	/* CLOCK_MONOTONIC, just before it was posted and just after it was found done. */
	uint64_t posted_ns;
	uint64_t done_ns;
};

struct mini_transport {
	/* How many messages one irecv() may be for. */
	int max_receives;
	/* Data that isend() has taken is not in use any more. */
	bool is_buffered;
	/* The address is what connect() of the others needs.  Descriptor or -errno. */
	int (*listen)(struct sockaddr_in *ret_address);
	/* 0 or -errno; the caller owns the connection and closes it. */
	int (*connect)(const struct sockaddr_in *address, uint64_t magic,
		       const struct mini_connect_info *info, const atomic_bool *aborted,
		       struct mini_connection **ret_connection);
	int (*accept)(int listen_fd, uint64_t magic, struct mini_connect_info *ret_info,
		      const atomic_bool *aborted,
		      struct mini_connection **ret_connection);
	/* After either, until it does not return -EAGAIN any more, without waiting. */
	int (*finish)(struct mini_connection *connection);
	/*
	 * Begin a message, or several to receive, and return at once.  *ret_request is
	 * NULL when the connection cannot take another one yet.  A message is for the
	 * first receive with its tag that has none yet.  0 or -errno.
	 */
	int (*isend)(struct mini_connection *connection, const void *data, size_t size,
		     int tag, struct mini_request **ret_request);
	int (*irecv)(struct mini_connection *connection, int count, void *const *data,
		     const size_t *sizes, int tag, struct mini_request **ret_request);
	/*
	 * Goes on with a request, which is gone once done; only then received data is in
	 * place.  Requests of a connection are tested in order.  0 or -errno.
	 */
	int (*test)(struct mini_request *request, bool *ret_is_done, size_t *ret_sizes,
		    struct mini_way *ret_way);
	void (*close)(struct mini_connection *connection);
};

extern const struct mini_transport mini_transport_tcp;
/* With libibverbs and a device, else NULL; looks once, and opens the devices then. */
const struct mini_transport *mini_transport_verbs(void);

#endif
