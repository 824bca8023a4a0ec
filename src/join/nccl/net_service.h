/* SPDX-License-Identifier: MIT */
/*
 * NCCL's service threads, by what they accept: which may make connections for several
 * ranks of their node (PXN), without what they are asked for.  A service thread listens
 * where it accepts first; its own rank connects first, with the communicator, and then
 * each one for which it is to post (NCCL 2.28.9, init.cc: initTransportsRank; proxy.cc:
 * ncclProxyConnect).  The same thread makes the connections that are asked for there, so
 * that of each it is known whether it can be another rank's.
 *
 * Hides which accepted sockets tell that, which threads are known to be such, and that
 * the number of a thread may come again: then it is another service.
 */
#ifndef TAP_JOIN_NCCL_NET_SERVICE_H
#define TAP_JOIN_NCCL_NET_SERVICE_H

#include "join/base/table.h"
#include "join/model/layer.h"

struct tap_member;
struct tap_net_client;
struct tap_nccl_thread;

struct tap_net_services {
	struct tap_context *context; /* first: layer.h */
	struct tap_net_service *all;
	struct tap_table by_thread; /* the latest that accept, by (process, thread) */
	struct tap_table posters;   /* the first that served several ranks, by process */
};

/* A thread that accepts: a service thread, as far as is known. */
struct tap_net_service {
	const struct tap_net_services *services;
	const struct tap_process *process;
	int64_t tid;
	uint64_t address; /* where it accepted first: it listens there */
	uint64_t accepted;
	int64_t second_ns; /* when it accepted there once more; valid if accepted > 1 */
	int64_t begin_ns;  /* when its thread began; valid if has_begin */
	bool has_begin;
	bool is_sure;		      /* a service thread whose beginning was recorded */
	struct tap_net_service *next; /* of all */

	/* Of net_client.c. */
	const struct tap_member *member; /* that the thread was made for; NULL: unknown */
	/* The connection's socket that the latest call was on; 0: on a client's. */
	uint64_t latest;
	/* The one that the latest call told a client of; 0: the call was another one. */
	uint64_t made;
	size_t count; /* clients that were answered */
	struct tap_net_client *clients;
	uint64_t changes;
};

/* Who made a connection. */
struct tap_net_maker {
	const struct tap_process *process;
	int64_t tid;	 /* of the thread, -1 unknown */
	int64_t made_ns; /* when that was; INT64_MIN unknown */
	int64_t index;	 /* of the connection, by what was called then; -1 unknown */
};

extern const struct tap_layer tap_net_services_layer;

/* The latest service of a thread with this number; NULL: it has accepted nothing. */
struct tap_net_service *tap_net_service_find(const struct tap_net_services *services,
					     const struct tap_process *process,
					     int64_t tid);

/*
 * The thread that has the service's number now, if that is still its own; NULL: unknown,
 * or it has ended.
 */
const struct tap_nccl_thread *tap_net_service_thread(struct tap_net_service *service);

/*
 * Whether several ranks had connected to the service thread that made a connection before
 * that, so that it may be for one of the others.  Where it is not known to be a service
 * thread that was recorded from its beginning, it is any of the process.
 */
bool tap_net_services_may_own(const struct tap_net_services *services,
			      const struct tap_net_maker *maker);
/* Whether they had at any time, so that others may have come to share it. */
bool tap_net_services_may_share(const struct tap_net_services *services,
				const struct tap_net_maker *maker);

#endif
