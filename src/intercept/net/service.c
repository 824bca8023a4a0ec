/* SPDX-License-Identifier: MIT */
/* A message is read field by field; a field may come in several calls. */
#include "intercept/net/service.h"

#include <string.h>
#include <sys/socket.h>

enum field {
	FIELD_TYPE,
	FIELD_CONNECTION,
	FIELD_REQUEST_BYTES,
	FIELD_RESPONSE_BYTES,
	FIELD_REQUEST,
	FIELD_REQUEST_OPERATION,

	FIELD_OPERATION, /* of a response; with the result and the size from 2.20 on */
	FIELD_SIZE,	 /* of a response of 2.18 and 2.19 */
	FIELD_RESPONSE,
};

/* Sizes by which the layouts are recognised. */
enum {
	INIT_BYTES = 20,
	SETUP_BYTES = 36,
	LONG_SETUP_BYTES = 40, /* 2.30 */
	HANDLE_BYTES = 128,    /* NCCL_NET_HANDLE_MAXSIZE; an address at first */
	INIT_RESPONSE_BYTES = 16,
	LONG_INIT_RESPONSE_BYTES = 24, /* 2.30 */
	OPERATION_BYTES = 8,
	RESPONSE_BYTES = 16,
	BYTES_MAX = 1 << 24, /* no request or response is longer */
};

static bool has_body(uint32_t type)
{
	switch (type) {
	case TAP_SERVICE_INIT:
	case TAP_SERVICE_SHARED_INIT:
	case TAP_SERVICE_SETUP:
	case TAP_SERVICE_CONNECT:
	case TAP_SERVICE_REGISTER:
	case TAP_SERVICE_DEREGISTER:
		return true;
	default:
		return false;
	}
}

static uint32_t field_bytes(const struct tap_service_stream *stream, size_t asked)
{
	switch (stream->field) {
	case FIELD_CONNECTION:
	case FIELD_REQUEST_OPERATION:
		return 8;
	case FIELD_REQUEST:
		return stream->message.request_bytes;
	case FIELD_OPERATION:
		return asked == OPERATION_BYTES ? OPERATION_BYTES : RESPONSE_BYTES;
	case FIELD_RESPONSE:
		return stream->message.response_bytes;
	default:
		return 4;
	}
}

static uint32_t number(const struct tap_service_stream *stream, size_t offset)
{
	uint32_t value;

	memcpy(&value, stream->kept + offset, sizeof(value));
	return value;
}

static uint64_t pointer(const struct tap_service_stream *stream)
{
	uint64_t value;

	memcpy(&value, stream->kept, sizeof(value));
	return value;
}

static const void *address(const struct tap_service_stream *stream)
{
	sa_family_t family;

	memcpy(&family, stream->kept, sizeof(family));
	return family == AF_INET || family == AF_INET6 ? stream->kept : NULL;
}

static void read_request(struct tap_service_stream *stream)
{
	struct tap_service_message *message = &stream->message;
	const uint32_t bytes = message->request_bytes;

	if ((message->type == TAP_SERVICE_INIT && bytes == INIT_BYTES) ||
	    (message->type == TAP_SERVICE_SETUP &&
	     (bytes == SETUP_BYTES || bytes == LONG_SETUP_BYTES))) {
		message->nr_values = bytes / 4;
		memcpy(message->values, stream->kept, bytes);
	} else if (message->type == TAP_SERVICE_CONNECT && bytes >= HANDLE_BYTES) {
		message->address = address(stream);
	}
}

static void read_response(struct tap_service_stream *stream)
{
	struct tap_service_message *message = &stream->message;

	if (message->response_bytes == INIT_RESPONSE_BYTES ||
	    message->response_bytes == LONG_INIT_RESPONSE_BYTES)
		message->connection = pointer(stream);
	else if (message->response_bytes == HANDLE_BYTES)
		message->address = address(stream);
}

/* Returns the field after the one that is complete; the first one ends the message. */
static enum field read_field(struct tap_service_stream *stream)
{
	struct tap_service_message *message = &stream->message;

