/* SPDX-License-Identifier: MIT */
/* Instantiates the provider "net", but for its hot events. */
#include "tracepoints/guest.h"

#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_PROVIDER_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoints/net_tp.h"

#include "tracepoints/providers.h"

static void write_connect(const struct tap_net_socket_event *s)
{
	lttng_ust_tracepoint(net, connect, s);
}

static void write_accept(const struct tap_net_socket_event *s)
{
	lttng_ust_tracepoint(net, accept, s);
}

static void caller_connect(const char *local, const char *peer)
{
	lttng_ust_tracepoint(net, caller_connect, local, peer);
}

static void write_close(const struct tap_net_socket_event *s)
{
	lttng_ust_tracepoint(net, close, s);
}

static void handshake(uint32_t socket_id, uint32_t use, int32_t index)
{
	lttng_ust_tracepoint(net, handshake, socket_id, use, index);
}

static void stream_end(uint32_t socket_id, bool is_received, int32_t error)
{
	lttng_ust_tracepoint(net, stream_end, socket_id, is_received, error);
}

static void undecoded(uint32_t socket_id, bool is_received, const char *why)
{
	lttng_ust_tracepoint(net, undecoded, socket_id, is_received, why);
}

static void service_request(const struct tap_net_service_event *message)
{
	lttng_ust_tracepoint(net, service_request, message);
}

static void service_response(const struct tap_net_service_event *message)
{
	lttng_ust_tracepoint(net, service_response, message);
}

void tap_tp_net_fill(struct tap_net_events *ret_events)
{
	*ret_events = (struct tap_net_events){
		.connect = write_connect,
		.accept = write_accept,
		.caller_connect = caller_connect,
		.close = write_close,
		.statedump_socket = tap_tp_statedump_socket,
		.handshake = handshake,
		.stream_end = stream_end,
		.undecoded = undecoded,
		.service_request = service_request,
		.service_response = service_response,
	};
	tap_tp_net_hot_fill(ret_events);
}
