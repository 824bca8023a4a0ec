/* SPDX-License-Identifier: MIT */
/*
 * Entries find their exits by (process, call); what an event tells about calls
 * whose own event is missing is drawn from the order of call numbers.
 *
 * Call numbers grow along a process.  So, when an event of a thread names P as
 * the call around it, every open call of that thread with a number above P has
 * returned, whether its exit is in the trace or not.
 */
#include "join/join.h"
#include "join/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A thread with open calls; it is dropped with its last one. */
struct tap_thread {
	uint64_t process; /* number */
	int64_t tid;
	struct tap_span *top;	 /* the innermost open call */
	struct tap_thread *next; /* unused one */
};

struct tap_join {
	const struct tap_consumer *consumer;
	void *data;
	size_t open_max;
	bool has_first;
	int64_t first_ns;
	struct tap_loss loss;
	struct tap_processes processes;
	struct tap_trace **traces;
	size_t trace_count;
	struct tap_table trace_ids;
	struct tap_table names;
	unsigned int name_count;

	struct tap_table open;	  /* by (process, call) */
	struct tap_table threads; /* by (process, tid) */
	struct tap_span *oldest;  /* open, in order of beginning */
	struct tap_span *newest;
	struct tap_span *free_spans; /* linked by later */
	struct tap_thread *free_threads;
};

struct tap_join *tap_join_create(const struct tap_consumer *consumer, void *data,
				 size_t open_max)
{
	struct tap_join *join = calloc(1, sizeof(*join));

	if (!join)
		return NULL;
	join->consumer = consumer;
	join->data = data;
	join->open_max = open_max;
	return join;
}

static void free_span(struct tap_span *span)
{
	tap_fields_free(&span->entry);
	tap_fields_free(&span->exit);
	free(span);
}

static void free_names(struct tap_join *join)
{
	size_t i;

	for (i = 0; i < join->names.size; i++) {
		struct tap_name *name = join->names.slots[i].value;

		while (name) {
			struct tap_name *next = name->next;

			free(name->layer);
			free(name->name);
			free(name);
			name = next;
		}
	}
	tap_table_free(&join->names);
}

void tap_join_destroy(struct tap_join *join)
{
	struct tap_stream_loss *stream;
	struct tap_thread *thread;
	struct tap_span *span;
	size_t i;

	if (!join)
		return;
	/* A reading that was broken off leaves open calls. */
	while ((span = join->oldest)) {
		join->oldest = span->later;
		free_span(span);
	}
	while ((span = join->free_spans)) {
		join->free_spans = span->later;
		free_span(span);
	}
	for (i = 0; i < join->threads.size; i++)
		free(join->threads.slots[i].value);
	while ((thread = join->free_threads)) {
		join->free_threads = thread->next;
		free(thread);
	}
	while ((stream = join->loss.streams)) {
		join->loss.streams = stream->next;
		free(stream->name);
		free(stream);
	}
	for (i = 0; i < join->trace_count; i++) {
		free(join->traces[i]->host);
		free(join->traces[i]);
	}
	free(join->traces);
	free(join->loss.first_damage);
	free_names(join);
	tap_table_free(&join->trace_ids);
	tap_table_free(&join->open);
	tap_table_free(&join->threads);
	tap_processes_free(&join->processes);
	free(join);
}

/* ---- Traces, names, losses ---- */

struct tap_trace *tap_join_add_trace(struct tap_join *join, const char *host,
				     const unsigned char *identity, int64_t pid)
{
	struct tap_trace *trace, **traces;
	uint64_t id[2] = {0, 0};

	if (identity) {
		memcpy(id, identity, sizeof(id));
		trace = tap_table_find(&join->trace_ids, id[0], id[1]);
		if (trace && !strcmp(trace->host, host) && trace->pid == pid)
			return trace;
	}
	traces = realloc(join->traces,
			 (join->trace_count + 1) * sizeof(struct tap_trace *));
	if (!traces)
		return NULL;
	join->traces = traces;
	trace = calloc(1, sizeof(*trace));
	if (!trace)
		return NULL;
	trace->host = strdup(host);
	trace->number = join->trace_count;
	trace->pid = pid;
	if (!trace->host ||
	    (identity && tap_table_set(&join->trace_ids, id[0], id[1], trace))) {
		free(trace->host);
		free(trace);
		return NULL;
	}
	traces[join->trace_count++] = trace;
	return trace;
}

