/* SPDX-License-Identifier: MIT */
/*
 * Only events, and messages that a stream has none yet, are ordered by time.  All other
 * messages are handled as soon as they are read: they concern the stream, not a moment.
 */
#include "join/bt/merge.h"

#include "join/base/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/list.h"
#include "common/vec.h"

struct stream {
	bt_message_iterator *iterator;
	bt_message_array_const messages;
	uint64_t count;
	uint64_t next;		       /* the first message that is not handled */
	int64_t time_ns;	       /* of that message */
	struct tap_event_class *class; /* of that message, NULL: no event */
	unsigned int number;
	TAP_LIST_LINK(struct stream) waiting;
};

struct tap_merge {
	struct tap_decoder *decoder;
	struct tap_join *join;
	TAP_VEC(struct stream *) streams;
	TAP_LIST(struct stream) waiting; /* for a message, in order of numbers */
	struct tap_heap heap; /* streams with a message that waits for its turn */
	struct tap_event event;
	int64_t time_ns; /* of the latest event */
	uint64_t event_count;
};

struct tap_merge *tap_merge_create(struct tap_decoder *decoder, struct tap_join *join)
{
	struct tap_merge *merge = calloc(1, sizeof(*merge));

	if (!merge)
		return NULL;
	merge->decoder = decoder;
	merge->join = join;
	return merge;
}

static void drop_messages(struct stream *stream)
{
	for (; stream->next < stream->count; stream->next++)
		bt_message_put_ref(stream->messages[stream->next]);
}

void tap_merge_destroy(struct tap_merge *merge)
{
	size_t i;

	if (!merge)
		return;
	for (i = 0; i < merge->streams.count; i++) {
		struct stream *stream = merge->streams.items[i];

		drop_messages(stream);
		bt_message_iterator_put_ref(stream->iterator);
		free(stream);
	}
	tap_vec_free(&merge->streams);
	tap_heap_free(&merge->heap);
	tap_fields_free(&merge->event.fields);
	free(merge);
}

int tap_merge_add(struct tap_merge *merge, bt_message_iterator *iterator)
{
	struct stream *stream = calloc(1, sizeof(*stream));

	if (!stream || tap_vec_add(&merge->streams, stream)) {
		free(stream);
		return -ENOMEM;
	}
	stream->iterator = iterator;
	stream->number = (unsigned int) merge->streams.count - 1;
	tap_list_append(&merge->waiting, stream, waiting);
	return 0;
}

uint64_t tap_merge_event_count(const struct tap_merge *merge)
{
	return merge->event_count;
}

/* ---- Messages that are not events ---- */

static const char *stream_name(const bt_stream *stream)
{
	const char *name = bt_stream_get_name(stream);
	const char *slash = name ? strrchr(name, '/') : NULL;

	return slash ? slash + 1 : name ? name : "";
}

static int note_discarded_events(struct tap_merge *merge, const bt_message *message)
{
	const bt_stream *stream =
		bt_message_discarded_events_borrow_stream_const(message);
	uint64_t count;

	if (bt_message_discarded_events_get_count(message, &count) !=
	    BT_PROPERTY_AVAILABILITY_AVAILABLE) {
		tap_join_loss(merge->join)->discarded_unknown++;
		return 0;
	}
	return tap_loss_discarded(tap_join_loss(merge->join), stream_name(stream), count,
				  0);
}

static int note_discarded_packets(struct tap_merge *merge, const bt_message *message)
{
	const bt_stream *stream =
		bt_message_discarded_packets_borrow_stream_const(message);
	uint64_t count;

	if (bt_message_discarded_packets_get_count(message, &count) !=
	    BT_PROPERTY_AVAILABILITY_AVAILABLE) {
		tap_join_loss(merge->join)->discarded_unknown++;
		return 0;
	}
	return tap_loss_discarded(tap_join_loss(merge->join), stream_name(stream), 0,
				  count);
}

/*
 * Notes the first cause in babeltrace2's error, and takes the error, so that babeltrace2
 * does not report it.
 */
static void note_damage(struct tap_merge *merge)
{
	struct tap_loss *loss = tap_join_loss(merge->join);
	const bt_error *error = bt_current_thread_take_error();

	loss->damaged_streams++;
	if (error && !loss->first_damage && bt_error_get_cause_count(error))
		loss->first_damage = strdup(bt_error_cause_get_message(
			bt_error_borrow_cause_by_index(error, 0)));
	if (error)
		bt_error_release(error);
}

/* ---- Streams ---- */

/*
 * Sets the time of the current message; without a time that 64 bits hold, that of the
 * latest event.
 */
static void set_time(struct tap_merge *merge, struct stream *stream,
		     const bt_clock_snapshot *snapshot)
{
	stream->time_ns = merge->time_ns;
	if (snapshot &&
	    bt_clock_snapshot_get_ns_from_origin(snapshot, &stream->time_ns)) {
		stream->time_ns = merge->time_ns;
		bt_current_thread_clear_error();
	}
}

