/* SPDX-License-Identifier: MIT */
/*
 * Messages on their way to be ascribed: those of one connection in their order, with the
 * ranks that may have sent and received them.
 *
 * Over one connection messages are in the order in which their kernels were launched, so
 * that none was posted before an earlier one, nor arrived after a later one, as far as
 * its kernel is concerned.
 *
 * Hides how ranks are found: the thread that moves a message may serve one communicator,
 * or several, or be unknown.
 */
#ifndef TAP_JOIN_NCCL_NET_ROUTE_H
#define TAP_JOIN_NCCL_NET_ROUTE_H

#include "common/list.h"
#include "join/model/context.h"
#include "join/nccl/candidate.h"
#include "join/nccl/net_empty.h"
#include "join/nccl/net_service.h"
#include "join/nccl/net_piece.h"
#include "join/nccl/net_region.h"
#include "join/nccl/run_count.h"

struct tap_net_channel;
struct tap_net_client;
struct tap_net_part;
struct tap_nodes;
struct tap_threads;

/* A message of which both ends are known. */
struct tap_net_passed {
	const struct tap_span *send, *receive;
	int64_t posted_ns;	    /* when its first post began */
	int64_t arrived_ns;	    /* when the receiver had seen all of it */
	struct tap_net_maker maker; /* of the sender's end */
	/*
	 * Of the messages of the connection or, where the client has a part of it, of
	 * what the client has sent.
	 */
	uint64_t number;
	unsigned int requests; /* numbers that it has */
	uint64_t bytes, largest;
	bool is_grouped; /* it is made of several requests */
	bool is_shared;	 /* several ranks send over the connection, by one of them */
	struct tap_net_client *client; /* that the sender posted it for; NULL unknown */
	bool is_makers;		       /* the connection was made for this client */
	bool is_guess;	 /* it is not this client's where another one sends, too */
	bool is_of_data; /* numbers leave out what has no bytes */
	/* Of a part without bytes: all parts of its message; NULL: not known. */
	const struct tap_net_part *parts;
	unsigned int part_count;
	const struct tap_net_channel *channel; /* of the sender; NULL unknown */
	struct tap_net_buffer buffer; /* where it lies at both ends, as far as inferred */
};

/* When its ends began and were over. */
struct tap_message_times {
	int64_t send_begin_ns, send_end_ns;
	int64_t receive_begin_ns, receive_end_ns;
};

struct tap_routed_message {
	struct tap_net_route *route;
	uint64_t number, bytes, largest;
	unsigned int requests; /* from its number on */
	/* Where it has no bytes: who has other requests of the same message. */
	const struct tap_net_client *others[TAP_NET_REQUESTS_MAX];
	unsigned int nr_others;
	bool is_guess;			/* as in tap_net_passed */
	enum tap_ccl_protocol protocol; /* by its memory */
	struct tap_work send, receive;
	const struct tap_name *send_name, *receive_name;
	struct tap_message_facts facts; /* of this message alone */
	/* With those of its neighbours. */
	int64_t posted_ns, arrived_ns;
	struct tap_message_times times;
	unsigned int tries;
	TAP_LIST_LINK(struct tap_routed_message) of_route, of_all;
};

/* Of which operations the messages of a connection are. */
enum tap_series {
	TAP_SERIES_UNKNOWN,
	TAP_SERIES_COLLECTIVES,
	TAP_SERIES_MESSAGES, /* sends and receives, and what is made of them */
};

/* Most kinds of operations of a connection: two of each communicator (net_lane.h). */
#define TAP_LANES_MAX (2 * TAP_RUN_COMMS_MAX)

/* How far the messages are ascribed in their order (net_served.h). */
struct tap_route_order {
	enum tap_series series;
	/* Operations of each lane from which on messages are not ascribed yet. */
	uint64_t firsts[TAP_LANES_MAX];
	/* The first of them, and the number of its first message. */
	size_t head_lane;
	uint64_t head, begin_least, begin_most;
	struct tap_run_counts counts;
	size_t fresh; /* messages and kernels since the last search */
};

/* The rank that a thread was made for; NULL: not known. */
struct tap_route_served {
	const struct tap_member *member;
	enum tap_known known;
};

