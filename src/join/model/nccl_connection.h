/* SPDX-License-Identifier: MIT */
/*
 * One end of a connection between two ranks, as every view shows it: over which
 * transport, for which channel and peer.
 *
 * Hides from the views how that is found out, and whether the messages of a transport can
 * be seen at all.
 */
#ifndef TAP_JOIN_MODEL_NCCL_CONNECTION_H
#define TAP_JOIN_MODEL_NCCL_CONNECTION_H

#include "join/model/comm.h"
#include "join/model/wire.h"

enum tap_nccl_transport {
	TAP_TRANSPORT_OTHER,
	TAP_TRANSPORT_P2P, /* memory of another GPU of the host */
	TAP_TRANSPORT_SHM, /* memory that two processes share */
	TAP_TRANSPORT_NET, /* a network that is seen to use neither verbs nor sockets */
	TAP_TRANSPORT_COLLNET,
	TAP_TRANSPORT_NET_IB,
	TAP_TRANSPORT_NET_SOCKET,
	TAP_TRANSPORTS,
};

struct tap_nccl_connection {
	enum tap_nccl_transport transport;
	const struct tap_process *process; /* that serves this end */
	uint64_t net_id;		   /* of its messages; 0: none of them is known */
	bool is_send;
	const struct tap_process *peer;	 /* NULL unknown */
	uint64_t peer_net_id;		 /* 0 unknown */
	const struct tap_member *member; /* whose threads serve it, NULL unknown */
	enum tap_known member_known;	 /* valid if member */
	/* What it was made for, each -1 where unknown, and how that is known. */
	int64_t rank, peer_rank, channel, index;
	enum tap_known known;
	enum tap_why why; /* of an unknown channel: why inference says nothing */
	uint64_t messages;
};

/* "NET/IB" ... in every output. */
const char *tap_nccl_transport_name(enum tap_nccl_transport transport);
/* Whether messages over it leave traces of their own. */
bool tap_nccl_transport_is_seen(enum tap_nccl_transport transport);

#endif
