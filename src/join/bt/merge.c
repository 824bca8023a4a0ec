/* SPDX-License-Identifier: MIT */
/*
 * The traces of several hosts are read twice: how their clocks convert is known only
 * after the last message, and the first event that is shown needs it.  Where the clocks
 * disagree much, they are read once more before that, but to their end only if their
 * beginning did not show by how much.
 *
 * Only events, and messages that a stream has none yet, are ordered by time.  All other
 * messages are handled as soon as they are read: they concern the stream, not a moment.
 */
#include "join/bt/merge.h"

#include "join/base/heap.h"
#include "join/bt/first.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/list.h"
#include "common/vec.h"

/*
 * Where clocks disagree much, so many events mostly show by how much; the readings after
 * that know it.
 */
#define LOOK_EVENTS 65536
#define LOOKS_MAX 4

struct stream {
	bt_message_iterator *iterator;
	bt_message_array_const messages;
	uint64_t count;
	uint64_t next;		       /* the first message that is not handled */
	struct tap_trace *trace;       /* NULL: the stream has not begun */
	int64_t time_ns;	       /* of that message */
	int64_t own_ns;		       /* the same, on the host's own clock */
	struct tap_event_class *class; /* of that message, NULL: no event */
	unsigned int number;
	TAP_LIST_LINK(struct stream) waiting;
};

struct tap_merge {
	struct tap_decoder *decoder; /* of the reading that goes on */
	struct tap_join *join;	     /* likewise */
	struct tap_decoder *last_decoder;
	struct tap_join *last_join;
	struct tap_first first;
	bool has_begun; /* it is known how often the traces are read */
	bool is_look;	/* this reading goes on until it is known where the hosts are */
	unsigned int looks; /* that were taken */
	uint64_t look_at;   /* events before the next one, 0: none comes */
	TAP_VEC(struct stream *) streams;
	TAP_LIST(struct stream) waiting; /* for a message, in order of numbers */
	struct tap_heap heap; /* streams with a message that waits for its turn */
	struct tap_event event;
	int64_t time_ns; /* of the latest event */
	uint64_t event_count;
	uint64_t reading_events;  /* of the reading that goes on */
	uint64_t damaged_streams; /* that were found here */
};

struct tap_merge *tap_merge_create(struct tap_decoder *decoder, struct tap_join *join)
{
	struct tap_merge *merge = calloc(1, sizeof(*merge));

