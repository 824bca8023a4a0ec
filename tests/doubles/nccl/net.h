/* SPDX-License-Identifier: MIT */
/*
 * Why: NCCL reaches every network through one table of functions, ncclNet_t; here it is
 * in C.  A connection goes one way.  Hides which network there is, and what it does for
 * it.
 *
 * What returns an int returns 0 or -errno.  -EAGAIN: not yet, ask again.  The service
 * thread makes connections, all other calls come from one thread at a time.
 */
#ifndef MINI_NCCL_NET_H
#define MINI_NCCL_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NCCL_NET_HANDLE_MAXSIZE. */
#define MINI_NET_HANDLE_BYTES 128
/* NCCL_NET_MAX_REQUESTS: so many a caller may have under way on a connection. */
#define MINI_NET_REQUESTS 32
/* NCCL_NET_IB_MAX_RECVS. */
#define MINI_MAX_RECEIVES 8
#define MINI_MAX_QPS 128

struct mini_net_listener;
struct mini_net_connection;
struct mini_net_region;
struct mini_net_request;
struct mini_truth_connection;

/* How a message went, for the truth file. */
struct mini_way {
	uint64_t wr_id;
	/* Of the queue pairs that carried a piece of it; none over sockets. */
	uint32_t qp_nums[MINI_MAX_QPS];
	int qp_count;
	/* CLOCK_MONOTONIC, just before it was posted and just after it was found done. */
	uint64_t posted_ns;
	uint64_t done_ns;
};

struct mini_net {
	const char *name;
	/* Which of its adapters a channel uses: they are taken in turn. */
	int (*device_of)(int channel);
	/* How many messages one irecv() may be for. */
	int max_receives;
	/* Fills the handle, which begins with the address that it listens on. */
	int (*listen)(int device, void *handle, struct mini_net_listener **ret_listener);
	/* Again with the same handle while it is -EAGAIN: it has what is under way. */
	int (*connect)(int device, void *handle,
		       struct mini_net_connection **ret_connection);
	int (*accept)(struct mini_net_listener *listener,
		      struct mini_net_connection **ret_connection);
	int (*reg)(struct mini_net_connection *connection, void *data, size_t size,
		   struct mini_net_region **ret_region);
	int (*dereg)(struct mini_net_connection *connection,
		     struct mini_net_region *region);
	/*
	 * Begin a message, or several to receive, and return at once.  *ret_request is
	 * NULL when the peer has not said yet that it may.  A message is for the first
	 * receive with its tag that has none yet.  Data stays in use until the end.
	 */
	int (*isend)(struct mini_net_connection *connection, const void *data,
		     size_t size, int tag, struct mini_net_region *region,
		     struct mini_net_request **ret_request);
	int (*irecv)(struct mini_net_connection *connection, int count, void *const *data,
		     const size_t *sizes, const int *tags,
		     struct mini_net_region *const *regions,
		     struct mini_net_request **ret_request);
	/* Has what was received be seen by a GPU; *ret_request is NULL without need. */
	int (*iflush)(struct mini_net_connection *connection, int count,
		      void *const *data, const size_t *sizes,
		      struct mini_net_region *const *regions,
		      struct mini_net_request **ret_request);
	/* Goes on with a request, which is gone once it is done. */
	int (*test)(struct mini_net_request *request, bool *ret_is_done,
		    size_t *ret_sizes, struct mini_way *ret_way);
	/* What the truth has of it. */
	void (*describe)(const struct mini_net_connection *connection,
			 struct mini_truth_connection *told);
	void (*close)(struct mini_net_connection *connection);
	void (*close_listener)(struct mini_net_listener *listener);
};

extern const struct mini_net mini_net_socket;
/* With libibverbs and an adapter, else NULL; looks once, and opens the adapters then. */
const struct mini_net *mini_net_ib(void);
#endif
