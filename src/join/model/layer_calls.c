/* SPDX-License-Identifier: MIT */
/* Entries and exits of calls become spans. */
#include "join/model/layer.h"
#include "join/model/layers.h"

static struct tap_pairs *pairs_of(void *state)
{
	return &((struct tap_layer_state *) state)->context->pairs;
}

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct tap_pairs *pairs = pairs_of(state);
	int ret;

	if (event->kind == TAP_EVENT_ENTRY)
		return tap_pairs_entry(pairs, process, event);
	if (event->kind == TAP_EVENT_EXIT)
		return tap_pairs_exit(pairs, process, event);
	ret = tap_pairs_entry(pairs, process, event);
	/* Its fields are the entry's now. */
	tap_fields_clear(&event->fields);
	return ret ? ret : tap_pairs_exit(pairs, process, event);
}

static int process_replaced(void *state, const struct tap_process *process,
			    int64_t time_ns)
{
	(void) time_ns;
	return tap_pairs_end_process(pairs_of(state), process);
}

static int finish(void *state)
{
	return tap_pairs_end_process(pairs_of(state), NULL);
}

static void free_all(void *state)
{
	tap_pairs_free(pairs_of(state));
}

const struct tap_layer tap_pairs_layer = {
	.name = "calls",
	.size = sizeof(struct tap_layer_state),
	.events = TAP_TAKES(TAP_EVENT_ENTRY) | TAP_TAKES(TAP_EVENT_EXIT) |
		  TAP_TAKES(TAP_EVENT_MARK),
	.take = take,
	.process_replaced = process_replaced,
	.finish = finish,
	.free = free_all,
};