size_t tap_join_trace_count(const struct tap_join *join)
{
	return join->trace_count;
}

const struct tap_trace *tap_join_trace(const struct tap_join *join, size_t number)
{
	return join->traces[number];
}

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t length)
{
	while (length--)
		hash = (hash ^ (unsigned char) *bytes++) * 0x100000001b3u;
	return hash;
}

static bool is_named(const char *string, const char *name, size_t length)
{
	return !strncmp(string, name, length) && !string[length];
}

const struct tap_name *tap_join_intern(struct tap_join *join, const char *layer,
				       size_t layer_length, const char *name,
				       size_t name_length)
{
	uint64_t hash = hash_bytes(0xcbf29ce484222325u, layer, layer_length);
	struct tap_name *first, *found;

	hash = hash_bytes(hash * 31, name, name_length);
	first = tap_table_find(&join->names, hash, 0);
	for (found = first; found; found = found->next)
		if (is_named(found->layer, layer, layer_length) &&
		    is_named(found->name, name, name_length))
			return found;
	found = calloc(1, sizeof(*found));
	if (!found)
		return NULL;
	found->layer = strndup(layer, layer_length);
	found->name = strndup(name, name_length);
	found->next = first;
	if (!found->layer || !found->name ||
	    tap_table_set(&join->names, hash, 0, found)) {
		free(found->layer);
		free(found->name);
		free(found);
		return NULL;
	}
	found->number = join->name_count++;
	return found;
}

int64_t tap_join_first_ns(const struct tap_join *join)
{
	return join->first_ns;
}

struct tap_loss *tap_join_loss(struct tap_join *join)
{
	return &join->loss;
}

int tap_join_discarded(struct tap_join *join, const char *name, uint64_t events,
		       uint64_t packets)
{
	struct tap_stream_loss *stream;

	join->loss.discarded_events += events;
	join->loss.discarded_packets += packets;
	for (stream = join->loss.streams; stream; stream = stream->next)
		if (!strcmp(stream->name, name))
			break;
	if (!stream) {
		stream = calloc(1, sizeof(*stream));
		if (!stream)
			return -ENOMEM;
		stream->name = strdup(name);
		if (!stream->name) {
			free(stream);
			return -ENOMEM;
		}
		stream->next = join->loss.streams;
		join->loss.streams = stream;
	}
	stream->discarded_events += events;
	stream->discarded_packets += packets;
	return 0;
}

/* ---- Spans ---- */

struct tap_span *tap_span_get(struct tap_span *span)
{
	span->references++;
	return span;
}

void tap_span_put(struct tap_join *join, struct tap_span *span)
{
	if (--span->references)
		return;
	span->later = join->free_spans;
	join->free_spans = span;
}

const char *tap_span_state_name(enum tap_span_state state)
{
	switch (state) {
	case TAP_SPAN_COMPLETE:
		return "complete";
	case TAP_SPAN_END_LOST:
		return "end-lost";
	case TAP_SPAN_BEGIN_LOST:
		return "begin-lost";
	case TAP_SPAN_OPEN:
	case TAP_SPAN_RUNNING:
		break;
	}
	return "open";
}

int64_t tap_span_duration(const struct tap_span *span)
{
	return (int64_t) ((uint64_t) span->end_ns - (uint64_t) span->begin_ns);
}

const struct tap_field *tap_span_result(const struct tap_span *span)
{
	return tap_fields_find(&span->exit, "result");
}

bool tap_span_is_failure(const struct tap_field *result)
{
	if (!result)
		return false;
	if (result->kind != TAP_FIELD_UNSIGNED && result->kind != TAP_FIELD_SIGNED)
		return false;
	if (result->label && !strcmp(result->label, "ncclInProgress"))
		return false;
	return result->value.u != 0;
}

