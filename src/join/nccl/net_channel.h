/* SPDX-License-Identifier: MIT */
/*
 * What NCCL's messages to its service thread say of each connection of its network code: for
 * which channel, peer rank, direction and index it is made.
 *
 * A request makes a connection and its answer gives the pointer that names it (INIT), one
 * says what it is for (SETUP), whose answer has the address that a receiver listens on, and
 * one the address that a sender connects to (CONNECT).  NET/IB's queue pairs are of the
 * connection whose socket the service thread uses next: it creates them, then tells the peer.
 *
 * Hides these messages: whoever knows an address or a queue pair's owner asks what it is for.
 */
#ifndef TAP_JOIN_NCCL_NET_CHANNEL_H
#define TAP_JOIN_NCCL_NET_CHANNEL_H

#include "join/base/table.h"
#include "join/model/layer.h"

/* A connection, as a request makes it. */
struct tap_net_channel {
	const struct tap_process *process; /* that serves it */
	int64_t tid;			   /* of the service thread, -1 unknown */
	int64_t made_ns;
	int64_t transport;		   /* NCCL's number, -1 unknown */
	bool is_send;
	bool is_connected;
	bool has_socket; /* was connected to its address */
	bool has_setup; /* the next are known; only of the network */
	int64_t rank, channel, peer_rank, index;
	struct tap_net_channel *next; /* of all */
};

/* NCCL's numbers of transports. */
enum { TAP_NET_TRANSPORT_P2P, TAP_NET_TRANSPORT_SHM, TAP_NET_TRANSPORT_NET };

struct tap_service_operation;

struct tap_net_channels {
	struct tap_context *context;  /* first: layer.h */
	struct tap_table connections; /* by (process, pointer) */
	struct tap_table operations;  /* requests not answered, by (process, operation) */
	struct tap_table addresses;   /* connections by (process, address and side) */
	struct tap_table sockets;     /* of NET/IB: the hashes of their addresses */
	struct tap_table threads;     /* owners of queue pairs not assigned, by thread */
	struct tap_table owners;      /* connections by (process, owner) */
	struct tap_table queues;      /* owners by (process, completion queue) */
	struct tap_table connected;   /* sockets that NCCL's threads connected */
	struct tap_table numbers;     /* of such sockets, by (process, owner) */
	struct tap_table receivers;   /* latest connections, by (process, service thread) */
	struct tap_table shared;      /* connections that others share, by what they are for */
	struct tap_net_channel *all;
};

extern const struct tap_layer tap_net_channels_layer;

/*
 * Of a socket by its number, and else of an address, which another connection may have had
 * before.  NULL: not known.  Both ends of a connection may be in one process.
 */
const struct tap_net_channel *tap_net_channel_at(const struct tap_net_channels *channels,
						 const struct tap_process *process,
						 uint64_t socket, const char *address,
						 bool is_send);
/* The one that the service thread's client names by this pointer now. */
const struct tap_net_channel *
tap_net_channel_named(const struct tap_net_channels *channels,
		      const struct tap_process *process, uint64_t pointer);
/*
 * The owner of a queue pair.  Before 2.23 NCCL sets none: then it is the first completion queue
 * of the connection, which has one on each adapter.
 */
uint64_t tap_net_channel_owner(const struct tap_net_channels *channels,
			       const struct tap_process *process, uint64_t qp_context,
			       uint64_t send_cq_id);
const struct tap_net_channel *tap_net_channel_of(const struct tap_net_channels *channels,
						 const struct tap_process *process,
						 uint64_t owner);

/*
 * Of NET/IB: the number of the socket over which the owner's queue pairs were told to the
 * peer, if this process connected it; else 0.  Such sockets are numbered in the order in
 * which NCCL asks for connections; its queue pairs follow in any order.
 */
uint64_t tap_net_channel_socket(const struct tap_net_channels *channels,
				const struct tap_process *process, uint64_t owner);

/*
 * The rank for which a service thread has set up a receiving end since then, which is its
 * own: ranks receive by themselves, and may send by each other.  -1: none.
 */
int64_t tap_net_channels_rank(const struct tap_net_channels *channels,
			      const struct tap_process *process, int64_t tid,
			      int64_t since_ns);

/* Whether the two are what the ends of one connection say of themselves. */
bool tap_net_channels_agree(const struct tap_net_channel *a,
			    const struct tap_net_channel *b);

/*
 * Whether the sender posts for several ranks on this connection: NCCL has asked for
 * another one to the same peer, and made none.
 */
bool tap_net_channel_is_shared(const struct tap_net_channels *channels,
			       const struct tap_net_channel *channel);

/* Whether a sender has asked for it, or for another one that shares its queue pairs. */
bool tap_net_channel_may_share(const struct tap_net_channels *channels,
			       const struct tap_net_channel *channel, int64_t rank);

/* Adds what is known of a connection to a span's fields; NULL: nothing. */
void tap_net_channel_describe(const struct tap_net_channel *channel,
			      struct tap_fields *fields);

#endif
