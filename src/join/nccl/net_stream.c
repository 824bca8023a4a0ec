/* SPDX-License-Identifier: MIT */
/* A message is made by its header, completed by what its socket says is left of it. */
#include "join/nccl/net_stream.h"

#include "join/model/work.h"
#include "join/nccl/net_calls.h"

#include <errno.h>
#include <stdlib.h>

/* The parts of a stream: enum tap_net_part of the tracer. */
enum {
	TAP_STREAM_HEADER = 2,
	TAP_STREAM_HEADER_BEGIN,
	TAP_STREAM_PAYLOAD,
	TAP_STREAM_TASK,
};

#define HEADER_BYTES 4

static uint64_t number_of(const struct tap_event *event, const char *name)
{
	return tap_fields_number(&event->fields, name);
}

/* ---- Both ends ---- */

static void drop(struct tap_streams *streams, struct tap_stream_message *message)
{
	struct tap_stream_end *end = message->end;

	tap_list_remove(&end->messages, message, link);
	streams->held--;
	if (message->span)
		tap_pairs_put(&streams->context->pairs, message->span);
	free(message);
}

static struct tap_stream_message *find(const struct tap_stream_end *end, uint64_t number)
{
	struct tap_stream_message *message = end->messages.first;

	while (message && message->number < number)
		message = message->link.after;
	return message && message->number == number ? message : NULL;
}

static void forget_tasks(struct tap_stream_end *end)
{
	struct tap_stream_task *task;
	unsigned int i;

	for (i = 0; i < end->turn_count; i++)
		for (task = end->turns[i] ? end->turns[i]->list.first : NULL; task;
		     task = task->link.after)
			task->message = NULL;
}

static void count_contradicted(struct tap_streams *streams)
{
	tap_count_unmatched(streams->context, TAP_MATCH_SOCKET_MESSAGE,
			    TAP_WHY_CONTRADICTED);
}

/*
 * The ends of a message differ, so one end has been misread, and where that began is not
 * known: no message of this end is believed that the other has not confirmed.
 */
static int doubt(struct tap_streams *streams, struct tap_stream_end *end)
{
	struct tap_stream_message *message;
	int ret = 0;

	end->is_contradicted = end->is_broken = true;
	forget_tasks(end);
	while (!ret && (message = end->messages.first)) {
		message->is_doubted = true;
		message->is_end_lost = !message->is_over;
		count_contradicted(streams);
		ret = tap_stream_span_end(streams, message, NULL);
		drop(streams, message);
	}
	return ret;
}

/* Compares a message with what the other end says of it, if that is there. */
static int compare(struct tap_streams *streams, const struct tap_stream_message *message)
{
	struct tap_stream_end *end = message->end, *peer;
	const struct tap_stream_message *other =
		end->peer ? find(end->peer, message->number) : NULL;
	int ret;

	if (!other || !other->has_size ||
	    (other->offset == message->offset && other->size == message->size))
		return 0;
	peer = other->end;
	ret = doubt(streams, end);
	return ret ? ret : doubt(streams, peer);
}

static int end_both(struct tap_streams *streams, struct tap_stream_message *sent,
		    struct tap_stream_message *received)
{
	int ret = tap_stream_span_end(streams, sent, received);

	if (!ret)
		ret = tap_stream_span_end(streams, received, sent);
	if (!ret)
		ret = tap_stream_span_link(streams, sent, received);
	drop(streams, sent);
	drop(streams, received);
	return ret;
}

/*
 * Counts a message that has one end: what the receiver has not come to, or not read to its
 * end, is under way, and counted once.
 */
static void count_alone(struct tap_streams *streams,
			const struct tap_stream_message *message, enum tap_why why)
{
	const struct tap_stream_end *peer = message->end->peer;
	const bool is_met = peer && peer->last_number >= message->number;
	const bool is_unread = message->end->is_sender && peer &&
			       peer->last_number <= message->number;

	if ((message->is_over && !is_unread) || message->is_end_lost)
		tap_count_unmatched(streams->context, TAP_MATCH_SOCKET_MESSAGE, why);
	else if (message->end->is_sender || !is_met)
		streams->context->matches[TAP_MATCH_SOCKET_MESSAGE].outstanding++;
}

static int end_alone(struct tap_streams *streams, struct tap_stream_message *message,
		     enum tap_why why)
{
	const struct tap_stream_end *end = message->end;
	int ret = tap_stream_span_end(streams, message, NULL);

	if (!ret && message->is_over && !end->peer && end->listener)
		ret = tap_stream_span_half(streams, message);
	count_alone(streams, message, why);
	drop(streams, message);
	return ret;
}

