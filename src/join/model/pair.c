/* SPDX-License-Identifier: MIT */
/*
 * Entries are matched with exits by (process, call); the order of call numbers shows what
 * became of calls with a missing event.
 *
 * Call numbers increase within a process.  So, when an event of a thread names P as the
 * enclosing call, every open call of that thread with a number above P has returned,
 * whether its exit is in the trace or not.  This does not apply to ranges of the program,
 * which need not nest, and end in any thread.
 */
#include "join/model/pair.h"

#include "join/model/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* So many threads without open calls are kept: most will have the next one. */
#define THREADS_KEPT 4096

/* A thread with open calls, or that had some. */
struct tap_thread {
	uint64_t process; /* number */
	int64_t tid;
	TAP_LIST(struct tap_span) nest; /* of open calls, the innermost last */
	struct tap_thread *next;	/* next unused thread */
};

static void free_span(struct tap_span *span)
{
	tap_fields_free(&span->entry);
	tap_fields_free(&span->exit);
	free(span);
}

void tap_pairs_put(struct tap_pairs *pairs, struct tap_span *span)
{
	if (--span->references)
		return;
	span->open.after = pairs->unused;
	pairs->unused = span;
}

void tap_span_put(struct tap_span *span)
{
	tap_pairs_put(span->pairs, span);
}

struct tap_span *tap_pairs_make(struct tap_pairs *pairs,
				const struct tap_process *process,
				const struct tap_name *name, int64_t tid)
{
	struct tap_span *span = pairs->unused;
	struct tap_fields entry, exit;

	if (span) {
		pairs->unused = span->open.after;
		entry = span->entry;
		exit = span->exit;
		memset(span, 0, sizeof(*span));
		span->entry = entry;
		span->exit = exit;
		tap_fields_clear(&span->entry);
		tap_fields_clear(&span->exit);
	} else {
		span = calloc(1, sizeof(*span));
		if (!span)
			return NULL;
	}
	span->references = 1;
	span->pairs = pairs;
	span->process = process;
	span->name = name;
	span->tid = tid;
	return span;
}

/* Makes the span of a call. */
static struct tap_span *make_span(struct tap_pairs *pairs,
				  const struct tap_process *process,
				  const struct tap_event *event)
{
	struct tap_span *span = tap_pairs_make(pairs, process, event->name, event->tid);

	if (span)
		span->call_id = event->call_id;
	return span;
}

static int give(struct tap_pairs *pairs, struct tap_span *span)
{
	int ret = pairs->ended(pairs->data, span);

	tap_pairs_put(pairs, span);
	return ret;
}

/* ---- Open calls ---- */

static int push(struct tap_pairs *pairs, struct tap_span *span)
{
	struct tap_thread *thread;

	if (span->tid < 0)
		return 0;
	thread = tap_table_find(&pairs->threads, span->process->number,
				(uint64_t) span->tid);
	if (!thread) {
		thread = pairs->free_threads;
		if (thread)
			pairs->free_threads = thread->next;
		else
			thread = malloc(sizeof(*thread));
		if (!thread)
			return -ENOMEM;
		thread->process = span->process->number;
		thread->tid = span->tid;
		thread->nest.first = thread->nest.last = NULL;
		if (tap_table_set(&pairs->threads, thread->process,
				  (uint64_t) thread->tid, thread)) {
			free(thread);
			return -ENOMEM;
		}
	}
	span->thread = thread;
	tap_list_append(&thread->nest, span, nest);
	return 0;
}

static void leave_thread(struct tap_pairs *pairs, struct tap_span *span)
{
	struct tap_thread *thread = span->thread;

	if (!thread)
		return;
	tap_list_remove(&thread->nest, span, nest);
	span->thread = NULL;
	if (thread->nest.first || pairs->threads.count <= THREADS_KEPT)
		return;
	tap_table_remove(&pairs->threads, thread->process, (uint64_t) thread->tid);
	thread->next = pairs->free_threads;
	pairs->free_threads = thread;
}

/* The result is asked for by many. */
static void note_result(struct tap_span *span)
{
	span->result = tap_span_find_result(span);
	span->is_result_known = true;
}

/* Ends a call in this state and gives its span to the consumer. */
static int end(struct tap_pairs *pairs, struct tap_span *span, enum tap_span_state state)
{
	/* A library may be described after the first calls from it. */
	if (span->caller_number && !span->caller)
		span->caller = tap_process_library(span->process, span->caller_number);
	if (span->stack_id && !span->stack)
		span->stack = tap_process_stack(span->process, span->stack_id);
	leave_thread(pairs, span);
	tap_table_remove(&pairs->open, span->process->number, span->call_id);
	tap_list_remove(&pairs->opened, span, open);
	span->state = state;
	note_result(span);
	if (state == TAP_SPAN_END_LOST)
		pairs->loss->lost_exits++;
	return give(pairs, span);
}

/* Ends the open calls of a thread with a number above this one: they have returned. */
static int end_above(struct tap_pairs *pairs, struct tap_thread *thread, uint64_t call_id)
{
	int ret = 0;

	/* The thread may be dropped with its last call: check before ending that. */
	while (!ret && thread && thread->nest.last &&
	       thread->nest.last->call_id > call_id) {
		struct tap_span *span = thread->nest.last;

		if (!span->nest.before)
			thread = NULL;
		ret = end(pairs, span, TAP_SPAN_END_LOST);
	}
	return ret;
}

