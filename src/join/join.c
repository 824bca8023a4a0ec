/* SPDX-License-Identifier: MIT */
/* Each event goes to the part that it concerns, and what that makes to the consumer. */
#include "join/join.h"

#include "join/model/comm.h"
#include "join/gpu/cuda.h"
#include "join/gpu/gpu.h"
#include "join/ranks/operations.h"
#include "join/model/open.h"
#include "join/model/pair.h"
#include "join/model/process.h"
#include "join/model/trace.h"
#include "join/rdma/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Names beyond so many are not taken from a program any more. */
#define NAMES_TOLD_MAX 4096
#define NAME_BYTES_MAX 1024

struct tap_join {
	struct tap_context context;
	struct tap_opens opens;
	struct tap_links links;
	struct tap_verbs verbs;
	struct tap_cuda cuda;
	struct tap_gpu gpu;
};

static int begin_span(void *data, struct tap_span *span)
{
	struct tap_join *join = data;
	const struct tap_operation *operation = &span->operation;
	int ret = 0;

	if (operation->comm_id) {
		span->member = tap_comms_member(&join->context.comms, span->process,
						operation->comm_id, operation->comm_key);
		if (!span->member)
			return -ENOMEM;
	}
	if (span->name->cuda)
		ret = tap_cuda_begun(&join->cuda, span);
	if (!ret && join->context.consumer->span_begun)
		ret = join->context.consumer->span_begun(join->context.data, span);
	return ret;
}

static int end_span(void *data, struct tap_span *span)
{
	struct tap_join *join = data;
	int ret = 0;

	if (span->name->cuda)
		ret = tap_cuda_ended(&join->cuda, span);
	if (!ret && join->context.consumer->span_ended)
		ret = join->context.consumer->span_ended(join->context.data, span);
	if (!ret)
		ret = tap_opens_span(&join->opens, span);
	if (!ret)
		ret = tap_links_take(&join->links, span);
	return ret ? ret : tap_gpu_ended(&join->gpu, span);
}

struct tap_join *tap_join_create(const struct tap_consumer *consumer, void *data,
				 const struct tap_bounds *bounds)
{
	struct tap_join *join = calloc(1, sizeof(*join));
	struct tap_context *context;

	if (!join)
		return NULL;
	context = &join->context;
	context->consumer = consumer;
	context->data = data;
	context->bounds = *bounds;
	context->pairs.open_max = bounds->open_calls;
	context->pairs.loss = &context->loss;
	context->pairs.begun = begin_span;
	context->pairs.ended = end_span;
	context->pairs.data = join;
	join->links.context = context;
	join->verbs.context = context;
	join->cuda.context = context;
	join->cuda.graphs.loss = &context->loss;
	join->gpu.context = context;
	return join;
}

void tap_join_destroy(struct tap_join *join)
{
	struct tap_stream_loss *stream;

	if (!join)
		return;
	while ((stream = join->context.loss.streams)) {
		join->context.loss.streams = stream->next;
		free(stream->name);
		free(stream);
	}
	free(join->context.loss.first_damage);
	free(join->context.jobs);
	free(join->context.snapshots);
	tap_gpu_free(&join->gpu);
	tap_cuda_free(&join->cuda);
	tap_verbs_layer.free(&join->verbs);
	tap_links_free(&join->links);
	tap_opens_free(&join->opens);
	tap_pairs_free(&join->context.pairs);
	tap_comms_free(&join->context.comms);
	tap_processes_free(&join->context.processes);
	tap_names_free(&join->context.names);
	tap_traces_free(&join->context.traces);
	free(join);
}

struct tap_trace *tap_join_add_trace(struct tap_join *join, const char *host,
				     const unsigned char *identity, int64_t pid)
{
	return tap_traces_add(&join->context.traces, host, identity, pid);
}

size_t tap_join_trace_count(const struct tap_join *join)
{
	return join->context.traces.count;
}

const struct tap_trace *tap_join_trace(const struct tap_join *join, size_t number)
{
	return join->context.traces.all[number];
}

const struct tap_matches *tap_join_matches(const struct tap_join *join)
{
	return join->context.matches;
}

int64_t tap_join_horizon(const struct tap_join *join)
{
	return tap_gpu_horizon(&join->gpu);
}

const struct tap_gpu_times *tap_join_gpu_times(const struct tap_join *join)
{
	return &join->context.gpu_times;
}

const struct tap_comms *tap_join_comms(const struct tap_join *join)
{
	return &join->context.comms;
}