/* A span with no fields and one reference, which its maker gives back. */
static struct tap_span *make_span(struct tap_join *join,
				  const struct tap_process *process,
				  const struct tap_event *event)
{
	struct tap_span *span = join->free_spans;
	struct tap_fields entry, exit;

	if (span) {
		join->free_spans = span->later;
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
	span->process = process;
	span->name = event->name;
	span->tid = event->tid;
	span->call_id = event->call_id;
	return span;
}

static int tell_process(struct tap_join *join, struct tap_process *process)
{
	if (process->is_told)
		return 0;
	process->is_told = true;
	return join->consumer->process ? join->consumer->process(join->data, process) : 0;
}

static int give(struct tap_join *join, struct tap_span *span)
{
	int ret = 0;

	if (join->consumer->span_ended)
		ret = join->consumer->span_ended(join->data, span);
	tap_span_put(join, span);
	return ret;
}

/* ---- Open calls ---- */

static int push(struct tap_join *join, struct tap_span *span)
{
	struct tap_thread *thread;

	if (span->tid < 0)
		return 0;
	thread = tap_table_find(&join->threads, span->process->number,
				(uint64_t) span->tid);
	if (!thread) {
		thread = join->free_threads;
		if (thread)
			join->free_threads = thread->next;
		else
			thread = malloc(sizeof(*thread));
		if (!thread)
			return -ENOMEM;
		thread->process = span->process->number;
		thread->tid = span->tid;
		thread->top = NULL;
		if (tap_table_set(&join->threads, thread->process, (uint64_t) thread->tid,
				  thread)) {
			free(thread);
			return -ENOMEM;
		}
	}
	span->thread = thread;
	span->below = thread->top;
	if (thread->top)
		thread->top->above = span;
	thread->top = span;
	return 0;
}

static void leave_thread(struct tap_join *join, struct tap_span *span)
{
	struct tap_thread *thread = span->thread;

	if (!thread)
		return;
	if (span->below)
		span->below->above = span->above;
	if (span->above)
		span->above->below = span->below;
	else
		thread->top = span->below;
	span->thread = NULL;
	span->above = NULL;
	span->below = NULL;
	if (thread->top)
		return;
	tap_table_remove(&join->threads, thread->process, (uint64_t) thread->tid);
	thread->next = join->free_threads;
	join->free_threads = thread;
}

/* A call is no longer open: it goes to the consumer in this state. */
static int end(struct tap_join *join, struct tap_span *span, enum tap_span_state state)
{
	leave_thread(join, span);
	tap_table_remove(&join->open, span->process->number, span->call_id);
	if (span->earlier)
		span->earlier->later = span->later;
	else
		join->oldest = span->later;
	if (span->later)
		span->later->earlier = span->earlier;
	else
		join->newest = span->earlier;
	span->state = state;
	if (state == TAP_SPAN_END_LOST)
		join->loss.lost_exits++;
	return give(join, span);
}

/* The calls of a thread with a number above this one have returned. */
static int end_above(struct tap_join *join, struct tap_thread *thread, uint64_t call_id)
{
	int ret = 0;

	/* The thread is dropped with its last call: look before, not after. */
	while (!ret && thread && thread->top->call_id > call_id) {
		struct tap_span *span = thread->top;

		if (!span->below)
			thread = NULL;
		ret = end(join, span, TAP_SPAN_END_LOST);
	}
	return ret;
}

static struct tap_thread *thread_of(struct tap_join *join,
				    const struct tap_process *process, int64_t tid)
{
	return tid < 0 ? NULL
		       : tap_table_find(&join->threads, process->number, (uint64_t) tid);
}

static int take_entry(struct tap_join *join, struct tap_process *process,
		      struct tap_event *event)
{
	struct tap_span *span, *parent;
	int ret;

	/* Numbers grow: no call is in a later one. */
	if (event->parent_id >= event->call_id && event->parent_id) {
		join->loss.malformed_events++;
		event->parent_id = 0;
	}
	ret = end_above(join, thread_of(join, process, event->tid), event->parent_id);
	if (ret)
		return ret;
	/* Numbers are used again only by a program that did not announce itself. */
	span = tap_table_find(&join->open, process->number, event->call_id);
	if (span)
		ret = end(join, span, TAP_SPAN_END_LOST);
	if (!ret && join->open.count >= join->open_max) {
		join->loss.evicted_calls++;
		ret = end(join, join->oldest, TAP_SPAN_END_LOST);
	}
	if (ret)
		return ret;

	span = make_span(join, process, event);
	if (!span)
		return -ENOMEM;
	if (tap_table_set(&join->open, process->number, span->call_id, span)) {
		free_span(span);
		return -ENOMEM;
	}
	span->earlier = join->newest;
	if (join->newest)
		join->newest->later = span;
	else
		join->oldest = span;
	join->newest = span;
	span->state = TAP_SPAN_RUNNING;
	span->begin_ns = event->time_ns;
	span->parent_id = event->parent_id;
	span->is_inner = event->is_inner;
	span->caller_number = event->caller_number;
	span->caller_offset = event->caller_offset;
	if (span->caller_number)
		span->caller = tap_process_library(process, span->caller_number);
	parent = event->parent_id
			 ? tap_table_find(&join->open, process->number, event->parent_id)
			 : NULL;
	if (parent)
		span->depth = parent->depth + 1;
	tap_fields_swap(&span->entry, &event->fields);
	ret = push(join, span);
	if (!ret && join->consumer->span_begun)
		ret = join->consumer->span_begun(join->data, span);
	return ret;
}

static int take_exit(struct tap_join *join, struct tap_process *process,
		     struct tap_event *event)
{
	struct tap_span *span =
		tap_table_find(&join->open, process->number, event->call_id);
	int ret;

	if (span && span->name != event->name) {
		join->loss.malformed_events++;
		span = NULL;
	}
	ret = end_above(join, span ? span->thread : thread_of(join, process, event->tid),
			event->call_id);
	if (ret)
		return ret;
	if (span) {
		span->end_ns = event->time_ns;
		tap_fields_swap(&span->exit, &event->fields);
		return end(join, span, TAP_SPAN_COMPLETE);
	}
	span = make_span(join, process, event);
	if (!span)
		return -ENOMEM;
	join->loss.lost_entries++;
	span->state = TAP_SPAN_BEGIN_LOST;
	span->end_ns = event->time_ns;
	tap_fields_swap(&span->exit, &event->fields);
	return give(join, span);
}

static int take_process(struct tap_join *join, struct tap_process *process,
			struct tap_event *event)
{
	struct tap_span *span, *later;
	int ret;

	if (process->is_announced) {
		for (span = join->oldest; span; span = later) {
			later = span->later;
			ret = span->process == process ? end(join, span, TAP_SPAN_OPEN)
						       : 0;
			if (ret)
				return ret;
		}
		process = tap_processes_succeed(&join->processes, process);
		if (!process)
			return -ENOMEM;
	}
	tap_process_describe(process, event);
	process->is_told = false;
	return tell_process(join, process);
}

static int take_library(struct tap_join *join, struct tap_process *process,
			const struct tap_event *event)
{
	const struct tap_library *library;
	int ret;

	ret = tap_process_add_library(process, event, &library);
	if (ret == -EINVAL) {
		join->loss.malformed_events++;
		return 0;
	}
	if (!ret && join->consumer->library)
		ret = join->consumer->library(join->data, process, library);
	return ret;
}

static int take_problem(struct tap_join *join, struct tap_process *process,
			const struct tap_event *event)
{
	struct tap_problem problem = {.process = process, .time_ns = event->time_ns};

	problem.what = tap_fields_get_string(&event->fields, "what");
	problem.detail = tap_fields_get_string(&event->fields, "detail");
	tap_fields_get_unsigned(&event->fields, "count", &problem.count);
	if (!problem.what)
		problem.what = "";
	if (!problem.detail)
		problem.detail = "";
	return join->consumer->problem ? join->consumer->problem(join->data, &problem)
				       : 0;
}

int tap_join_event(struct tap_join *join, struct tap_event *event)
{
	struct tap_process *process;
	bool is_call = event->kind == TAP_EVENT_ENTRY || event->kind == TAP_EVENT_EXIT;
	int ret;

	if (!join->has_first) {
		join->has_first = true;
		join->first_ns = event->time_ns;
	}
	if (event->kind == TAP_EVENT_OTHER)
		return 0;
	if (is_call && !event->has_call_id) {
		join->loss.malformed_events++;
		return 0;
	}
	process = tap_processes_of(&join->processes, event);
	if (!process)
		return -ENOMEM;
	if (event->kind == TAP_EVENT_PROCESS)
		return take_process(join, process, event);
	ret = tell_process(join, process);
	if (ret)
		return ret;
	switch (event->kind) {
	case TAP_EVENT_ENTRY:
		return take_entry(join, process, event);
	case TAP_EVENT_EXIT:
		return take_exit(join, process, event);
	case TAP_EVENT_LIBRARY:
		return take_library(join, process, event);
	case TAP_EVENT_PROBLEM:
		return take_problem(join, process, event);
	default:
		return 0;
	}
}

int tap_join_finish(struct tap_join *join)
{
	int ret = 0;

	while (!ret && join->oldest)
		ret = end(join, join->oldest, TAP_SPAN_OPEN);
	if (!ret && join->consumer->finish)
		ret = join->consumer->finish(join->data, &join->loss);
	return ret;
}