	switch ((enum field) stream->field) {
	case FIELD_TYPE:
		message->type = number(stream, 0);
		return has_body(message->type) ? FIELD_CONNECTION : FIELD_TYPE;
	case FIELD_CONNECTION:
		message->connection = pointer(stream);
		return FIELD_REQUEST_BYTES;
	case FIELD_REQUEST_BYTES:
		message->request_bytes = number(stream, 0);
		return FIELD_RESPONSE_BYTES;
	case FIELD_RESPONSE_BYTES:
		message->response_bytes = number(stream, 0);
		return message->request_bytes ? FIELD_REQUEST : FIELD_REQUEST_OPERATION;
	case FIELD_REQUEST:
		return FIELD_REQUEST_OPERATION;
	case FIELD_REQUEST_OPERATION:
		return FIELD_TYPE;
	case FIELD_OPERATION:
		message->operation = pointer(stream);
		if (stream->has_no_result)
			return FIELD_SIZE;
		message->result = (int32_t) number(stream, 8);
		message->response_bytes = number(stream, 12);
		return message->response_bytes ? FIELD_RESPONSE : FIELD_OPERATION;
	case FIELD_SIZE:
		message->response_bytes = number(stream, 0);
		return message->response_bytes ? FIELD_RESPONSE : FIELD_OPERATION;
	case FIELD_RESPONSE:
		break;
	}
	return FIELD_OPERATION;
}

static const char *begin_field(struct tap_service_stream *stream, size_t asked)
{
	if (stream->is_response && stream->field < FIELD_OPERATION)
		stream->field = FIELD_OPERATION;
	if (stream->field == FIELD_TYPE || stream->field == FIELD_OPERATION) {
		stream->message = (struct tap_service_message){
			.is_response = stream->is_response};
		stream->has_no_result = asked == OPERATION_BYTES;
	}
	stream->left = field_bytes(stream, asked);
	/* What a request says stays until its operation is read. */
	if (stream->field != FIELD_REQUEST_OPERATION)
		stream->kept_bytes = 0;
	return stream->left > BYTES_MAX ? "a service message of no size" : NULL;
}

static void keep(struct tap_service_stream *stream, const uint8_t *data, size_t bytes)
{
	size_t room = sizeof(stream->kept) - stream->kept_bytes;

	if (bytes < room)
		room = bytes;
	memcpy(stream->kept + stream->kept_bytes, data, room);
	stream->kept_bytes = (uint8_t) (stream->kept_bytes + room);
}

/* The operation follows the request, whose kept bytes a message may refer to. */
static bool take_operation(struct tap_service_stream *stream, const uint8_t *data,
			   size_t bytes)
{
	uint64_t *operation = &stream->message.operation;
	const size_t at = OPERATION_BYTES - stream->left;

	memcpy((uint8_t *) operation + at, data, bytes);
	stream->left -= (uint32_t) bytes;
	return !stream->left;
}

static bool take_bytes(struct tap_service_stream *stream, const uint8_t *data, size_t bytes)
{
	if (stream->field == FIELD_REQUEST_OPERATION)
		return take_operation(stream, data, bytes);
	keep(stream, data, bytes);
	stream->left -= (uint32_t) bytes;
	return !stream->left;
}

/* Goes on with the next field.  Returns whether the message is complete. */
static bool end_field(struct tap_service_stream *stream)
{
	if (stream->field == FIELD_REQUEST)
		read_request(stream);
	if (stream->field == FIELD_RESPONSE)
		read_response(stream);
	stream->field = (uint8_t) read_field(stream);
	return stream->field == FIELD_TYPE || stream->field == FIELD_OPERATION;
}

static bool is_known(uint32_t type)
{
	return type >= TAP_SERVICE_INIT && type <= TAP_SERVICE_DEREGISTER;
}

const char *tap_service_pass(struct tap_service_stream *stream, const void *data,
			     size_t asked, size_t bytes,
			     void (*take)(void *data, const struct tap_service_message *message),
			     void *taker)
{
	const char *why;

	if (!stream->left) {
		why = begin_field(stream, asked);
		if (why)
			return why;
	}
	if (asked != stream->left)
		return "a call that asks for no part of a service message";
	if (!take_bytes(stream, data, bytes))
		return NULL;
	if (!end_field(stream))
		return NULL;
	if (!stream->is_response && !is_known(stream->message.type))
		return "a service message of no type";
	take(taker, &stream->message);
	return NULL;
}
