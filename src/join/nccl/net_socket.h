/* SPDX-License-Identifier: MIT */
/*
 * The sockets of NCCL's own threads: which are for data, which of these are one connection,
 * and which socket of another process is the other end.
 *
 * Those for data say so in their handshake; where nothing is decoded, they are the ones whose
 * handshake has the sizes of such a one, or over which a thread moves bytes whose role it is.
 *
 * All sockets of a connection are connected to one listening socket of its own, whose address
 * thus names the connection at both ends.  The other end of a socket is the one with the same
 * two addresses in reverse.  Hides that descriptors, ports and addresses are used again.
 */
#ifndef TAP_JOIN_NCCL_NET_SOCKET_H
#define TAP_JOIN_NCCL_NET_SOCKET_H

#include "join/base/table.h"
#include "join/model/layer.h"
#include "join/nccl/net_calls.h"
#include "join/nccl/net_stream.h"

struct tap_net_channel;
struct tap_net_channels;
struct tap_socket_end;

/* One end of a connection. */
struct tap_socket_net {
	struct tap_stream_end end; /* first */
	char *listener;		   /* the address of its listening socket */
	uint64_t key;
	uint64_t ordinal; /* of its first socket, in the order in which they were made */
	bool is_used;	  /* data have passed */
	struct tap_socket_end *sockets;
	size_t socket_count;
	/* Where nothing is decoded. */
	struct tap_calls_end calls; /* of so many sockets as were there then */
	bool is_unknown;	    /* of a sender: no message can be told any more */
	struct tap_socket_net *next; /* of all */
};

struct tap_net_sockets {
	struct tap_context *context; /* first: layer.h */
	struct tap_table sockets;    /* by (process, number) */
	struct tap_table nets;	     /* by (process, address and side) */
	struct tap_table waiting;    /* for their other end, by addresses */
	struct tap_table beside;     /* processes that send payloads with their headers */
	struct tap_socket_end *all;
	struct tap_socket_net *all_nets;
	struct tap_streams streams;
};

extern const struct tap_layer tap_net_sockets_layer;

/* What NCCL has said of the connection; NULL: nothing. */
const struct tap_net_channel *tap_socket_net_channel(const struct tap_net_channels *channels,
						     const struct tap_socket_net *net);

#endif