/* One direction of a connection; of a shared one, what it has of one rank. */
struct tap_net_route {
	uint64_t connection; /* its number; equal of all that are of it */
	const struct tap_process *from, *to;
	struct tap_net_client *client; /* that the sender posted for; NULL: not known */
	uint64_t client_changes;
	uint64_t
		epoch; /* numbers of the client that may lack some are of another route */
	/*
	 * Which rank this is, or whose threads serve the connection, is inferred, and so
	 * is all that follows.
	 */
	bool is_inferred;
	int64_t from_tid, to_tid; /* threads of the latest message */
	struct tap_route_served from_served, to_served;
	int64_t from_rank, to_rank; /* as NCCL set the connection up; -1 unknown */
	struct tap_net_maker maker; /* of the sender's end */
	TAP_VEC(struct tap_rank_pair) pairs;
	/*
	 * Its sender may post for other ranks of its host (PXN): for one of them over
	 * this connection or, is_shared, for several.
	 */
	bool has_guests, is_shared;
	bool is_part;	  /* others have messages between those of this rank */
	bool has_several; /* messages show that several ranks send over it */
	bool is_of_data;  /* as in tap_net_passed */
	const struct tap_net_channel *channel;	    /* likewise */
	TAP_VEC(const struct tap_member *) refuted; /* for which it is not */
	uint64_t changes; /* comms.changes when pairs were found */
	uint64_t thread_changes;
	size_t members;				      /* there were at that time */
	uint64_t ranks;				      /* a hash of all pairs */
	TAP_LIST(struct tap_routed_message) messages; /* by number */
	size_t held;				      /* messages */
	uint64_t taken; /* numbers that all messages had, the gone ones too */
	struct tap_route_order order;
	/* The latest message that is gone. */
	uint64_t gone;
	int64_t gone_arrived_ns;
	bool is_tried;	  /* for the owner, when all has been read */
	bool is_unsummed; /* sums do not tell of it: it is no ring's (net_total.h) */
	/* The latest post of one that was not ascribed. */
	bool has_left;
	int64_t left_ns;
	struct tap_net_route *other; /* of the same connection, of another client */
	struct tap_net_route *next;  /* of all */
};

struct tap_net_routes {
	/* The owner sets these; the rest starts as zero. */
	struct tap_context *context;
	const struct tap_threads *threads;
	const struct tap_nodes *nodes;

	struct tap_table by_receiver; /* the first one, by (process, net_id) */
	uint64_t connections;
	struct tap_net_empties empties; /* by numbers of connections */
	struct tap_table owners;	/* ranks whose threads are their own */
	struct tap_net_route *all;
	TAP_LIST(struct tap_routed_message)
	messages; /* in the order in which they came */
	size_t held;
};

/*
 * Adds a message to its connection; *ret_has_changed: other ranks than before may have
 * sent it.  Returns 0 or -ENOMEM.
 */
int tap_net_routes_add(struct tap_net_routes *routes,
		       const struct tap_net_passed *message,
		       struct tap_net_route **ret_route, bool *ret_has_changed);
void tap_net_route_drop(struct tap_net_routes *routes, struct tap_net_route *route,
			struct tap_routed_message *message);
/* The same, of one that is not ascribed. */
void tap_net_route_leave(struct tap_net_routes *routes, struct tap_net_route *route,
			 struct tap_routed_message *message);

/*
 * The message, which has no bytes and was taken for that of whoever asked for the
 * connection, may be of any rank that sends over it: from now on it is of *ret_route.
 * *ret_is_new: that is new, or may be of more ranks.  Returns 0 or -ENOMEM.
 */
int tap_net_route_share(struct tap_net_routes *routes, struct tap_routed_message *message,
			struct tap_net_route **ret_route, bool *ret_is_new);

/* Whether another request of the same message, with bytes, is this rank's. */
bool tap_net_route_has_other(const struct tap_routed_message *message,
			     const struct tap_member *sender);

/* What is known of the message, and of its neighbours where that says more. */
struct tap_message_facts tap_net_route_facts(const struct tap_routed_message *message);

/*
 * Each of the ranks that the connection may be for, while there are several: the next
 * one after `before` (NULL: the first); NULL: no more.
 */
const struct tap_member *tap_net_route_sender(const struct tap_net_route *route,
					      const struct tap_member *before);
/* Whether it may have messages without bytes of these ranks. */
bool tap_net_route_may_have_empty(const struct tap_net_routes *routes,
				  const struct tap_net_route *route,
				  const struct tap_rank_pair *pair);

/* It is not for this rank.  Returns 0 or -ENOMEM. */
int tap_net_route_refute(struct tap_net_routes *routes, struct tap_net_route *route,
			 const struct tap_member *sender);
/*
 * It is for this rank, if for any that is known.  Returns false where a rank of the
 * communicator is not known.
 */
bool tap_net_route_settle(struct tap_net_route *route, const struct tap_member *sender);
/*
 * Takes over what other connections have shown of whom it is for; *ret_has_changed: other
 * ranks than before may have sent.  Returns 0 or -ENOMEM.
 */
int tap_net_route_refresh(struct tap_net_routes *routes, struct tap_net_route *route,
			  bool *ret_has_changed);

void tap_net_routes_free(struct tap_net_routes *routes);

#endif
