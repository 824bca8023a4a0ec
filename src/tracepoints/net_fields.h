/* SPDX-License-Identifier: MIT */
/* The fields that events of "net" share with a state dump event of "tap". */
#ifndef TAP_TRACEPOINTS_NET_FIELDS_H
#define TAP_TRACEPOINTS_NET_FIELDS_H

#include "tracepoints/net_events.h"

/* clang-format off */
#define TAP_NET_SOCKET_FIELDS \
	lttng_ust_field_integer(uint32_t, socket_id, s->socket_id) \
	lttng_ust_field_integer(int32_t, fd, s->fd) \
	lttng_ust_field_integer(uint8_t, accepted, s->is_accepted) \
	lttng_ust_field_integer(uint8_t, whole, s->is_whole) \
	lttng_ust_field_string(local, s->local) \
	lttng_ust_field_string(peer, s->peer)

#define TAP_NET_STREAM_FIELDS \
	lttng_ust_field_integer(uint32_t, use, s->use) \
	lttng_ust_field_integer(int32_t, index, s->index) \
	lttng_ust_field_integer(uint64_t, sent_bytes, s->sent_bytes) \
	lttng_ust_field_integer(uint64_t, received_bytes, s->received_bytes) \
	lttng_ust_field_integer(uint32_t, sent_messages, s->sent_messages) \
	lttng_ust_field_integer(uint32_t, received_messages, s->received_messages)
/* clang-format on */

#endif
