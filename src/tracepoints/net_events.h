/* SPDX-License-Identifier: MIT */
/*
 * The events of the provider "net": what NCCL's own threads do with sockets.  A row
 * describes each hot event, as in verbs_events.h; the structures below are the others.
 *
 * It hides LTTng from the code that wraps the calls.
 */
#ifndef TAP_TRACEPOINTS_NET_EVENTS_H
#define TAP_TRACEPOINTS_NET_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracepoints/verbs_events.h"

/* clang-format off */

/*
 * A call that moved bytes: the `bytes` from `offset` on of this direction, of the `length`
 * that it asked for, after so many that moved none.  part, message, size and left are those
 * of intercept/net/stream.h after the call.
 */
#define TAP_NET_MOVED_ROW(INT, SEQ) \
	INT(uint64_t, begin_ns, 10) \
	INT(uint32_t, socket_id, 10) \
	INT(uint64_t, offset, 10) \
	INT(uint32_t, length, 10) \
	INT(uint32_t, bytes, 10) \
	INT(uint32_t, empty_calls, 10) \
	INT(uint8_t, part, 10) \
	INT(uint32_t, message, 10) \
	INT(uint32_t, size, 10) \
	INT(uint32_t, left, 10)

/* X(name of the event, its row). */
#define TAP_NET_HOT(X) \
	X(send, TAP_NET_MOVED_ROW) \
	X(recv, TAP_NET_MOVED_ROW)

#define TAP_NET_HOT_NUMBER(name, ROW) TAP_NET_HOT_##name,
enum tap_net_hot { TAP_NET_HOT(TAP_NET_HOT_NUMBER) TAP_NET_HOT_NR };
#undef TAP_NET_HOT_NUMBER

#define TAP_NET_HOT_RECORD(name, ROW) \
	struct tap_net_##name { \
		ROW(TAP_ROW_MEMBER, TAP_ROW_NO_SEQ) \
	} __attribute__((packed));
TAP_NET_HOT(TAP_NET_HOT_RECORD)
#undef TAP_NET_HOT_RECORD
/* clang-format on */

/* A socket, when it is connected or accepted; with its streams, in a state dump. */
struct tap_net_socket_event {
	uint32_t socket_id;
	int32_t fd;
	bool is_accepted;
	bool is_whole;		    /* known from the beginning of its streams */
	const char *local, *peer; /* "127.0.0.1:4000", "[::1]:4000", or a path; "" unknown */
	int32_t error;		    /* of a connection that failed, else 0 */
	uint32_t use;		    /* enum tap_net_use */
	int32_t index;		    /* of data, -1 else */
	uint64_t sent_bytes, received_bytes;
	uint32_t sent_messages, received_messages;
};

/* A message to NCCL's service thread or its answer; strings are never NULL. */
struct tap_net_service_event {
	uint32_t socket_id;
	uint32_t type;
	uint64_t connection, operation;
	uint32_t request_bytes, response_bytes;
	int32_t result;
	uint32_t nr_values;
	const int32_t *values;
	const char *address;
};

struct tap_net_events {
	/* The switches and events of the rows, by enum tap_net_hot. */
	const int *on[TAP_NET_HOT_NR];
	void (*write[TAP_NET_HOT_NR])(const void *record, size_t length);

	void (*connect)(const struct tap_net_socket_event *socket);
	void (*accept)(const struct tap_net_socket_event *socket);
	/* A thread of the program's has connected a socket inside a call of NCCL. */
	void (*caller_connect)(const char *local, const char *peer);
	void (*close)(const struct tap_net_socket_event *socket);
	void (*statedump_socket)(const struct tap_net_socket_event *socket);
	/* The handshake is complete: what the socket is for. */
	void (*handshake)(uint32_t socket_id, uint32_t use, int32_t index);
	/* The peer has closed the stream, or a call failed. */
	void (*stream_end)(uint32_t socket_id, bool is_received, int32_t error);
	void (*undecoded)(uint32_t socket_id, bool is_received, const char *why);
	void (*service_request)(const struct tap_net_service_event *message);
	void (*service_response)(const struct tap_net_service_event *message);
};

#endif
