/* SPDX-License-Identifier: MIT */
/*
 * Which rank a service thread made a connection for, or registered memory for.  Its own
 * rank asks it for both, and with PXN other ranks of the node do: each is a client, with
 * a socket of its own.  The thread does one thing after the other, and answers as soon as
 * a connection is made, or memory is registered (NCCL 2.28.9, proxy.cc:
 * proxyProgressAsync; transport/net.cc: sendProxyConnect): so what it did right before an
 * answer was for that client.
 *
 * That needs nothing that is decoded.  Who a client is, its requests tell where they are
 * decoded; else it is one of the ranks of the node: its own one if the thread receives
 * for it, as ranks receive by themselves, or if it connected first, unless another
 * process connected; one whose thread has connected the socket (net_caller.h), or the one that is known to ask its own thread
 * over sockets of the same rank (net_asker.h); no other one twice; and none that a
 * message contradicts.
 *
 * Hides which sockets are of clients, and what is known of who they are.
 */
#ifndef TAP_JOIN_NCCL_NET_CLIENT_H
#define TAP_JOIN_NCCL_NET_CLIENT_H

#include "common/vec.h"
#include "join/base/table.h"
#include "join/model/layer.h"
#include "join/nccl/net_service.h"

struct tap_net_client {
	struct tap_net_clients *clients;
	struct tap_net_service *service;
	uint64_t number;     /* from 1, of all */
	int64_t rank;	     /* as its requests say; -1: unknown */
	uint64_t caller_key; /* of whoever has connected its socket */
	bool is_first;	     /* to connect */
	bool is_answered;    /* it has asked for something */
	bool receives;
	TAP_VEC(const struct tap_member *) refuted; /* that it is not */
	const struct tap_member *is;   /* the only one that it can be; NULL: unknown */
	struct tap_net_client *next;   /* of the same thread */
	struct tap_net_client *before; /* of all */
};

struct tap_net_clients {
	struct tap_context *context; /* first: layer.h */
	uint64_t count;
	uint64_t answers; /* increases when more is known of whom threads answer */
	struct tap_net_client *latest;
	struct tap_table sockets;  /* clients, by (process, their socket) */
	struct tap_table accepted; /* sockets of connections, by (process, socket) */
	struct tap_table made;	   /* clients, by (process, socket of a connection) */
};

extern const struct tap_layer tap_net_clients_layer;

/*
 * The client for which the connection with this socket was made, or the one that has this
 * socket itself; NULL: not known, or its service thread has no other one.
 */
struct tap_net_client *tap_net_client_of(const struct tap_net_clients *clients,
					 const struct tap_process *process,
					 uint64_t socket);
struct tap_net_client *tap_net_client_at(const struct tap_net_clients *clients,
					 const struct tap_process *process,
					 uint64_t socket);

/* The one of the same thread whose requests say this rank; NULL: none is known. */
struct tap_net_client *tap_net_client_ranked(struct tap_net_client *client, int64_t rank);

/*
 * Whether the thread receives for the client.  It answers who shares another one's
 * connection without a socket of its own, and may have used one that it has accepted
 * last: where it receives for who connected first, it does so for no other.
 */
bool tap_net_client_receives(const struct tap_net_client *client);

/* Whether the client is the rank that the service thread was made for. */
bool tap_net_client_is_own(const struct tap_net_client *client);

/* Whether it is known to be this rank. */
bool tap_net_client_is(const struct tap_net_client *client,
		       const struct tap_member *member);

/* Whether it may be this other rank. */
bool tap_net_client_may_be(const struct tap_net_client *client,
			   const struct tap_member *member);

/* It is not this rank.  Returns 0 or -ENOMEM. */
int tap_net_client_refute(struct tap_net_client *client, const struct tap_member *member);
/* It is this one: so no other client of the thread is. */
void tap_net_client_settle(struct tap_net_client *client,
			   const struct tap_member *member);

/* Increases when more is known of the service thread's clients. */
uint64_t tap_net_client_changes(const struct tap_net_client *client);

#endif
