/* SPDX-License-Identifier: MIT */
/* The receiver's parts say what the sender's must be. */
#include "join/nccl/net_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Magic number, what the socket is for, and which of its connection's it is. */
#define INDEX_OFFSET 12
#define HANDSHAKE_BYTES 13
#define HEADER_BYTES 4

/* NCCL has 8 messages of a connection under way; a clock that is wrong adds to them. */
#define PARTS_MAX 1024

/* So many are looked at for what waits behind empty messages. */
#define WAITING_MAX 256

/* ---- Parts ---- */

static void free_part(struct tap_call_stream *stream, struct tap_call_part *part)
{
	tap_list_remove(&stream->parts, part, link);
	stream->count--;
	free(part);
}

void tap_calls_free(struct tap_call_stream *stream)
{
	while (stream->parts.first)
		free_part(stream, stream->parts.first);
}

void tap_calls_give_up(struct tap_call_stream *stream)
{
	stream->is_odd = true;
	tap_calls_free(stream);
}

/* ---- Where parts lie ---- */

/* enum tap_net_part of the tracer, of what is not decoded. */
enum { PART_OTHER, PART_STACK = 6 };

/* The first part is a header; payload is no variable. */
static void note_frame(struct tap_call_stream *stream, const struct tap_call_part *part)
{
	if (part->offset == HANDSHAKE_BYTES)
		stream->has_frames = part->is_in_frame;
	else if (part->is_in_frame && part->size != HEADER_BYTES)
		stream->has_frames = false;
}

enum four { FOUR_UNKNOWN, FOUR_HEADER, FOUR_PAYLOAD };

/* What four bytes behind a header are, by where they and the header lie at both ends. */
static enum four find_four(const struct tap_calls_end *from,
			   const struct tap_calls_end *to)
{
	const struct tap_call_part *sent = from->control->parts.first;
	const struct tap_call_part *received = to->control->parts.first;
	const bool is_header = sent->link.after->is_in_frame;

	if (!from->control->has_frames || !to->control->has_frames ||
	    !sent->is_in_frame || !received->is_in_frame ||
	    received->link.after->is_in_frame != is_header)
		return FOUR_UNKNOWN;
	return is_header ? FOUR_HEADER : FOUR_PAYLOAD;
}

/* ---- What passes ---- */

static void take_handshake(struct tap_call_stream *stream, uint64_t asked, uint64_t bytes)
{
	if (stream->offset == INDEX_OFFSET && asked == 1)
		stream->is_greeting = true;
	else if (stream->offset + asked > INDEX_OFFSET)
		tap_calls_give_up(stream);
	stream->offset += bytes;
}

static bool is_whole(const struct tap_call_part *part)
{
	return part->passed == part->size;
}

static struct tap_call_part *begin_part(struct tap_call_stream *stream, uint64_t asked,
					const struct tap_event *event)
{
	struct tap_call_part *part = calloc(1, sizeof(*part));

	if (!part)
		return NULL;
	part->offset = stream->offset;
	part->size = asked;
	part->begin_ns = event->begin_ns ? event->begin_ns : event->time_ns;
	part->tid = event->tid;
	part->is_in_frame = tap_fields_number(&event->fields, "part") == PART_STACK;
	note_frame(stream, part);
	tap_list_append(&stream->parts, part, link);
	stream->count++;
	return part;
}

bool tap_calls_are(const struct tap_event *event)
{
	const uint64_t part = tap_fields_number(&event->fields, "part");

	return part == PART_OTHER || part == PART_STACK;
}

int tap_calls_take(struct tap_call_stream *stream, const struct tap_event *event)
{
	const uint64_t asked = tap_fields_number(&event->fields, "length");
	const uint64_t bytes = tap_fields_number(&event->fields, "bytes");
	struct tap_call_part *part = stream->parts.last;

	if (stream->is_odd)
		return 0;
	if (tap_fields_number(&event->fields, "offset") != stream->offset ||
	    stream->count > PARTS_MAX) {
		tap_calls_give_up(stream);
		return 0;
	}
	if (stream->offset < HANDSHAKE_BYTES) {
		take_handshake(stream, asked, bytes);
		return 0;
	}
	if (!part || is_whole(part))
		part = begin_part(stream, asked, event);
	if (!part)
		return -ENOMEM;
	if (asked != part->size - part->passed || bytes > asked) {
		tap_calls_give_up(stream);
		return 0;
	}
	part->passed += bytes;
	part->end_ns = event->time_ns;
	stream->offset += bytes;
	return 0;
}

