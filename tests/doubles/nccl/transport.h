/* SPDX-License-Identifier: MIT */
/*
 * How bytes get from one rank to another: NCCL's own interface to networks in
 * small.  A connection goes one way.  Requests of a connection complete in the
 * order in which they were made; all calls come from the progress thread, but
 * for connect and accept, which the service thread makes.
 */
#ifndef MINI_NCCL_TRANSPORT_H
#define MINI_NCCL_TRANSPORT_H

#include "socket.h"

struct mini_connection;
struct mini_request;

/* Who connects, told to the accepting side. */
struct mini_connect_info {
	uint64_t comm_hash;
	int32_t rank;
	/* 0 for collectives, 1 for point to point, as NCCL's connIndex. */
	int32_t index;
};

struct mini_transport {
	/* The address is what connect() of the others needs.  Descriptor or -errno. */
	int (*listen)(struct sockaddr_in *ret_address);
	/* 0 or -errno; the caller owns the connection and closes it. */
	int (*connect)(const struct sockaddr_in *address, uint64_t magic,
		       const struct mini_connect_info *info, const atomic_bool *aborted,
		       struct mini_connection **ret_connection);
	int (*accept)(int listen_fd, uint64_t magic, struct mini_connect_info *ret_info,
		      const atomic_bool *aborted,
		      struct mini_connection **ret_connection);
	/*
	 * Begin a message and return at once.  *ret_request is NULL when the
	 * connection cannot take another one yet; data is in use until the
	 * request is done.  0 or -errno.
	 */
	int (*isend)(struct mini_connection *connection, const void *data, size_t size,
		     struct mini_request **ret_request);
	int (*irecv)(struct mini_connection *connection, void *data, size_t size,
		     struct mini_request **ret_request);
	/* Goes on with a request, which is gone once done.  0 or -errno. */
	int (*test)(struct mini_request *request, bool *ret_is_done);
	void (*close)(struct mini_connection *connection);
};

extern const struct mini_transport mini_transport_tcp;

#endif
