/* SPDX-License-Identifier: MIT */
/*
 * Why: data gets from one rank to another in several ways, and NCCL chooses one for each
 * pair.  A connection goes one way, on one channel.  Hides which way it is: a network,
 * reached through net.h, or memory that both ranks' devices see.
 *
 * What returns an int returns 0 or -errno.  -EAGAIN: not yet, ask again.  Connections are
 * made by the service thread, all else is the progress thread's.
 */
#ifndef MINI_NCCL_TRANSPORT_H
#define MINI_NCCL_TRANSPORT_H

#include "net.h"
#include "protocol.h"
#include "socket.h"

/* How many steps of a connection's buffer there are: NCCL_STEPS. */
#define MINI_STEPS 8

enum mini_kind { MINI_P2P, MINI_SHM, MINI_NET };

struct mini_connection;
struct mini_truth_connection;

/*
 * Connections of the network that several ranks use which one rank posts for: NCCL's
 * ncclSharedNetComms.  Empty while it is zero; the service thread's.
 */
struct mini_shares {
	struct mini_share *first;
};

/* What is left of them, once no connection is. */
void mini_shares_free(struct mini_shares *shares);

/* What a connection is for; both ends know it. */
struct mini_connect_info {
	uint64_t comm_hash;
	/* Who sends and who receives. */
	int32_t rank;
	int32_t peer;
	int32_t channel;
	/* 0 for collectives, 1 for point to point, as NCCL's connIndex. */
	int32_t index;
	/* An enum mini_kind. */
	int32_t kind;
	/* Of the process whose end it is. */
	struct mini_shares *shares;
};

/* What a rank is compared by, to choose. */
struct mini_place {
	uint64_t host_hash;
	int rank;
};

/*
 * As NCCL does: between ranks of one node P2P, without it (NCCL_P2P_DISABLE) shared
 * memory of the host, without that (NCCL_SHM_DISABLE) a network.  Which ranks of a host
 * share a node says MININCCL_RANKS_PER_NODE; by default none do.
 */
enum mini_kind mini_transport_choose(const struct mini_place *a,
				     const struct mini_place *b);
bool mini_transport_is_same_node(const struct mini_place *a, const struct mini_place *b);
/* The network of the process: InfiniBand where there is an adapter, else sockets. */
const struct mini_net *mini_transport_net(void);
/* The receiver fills the handle, which its peer needs. */
int mini_connection_setup(const struct mini_connect_info *info, bool is_send,
			  char handle[MINI_NET_HANDLE_BYTES],
			  struct mini_connection **ret_connection);
/*
 * Both ends, until it is there; the receiver's handle is its own, or NULL.  Whoever posts
 * for the sender is told to the receiver, for whom one poster's connections are one.
 */
int mini_connection_connect(struct mini_connection *connection, const char *handle,
			    int poster);
void mini_connection_close(struct mini_connection *connection);

/* Equal where one receive may be for several connections. */
const void *mini_connection_comm(const struct mini_connection *connection);
enum mini_kind mini_connection_kind(const struct mini_connection *connection);
int mini_connection_max_receives(const struct mini_connection *connection);
/* What the truth has of it: the transport, queue pairs, sockets and regions. */
void mini_connection_describe(const struct mini_connection *connection,
			      struct mini_truth_connection *told);

/* Of a network: as in net.h. */
int mini_connection_register(struct mini_connection *connection, void *data, size_t size,
			     struct mini_net_region **ret_region);
int mini_connection_deregister(struct mini_connection *connection,
			       struct mini_net_region *region);
int mini_connection_isend(struct mini_connection *connection, const void *data,
			  size_t size, int tag, struct mini_net_region *region,
			  struct mini_net_request **ret_request);
int mini_connection_irecv(struct mini_connection *connection, int count,
			  void *const *data, const size_t *sizes, const int *tags,
			  struct mini_net_region *const *regions,
			  struct mini_net_request **ret_request);
int mini_connection_iflush(struct mini_connection *connection, int count,
			   void *const *data, const size_t *sizes,
			   struct mini_net_region *const *regions,
			   struct mini_net_request **ret_request);
int mini_connection_test(struct mini_connection *connection,
			 struct mini_net_request *request, bool *ret_is_done,
			 size_t *ret_sizes, struct mini_way *ret_way);

/* Of the others: memory that both ends see, zero at first.  NULL of a network. */
struct mini_direct {
	char *buffers[MINI_PROTOCOLS];
	size_t sizes[MINI_PROTOCOLS];
	/* Steps that were used up, and that were filled. */
	_Atomic uint64_t *head;
	_Atomic uint64_t *tail;
};

const struct mini_direct *
mini_connection_direct(const struct mini_connection *connection);

#endif