const struct tap_name *tap_join_intern(struct tap_join *join, const char *layer,
				       size_t layer_length, const char *name,
				       size_t name_length)
{
	return tap_names_get(&join->context.names, layer, layer_length, name,
			     name_length);
}

const struct tap_name *tap_join_intern_told(struct tap_join *join,
					    const struct tap_name *other,
					    const char *name, size_t name_length)
{
	const char *layer = other->layer;
	const struct tap_name *found = tap_names_find(&join->context.names, layer,
						      strlen(layer), name, name_length);

	if (found)
		return found;
	if (join->context.names.count >= NAMES_TOLD_MAX)
		return other;
	return tap_names_get(&join->context.names, layer, strlen(layer), name,
			     name_length);
}

uint64_t tap_join_event_count(const struct tap_join *join)
{
	return join->context.event_count;
}

int64_t tap_join_first_ns(const struct tap_join *join)
{
	return join->context.first_ns;
}

int64_t tap_join_last_ns(const struct tap_join *join)
{
	return join->context.last_ns;
}

void tap_span_put(struct tap_join *join, struct tap_span *span)
{
	tap_pairs_put(&join->context.pairs, span);
}

/* ---- Losses ---- */

struct tap_loss *tap_join_loss(struct tap_join *join)
{
	return &join->context.loss;
}

int tap_join_discarded(struct tap_join *join, const char *name, uint64_t events,
		       uint64_t packets)
{
	struct tap_stream_loss *stream;

	join->context.loss.discarded_events += events;
	join->context.loss.discarded_packets += packets;
	for (stream = join->context.loss.streams; stream; stream = stream->next)
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
		stream->next = join->context.loss.streams;
		join->context.loss.streams = stream;
	}
	stream->discarded_events += events;
	stream->discarded_packets += packets;
	return 0;
}

/* ---- Events ---- */

static int tell_process(struct tap_join *join, struct tap_process *process)
{
	if (process->is_told)
		return 0;
	process->is_told = true;
	return join->context.consumer->process
		       ? join->context.consumer->process(join->context.data, process)
		       : 0;
}

static int take_process(struct tap_join *join, struct tap_process *process,
			struct tap_event *event)
{
	int ret;

	/* Its state may have been written before it described itself. */
	if (process->is_from_state &&
	    tap_fields_are_equal(&process->about, &event->fields)) {
		process->is_from_state = false;
		ret = tap_opens_event(&join->opens, process, event);
		return ret ? ret : tell_process(join, process);
	}
	if (process->is_announced) {
		ret = tap_pairs_end_process(&join->context.pairs, process);
		if (!ret)
			ret = tap_opens_ended(&join->opens, process, TAP_END_REPLACED,
					      event->time_ns);
		if (ret)
			return ret;
		process = tap_processes_succeed(&join->context.processes, process);
		if (!process)
			return -ENOMEM;
	}
	ret = tap_opens_event(&join->opens, process, event);
	if (ret)
		return ret;
	tap_process_describe(process, event);
	process->is_told = false;
	return tell_process(join, process);
}

static int take_process_state(struct tap_join *join, struct tap_process *process,
			      struct tap_event *event)
{
	int ret = tap_opens_state_begins(&join->opens, process, event->time_ns);

	if (ret)
		return ret;
	if (!process->is_announced) {
		tap_process_describe(process, event);
		process->is_from_state = true;
		process->is_told = false;
	}
	return tell_process(join, process);
}

static int take_library(struct tap_join *join, struct tap_process *process,
			const struct tap_event *event)
{
	const struct tap_library *library, *newest = process->libraries;
	int ret;

	ret = tap_process_add_library(process, event, &library);
	if (ret == -EINVAL) {
		join->context.loss.malformed_events++;
		return 0;
	}
	if (event->kind == TAP_EVENT_STATE_LIBRARY && process->libraries == newest)
		return ret;
	if (!ret && join->context.consumer->library)
		ret = join->context.consumer->library(join->context.data, process,
						      library);
	return ret;
}

static int take_stack(struct tap_join *join, struct tap_process *process,
		      const struct tap_event *event)
{
	int ret = tap_process_add_stack(process, event);

	if (ret == -EINVAL) {
		join->context.loss.malformed_events++;
		return 0;
	}
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
	return join->context.consumer->problem
		       ? join->context.consumer->problem(join->context.data, &problem)
		       : 0;
}

