/* SPDX-License-Identifier: MIT */
/*
 * What the bytes are that pass in one direction of a socket of NCCL's, followed from the
 * beginning of the stream: the handshake that says what the socket is for, and, where it
 * is for data (NET/Socket), headers and payload of messages.
 *
 * NCCL's own calls are the check: each asks for the rest of exactly one part.  Where a call
 * or a number does not fit, the stream is not decoded from there on.
 *
 * Hides the layouts: NCCL 2.18 to 2.32 have the same handshake; from 2.27 on a short payload
 * is sent in one call with its header.
 */
#ifndef TAP_INTERCEPT_NET_STREAM_H
#define TAP_INTERCEPT_NET_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"

/* What a socket is for, as its handshake says (enum ncclSocketType). */
enum tap_net_use {
	TAP_NET_USE_UNKNOWN,
	TAP_NET_USE_BOOTSTRAP,
	TAP_NET_USE_PROXY, /* requests to the service thread */
	TAP_NET_USE_DATA,  /* NET/Socket */
	TAP_NET_USE_IB,	   /* NET/IB, to exchange queue pairs */
	TAP_NET_USE_RAS,
	TAP_NET_USES,
};

/* What the bytes of a call are. */
enum tap_net_part {
	TAP_NET_PART_OTHER, /* not decoded, or no data */
	TAP_NET_PART_HANDSHAKE,
	TAP_NET_PART_HEADER, /* complete: `size` is known; payload may follow in the call */
	TAP_NET_PART_HEADER_BEGIN, /* the first bytes of one */
	TAP_NET_PART_PAYLOAD,
	TAP_NET_PART_TASK, /* a part of a message, on a socket that has no headers */
	TAP_NET_PART_STACK, /* not decoded; it lies on the calling thread's stack */
};

enum tap_net_state {
	TAP_NET_OPAQUE, /* not decoded */
	TAP_NET_HANDSHAKE,
	TAP_NET_FIRST, /* of data: whether it has headers is to be set */
	TAP_NET_HEADER,
	TAP_NET_PAYLOAD,
	TAP_NET_MAYBE_PAYLOAD, /* or the next header: the next call decides */
	TAP_NET_TASK,
	TAP_NET_SERVICE, /* service.h */
};

/* All zero is a stream that is not decoded. */
struct tap_net_stream {
	enum tap_net_state state;
	bool is_received;
	bool has_tasks;	  /* payload goes over other sockets, unless it is short */
	uint64_t offset;  /* bytes so far */
	uint32_t message; /* number of the message or task that passes, from 1 */
	uint32_t size;	  /* of it */
	uint32_t left;	  /* of it, on this socket */
	uint32_t empty_calls; /* since the last that moved bytes */
	/* With tasks: payloads of up to inline_most bytes go with their header, those of
	   apart_least and more do not; what is between is not known. */
	uint32_t inline_most, apart_least;
	uint8_t kept_bytes;
	uint8_t kept[16]; /* of a handshake or header that is not complete */
};

/* What a handshake says. */
struct tap_net_handshake {
	enum tap_net_use use; /* UNKNOWN: it was not read, or did not fit */
	uint8_t index;	      /* of data: which of the sockets of a connection */
};

/* What one call moved. */
struct tap_net_piece {
	enum tap_net_part part;
	uint32_t message, size, left;
	bool is_handshake_over; /* the stream's handshake is complete with it */
	const char *mismatch;	/* why nothing is decoded any more, or NULL */
};

/* The magic number that NCCL's own handshakes begin with; data's must. */
void tap_net_stream_set_magic(uint64_t magic) tap_hidden;

/*
 * Takes what a call moved: `bytes` of `data`, of the `asked` that it asked for.  A complete
 * handshake is written to *handshake.  The stream's state is not FIRST.
 */
void tap_net_stream_pass(struct tap_net_stream *stream, const void *data, size_t asked,
			 size_t bytes, struct tap_net_handshake *handshake,
			 struct tap_net_piece *ret_piece) tap_hidden;

/*
 * The same for what most calls move: the rest of a part, or some of it, or a whole header
 * whose payload follows on the socket.  Returns false, and changes nothing, for all others.
 */
static inline bool tap_net_stream_pass_quickly(struct tap_net_stream *stream,
					       const void *data, size_t asked, size_t bytes,
					       struct tap_net_piece *ret_piece)
{
	int32_t size;

	if (stream->state == TAP_NET_PAYLOAD && asked == stream->left) {
		stream->left -= (uint32_t) bytes;
		if (!stream->left)
			stream->state = TAP_NET_HEADER;
		ret_piece->part = TAP_NET_PART_PAYLOAD;
	} else if (stream->state == TAP_NET_HEADER && asked == sizeof(size) &&
		   bytes == sizeof(size) && !stream->kept_bytes && !stream->has_tasks) {
		__builtin_memcpy(&size, data, sizeof(size));
		if (unlikely(size < 0))
			return false;
		stream->message++;
		stream->size = stream->left = (uint32_t) size;
		if (size)
			stream->state = TAP_NET_PAYLOAD;
		ret_piece->part = TAP_NET_PART_HEADER;
	} else {
		return false;
	}
	stream->offset += bytes;
	ret_piece->message = stream->message;
	ret_piece->size = stream->size;
	ret_piece->left = stream->left;
	return true;
}

#define TAP_NET_INLINE_UNKNOWN (-1)

/* Of a stream whose state is FIRST: it is the only socket of its connection. */
void tap_net_stream_set_alone(struct tap_net_stream *stream) tap_hidden;
/*
 * It is one of several.  Payloads of up to inline_bytes go with their header: 0 for none,
 * or TAP_NET_INLINE_UNKNOWN.
 */
void tap_net_stream_set_tasks(struct tap_net_stream *stream, bool is_control,
			      int64_t inline_bytes) tap_hidden;

#endif