/* A message is over: links it if its other end is. */
static int settle(struct tap_streams *streams, struct tap_stream_message *message)
{
	const struct tap_stream_end *peer = message->end->peer;
	struct tap_stream_message *other = peer ? find(peer, message->number) : NULL;

	if (other && other->is_over)
		return message->end->is_sender ? end_both(streams, message, other)
					       : end_both(streams, other, message);
	/* As many wait as messages of other networks. */
	if (streams->held > streams->context->bounds.held_operations)
		return end_alone(streams, message, TAP_WHY_GIVEN_UP);
	return 0;
}

static int complete(struct tap_streams *streams, struct tap_stream_message *message,
		    int64_t time_ns)
{
	message->is_over = true;
	message->end_ns = time_ns;
	message->end->whole++;
	return settle(streams, message);
}

/* ---- Headers and payload ---- */

/* The messages before one with a header have ended: events of theirs are missing. */
static int end_earlier(struct tap_streams *streams, struct tap_stream_end *end)
{
	struct tap_stream_message *message = end->messages.last;

	if (!message || message->is_over || message->has_tasks)
		return 0;
	message->is_end_lost = true;
	return end_alone(streams, message, TAP_WHY_POST_LOST);
}

static int begin(struct tap_streams *streams, struct tap_stream_end *end,
		 const struct tap_event *event, uint64_t number,
		 struct tap_stream_message **ret_message)
{
	struct tap_stream_message *message;
	int ret = end_earlier(streams, end);

	if (ret)
		return ret;
	message = calloc(1, sizeof(*message));
	if (!message)
		return -ENOMEM;
	/* A missing one may have taken turns. */
	if (number != end->last_number + 1)
		end->is_broken = true;
	end->last_number = number;
	message->end = end;
	message->number = number;
	message->offset = number_of(event, "offset");
	message->begin_ns = event->begin_ns ? event->begin_ns : event->time_ns;
	tap_list_append(&end->messages, message, link);
	streams->held++;
	*ret_message = message;
	return tap_stream_span_begin(streams, message, event->tid);
}

/* Whether the call asked for payload behind the header. */
static bool has_payload_beside(const struct tap_stream_message *message,
			       const struct tap_event *event)
{
	const uint64_t missing =
		HEADER_BYTES - (number_of(event, "offset") - message->offset);

	return number_of(event, "length") > missing;
}

static int assign_tasks(struct tap_streams *streams, struct tap_stream_end *end);

static int take_header(struct tap_streams *streams, struct tap_stream_end *end,
		       const struct tap_event *event, bool is_whole)
{
	const uint64_t number = number_of(event, "message");
	struct tap_stream_message *message = end->messages.last;
	int ret = 0;

	if (!message || message->number != number)
		ret = begin(streams, end, event, number, &message);
	if (ret || !is_whole)
		return ret;
	message->has_size = true;
	message->size = number_of(event, "size");
	ret = compare(streams, message);
	if (ret || end->is_contradicted || number_of(event, "left"))
		return ret;
	if (!message->size || has_payload_beside(message, event))
		return complete(streams, message, event->time_ns);
	message->has_tasks = true;
	return assign_tasks(streams, end);
}

static int take_payload(struct tap_streams *streams, struct tap_stream_end *end,
			const struct tap_event *event)
{
	struct tap_stream_message *message = find(end, number_of(event, "message"));

	if (!message || message->is_over || !message->has_size)
		return 0;
	/* A receiver asks for a short payload after the header. */
	message->has_tasks = false;
	return number_of(event, "left") ? 0 : complete(streams, message, event->time_ns);
}

/* ---- Tasks ---- */

static struct tap_stream_task *next_task(const struct tap_stream_tasks *tasks)
{
	struct tap_stream_task *task = tasks->list.first;

	while (task && task->message)
		task = task->link.after;
	return task;
}

static void free_task(struct tap_stream_tasks *tasks, struct tap_stream_task *task)
{
	tap_list_remove(&tasks->list, task, link);
	free(task);
}

static int end_task(struct tap_streams *streams, struct tap_stream_tasks *tasks,
		    struct tap_stream_task *task, int64_t time_ns)
{
	struct tap_stream_message *message = task->message;

	if (!task->is_over || !message)
		return 0;
	free_task(tasks, task);
	if (++message->tasks_over < message->tasks || message->taken < message->size)
		return 0;
	return complete(streams, message, time_ns);
}

/* The first message that lacks tasks takes one from each socket in turn. */
static int assign_one(struct tap_streams *streams, struct tap_stream_end *end,
		      struct tap_stream_message *message, bool *ret_is_taken)
{
	struct tap_stream_tasks *tasks = end->turns[end->next_turn];
	struct tap_stream_task *task = tasks ? next_task(tasks) : NULL;

	*ret_is_taken = task;
	if (!task)
		return 0;
	if (message->taken + task->size > message->size) {
		end->is_broken = true;
		*ret_is_taken = false;
		return 0;
	}
	task->message = message;
	message->taken += task->size;
	message->tasks++;
	end->next_turn = (end->next_turn + 1) % end->turn_count;
	return task->is_over ? end_task(streams, tasks, task, message->end_ns) : 0;
}