static int take_comm(struct tap_join *join, const struct tap_process *process,
		     struct tap_event *event)
{
	struct tap_member *member;
	int ret;

	ret = tap_comms_describe(&join->context.comms, process, event,
				 event->kind == TAP_EVENT_STATE_COMM, &member);
	if (ret == -EINVAL) {
		join->context.loss.malformed_events++;
		return 0;
	}
	if (!ret && member && join->context.consumer->communicator)
		ret = join->context.consumer->communicator(join->context.data, member);
	return ret;
}

/* A traced program's word for it; only functions of the CUDA driver and of HIP begin so.
 */
static const struct tap_name *name_of(struct tap_join *join, const char *function)
{
	const char *layer = strncmp(function, "cu", 2) && strncmp(function, "hip", 3)
				    ? "nccl"
				    : "cuda";
	const struct tap_name *other = tap_join_intern(join, layer, 4, "(others)", 8);
	const size_t length = strlen(function);

	return !other || length > NAME_BYTES_MAX
		       ? other
		       : tap_join_intern_told(join, other, function, length);
}

static int take_thread(struct tap_join *join, const struct tap_process *process,
		       const struct tap_event *event)
{
	struct tap_thread_state thread = {.process = process,
					  .time_ns = event->time_ns,
					  .tid = -1};
	const struct tap_fields *fields = &event->fields;
	const char *function = tap_fields_get_string(fields, "function");
	uint64_t least_ns = 0;
	int ret;

	if (function && *function) {
		thread.name = name_of(join, function);
		if (!thread.name)
			return -ENOMEM;
	}
	/* Another thread wrote this. */
	if (tap_fields_get_signed(fields, "tid", &thread.tid) || thread.tid < 0)
		thread.tid = -1;
	tap_fields_get_unsigned(fields, "call_id", &thread.call_id);
	tap_fields_get_unsigned(fields, "group_id", &thread.group_id);
	tap_fields_get_unsigned(fields, "comm_key", &thread.comm_key);
	tap_fields_get_unsigned(fields, "op_number", &thread.op_number);
	if (!tap_fields_get_unsigned(fields, "least_ns", &least_ns) &&
	    least_ns <= INT64_MAX)
		thread.least_ns = (int64_t) least_ns;
	if (!tap_fields_get_unsigned(fields, "comm_id", &thread.comm_id) &&
	    thread.comm_id)
		thread.member = tap_table_find(&join->context.comms.by_id,
					       process->number, thread.comm_id);
	ret = tap_opens_told(&join->opens, &thread,
			     event->kind == TAP_EVENT_STATE_THREAD);
	if (ret || !thread.name || event->kind != TAP_EVENT_STATE_THREAD)
		return ret;
	return join->context.consumer->thread
		       ? join->context.consumer->thread(join->context.data, &thread)
		       : 0;
}

static bool is_returned(const void *opens, const struct tap_span *span)
{
	return tap_opens_is_returned(opens, span);
}

/* Of older traces, and of a tracer that could not look, nothing is known of other
 * threads. */
static int take_state_end(struct tap_join *join, const struct tap_process *process,
			  const struct tap_event *event)
{
	uint64_t has_all = 0, threads = 0;

	tap_fields_get_unsigned(&event->fields, "all_threads", &has_all);
	if (!has_all || tap_fields_get_unsigned(&event->fields, "threads", &threads) ||
	    !tap_opens_state_ends(&join->opens, process, threads))
		return 0;
	return tap_pairs_returned(&join->context.pairs, process, is_returned,
				  &join->opens);
}

int tap_join_set_jobs(struct tap_join *join, const char *jobs)
{
	free(join->context.jobs);
	join->context.jobs = strdup(jobs);
	return join->context.jobs ? 0 : -ENOMEM;
}

int tap_join_set_snapshots(struct tap_join *join, const char *snapshots)
{
	free(join->context.snapshots);
	join->context.snapshots = strdup(snapshots);
	return join->context.snapshots ? 0 : -ENOMEM;
}

const char *tap_join_snapshots(const struct tap_join *join)
{
	return join->context.snapshots;
}

static bool is_looked_at(const struct tap_join *join, const struct tap_event *event)
{
	const char *job = tap_fields_get_string(&event->fields, "job_id"), *line;
	size_t length;

	if (!join->context.jobs || !job)
		return true;
	for (line = join->context.jobs; *line; line += length + !!line[length]) {
		length = strcspn(line, "\n");
		if (length == strlen(job) && !memcmp(line, job, length))
			return true;
	}
	return false;
}