static const bt_clock_snapshot *inactive_until(const bt_message *m)
{
	return bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(m);
}

/*
 * Handles the current message unless it has to wait for its turn.  Returns 1 when it has
 * to wait, 0 when it is handled, or -errno.
 */
static int look_at(struct tap_merge *merge, struct stream *stream)
{
	const bt_message *message = stream->messages[stream->next];
	const bt_event *event;
	int ret = 0;

	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		event = bt_message_event_borrow_event_const(message);
		stream->class = tap_decoder_class(merge->decoder, event);
		if (!stream->class)
			return -ENOMEM;
		set_time(merge, stream,
			 tap_event_class_has_time(stream->class)
				 ? bt_message_event_borrow_default_clock_snapshot_const(
					   message)
				 : NULL);
		return 1;
	case BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY:
		stream->class = NULL;
		set_time(merge, stream, inactive_until(message));
		return 1;
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		ret = tap_decoder_add_stream(
			merge->decoder,
			bt_message_stream_beginning_borrow_stream_const(message));
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		ret = note_discarded_events(merge, message);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		ret = note_discarded_packets(merge, message);
		break;
	default:
		break;
	}
	return ret;
}

static void drop_message(struct stream *stream)
{
	bt_message_put_ref(stream->messages[stream->next++]);
}

enum { NOTHING, READY, AGAIN };

/*
 * Reads until the stream has a message that must wait for its turn.  Returns READY,
 * AGAIN, NOTHING when the stream has ended, or -errno.
 */
static int advance(struct tap_merge *merge, struct stream *stream)
{
	int ret;

	for (;;) {
		while (stream->next < stream->count) {
			ret = look_at(merge, stream);
			if (ret)
				return ret < 0 ? ret : READY;
			drop_message(stream);
		}
		stream->next = 0;
		stream->count = 0;
		switch (bt_message_iterator_next(stream->iterator, &stream->messages,
						 &stream->count)) {
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
			break;
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
			stream->count = 0;
			return AGAIN;
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
			stream->count = 0;
			return -ENOMEM;
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_ERROR:
			stream->count = 0;
			note_damage(merge);
			BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(stream->iterator);
			return NOTHING;
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
			stream->count = 0;
			BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(stream->iterator);
			return NOTHING;
		}
	}
}

static struct tap_heap_item item_of(struct stream *stream)
{
	struct tap_heap_item item = {.time_ns = stream->time_ns, .value = stream};

	/* At equal times, a description of a process comes before its other events. */
	item.order = stream->number;
	if (!stream->class || !tap_event_class_is_setup(stream->class))
		item.order |= UINT64_C(1) << 32;
	return item;
}

/* Reads every stream that has no message, as far as it has any. */
static int fill(struct tap_merge *merge)
{
	struct stream *stream, *next;
	struct tap_heap_item item;
	int ret = 0;

	for (stream = merge->waiting.first; stream; stream = next) {
		next = stream->waiting.after;
		ret = advance(merge, stream);
		if (ret != AGAIN)
			tap_list_remove(&merge->waiting, stream, waiting);
		if (ret == READY) {
			item = item_of(stream);
			ret = tap_heap_push(&merge->heap, &item);
		}
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int take(struct tap_merge *merge, struct stream *stream)
{
	int ret;

	merge->time_ns = stream->time_ns;
	if (!stream->class)
		return 0;
	merge->event_count++;
	ret = tap_decoder_event(merge->decoder, stream->class,
				bt_message_event_borrow_event_const(
					stream->messages[stream->next]),
				stream->time_ns, &merge->event);
	return ret ? ret : tap_join_event(merge->join, &merge->event);
}

int tap_merge_run(struct tap_merge *merge, unsigned int budget,
		  enum tap_merge_status *status)
{
	const struct tap_heap_item *first;
	struct tap_heap_item item;
	struct stream *stream;
	int ret;

	*status = TAP_MERGE_OK;
	if (merge->waiting.first) {
		ret = fill(merge);
		if (ret)
			return ret;
	}
	while (budget-- && !merge->waiting.first) {
		first = tap_heap_first(&merge->heap);
		if (!first) {
			*status = TAP_MERGE_END;
			return 0;
		}
		stream = first->value;
		ret = take(merge, stream);
		if (ret)
			return ret;
		drop_message(stream);
		ret = advance(merge, stream);
		if (ret < 0)
			return ret;
		if (ret == READY) {
			item = item_of(stream);
			tap_heap_replace_first(&merge->heap, &item);
			continue;
		}
		tap_heap_pop(&merge->heap);
		if (ret == AGAIN)
			tap_list_append(&merge->waiting, stream, waiting);
	}
	if (merge->waiting.first)
		*status = TAP_MERGE_AGAIN;
	return 0;
}
