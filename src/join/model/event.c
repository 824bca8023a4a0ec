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