/* Ends what was under the same number before. */
static int take_foreign(struct tap_join *join, struct tap_process *process)
{
	process->is_foreign = true;
	return process->is_announced
		       ? tap_pairs_end_process(&join->context.pairs, process)
		       : 0;
}

int tap_join_event(struct tap_join *join, struct tap_event *event)
{
	struct tap_process *process;
	bool is_call = event->kind == TAP_EVENT_ENTRY || event->kind == TAP_EVENT_EXIT ||
		       event->kind == TAP_EVENT_MARK || event->kind == TAP_EVENT_WORK ||
		       event->kind == TAP_EVENT_NCCL_ARGS;
	int ret;

	if (!join->context.has_first) {
		join->context.has_first = true;
		join->context.first_ns = event->time_ns;
	}
	join->context.last_ns = event->time_ns;
	join->context.event_count++;
	ret = tap_gpu_advance(&join->gpu, event->time_ns);
	if (ret || event->kind == TAP_EVENT_OTHER)
		return ret;
	if (is_call && !event->has_call_id) {
		join->context.loss.malformed_events++;
		return 0;
	}
	process = tap_processes_of(&join->context.processes, event);
	if (!process)
		return -ENOMEM;
	if (event->kind == TAP_EVENT_PROCESS || event->kind == TAP_EVENT_STATE_PROCESS) {
		if (!is_looked_at(join, event))
			return take_foreign(join, process);
		process->is_foreign = false;
	}
	if (process->is_foreign)
		return 0;
	if (event->kind == TAP_EVENT_PROCESS)
		return take_process(join, process, event);
	ret = tap_opens_event(&join->opens, process, event);
	if (ret)
		return ret;
	if (event->kind == TAP_EVENT_STATE_PROCESS)
		return take_process_state(join, process, event);
	ret = tell_process(join, process);
	if (ret)
		return ret;
	switch (event->kind) {
	case TAP_EVENT_ENTRY:
		return tap_pairs_entry(&join->context.pairs, process, event);
	case TAP_EVENT_EXIT:
		return tap_pairs_exit(&join->context.pairs, process, event);
	case TAP_EVENT_MARK:
		ret = tap_pairs_entry(&join->context.pairs, process, event);
		/* Its fields are the entry's now. */
		tap_fields_clear(&event->fields);
		return ret ? ret : tap_pairs_exit(&join->context.pairs, process, event);
	case TAP_EVENT_LIBRARY:
	case TAP_EVENT_STATE_LIBRARY:
		return take_library(join, process, event);
	case TAP_EVENT_STACK:
	case TAP_EVENT_STATE_STACK:
		return take_stack(join, process, event);
	case TAP_EVENT_PROBLEM:
		return take_problem(join, process, event);
	case TAP_EVENT_COMM:
	case TAP_EVENT_STATE_COMM:
		return take_comm(join, process, event);
	case TAP_EVENT_OPEN_CALL:
	case TAP_EVENT_STATE_THREAD:
		return take_thread(join, process, event);
	case TAP_EVENT_STATE_END:
		return take_state_end(join, process, event);
	case TAP_EVENT_WORK:
		return tap_cuda_work(&join->cuda, process, event);
	case TAP_EVENT_NCCL_ARGS:
		return tap_cuda_nccl_args(&join->cuda, process, event);
	case TAP_EVENT_FUNCTION:
		return tap_cuda_function(&join->cuda, process, event);
	case TAP_EVENT_GPU:
		return tap_gpu_take(&join->gpu, process, event);
	case TAP_EVENT_VERBS:
		return tap_verbs_layer.take(&join->verbs, process, event);
	case TAP_EVENT_PROCESS_END:
		return tap_opens_ended(&join->opens, process, TAP_END_EXIT,
				       event->time_ns);
	default:
		return 0;
	}
}

int tap_join_finish(struct tap_join *join)
{
	int ret;

	ret = tap_pairs_end_process(&join->context.pairs, NULL);
	if (!ret)
		ret = tap_links_finish(&join->links);
	if (!ret)
		ret = tap_verbs_layer.finish(&join->verbs);
	if (!ret)
		ret = tap_gpu_finish(&join->gpu);
	if (!ret)
		ret = tap_opens_finish(&join->opens, &join->context.processes,
				       join->context.consumer, join->context.data);
	if (!ret && join->context.consumer->finish)
		ret = join->context.consumer->finish(join->context.data,
						     &join->context.loss);
	return ret;
}
