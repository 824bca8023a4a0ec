/* SPDX-License-Identifier: MIT */
/*
 * NCCL's own messages to its service thread, over a socket of loopback: which transport,
 * channel and peer a connection is made for.  A request is {type, connection, request size,
 * response size, request, operation}, a response {operation, result, size, response}; each
 * part is read by a call of its own, which is the check.
 *
 * Hides these layouts (NCCL 2.18 to 2.32), and which requests are read: those that make a
 * connection, of the sizes that a release has.  All others pass unread.
 */
#ifndef TAP_INTERCEPT_NET_SERVICE_H
#define TAP_INTERCEPT_NET_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"

/* enum ncclProxyMsgType; those between have no body or are not sent. */
enum tap_service_type {
	TAP_SERVICE_INIT = 1,
	TAP_SERVICE_SHARED_INIT,
	TAP_SERVICE_SETUP,
	TAP_SERVICE_CONNECT,
	TAP_SERVICE_START,
	TAP_SERVICE_CLOSE,
	TAP_SERVICE_ABORT,
	TAP_SERVICE_STOP,
	TAP_SERVICE_REGISTER = 11,
	TAP_SERVICE_DEREGISTER,
};

/* Numbers of a request, and bytes of a response, that are read. */
#define TAP_SERVICE_VALUES_MAX 10
#define TAP_SERVICE_KEPT_MAX 40

struct tap_service_message {
	bool is_response;
	uint32_t type;	     /* of a request */
	uint64_t connection; /* of a request; of a response to INIT, 0 else */
	uint32_t request_bytes, response_bytes;
	uint64_t operation;
	int32_t result; /* of a response */
	uint32_t nr_values;
	int32_t values[TAP_SERVICE_VALUES_MAX]; /* of INIT and SETUP, in NCCL's order */
	const void *address; /* a sockaddr, of CONNECT and the response to SETUP; or NULL */
};

/* One direction; all zero but is_response is its beginning. */
struct tap_service_stream {
	bool is_response;
	bool has_no_result; /* a response of 2.18 or 2.19 */
	uint8_t field;
	uint8_t kept_bytes; /* of the field, or of the request or response */
	uint8_t kept[TAP_SERVICE_KEPT_MAX];
	uint32_t left; /* of the field, 0: it has not begun */
	struct tap_service_message message;
};

/*
 * Takes what a call moved, of what it asked for.  Calls take(data, message) for each message
 * that is complete.  Returns why the stream is not decoded any more, or NULL.
 */
const char *tap_service_pass(struct tap_service_stream *stream, const void *data,
			     size_t asked, size_t bytes,
			     void (*take)(void *data, const struct tap_service_message *message),
			     void *taker) tap_hidden;

#endif
