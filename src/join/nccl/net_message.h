/* SPDX-License-Identifier: MIT */
/*
 * Messages of NCCL's network code: a CTS and the parts that it lets come, until all have
 * completed at both ends.
 *
 * A message is a span at each end, and a link from its CTS through both to its parts.
 * Hides how parts wait for their message, and that one that lacks a part costs no other.
 */
#ifndef TAP_JOIN_NCCL_NET_MESSAGE_H
#define TAP_JOIN_NCCL_NET_MESSAGE_H

#include "join/nccl/net_flush.h"
#include "join/nccl/netib.h"
#include "join/model/span.h"

/* Receives of one message at most: NCCL has no more queue pairs in a connection. */
#define TAP_NET_PIECES_MAX 128

struct tap_net_message;
struct tap_net_piece;

/* How a release lays out the memory that a CTS is written to. */
struct tap_net_layout {
	uint64_t entry; /* bytes of a request; a slot has room for 8 */
	uint64_t slots;
	bool has_slot; /* wr_id of data may be the slot's number */
};

/* One end of a connection: queue pairs of a process with the same owner. */
struct tap_net {
	const struct tap_process *process;
	uint64_t key;			    /* of the owner */
	uint64_t id;			    /* 0: it is not known to be NCCL's */
	size_t qp_count;		    /* that live */
	bool is_proved;			    /* a message of it has fit */
	bool is_refuted;		    /* something did not */
	bool is_late;			    /* it was there before recording began */
	uint64_t early_whys[TAP_WHY_COUNT]; /* messages missed before it was proved */
	uint64_t per_message;		    /* parts of each message, 0 not known */
	struct tap_net *peer;
	struct tap_net *next; /* of all */

	/* Of a receiver. */
	const struct tap_net_layout *layout;
	uint64_t local_addr, remote_addr; /* regions */
	uint64_t number;		  /* of the latest CTS, 0 none */
	uint64_t linked_number;		  /* the latest that was posted whole */
	struct {
		struct tap_life *life;
		uint64_t seq;
		uint64_t wr_id;
	} pending[TAP_NET_PIECES_MAX]; /* receives since the CTS before */
	size_t pending_count;
	bool is_preposted;		      /* receives are posted beforehand */
	struct tap_net_message *first, *last; /* by number */
	struct tap_net_flushes flushes;

	/* Of a sender. */
	unsigned int forms; /* of what the number may be, 0: not asked yet */
	uint64_t posted_number;
	int64_t posted_begin_ns, posted_end_ns;	      /* of that message's posts */
	struct tap_net_piece *first_held, *last_held; /* that have no message */
	struct tap_net_message *filling; /* more of it may come, where preposted */
};

struct tap_work tap_net_work(const struct tap_net *net, enum tap_work_kind kind,
			     uint64_t number);

/* Of a message nothing more is known. */
void tap_net_unmatched(struct tap_netib *netib, struct tap_net *net, uint64_t number,
		       enum tap_why why);

/* Whether of all that was received until then it is known what it is. */
bool tap_net_messages_are_known(const struct tap_net *net, int64_t time_ns);
/* Whether one that is not whole, numbered above `after` up to `last`, may end there. */
bool tap_net_message_may_be_at(const struct tap_net *net, uint64_t address,
			       uint64_t after, uint64_t last);

/* Which message the receive of this ordinal is of, or what uses it up; 0 unknown. */
uint64_t tap_net_message_number(const struct tap_netib *netib,
				const struct tap_life *life, uint64_t ordinal,
				bool is_receive);

/* Each returns 0 or -errno. */

/* A CTS for so many requests; the pending receives are its. */
int tap_net_message_make(struct tap_netib *netib, struct tap_net *net,
			 const struct tap_rdma_list *cts, unsigned int requests);
/* Data is posted.  Which message it is of, or 0. */
int tap_net_message_post(struct tap_netib *netib, struct tap_net *net,
			 const struct tap_rdma_list *list, uint64_t *number);
/* A request of data that uses up this receive of the peer has completed. */
int tap_net_message_sent(struct tap_netib *netib, struct tap_life *life, uint64_t ordinal,
			 int64_t time_ns, uint64_t status);
/* The receive of this ordinal has completed. */
int tap_net_message_received(struct tap_netib *netib, struct tap_net *net,
			     struct tap_life *life, uint64_t ordinal, int64_t time_ns,
			     uint32_t imm_data);
/* What of a peer was held may have a message now. */
int tap_net_message_retry(struct tap_netib *netib, struct tap_net *net);
/* All events are over: nothing more is posted. */
int tap_net_message_close(struct tap_netib *netib, struct tap_net *net);
/* What lacks something is told. */
int tap_net_message_finish(struct tap_netib *netib, struct tap_net *net);
void tap_net_message_forget(struct tap_netib *netib, struct tap_net *net);
void tap_net_messages_free(struct tap_netib *netib);

#endif