	if (!merge)
		return NULL;
	merge->decoder = merge->last_decoder = decoder;
	merge->join = merge->last_join = join;
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
	tap_first_free(&merge->first);
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
	merge->damaged_streams++;
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
	if (!snapshot)
		return;
	if (bt_clock_snapshot_get_ns_from_origin(snapshot, &stream->own_ns)) {
		bt_current_thread_clear_error();
		return;
	}
	stream->time_ns =
		stream->trace ? tap_clock_convert(stream->trace->clock, stream->own_ns)
			      : stream->own_ns;
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
		stream->trace = tap_decoder_add_stream(
			merge->decoder,
			bt_message_stream_beginning_borrow_stream_const(message));
		ret = stream->trace ? 0 : -ENOMEM;
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

/* Lets go of what reads the stream, unless it has to be read once more. */
static void end_stream(const struct tap_merge *merge, struct stream *stream)
{
	stream->count = 0;
	if (!merge->has_begun || merge->join != merge->last_join)
		return;
	BT_MESSAGE_ITERATOR_PUT_REF_AND_RESET(stream->iterator);
	/*
	 * babeltrace2's reader of CTF keeps the error that comes after messages for the
	 * next call, and leaves it to the thread when there is none; nothing may be made
	 * then.
	 */
	bt_current_thread_clear_error();
}

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
			note_damage(merge);
			end_stream(merge, stream);
			return NOTHING;
		case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
			end_stream(merge, stream);
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

static int see(struct tap_merge *merge, const struct stream *stream)
{
	return stream->trace && stream->next < stream->count
		       ? tap_first_see(&merge->first, stream->trace->clock,
				       stream->own_ns)
		       : 0;
}

static int take(struct tap_merge *merge, struct stream *stream)
{
	int ret;

	merge->time_ns = stream->time_ns;
	if (!stream->class)
		return 0;
	merge->event_count++;
	merge->reading_events++;
	if (merge->join != merge->last_join && see(merge, stream))
		return -ENOMEM;
	ret = tap_decoder_event(merge->decoder, stream->class,
				bt_message_event_borrow_event_const(
					stream->messages[stream->next]),
				stream->time_ns, &merge->event);
	return ret ? ret : tap_join_event(merge->join, &merge->event);
}

/* ---- Several readings ---- */

static bool can_rewind(const struct tap_merge *merge)
{
	bt_bool can = BT_TRUE;
	size_t i;

	for (i = 0; can && i < merge->streams.count; i++)
		if (bt_message_iterator_can_seek_beginning(
			    merge->streams.items[i]->iterator, &can)) {
			bt_current_thread_clear_error();
			can = BT_FALSE;
		}
	return can;
}

/* Forgets what is missing from streams that are read once more. */
static void forget_loss(struct tap_merge *merge)
{
	tap_loss_forget_streams(tap_join_loss(merge->join), merge->damaged_streams);
	merge->damaged_streams = 0;
}

/* Starts all streams anew, and reads each up to its first event.  Returns 0 or -errno. */
static int rewind_all(struct tap_merge *merge)
{
	size_t i;

	while (tap_heap_first(&merge->heap))
		tap_heap_pop(&merge->heap);
	merge->time_ns = 0;
	for (i = 0; i < merge->streams.count; i++) {
		struct stream *stream = merge->streams.items[i];

		drop_messages(stream);
		stream->next = stream->count = 0;
		stream->trace = NULL;
		if (bt_message_iterator_seek_beginning(stream->iterator)) {
			note_damage(merge);
			end_stream(merge, stream);
			continue;
		}
		tap_list_append(&merge->waiting, stream, waiting);
	}
	return fill(merge);
}

/* Orders what waits, for whose times a conversion has become known. */
static int order_again(struct tap_merge *merge)
{
	struct tap_heap_item item;
	size_t i;
	int ret = 0;

	while (tap_heap_first(&merge->heap))
		tap_heap_pop(&merge->heap);
	for (i = 0; !ret && i < merge->streams.count; i++) {
		struct stream *stream = merge->streams.items[i];

		if (stream->next == stream->count)
			continue;
		stream->time_ns =
			tap_clock_convert(stream->trace ? stream->trace->clock : NULL,
					  stream->own_ns);
		item = item_of(stream);
		ret = tap_heap_push(&merge->heap, &item);
	}
	return ret;
}

/* What a reading for the clocks begins with. */
enum start {
	START_AS_SHOWN,	  /* the times that hosts show */
	START_TOGETHER,	  /* all hosts begin at one time, to see where they really do */
	START_FROM_GUESS, /* where hosts are by the beginning of the traces */
	START_FROM_SOLUTION, /* where they are by all of it */
};

/* Reads all streams anew for the clocks alone. */
static int begin_first(struct tap_merge *merge, enum start start)
{
	const bool is_known = start == START_FROM_GUESS || start == START_FROM_SOLUTION;
	size_t i;
	int ret = tap_first_begin(&merge->first, merge->last_join);

	if (ret)
		return ret;
	merge->join = merge->first.join;
	merge->decoder = merge->first.decoder;
	merge->first.is_guess = start == START_FROM_GUESS;
	merge->is_look = start == START_TOGETHER;
	merge->reading_events = 0;
	ret = rewind_all(merge);
	if (!ret && is_known)
		ret = tap_first_know(&merge->first, merge->last_join);
	for (i = 0; !ret && i < merge->streams.count; i++)
		ret = see(merge, merge->streams.items[i]);
	if (ret)
		return ret;
	if (start == START_AS_SHOWN)
		tap_first_align(&merge->first);
	else if (start == START_TOGETHER)
		tap_first_align_all(&merge->first);
	return order_again(merge);
}

static int begin_again(struct tap_merge *merge, enum start start)
{
	tap_first_free(&merge->first);
	return begin_first(merge, start);
}

/*
 * Begins anew if what was read shows that hosts are not where they seem to be.  Where it
 * does not show where they are, as when one host's clock is ahead of all that was read,
 * the beginnings of all hosts are read together.
 */
static int look(struct tap_merge *merge)
{
	enum tap_first_look look;
	int ret = tap_first_look(&merge->first, merge->last_join, &look);

	merge->look_at = 0;
	merge->looks++;
	if (ret)
		return ret;
	if (look == TAP_FIRST_OFF || (look == TAP_FIRST_NEAR && merge->is_look))
		return begin_again(merge, START_FROM_GUESS);
	if (look == TAP_FIRST_NEAR)
		return 0;
	if (merge->looks > LOOKS_MAX)
		return begin_again(merge, START_AS_SHOWN);
	merge->look_at = LOOK_EVENTS;
	if (!merge->is_look)
		return begin_again(merge, START_TOGETHER);
	merge->look_at += merge->reading_events;
	return 0;
}

/*
 * All streams have their first event, or none: if they are of several hosts, and can be
 * read more than once, a first reading begins.
 */
static int begin(struct tap_merge *merge)
{
	merge->has_begun = true;
	if (tap_join_clocks(merge->join)->count < 2 || !can_rewind(merge))
		return 0;
	forget_loss(merge);
	merge->look_at = LOOK_EVENTS;
	return begin_first(merge, START_AS_SHOWN);
}

/* A reading for the clocks is over: the last one begins, or another of these. */
static int go_on(struct tap_merge *merge)
{
	bool is_off;
	int ret;

	merge->look_at = 0;
	/* All was read while looking for where hosts are: nothing more shows it. */
	if (merge->is_look)
		return begin_again(merge, START_AS_SHOWN);
	ret = tap_first_finish(&merge->first, merge->last_join, &is_off);
	tap_first_free(&merge->first);
	merge->join = merge->last_join;
	merge->decoder = merge->last_decoder;
	if (ret)
		return ret;
	return is_off ? begin_first(merge, START_FROM_SOLUTION) : rewind_all(merge);
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
	if (!merge->has_begun && !merge->waiting.first) {
		ret = begin(merge);
		if (ret)
			return ret;
	}
	while (budget-- && !merge->waiting.first) {
		if (merge->look_at && merge->reading_events >= merge->look_at) {
			ret = look(merge);
			if (ret)
				return ret;
			continue;
		}
		first = tap_heap_first(&merge->heap);
		if (!first && merge->join != merge->last_join)
			return go_on(merge);
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
