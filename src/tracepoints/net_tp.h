/* SPDX-License-Identifier: MIT */
/*
 * LTTng-UST provider "net": sockets, what they are for, and NCCL's messages to its service
 * thread, at level INFO.  What moves bytes is in net_hot_tp.c.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER net
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tracepoints/net_tp.h"

#if !defined(TAP_TRACEPOINTS_NET_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TAP_TRACEPOINTS_NET_TP_H

#include <lttng/tracepoint.h>

#include "tracepoints/net_fields.h"

/* clang-format off */
#define TAP_NET_EVENT(name, args, ...) \
	LTTNG_UST_TRACEPOINT_EVENT(net, name, LTTNG_UST_TP_ARGS args, \
		LTTNG_UST_TP_FIELDS(__VA_ARGS__)) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(net, name, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

TAP_NET_EVENT(connect, (const struct tap_net_socket_event *, s),
	TAP_NET_SOCKET_FIELDS
	lttng_ust_field_integer(int32_t, error, s->error))
TAP_NET_EVENT(accept, (const struct tap_net_socket_event *, s), TAP_NET_SOCKET_FIELDS)
TAP_NET_EVENT(caller_connect, (const char *, local_, const char *, peer_),
	lttng_ust_field_string(local, local_)
	lttng_ust_field_string(peer, peer_))
TAP_NET_EVENT(close, (const struct tap_net_socket_event *, s),
	lttng_ust_field_integer(uint32_t, socket_id, s->socket_id)
	TAP_NET_STREAM_FIELDS)
TAP_NET_EVENT(handshake, (uint32_t, id, uint32_t, use_, int32_t, index_),
	lttng_ust_field_integer(uint32_t, socket_id, id)
	lttng_ust_field_integer(uint32_t, use, use_)
	lttng_ust_field_integer(int32_t, index, index_))
TAP_NET_EVENT(stream_end, (uint32_t, id, uint8_t, received_, int32_t, error_),
	lttng_ust_field_integer(uint32_t, socket_id, id)
	lttng_ust_field_integer(uint8_t, received, received_)
	lttng_ust_field_integer(int32_t, error, error_))
TAP_NET_EVENT(undecoded, (uint32_t, id, uint8_t, received_, const char *, why_),
	lttng_ust_field_integer(uint32_t, socket_id, id)
	lttng_ust_field_integer(uint8_t, received, received_)
	lttng_ust_field_string(why, why_))
TAP_NET_EVENT(service_request, (const struct tap_net_service_event *, m),
	lttng_ust_field_integer(uint32_t, socket_id, m->socket_id)
	lttng_ust_field_integer(uint32_t, type, m->type)
	lttng_ust_field_integer_hex(uint64_t, connection, m->connection)
	lttng_ust_field_integer_hex(uint64_t, operation, m->operation)
	lttng_ust_field_integer(uint32_t, request_bytes, m->request_bytes)
	lttng_ust_field_integer(uint32_t, response_bytes, m->response_bytes)
	lttng_ust_field_sequence(int32_t, values, m->values, uint32_t, m->nr_values)
	lttng_ust_field_string(address, m->address))
TAP_NET_EVENT(service_response, (const struct tap_net_service_event *, m),
	lttng_ust_field_integer(uint32_t, socket_id, m->socket_id)
	lttng_ust_field_integer_hex(uint64_t, operation, m->operation)
	lttng_ust_field_integer(int32_t, result, m->result)
	lttng_ust_field_integer(uint32_t, response_bytes, m->response_bytes)
	lttng_ust_field_integer_hex(uint64_t, connection, m->connection)
	lttng_ust_field_string(address, m->address))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
