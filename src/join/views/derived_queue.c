/* SPDX-License-Identifier: MIT */
/* A heap of events; what the first one lacks decides whether the others wait, too. */
#include "join/views/derived_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "join/base/chain.h"
#include "join/views/view.h"

/*
 * The most events that wait for earlier work on a GPU; beyond them such work is drawn too
 * late.
 */
#define HORIZON_MAX 262144

/* The most that wait for the kernels of messages; and for all else. */
#define KERNELS_MAX 65536
#define NAMES_MAX 4096

/* ---- Spans ---- */

struct tap_shown *tap_mark_queue_open(struct tap_mark_queue *queue, struct tap_span *span)
{
	const struct tap_known_id id =
		tap_known_span(span->process, &span->work, span->call_id);
	struct tap_shown *shown = calloc(1, sizeof(*shown));

	if (!shown || tap_chain_push(&queue->by_id, id.process, id.number, shown, next)) {
		free(shown);
		return NULL;
	}
	shown->references = 1;
	shown->span = tap_span_get(span);
	return shown;
}

struct tap_shown *tap_mark_queue_find(const struct tap_mark_queue *queue,
				      const struct tap_process *process,
				      const struct tap_work *work, uint64_t call_id)
{
	const struct tap_known_id id = tap_known_span(process, work, call_id);

	return tap_table_find(&queue->by_id, id.process, id.number);
}

struct tap_shown *tap_mark_queue_of(const struct tap_mark_queue *queue,
				    const struct tap_span *span)
{
	struct tap_shown *shown =
		tap_mark_queue_find(queue, span->process, &span->work, span->call_id);

	while (shown && shown->span != span)
		shown = shown->next;
	return shown;
}

void tap_mark_queue_close(struct tap_mark_queue *queue, struct tap_shown *shown)
{
	const struct tap_span *span = shown->span;
	struct tap_shown *message;
	struct tap_known_id id;

	while (shown && !--shown->references) {
		span = shown->span;
		message = shown->message;
		id = tap_known_span(span->process, &span->work, span->call_id);
		tap_chain_remove(&queue->by_id, id.process, id.number, shown, next);
		tap_span_put(shown->span);
		free(shown);
		shown = message;
	}
}

void tap_mark_queue_set_message(struct tap_mark_queue *queue, struct tap_shown *shown,
				struct tap_shown *message)
{
	struct tap_shown *before = shown->message;

	/* A message is a part of nothing, so that none is a part of itself. */
	if (shown == message || message->message)
		return;
	message->references++;
	shown->message = message;
	if (before)
		tap_mark_queue_close(queue, before);
}

/* ---- Writing ---- */

static const struct tap_subject *subject_of(const struct tap_shown *shown)
{
	return shown->message ? &shown->message->subject : &shown->subject;
}

static int64_t bytes_of(const struct tap_span *span)
{
	const bool is_message = tap_work_is_message(&span->work);
	uint64_t bytes;

	/* Of a receive it is only its room that is known. */
	if (span->work.kind == TAP_WORK_RECEIVE)
		return -1;
	/* A message's are known when it is over; NVTX and copies say bytes, not elements.
	 */
	if ((is_message && !tap_fields_get_unsigned(&span->exit, "bytes", &bytes)) ||
	    ((span->work.kind || span->is_from_nvtx) &&
	     !tap_fields_get_unsigned(&span->entry, "bytes", &bytes)))
		return bytes <= INT64_MAX ? (int64_t) bytes : -1;
	return tap_operation_bytes(&span->operation);
}

/* What of it counts as open; a message and the requests that carry it count once. */
static int64_t counted_bytes(const struct tap_span *span, int64_t bytes)
{
	const char *transport = tap_fields_get_string(&span->entry, "transport");

	if (bytes <= 0 || tap_work_is_known_late(&span->work))
		return 0;
	if (tap_work_is_message(&span->work) &&
	    (span->work.kind != TAP_WORK_NET_SEND || !transport ||
	     strcmp(transport, "socket") != 0))
		return 0;
	return bytes;
}

static void count(int64_t *sum, int64_t bytes)
{
	if (__builtin_add_overflow(*sum, bytes, sum))
		*sum = bytes < 0 ? INT64_MIN : INT64_MAX;
}

static void set_peer(struct tap_mark *mark, struct tap_places *places)
{
	const struct tap_subject *subject = mark->subject;
	uint64_t peer;

	mark->peer = mark->span->operation.peer;
	if (!mark->span->work.kind || tap_work_is_run(&mark->span->work))
		return;
	if (subject->has_peer_rank)
		mark->peer = subject->peer_rank;
	else if (!tap_fields_get_unsigned(&mark->span->entry, "peer_rank", &peer))
		mark->peer = (int64_t) peer;
	else if (subject->peer)
		mark->peer = tap_places_rank(places, subject->peer);
}

