/* SPDX-License-Identifier: MIT */
/*
 * Which thread has connected to a service thread.  The socket's addresses tell it: those
 * that the one thread connected are those that the other accepted.  So nothing that is
 * passed over the socket need be read to know whose process asks (net_client.h).
 *
 * Of a process with several ranks it may tell the rank: where each rank's calls are made
 * by a thread of its own, what that thread connects is the rank's, and so is what a
 * thread connects that NCCL has created in such a call.
 *
 * Hides how both ends find each other.
 */
#ifndef TAP_JOIN_NCCL_NET_CALLER_H
#define TAP_JOIN_NCCL_NET_CALLER_H

#include "join/base/table.h"
#include "join/model/layer.h"

struct tap_member;

struct tap_net_caller {
	const struct tap_process *process; /* NULL: several had these addresses */
	int64_t tid;			   /* of the program, or of NCCL; -1 unknown */
	bool is_again;			   /* it was not the only one with these */
};

struct tap_net_callers {
	struct tap_context *context; /* first: layer.h */
	struct tap_table callers;    /* by (trace, addresses) */
	struct tap_table threads;    /* that make a rank's calls, by member */
	uint64_t changes;	     /* increases when more is known */
};

extern const struct tap_layer tap_net_callers_layer;

/* What a socket that was accepted, or connected, with this event is looked for by. */
uint64_t tap_net_caller_key(const struct tap_event *accepted);
uint64_t tap_net_caller_connected_key(const struct tap_event *connected);

/*
 * Who connected the socket that a process of this trace accepted; NULL: not known (yet).
 */
const struct tap_net_caller *tap_net_caller_of(const struct tap_net_callers *callers,
					       const struct tap_process *process,
					       uint64_t key);

/* Whether the thread that connected may do so for this rank. */
bool tap_net_caller_may_be(const struct tap_net_callers *callers,
			   const struct tap_net_caller *caller,
			   const struct tap_member *member);

#endif