static struct tap_thread *thread_of(struct tap_pairs *pairs,
				    const struct tap_process *process, int64_t tid)
{
	return tid < 0 ? NULL
		       : tap_table_find(&pairs->threads, process->number, (uint64_t) tid);
}

int tap_pairs_entry(struct tap_pairs *pairs, struct tap_process *process,
		    struct tap_event *event)
{
	struct tap_span *span, *parent;
	int ret = 0;

	/* Numbers increase: the enclosing call has a lower one. */
	if (event->parent_id >= event->call_id && event->parent_id) {
		pairs->loss->malformed_events++;
		event->parent_id = 0;
	}
	if (!event->is_range) {
		ret = end_above(pairs, thread_of(pairs, process, event->tid),
				event->parent_id);
		if (ret)
			return ret;
	}
	/* Only a program that did not announce itself reuses numbers. */
	span = tap_table_find(&pairs->open, process->number, event->call_id);
	if (span)
		ret = end(pairs, span, TAP_SPAN_END_LOST);
	if (!ret && pairs->open.count >= pairs->open_max) {
		pairs->loss->evicted_calls++;
		ret = end(pairs, pairs->opened.first, TAP_SPAN_END_LOST);
	}
	if (ret)
		return ret;

	span = make_span(pairs, process, event);
	if (!span)
		return -ENOMEM;
	if (tap_table_set(&pairs->open, process->number, span->call_id, span)) {
		free_span(span);
		return -ENOMEM;
	}
	tap_list_append(&pairs->opened, span, open);
	span->state = TAP_SPAN_RUNNING;
	span->begin_ns = event->time_ns;
	span->parent_id = event->parent_id;
	span->is_inner = event->is_inner;
	span->is_from_nvtx = event->is_from_nvtx;
	span->is_range = event->is_range;
	span->caller_number = event->caller_number;
	span->caller_offset = event->caller_offset;
	if (span->caller_number)
		span->caller = tap_process_library(process, span->caller_number);
	span->stack_id = event->stack_id;
	if (span->stack_id)
		span->stack = tap_process_stack(process, span->stack_id);
	span->operation = event->operation;
	parent = event->parent_id
			 ? tap_table_find(&pairs->open, process->number, event->parent_id)
			 : NULL;
	if (parent)
		span->depth = parent->depth + 1;
	tap_fields_swap(&span->entry, &event->fields);
	ret = event->is_range ? 0 : push(pairs, span);
	span->is_enclosed = span->tid < 0 ? span->depth : span->nest.before != NULL;
	return ret ? ret : pairs->begun(pairs->data, span, event);
}

int tap_pairs_exit(struct tap_pairs *pairs, struct tap_process *process,
		   struct tap_event *event)
{
	struct tap_span *span =
		tap_table_find(&pairs->open, process->number, event->call_id);
	int ret = 0;

	/* The end of a range does not contain its name. */
	if (span && (event->is_range ? strcmp(span->name->layer, event->name->layer) != 0
				     : span->name != event->name)) {
		pairs->loss->malformed_events++;
		span = NULL;
	}
	if (!event->is_range)
		ret = end_above(pairs,
				span ? span->thread
				     : thread_of(pairs, process, event->tid),
				event->call_id);
	if (ret)
		return ret;
	if (span) {
		span->end_ns = event->time_ns;
		tap_fields_swap(&span->exit, &event->fields);
		return end(pairs, span, TAP_SPAN_COMPLETE);
	}
	span = make_span(pairs, process, event);
	if (!span)
		return -ENOMEM;
	pairs->loss->lost_entries++;
	span->is_from_nvtx = event->is_from_nvtx;
	span->is_range = event->is_range;
	span->operation = event->operation;
	span->state = TAP_SPAN_BEGIN_LOST;
	span->end_ns = event->time_ns;
	tap_fields_swap(&span->exit, &event->fields);
	note_result(span);
	return give(pairs, span);
}

int tap_pairs_end_process(struct tap_pairs *pairs, const struct tap_process *process)
{
	struct tap_span *span, *after;
	int ret = 0;

	for (span = pairs->opened.first; !ret && span; span = after) {
		after = span->open.after;
		if (!process || span->process == process)
			ret = end(pairs, span, TAP_SPAN_OPEN);
	}
	return ret;
}

int tap_pairs_returned(struct tap_pairs *pairs, const struct tap_process *process,
		       bool (*is_returned)(const void *data, const struct tap_span *span),
		       const void *data)
{
	struct tap_span *span, *after;
	int ret = 0;

	for (span = pairs->opened.first; !ret && span; span = after) {
		after = span->open.after;
		if (span->process == process && !span->is_range &&
		    is_returned(data, span))
			ret = end(pairs, span, TAP_SPAN_END_LOST);
	}
	return ret;
}

void tap_pairs_free(struct tap_pairs *pairs)
{
	struct tap_thread *thread;
	struct tap_span *span;
	size_t i;

	/* An interrupted reading leaves open calls. */
	while ((span = tap_list_take_first(&pairs->opened, open)))
		free_span(span);
	while ((span = pairs->unused)) {
		pairs->unused = span->open.after;
		free_span(span);
	}
	for (i = 0; i < pairs->threads.size; i++)
		free(pairs->threads.slots[i].value);
	while ((thread = pairs->free_threads)) {
		pairs->free_threads = thread->next;
		free(thread);
	}
	tap_table_free(&pairs->open);
	tap_table_free(&pairs->threads);
}