/* ---- Messages ---- */

static struct tap_call_part *second(const struct tap_call_stream *stream)
{
	return stream->parts.first->link.after;
}

static bool is_odd(const struct tap_calls_end *end)
{
	size_t i;

	for (i = 0; i < end->task_count; i++)
		if (end->tasks[i]->is_odd)
			return true;
	return end->control->is_odd;
}

/* The message has its header, and on this socket so many bytes of payload. */
static void take_parts(struct tap_call_stream *stream, uint64_t size,
		       struct tap_calls_half *ret_half)
{
	uint64_t left = HEADER_BYTES + size;
	struct tap_call_part *part = stream->parts.first;

	*ret_half = (struct tap_calls_half){.begin_ns = part->begin_ns,
					    .tid = part->tid,
					    .parts = 1};
	while (left) {
		part = stream->parts.first;
		left -= part->size;
		ret_half->end_ns = part->end_ns;
		free_part(stream, part);
	}
}

static enum tap_calls_next end_message(const struct tap_calls_end *from,
				       const struct tap_calls_end *to, uint64_t size,
				       struct tap_calls_message *ret_message)
{
	ret_message->offset = from->control->parts.first->offset;
	ret_message->size = size;
	take_parts(from->control, size, &ret_message->send);
	take_parts(to->control, size, &ret_message->receive);
	return TAP_CALLS_MESSAGE;
}

/* Sent in one call; the receiver asks for it in two. */
static enum tap_calls_next take_beside(const struct tap_calls_end *from,
				       const struct tap_calls_end *to,
				       struct tap_calls_message *ret_message)
{
	const struct tap_call_part *sent = from->control->parts.first;
	const struct tap_call_part *payload = second(to->control);

	if (!payload)
		return TAP_CALLS_WAIT;
	if (payload->size != sent->size - HEADER_BYTES)
		return TAP_CALLS_UNKNOWN;
	if (!is_whole(payload) || !is_whole(sent))
		return TAP_CALLS_WAIT;
	ret_message->is_beside = payload->size >= HEADER_BYTES;
	return end_message(from, to, payload->size, ret_message);
}

/*
 * Whether what waits shows a short payload that was sent with its header: then the
 * receiver's parts are not the sender's.
 */
static bool is_beside_shown(const struct tap_calls_end *from,
			    const struct tap_calls_end *to)
{
	const struct tap_call_part *sent = from->control->parts.first;
	const struct tap_call_part *received = to->control->parts.first;

	while (sent && received) {
		if (sent->offset == received->offset &&
		    sent->size >= 2 * HEADER_BYTES && received->size == HEADER_BYTES)
			return true;
		if (sent->offset + sent->size < received->offset + received->size)
			sent = sent->link.after;
		else
			received = received->link.after;
	}
	return false;
}

/*
 * Whether a header at both ends is an empty message's, with another part of four bytes
 * behind it: a payload is never followed by another.  Four bytes once more may be
 * anything, until a short message shows where its payload goes.
 */
static enum tap_calls_next judge_four(const struct tap_calls_end *from,
				      const struct tap_calls_end *to, bool has_beside,
				      bool is_end)
{
	const struct tap_call_part *third = second(to->control)->link.after;

	if (has_beside || second(from->control)->size > HEADER_BYTES ||
	    find_four(from, to) == FOUR_HEADER)
		return TAP_CALLS_MESSAGE;
	if (!third)
		return TAP_CALLS_WAIT;
	if (third->size != HEADER_BYTES || is_beside_shown(from, to))
		return TAP_CALLS_MESSAGE;
	return is_end || from->control->count > WAITING_MAX ||
			       to->control->count > WAITING_MAX
		       ? TAP_CALLS_UNKNOWN
		       : TAP_CALLS_WAIT;
}

