/* SPDX-License-Identifier: MIT */
/*
 * The one probe of all packed events: once what LTTng's macros generate for each event.
 */
#include "tracepoints/guest.h"

#include "tracepoints/packed.h"

#include <stdint.h>
#include <string.h>

#include <lttng/tracepoint.h>
#include <lttng/ust-ringbuffer-context.h>

#include "common/compiler.h"

/* LTTng reads a field as a signed or an unsigned number of 64 bits. */
static uint64_t read_integer(const char *at, const struct lttng_ust_type_integer *type)
{
	const unsigned bits = type->size;
	uint64_t value = 0;

	memcpy(&value, at, bits / 8);
	if (type->signedness && bits < 64 && value >> (bits - 1))
		value |= UINT64_MAX << bits;
	return value;
}

static const struct lttng_ust_type_integer *
as_integer(const struct lttng_ust_type_common *type)
{
	return (const struct lttng_ust_type_integer *) type;
}

/*
 * Fills what a filter reads: a number for an integer, length and address for an array.
 * The last integer of an event, before its arrays, is the length of all of them.
 */
static void fill_stack(char *stack, const struct lttng_ust_tracepoint_class *class,
		       const char *at)
{
	uint64_t last = 0;
	size_t i;

	for (i = 0; i < class->nr_fields; i++) {
		const struct lttng_ust_type_common *type = class->fields[i]->type;

		if (type->type == lttng_ust_type_integer) {
			last = read_integer(at, as_integer(type));
			memcpy(stack, &last, sizeof(last));
			stack += sizeof(last);
			at += as_integer(type)->size / 8;
		} else {
			const struct lttng_ust_type_sequence *sequence =
				(const struct lttng_ust_type_sequence *) type;
			const unsigned long length = last;

			memcpy(stack, &length, sizeof(length));
			memcpy(stack + sizeof(length), &at, sizeof(at));
			stack += sizeof(length) + sizeof(at);
			at += length * as_integer(sequence->elem_type)->size / 8;
		}
	}
}

static void record_event(struct lttng_ust_event_recorder *recorder,
			 struct lttng_ust_probe_ctx *probe, const void *record,
			 size_t length)
{
	struct lttng_ust_channel_buffer *channel = recorder->chan;
	struct lttng_ust_ring_buffer_ctx ring;

	lttng_ust_ring_buffer_ctx_init(&ring, recorder, length, 1, probe);
	if (channel->ops->event_reserve(&ring) < 0)
		return;
	channel->ops->event_write(&ring, record, length, 1);
	channel->ops->event_commit(&ring);
}

static void notify(struct lttng_ust_event_notifier *notifier,
		   struct lttng_ust_probe_ctx *probe, const char *stack)
{
	struct lttng_ust_notification_ctx notification = {
		.struct_size = sizeof(notification),
		.eval_capture = CMM_ACCESS_ONCE(notifier->eval_capture),
	};

	notifier->notification_send(notifier, stack, probe, &notification);
}

static bool is_recording(const struct lttng_ust_event_recorder *recorder)
{
	const struct lttng_ust_channel_common *channel = recorder->chan->parent;

	return CMM_ACCESS_ONCE(channel->session->active) &&
	       CMM_ACCESS_ONCE(channel->enabled);
}

/*
 * For events with a filter and for triggers: rare, so out of line, to keep the stack of
 * the others small.
 */
tap_cold static bool filter(struct lttng_ust_event_common *event,
			    const struct lttng_ust_tracepoint_class *class,
			    struct lttng_ust_probe_ctx *probe, const void *record)
{
	char stack[2 * sizeof(unsigned long) * TAP_PACKED_FIELDS_MAX];

	fill_stack(stack, class, record);
	if (CMM_ACCESS_ONCE(event->eval_filter) &&
	    event->run_filter(event, stack, probe, NULL) != LTTNG_UST_EVENT_FILTER_ACCEPT)
		return false;
	if (event->type == LTTNG_UST_EVENT_TYPE_NOTIFIER)
		notify(event->child, probe, stack);
	return true;
}

void tap_packed_probe(void *data, const struct lttng_ust_tracepoint_class *class,
		      const void *record, size_t length)
{
	struct lttng_ust_event_common *event = data;
	struct lttng_ust_probe_ctx probe = {
		.struct_size = sizeof(probe),
		.ip = __builtin_return_address(0),
	};

	if (event->type == LTTNG_UST_EVENT_TYPE_RECORDER && !is_recording(event->child))
		return;
	if (unlikely(!CMM_ACCESS_ONCE(event->enabled)))
		return;
	if (unlikely(CMM_ACCESS_ONCE(event->eval_filter) ||
		     event->type != LTTNG_UST_EVENT_TYPE_RECORDER) &&
	    !filter(event, class, &probe, record))
		return;
	if (likely(event->type == LTTNG_UST_EVENT_TYPE_RECORDER))
		record_event(event->child, &probe, record, length);
}