static struct tap_stream_message *lacks_tasks(const struct tap_stream_end *end)
{
	struct tap_stream_message *message = end->messages.first;

	while (message && !(message->has_tasks && message->taken < message->size))
		message = message->link.after;
	return message;
}

static int assign_tasks(struct tap_streams *streams, struct tap_stream_end *end)
{
	struct tap_stream_message *message;
	bool is_taken = true;
	int ret = 0;

	while (!ret && is_taken && end->turn_count && !end->is_broken &&
	       (message = lacks_tasks(end)))
		ret = assign_one(streams, end, message, &is_taken);
	return ret;
}

static int take_task(struct tap_streams *streams, struct tap_stream_end *end,
		     struct tap_stream_tasks *tasks, const struct tap_event *event)
{
	const uint64_t number = number_of(event, "message");
	struct tap_stream_task *task = tasks->list.last;
	int ret = 0;

	if (end->is_broken)
		return 0;
	if (number != tasks->last_number) {
		/* A missing one may be any message's. */
		if (number != tasks->last_number + 1) {
			end->is_broken = true;
			return 0;
		}
		task = calloc(1, sizeof(*task));
		if (!task)
			return -ENOMEM;
		tasks->last_number = number;
		task->number = number;
		task->size = number_of(event, "size");
		tap_list_append(&tasks->list, task, link);
		ret = assign_tasks(streams, end);
	}
	if (ret || !task || number_of(event, "left"))
		return ret;
	task->is_over = true;
	if (task->message)
		task->message->end_ns = event->time_ns;
	return end_task(streams, tasks, task, event->time_ns);
}

int tap_streams_take(struct tap_streams *streams, struct tap_stream_end *end,
		     struct tap_stream_tasks *tasks, const struct tap_event *event)
{
	const uint64_t part = number_of(event, "part");

	if (end->is_contradicted) {
		if (part == TAP_STREAM_HEADER)
			count_contradicted(streams);
		return 0;
	}
	switch (part) {
	case TAP_STREAM_HEADER:
		return take_header(streams, end, event, true);
	case TAP_STREAM_HEADER_BEGIN:
		return take_header(streams, end, event, false);
	case TAP_STREAM_PAYLOAD:
		return take_payload(streams, end, event);
	case TAP_STREAM_TASK:
		return take_task(streams, end, tasks, event);
	default:
		return 0;
	}
}

/* ---- What is inferred ---- */

static struct tap_stream_message make_inferred(struct tap_stream_end *end,
					       const struct tap_calls_message *passed,
					       const struct tap_calls_half *half)
{
	return (struct tap_stream_message){.end = end,
					   .number = ++end->whole,
					   .offset = passed->offset,
					   .size = passed->size,
					   .is_inferred = true,
					   .has_size = true,
					   .tasks = half->parts,
					   .is_over = true,
					   .begin_ns = half->begin_ns,
					   .end_ns = half->end_ns};
}

int tap_streams_pass(struct tap_streams *streams, struct tap_stream_end *from,
		     struct tap_stream_end *to, const struct tap_calls_message *passed)
{
	struct tap_stream_message sent = make_inferred(from, passed, &passed->send);
	struct tap_stream_message received = make_inferred(to, passed, &passed->receive);
	int ret = tap_stream_span_begin(streams, &sent, passed->send.tid);

	if (!ret)
		ret = tap_stream_span_begin(streams, &received, passed->receive.tid);
	if (!ret)
		ret = tap_stream_span_end(streams, &sent, &received);
	if (!ret)
		ret = tap_stream_span_end(streams, &received, &sent);
	if (!ret)
		ret = tap_stream_span_link(streams, &sent, &received);
	if (sent.span)
		tap_pairs_put(&streams->context->pairs, sent.span);
	if (received.span)
		tap_pairs_put(&streams->context->pairs, received.span);
	return ret;
}

/* ---- The end ---- */

int tap_streams_finish(struct tap_streams *streams, struct tap_stream_end *end)
{
	const enum tap_why why = end->peer ? TAP_WHY_PEER_MISSING : TAP_WHY_PEER_UNKNOWN;
	int ret = 0;

	while (!ret && end->messages.first)
		ret = end_alone(streams, end->messages.first,
				end->is_broken && end->messages.first->has_tasks
					? TAP_WHY_POST_LOST
					: why);
	return ret;
}

void tap_streams_free(struct tap_streams *streams, struct tap_stream_end *end)
{
	while (end->messages.first)
		drop(streams, end->messages.first);
}

void tap_stream_tasks_free(struct tap_stream_tasks *tasks)
{
	while (tasks->list.first)
		free_task(tasks, tasks->list.first);
}
