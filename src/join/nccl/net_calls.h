/* SPDX-License-Identifier: MIT */
/*
 * The messages of NCCL's NET/Socket where nothing is decoded, inferred from what its
 * calls ask for.  Each call asks for the rest of one part: a header of four bytes, a
 * payload, or both; on a connection with several sockets a header, and payload on the
 * others.  A receiver cannot ask for a payload before it has read the header.  Both ends
 * have the same offsets, so that the parts of one end are the check of the other's.
 *
 * Two parts of four bytes at both ends are two empty messages, or one of four bytes.  Up
 * to NCCL 2.26 a header is a variable of the function that calls, and payload is in a
 * buffer: the tracer says where the bytes lie, and both ends must agree.  Where it does not, and where
 * anything does not fit, a connection is given up.  Hides how parts
 * become messages, and what waits for the other end; it is bounded.
 */
#ifndef TAP_JOIN_NCCL_NET_CALLS_H
#define TAP_JOIN_NCCL_NET_CALLS_H

#include "common/list.h"
#include "join/model/event.h"

#include <stdbool.h>
#include <stdint.h>

/* What one call asks for, and those that follow until all has passed. */
struct tap_call_part {
	uint64_t offset, size, passed;
	int64_t begin_ns, end_ns, tid;
	bool is_in_frame; /* a variable of the function that has called */
	TAP_LIST_LINK(struct tap_call_part) link;
};

/* What flows over one socket, as one end sees it; all zero before the first call. */
struct tap_call_stream {
	uint64_t offset;
	bool is_greeting; /* its handshake has the sizes of NET/Socket's */
	bool is_odd;	  /* something does not fit */
	bool has_frames;  /* its headers are variables, and nothing else is */
	TAP_LIST(struct tap_call_part)
	parts; /* not of a message yet, without the handshake */
	size_t count;
};

/* One end of a connection. */
struct tap_calls_end {
	struct tap_call_stream *control; /* has the headers */
	struct tap_call_stream *
		*tasks; /* the others; none: payload follows the headers */
	size_t task_count;
};

/* A message at one end. */
struct tap_calls_half {
	int64_t begin_ns, end_ns, tid;
	uint64_t parts; /* tasks, or 1 */
};

struct tap_calls_message {
	uint64_t offset, size;
	struct tap_calls_half send, receive;
	bool is_beside; /* a payload of at least four bytes was sent with its header */
};

enum tap_calls_next {
	TAP_CALLS_MESSAGE, /* there is one, and its parts are gone */
	TAP_CALLS_WAIT,	   /* more must pass */
	TAP_CALLS_UNKNOWN, /* it cannot be told, nor any after it */
};

/* Whether the tracer has decoded nothing of a call that moved bytes. */
bool tap_calls_are(const struct tap_event *event);
/* Takes such a call.  Returns 0 or -ENOMEM. */
int tap_calls_take(struct tap_call_stream *stream, const struct tap_event *event);
/* What passes is not looked at any more. */
void tap_calls_give_up(struct tap_call_stream *stream);
void tap_calls_free(struct tap_call_stream *stream);

/*
 * The next message of a connection.  has_beside: this NCCL sends short payloads with
 * their headers; is_end: nothing passes any more.
 */
enum tap_calls_next tap_calls_next(const struct tap_calls_end *from,
				   const struct tap_calls_end *to, bool has_beside,
				   bool is_end, struct tap_calls_message *ret_message);

#endif
