/* SPDX-License-Identifier: MIT */
/* One function for each state of a stream; each takes as much as belongs to its part. */
#include "intercept/net/stream.h"

#include <string.h>

/* NCCL_SOCKET_MAGIC of every release; from 2.30 on the environment may say another. */
static uint64_t data_magic = UINT64_C(0x564ab9f2fc4b9d6c);

enum {
	MAGIC_BYTES = 8,
	USE_BYTES = 4,
	HANDSHAKE_BYTES = MAGIC_BYTES + USE_BYTES,
	DATA_HANDSHAKE_BYTES = HANDSHAKE_BYTES + 1, /* and the index of the socket */
	HEADER_BYTES = 4,
};

/* What is left of a call. */
struct call {
	const uint8_t *data;
	size_t asked, bytes;
};

void tap_net_stream_set_magic(uint64_t magic)
{
	data_magic = magic;
}

static void give_up(struct tap_net_stream *stream, struct tap_net_piece *piece,
		    const char *why)
{
	stream->state = TAP_NET_OPAQUE;
	piece->part = TAP_NET_PART_OTHER;
	piece->mismatch = why;
}

static void advance(struct tap_net_stream *stream, struct call *call, size_t bytes)
{
	stream->offset += bytes;
	call->data += bytes;
	call->asked -= bytes;
	call->bytes -= bytes;
}

/* Keeps bytes until there are `wanted`; returns whether these are complete. */
static bool keep(struct tap_net_stream *stream, struct call *call, size_t wanted)
{
	size_t bytes = wanted - stream->kept_bytes;

	if (bytes > call->bytes)
		bytes = call->bytes;
	memcpy(stream->kept + stream->kept_bytes, call->data, bytes);
	stream->kept_bytes = (uint8_t) (stream->kept_bytes + bytes);
	advance(stream, call, bytes);
	return stream->kept_bytes == wanted;
}

static void take_handshake(struct tap_net_stream *stream, struct call *call,
			   struct tap_net_handshake *handshake,
			   struct tap_net_piece *piece)
{
	uint64_t magic;
	int32_t use;

	piece->part = TAP_NET_PART_HANDSHAKE;
	if (stream->kept_bytes < HANDSHAKE_BYTES && !keep(stream, call, HANDSHAKE_BYTES))
		return;
	memcpy(&magic, stream->kept, sizeof(magic));
	memcpy(&use, stream->kept + MAGIC_BYTES, sizeof(use));
	if (use <= TAP_NET_USE_UNKNOWN || use >= TAP_NET_USES ||
	    (use == TAP_NET_USE_DATA && magic != data_magic)) {
		give_up(stream, piece, "no handshake of NCCL's");
		return;
	}
	if (use == TAP_NET_USE_DATA) {
		if (!keep(stream, call, DATA_HANDSHAKE_BYTES))
			return;
		handshake->index = stream->kept[HANDSHAKE_BYTES];
	}
	handshake->use = (enum tap_net_use) use;
	stream->kept_bytes = 0;
	stream->state = TAP_NET_OPAQUE;
	if (use == TAP_NET_USE_DATA)
		stream->state = TAP_NET_FIRST;
	else if (use == TAP_NET_USE_PROXY)
		stream->state = TAP_NET_SERVICE;
	piece->is_handshake_over = true;
}

/* Of a message with `beside` bytes asked for behind its header. */
static void begin_payload(struct tap_net_stream *stream, size_t beside,
			  struct tap_net_piece *piece)
{
	if (beside && beside != stream->size) {
		give_up(stream, piece, "a header with a payload of another size");
		return;
	}
	stream->left = beside || !stream->has_tasks ? stream->size : 0;
	if (stream->left)
		stream->state = TAP_NET_PAYLOAD;
	else if (stream->size && stream->is_received)
		stream->state = TAP_NET_MAYBE_PAYLOAD;
	else
		stream->state = TAP_NET_HEADER;
}

static void take_header(struct tap_net_stream *stream, struct call *call,
			struct tap_net_piece *piece)
{
	const size_t missing = HEADER_BYTES - stream->kept_bytes;
	int32_t size;

	/* A receiver does not know the size: it asks for the header alone. */
	if (call->asked < missing || (stream->is_received && call->asked != missing)) {
		give_up(stream, piece, "a call that asks for no header");
		return;
	}
	if (!stream->kept_bytes)
		stream->message++;
	stream->size = 0;
	piece->part = TAP_NET_PART_HEADER_BEGIN;
	if (!keep(stream, call, HEADER_BYTES))
		return;
	stream->kept_bytes = 0;
	memcpy(&size, stream->kept, sizeof(size));
	if (size < 0) {
		give_up(stream, piece, "a header with no size");
		return;
	}
	piece->part = TAP_NET_PART_HEADER;
	stream->size = (uint32_t) size;
	begin_payload(stream, call->asked, piece);
}