/* Adds what is known of a span by now.  Returns 0 or -ENOMEM. */
static int set_span(struct tap_mark *mark, const struct tap_mark_queue *queue,
		    struct tap_shown *shown)
{
	struct tap_shown_process *process =
		tap_places_process(queue->places, mark->process);
	struct tap_shown_row *row = tap_places_row(queue->places, shown->span);
	const bool is_begin =
		mark->kind == TAP_MARK_BEGIN || mark->kind == TAP_MARK_WIRE_BEGIN;
	int64_t *sum;

	if (!process || !row)
		return -ENOMEM;
	mark->span = shown->span;
	mark->subject = subject_of(shown);
	mark->row = tap_shown_row_text(row);
	mark->bytes = bytes_of(mark->span);
	set_peer(mark, queue->places);
	sum = tap_work_is_request(&mark->span->work) ||
			      tap_work_is_message(&mark->span->work)
		      ? &process->in_flight
		      : &process->bytes;
	if (is_begin) {
		shown->bytes = counted_bytes(mark->span, mark->bytes);
		count(sum, shown->bytes);
		tap_shown_row_count(row, 1);
	} else if (mark->state != TAP_SPAN_BEGIN_LOST) {
		count(sum, -shown->bytes);
		tap_shown_row_count(row, -1);
	}
	mark->open_bytes = *sum;
	mark->shade = tap_shown_row_shade(row);
	return 0;
}

static void free_waiting(struct tap_mark_queue *queue, struct tap_waiting *waiting)
{
	if (waiting->shown)
		tap_mark_queue_close(queue, waiting->shown);
	free(waiting->link);
	free(waiting);
}

static int write_first(struct tap_mark_queue *queue)
{
	const struct tap_heap_item *item = tap_heap_first(&queue->heap);
	struct tap_waiting *waiting = item->value;
	struct tap_mark mark = {.kind = waiting->kind,
				.time_ns = item->time_ns,
				.process = waiting->process,
				.state = waiting->state,
				.is_end_bound = waiting->is_end_bound,
				.link = waiting->link};
	int ret = 0;

	tap_heap_pop(&queue->heap);
	/* What came too late, and a damaged trace, which may go back in time. */
	if (queue->has_last && mark.time_ns < queue->last_ns)
		mark.time_ns = queue->last_ns;
	queue->last_ns = mark.time_ns;
	queue->has_last = true;
	mark.who = tap_places_who(queue->places, waiting->process);
	mark.rank = tap_places_rank(queue->places, waiting->process);
	if (!mark.who)
		ret = -ENOMEM;
	if (!ret && waiting->shown)
		ret = set_span(&mark, queue, waiting->shown);
	if (!ret)
		ret = queue->taker->mark(queue->taker->data, &mark);
	free_waiting(queue, waiting);
	return ret;
}

/* How many events may wait for what this one lacks; 0: it lacks nothing. */
static size_t patience(const struct tap_mark_queue *queue,
		       const struct tap_waiting *waiting)
{
	const struct tap_shown *shown = waiting->shown;
	const struct tap_shown_process *process =
		tap_places_process(queue->places, waiting->process);

	if (waiting->kind == TAP_MARK_WIRE_BEGIN &&
	    !(shown->message ? shown->message : shown)->is_settled)
		return queue->has_kernels ? KERNELS_MAX : NAMES_MAX;
	if (process && !process->who &&
	    tap_places_rank(queue->places, waiting->process) < 0)
		return NAMES_MAX;
	return 0;
}

int tap_mark_queue_add(struct tap_mark_queue *queue, const struct tap_waiting *waiting,
		       int64_t time_ns, int64_t horizon_ns)
{
	struct tap_waiting *copy = malloc(sizeof(*copy));
	const struct tap_heap_item item = {.time_ns = time_ns,
					   .order = queue->count++,
					   .value = copy};
	int ret = 0;

	if (!copy || tap_heap_push(&queue->heap, &item)) {
		free(copy);
		free(waiting->link);
		return -ENOMEM;
	}
	*copy = *waiting;
	if (copy->shown)
		copy->shown->references++;
	while (!ret && queue->heap.count) {
		const struct tap_heap_item *first = tap_heap_first(&queue->heap);
		const size_t limit = first->time_ns > horizon_ns
					     ? HORIZON_MAX
					     : patience(queue, first->value);

		if (queue->heap.count <= limit)
			break;
		ret = write_first(queue);
	}
	return ret;
}

int tap_mark_queue_finish(struct tap_mark_queue *queue)
{
	int ret = 0;

	while (!ret && queue->heap.count)
		ret = write_first(queue);
	return ret;
}

void tap_mark_queue_free(struct tap_mark_queue *queue)
{
	size_t i;

	for (; queue->heap.count; tap_heap_pop(&queue->heap))
		free_waiting(queue, tap_heap_first(&queue->heap)->value);
	tap_heap_free(&queue->heap);
	/* Spans that never ended: the reading failed. */
	for (i = 0; i < queue->by_id.size; i++) {
		struct tap_shown *shown = queue->by_id.slots[i].value, *next;

		for (; shown; shown = next) {
			next = shown->next;
			tap_span_put(shown->span);
			free(shown);
		}
	}
	tap_table_free(&queue->by_id);
}
