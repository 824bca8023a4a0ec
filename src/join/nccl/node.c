/* SPDX-License-Identifier: MIT */
/*
 * NCCL reads the variable once, and not when the tracer does: a process of which two
 * values were seen, or none, since the event may be lost, may be on any node of its host.
 */
#include "join/nccl/node.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "join/model/process.h"

/* No hash, which are odd. */
#define SEVERAL ((uintptr_t) 2)

static bool is_known(const void *id)
{
	return id && id != (void *) SEVERAL;
}

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct tap_nodes *nodes = state;
	const char *name = tap_fields_get_string(&event->fields, "name");
	const char *value = tap_fields_get_string(&event->fields, "value");
	const void *before;
	uintptr_t id;

	if (!name || !value || strcmp(name, "NCCL_HOSTID") ||
	    tap_fields_number(&event->fields, "cut") ||
	    tap_fields_number(&event->fields, "withheld"))
		return 0;
	before = tap_table_find(&nodes->ids, process->number, 0);
	id = (uintptr_t) tap_table_hash(value) | 1;
	if (before && before != (void *) id)
		id = SEVERAL;
	return tap_table_set(&nodes->ids, process->number, 0, (void *) id) ? -ENOMEM : 0;
}

bool tap_nodes_may_be_one(const struct tap_nodes *nodes, const struct tap_process *a,
			  const struct tap_process *b)
{
	const void *first, *second;

	if (a == b)
		return true;
	if (a->trace != b->trace)
		return false;
	first = tap_table_find(&nodes->ids, a->number, 0);
	second = tap_table_find(&nodes->ids, b->number, 0);
	return !is_known(first) || !is_known(second) || first == second;
}

static void free_all(void *state)
{
	struct tap_nodes *nodes = state;

	tap_table_free(&nodes->ids);
}

const struct tap_layer tap_nodes_layer = {
	.name = "nodes",
	.size = sizeof(struct tap_nodes),
	.events = TAP_TAKES(TAP_EVENT_ENVIRONMENT) |
		  TAP_TAKES(TAP_EVENT_STATEDUMP_ENVIRONMENT),
	.is_of_views = true,
	.take = take,
	.free = free_all,
};