/* Takes bytes of a payload or task, all of whose rest a call asks for. */
static void take_payload(struct tap_net_stream *stream, struct call *call,
			 enum tap_net_state next, struct tap_net_piece *piece)
{
	const size_t bytes = call->bytes;

	if (call->asked != stream->left) {
		give_up(stream, piece, "a call that asks for another part");
		return;
	}
	advance(stream, call, bytes);
	stream->left -= (uint32_t) bytes;
	if (!stream->left)
		stream->state = next;
}

/* What one payload shows of all that are shorter, or longer. */
static void learn(struct tap_net_stream *stream, bool is_payload)
{
	if (is_payload && stream->size > stream->inline_most)
		stream->inline_most = stream->size;
	if (!is_payload && stream->size < stream->apart_least)
		stream->apart_least = stream->size;
}

/*
 * A call for the rest of four bytes may be for a payload, or for the next header: what is
 * known of the connection decides, and nothing else may.
 */
static void decide_payload(struct tap_net_stream *stream, const struct call *call,
			   struct tap_net_piece *piece)
{
	bool is_payload = call->asked == stream->size;

	if (stream->size != HEADER_BYTES) {
		learn(stream, is_payload);
	} else if (is_payload) {
		is_payload = stream->inline_most >= HEADER_BYTES;
		if (is_payload == (stream->apart_least <= HEADER_BYTES)) {
			give_up(stream, piece, "four bytes of a payload or of a header");
			return;
		}
	}
	if (is_payload)
		stream->left = stream->size;
	stream->state = is_payload ? TAP_NET_PAYLOAD : TAP_NET_HEADER;
}

static void take_task(struct tap_net_stream *stream, struct call *call,
		      struct tap_net_piece *piece)
{
	piece->part = TAP_NET_PART_TASK;
	if (!stream->left) {
		if (call->asked > INT32_MAX) {
			give_up(stream, piece, "a call that asks for another part");
			return;
		}
		stream->message++;
		stream->size = stream->left = (uint32_t) call->asked;
	}
	take_payload(stream, call, TAP_NET_TASK, piece);
}

static void take(struct tap_net_stream *stream, struct call *call,
		 struct tap_net_handshake *handshake, struct tap_net_piece *piece)
{
	if (stream->state == TAP_NET_MAYBE_PAYLOAD)
		decide_payload(stream, call, piece);
	switch (stream->state) {
	case TAP_NET_HANDSHAKE:
		take_handshake(stream, call, handshake, piece);
		break;
	case TAP_NET_HEADER:
		take_header(stream, call, piece);
		break;
	case TAP_NET_PAYLOAD:
		/* Behind a header in one call, it is the header's. */
		if (piece->part != TAP_NET_PART_HEADER)
			piece->part = TAP_NET_PART_PAYLOAD;
		take_payload(stream, call, TAP_NET_HEADER, piece);
		break;
	case TAP_NET_TASK:
		take_task(stream, call, piece);
		break;
	default:
		advance(stream, call, call->bytes);
		break;
	}
}

void tap_net_stream_pass(struct tap_net_stream *stream, const void *data, size_t asked,
			 size_t bytes, struct tap_net_handshake *handshake,
			 struct tap_net_piece *ret_piece)
{
	struct call call = {.data = data, .asked = asked, .bytes = bytes};

	*ret_piece = (struct tap_net_piece){.part = TAP_NET_PART_OTHER};
	while (call.bytes)
		take(stream, &call, handshake, ret_piece);
	if (ret_piece->part < TAP_NET_PART_HEADER)
		return;
	ret_piece->message = stream->message;
	ret_piece->size = stream->size;
	ret_piece->left = stream->left;
}

void tap_net_stream_set_alone(struct tap_net_stream *stream)
{
	stream->state = TAP_NET_HEADER;
}

void tap_net_stream_set_tasks(struct tap_net_stream *stream, bool is_control,
			      int64_t inline_bytes)
{
	const bool is_known = inline_bytes >= 0 && inline_bytes < INT32_MAX;

	stream->has_tasks = true;
	stream->state = is_control ? TAP_NET_HEADER : TAP_NET_TASK;
	stream->inline_most = is_known ? (uint32_t) inline_bytes : 0;
	stream->apart_least = is_known ? (uint32_t) inline_bytes + 1 : UINT32_MAX;
}
