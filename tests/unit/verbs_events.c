/* SPDX-License-Identifier: MIT */
/* One event is used again and again, as a reader of traces does. */
#include "unit/verbs_events.h"

#include <string.h>

void events_begin(struct events *events, const struct tap_consumer *consumer, void *data,
		  size_t bound)
{
	const struct tap_bounds bounds = {.open_calls = bound, .held_operations = bound};

	events->join = tap_join_create(consumer, data, &bounds);
	events->trace = tap_join_add_trace(events->join, "host", NULL, -1);
	events->is_right = true;
}

void events_end(struct events *events)
{
	tap_join_destroy(events->join);
	tap_fields_free(&events->event.fields);
}

void event_begin(struct events *events, enum tap_verbs_event verbs)
{
	tap_fields_clear(&events->event.fields);
	events->event.kind = TAP_EVENT_VERBS;
	events->event.verbs = verbs;
	events->event.begin_ns = 0;
}

void event_add(struct events *events, const char *name, uint64_t value)
{
	tap_fields_add_unsigned(&events->event.fields, name, value);
}

void event_add_all(struct events *events, const char *name, const uint64_t *values,
		   size_t count)
{
	uint64_t *elements;

	tap_fields_add_array(&events->event.fields, name, count, &elements);
	memcpy(elements, values, count * sizeof(*values));
}

void event_give(struct events *events, unsigned int p, int64_t step_ns, bool is_lost)
{
	events->event.trace = events->trace;
	events->event.pid = p + 1;
	events->event.tid = p + 1;
	events->event.time_ns = events->now += step_ns;
	if (!is_lost && tap_join_event(events->join, &events->event))
		events->is_right = false;
}

void event_give_connected(struct events *events, unsigned int p, uint64_t qp_id,
			  uint64_t qp_num, unsigned int peer, int64_t step_ns)
{
	event_begin(events, TAP_VERBS_QP_MODIFY);
	event_add(events, "qp_id", qp_id);
	event_add(events, "generation", 1);
	event_add(events, "attr_mask", 1 << 20 | 1 << 7);
	event_add(events, "dest_qp_num", qp_num);
	event_add(events, "dgid_lo", peer);
	event_add(events, "sgid_lo", p);
	event_add(events, "is_global", 1);
	event_give(events, p, step_ns, false);
}