/* The sender has sent a header alone, on the only socket. */
static enum tap_calls_next take_behind(const struct tap_calls_end *from,
				       const struct tap_calls_end *to, bool has_beside,
				       bool is_end, struct tap_calls_message *ret_message)
{
	const struct tap_call_part *sent = second(from->control);
	const struct tap_call_part *received = second(to->control);
	enum tap_calls_next next;

	/* A payload is sent at once, or as soon as the receiver has made room. */
	if (is_end && !sent)
		return end_message(from, to, 0, ret_message);
	if (!sent || !received)
		return TAP_CALLS_WAIT;
	if (received->size != HEADER_BYTES ||
	    (!has_beside && find_four(from, to) == FOUR_PAYLOAD)) {
		if (sent->size != received->size)
			return TAP_CALLS_UNKNOWN;
		return is_whole(sent) && is_whole(received)
			       ? end_message(from, to, sent->size, ret_message)
			       : TAP_CALLS_WAIT;
	}
	if (sent->size < HEADER_BYTES)
		return TAP_CALLS_UNKNOWN;
	next = judge_four(from, to, has_beside, is_end);
	return next == TAP_CALLS_MESSAGE ? end_message(from, to, 0, ret_message) : next;
}

/* ---- Tasks ---- */

/*
 * NCCL goes on to the next message of a connection when the one before is done, so that
 * what began before its header is this message's.
 */
static bool has_begun_before(const struct tap_call_part *task,
			     const struct tap_call_part *next)
{
	return task && (!next || task->begin_ns < next->begin_ns);
}

/* The bytes of a message's tasks; returns false if one is not whole. */
static bool add_up(const struct tap_calls_end *end, uint64_t *ret_bytes)
{
	const struct tap_call_part *next = second(end->control), *task;
	size_t i;

	*ret_bytes = 0;
	for (i = 0; i < end->task_count; i++)
		for (task = end->tasks[i]->parts.first; has_begun_before(task, next);
		     task = task->link.after) {
			if (!is_whole(task))
				return false;
			*ret_bytes += task->size;
		}
	return true;
}

static void take_tasks(const struct tap_calls_end *end, const struct tap_call_part *next,
		       struct tap_calls_half *half)
{
	struct tap_call_part *task;
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < end->task_count; i++)
		while (has_begun_before(task = end->tasks[i]->parts.first, next)) {
			if (task->end_ns > half->end_ns)
				half->end_ns = task->end_ns;
			free_part(end->tasks[i], task);
			count++;
		}
	half->parts = count ? count : 1;
}

/* The sender has sent a header alone; payload may follow on other sockets. */
static enum tap_calls_next take_apart(const struct tap_calls_end *from,
				      const struct tap_calls_end *to, bool is_end,
				      struct tap_calls_message *ret_message)
{
	const struct tap_call_part *sent_next = second(from->control);
	const struct tap_call_part *received_next = second(to->control);
	uint64_t sent, received;

	if (!is_end && (!sent_next || !received_next))
		return TAP_CALLS_WAIT;
	if (!sent_next != !received_next || !add_up(from, &sent) ||
	    !add_up(to, &received) || sent != received)
		return is_end ? TAP_CALLS_WAIT : TAP_CALLS_UNKNOWN;
	end_message(from, to, 0, ret_message);
	ret_message->size = sent;
	take_tasks(from, sent_next, &ret_message->send);
	take_tasks(to, received_next, &ret_message->receive);
	return TAP_CALLS_MESSAGE;
}

enum tap_calls_next tap_calls_next(const struct tap_calls_end *from,
				   const struct tap_calls_end *to, bool has_beside,
				   bool is_end, struct tap_calls_message *ret_message)
{
	const struct tap_call_part *sent = from->control->parts.first;
	const struct tap_call_part *received = to->control->parts.first;

	*ret_message = (struct tap_calls_message){0};
	if (is_odd(from) || is_odd(to))
		return TAP_CALLS_UNKNOWN;
	if (!sent || !received || !is_whole(received))
		return TAP_CALLS_WAIT;
	if (sent->offset != received->offset || received->size != HEADER_BYTES ||
	    sent->size < HEADER_BYTES)
		return TAP_CALLS_UNKNOWN;
	if (sent->size > HEADER_BYTES)
		return take_beside(from, to, ret_message);
	if (!is_whole(sent))
		return TAP_CALLS_WAIT;
	if (from->task_count)
		return take_apart(from, to, is_end, ret_message);
	return take_behind(from, to, has_beside, is_end, ret_message);
}
