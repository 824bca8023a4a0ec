/* SPDX-License-Identifier: MIT */
/*
 * What link.c, which makes and ends wires, and wire.c, which moves messages over them,
 * know of each other.  Hides nothing from either; nobody else needs to know that a wire
 * is a pair of rings and a socket.
 */
#ifndef SOFT_WIRE_H
#define SOFT_WIRE_H

#include "bell.h"
#include "ring.h"
#include "soft.h"

struct soft_wire {
	LIST_ENTRY(soft_wire) link;
	/* Nothing comes over it but the greeting and the news that the peer is gone. */
	int fd;
	/* Whose requests go out here: where to; else: whose context took it. */
	bool is_outgoing;
	/* The rings are there. */
	bool is_mapped;
	bool is_dead;
	int held;
	struct soft_place place;
	struct soft_context *context;
	struct soft_ring out;
	struct soft_ring in;
	/* The peer's; NULL until it has said which. */
	struct soft_bell *bell;
	/* A message that is larger than the ring, as far as it has come. */
	char *in_data;
	size_t in_used;
	size_t in_size;
	/* What found no room in the ring. */
	char *out_data;
	size_t out_start;
	size_t out_end;
	size_t out_size;
};

LIST_HEAD(soft_wires, soft_wire);
extern struct soft_wires soft_wires;
extern struct soft_bell *soft_own_bell;

/* Freed later, when nobody has it in hand. */
void soft_wire_die(struct soft_wire *wire);
/* Does what has come over it. */
void soft_wire_receive(struct soft_wire *wire);
/* The thread that carries what nobody polls for. */
void *soft_wire_serve(void *unused);
/* In a child: there is no wire, and no time to wait for. */
void soft_wire_forget_all(void);

#endif
