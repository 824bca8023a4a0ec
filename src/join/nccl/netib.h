/* SPDX-License-Identifier: MIT */
/*
 * What NCCL's network code for InfiniBand and RoCE (NET/IB) does with queue pairs, seen
 * without its help: the receiver tells that it is ready, in a write to the sender's
 * memory (clear to send, CTS); the sender writes the data, the last piece on each queue
 * pair with a number; the receiver may read one byte back, which flushes.
 *
 * A connection is known by its first CTS: a write between two regions of a size that only
 * some release has, at the same place in both, of whole entries, after empty receives.
 * All that follows must fit, else nothing of the connection is named any more.
 *
 * Messages find their parts by ordinals alone: a CTS stands for the receives that were
 * posted since the one before, and each of these is used up by the request of the peer
 * that has its ordinal.  Where receives are posted beforehand, wr_id tells the slot.
 * Hides all of that, the layouts of releases, and what waits for its other part, which is
 * bounded.
 */
#ifndef TAP_JOIN_NCCL_NETIB_H
#define TAP_JOIN_NCCL_NETIB_H

#include "join/model/wire.h"

#include <stddef.h>

struct tap_fields;
struct tap_life;
struct tap_net;
struct tap_qp;
struct tap_verbs;

/* What NCCL posts at once: a write for each of 8 requests, and their sizes. */
#define TAP_NET_LIST_MAX 9

enum tap_net_role {
	TAP_NET_NONE,
	TAP_NET_CTS,
	TAP_NET_DATA,	  /* a write */
	TAP_NET_DATA_IMM, /* the last, with a number */
	TAP_NET_SIZES,	  /* the last of several requests: how long each is */
	TAP_NET_FLUSH,
	TAP_NET_RECEIVE,
};

/* What a work request is for. */
struct tap_net_part {
	enum tap_net_role role;
	const struct tap_net *net; /* NULL none */
	uint64_t number;	   /* of the message, from 1; 0 not known */
	uint64_t ordinal;	   /* of the receive that its list uses up; 0 none */
};

struct tap_net_request {
	uint64_t opcode, flags, wr_id, num_sge, length, addr, remote_addr, rkey, imm_data;
};

/* Requests that were posted by one call. */
struct tap_net_list {
	struct tap_life *life;
	int64_t begin_ns, end_ns;
	int64_t tid;
	uint64_t seq;	    /* of the first */
	uint64_t consuming; /* ordinal of the last, where it uses up a receive */
	bool is_raced;
	size_t count; /* at most TAP_NET_LIST_MAX */
	struct tap_net_request requests[TAP_NET_LIST_MAX];
};

/* What is known of it by now, if its connection is NCCL's. */
void tap_net_part_add(struct tap_fields *fields, const struct tap_net_part *part);

/* Whether a region of this size may be where a sender is told to send. */
bool tap_netib_is_region(uint64_t length);

/* All return 0 or -errno. */

/* Requests are posted; part says what the first is, others of data follow it. */
int tap_netib_sends(struct tap_verbs *verbs, const struct tap_net_list *list,
		    struct tap_net_part *part);
/* The same of request number i of the list, when the first is that. */
enum tap_net_role tap_net_role_of(enum tap_net_role first,
				  const struct tap_net_list *list, size_t i);
/* A receive of this ordinal is posted. */
void tap_netib_receive(struct tap_verbs *verbs, struct tap_life *life, uint64_t seq,
		       uint64_t wr_id, uint64_t num_sge, struct tap_net_part *part);
/* Which message a part of this life is of, where it is known now. */
void tap_netib_find_number(struct tap_verbs *verbs, const struct tap_life *life,
			   struct tap_net_part *part);
/* The request that uses up this receive of the peer has completed. */
int tap_netib_sent(struct tap_verbs *verbs, struct tap_life *life, uint64_t ordinal,
		   int64_t time_ns, uint64_t status);
/* The receive of this ordinal has completed. */
int tap_netib_received(struct tap_verbs *verbs, struct tap_life *life, uint64_t seq,
		       int64_t time_ns, uint32_t imm_data);
/* Two are known to be each other's. */
int tap_netib_meet(struct tap_verbs *verbs, struct tap_life *sender,
		   struct tap_life *receiver);
/* The queue pair is over. */
void tap_netib_over(struct tap_verbs *verbs, struct tap_qp *qp);
/* All events are over. */
int tap_netib_finish(struct tap_verbs *verbs);

void tap_netib_free(struct tap_verbs *verbs);

#endif
