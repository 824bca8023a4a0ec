/* SPDX-License-Identifier: MIT */
/* Names of events. */
#include "join/model/event.h"

#include <string.h>

enum tap_gpu_event tap_gpu_event(const char *name)
{
	static const struct {
		const char *name;
		enum tap_gpu_event event;
	} events[] = {
		{"gpu:kernel", TAP_GPU_KERNEL},
		{"gpu:memcpy", TAP_GPU_MEMCPY},
		{"gpu:memcpy_p2p", TAP_GPU_MEMCPY_P2P},
		{"gpu:memset", TAP_GPU_MEMSET},
		{"gpu:graph_node", TAP_GPU_GRAPH_NODE},
		{"gpu:name", TAP_GPU_NAME},
		{"gpu:statedump_name", TAP_GPU_NAME},
		{"gpu:owner", TAP_GPU_OWNER},
		{"gpu:statedump_owner", TAP_GPU_OWNER},
		{"gpu:clock", TAP_GPU_CLOCK},
		{"gpu:lost", TAP_GPU_LOST},
	};
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (!strcmp(name, events[i].name))
			return events[i].event;
	return TAP_GPU_NONE;
}

enum tap_net_event tap_net_event(const char *name)
{
	static const struct {
		const char *name;
		enum tap_net_event event;
	} events[] = {
		{"net:connect", TAP_NET_CONNECT},
		{"net:accept", TAP_NET_ACCEPT},
		{"net:caller_connect", TAP_NET_CALLER_CONNECT},
		{"net:close", TAP_NET_CLOSE},
		{"tap:statedump_socket", TAP_NET_STATEDUMP},
		{"net:handshake", TAP_NET_HANDSHAKE},
		{"net:stream_end", TAP_NET_STREAM_END},
		{"net:undecoded", TAP_NET_UNDECODED},
		{"net:service_request", TAP_NET_SERVICE_REQUEST},
		{"net:service_response", TAP_NET_SERVICE_RESPONSE},
		{"net:send", TAP_NET_SEND},
		{"net:recv", TAP_NET_RECV},
	};
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (!strcmp(name, events[i].name))
			return events[i].event;
	return TAP_NET_NONE;
}
