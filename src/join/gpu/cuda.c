/* SPDX-License-Identifier: MIT */
/* Turns one event into an entry and an exit, and adds fields. */
#include "join/gpu/cuda.h"

#include "common/compiler.h"
#include "join/gpu/cuda_graph.h"
#include "join/model/layer.h"
#include "join/model/link.h"
#include "join/model/stream.h"
#include "join/nccl/kernel.h"
#include "join/nccl/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Most functions with names: a damaged trace cannot fill the memory. */
#define FUNCTIONS_MAX 65536

/* Most threads that launch, for the same reason. */
#define THREADS_MAX 65536

struct cuda {
	struct tap_context *context; /* first: layer.h */

	const struct tap_threads *threads;
	struct tap_table functions; /* names by (process, address) */
	struct tap_table arguments; /* of the next launch, by (process, thread) */
	struct tap_graphs graphs;
};

/* The arguments that NCCL gave a kernel. */
struct arguments {
	uint64_t call_id; /* of the launch */
	struct tap_fields fields;
};

/* ---- Added fields ---- */

static int take_function(struct cuda *cuda, const struct tap_process *process,
			 const struct tap_event *event)
{
	const char *name = tap_fields_get_string(&event->fields, "name");
	uint64_t function;
	char *copy;

	if (!name || tap_fields_get_unsigned(&event->fields, "function", &function)) {
		cuda->context->loss.malformed_events++;
		return 0;
	}
	/* Another function may be there now, whose name the driver does not give. */
	free(tap_table_remove(&cuda->functions, process->number, function));
	if (!*name || cuda->functions.count >= FUNCTIONS_MAX)
		return 0;
	copy = strdup(name);
	if (copy && !tap_table_set(&cuda->functions, process->number, function, copy))
		return 0;
	free(copy);
	return -ENOMEM;
}

/* A newer tracer may record the field itself; no field may occur twice. */
static void add_number(struct tap_fields *fields, const char *name, uint64_t number)
{
	if (!tap_fields_find(fields, name))
		tap_fields_add_unsigned(fields, name, number);
}

static void add_string(struct tap_fields *fields, const char *name, const char *string)
{
	if (!tap_fields_find(fields, name))
		tap_fields_add_string(fields, name, string, strlen(string));
}

static int take_nccl_args(struct cuda *cuda, const struct tap_process *process,
			  struct tap_event *event)
{
	struct arguments *arguments =
		tap_table_find(&cuda->arguments, process->number, (uint64_t) event->tid);

	if (!arguments) {
		if (cuda->arguments.count >= THREADS_MAX)
			return 0;
		arguments = calloc(1, sizeof(*arguments));
		if (!arguments || tap_table_set(&cuda->arguments, process->number,
						(uint64_t) event->tid, arguments)) {
			free(arguments);
			return -ENOMEM;
		}
	}
	arguments->call_id = event->call_id;
	tap_fields_swap(&arguments->fields, &event->fields);
	return 0;
}

static int describe_kernel(const struct cuda *cuda, struct tap_span *span)
{
	const struct arguments *arguments =
		tap_table_find(&cuda->arguments, span->process->number,
			       (uint64_t) span->tid);
	const char *name = NULL;
	uint64_t function, grid = 0;

	if (!tap_call_get(span->name->row, TAP_ROLE_FUNCTION, &span->entry, &function))
		name = tap_table_find(&cuda->functions, span->process->number, function);
	if (name)
		add_string(&span->entry, "function", name);
	tap_call_get(span->name->row, TAP_ROLE_GRID, &span->entry, &grid);
	return tap_kernel_describe(&span->entry, name, grid,
				   arguments && arguments->call_id == span->call_id
					   ? &arguments->fields
					   : NULL);
}

/* Describes a copy or stream operation that NCCL makes a collective of. */
static void describe_copy(const struct cuda *cuda, struct tap_span *span)
{
	const struct tap_span *parent =
		tap_threads_span(cuda->threads, span->process, span->parent_id);
	const char *kind;

	if (!parent || !parent->name->is_nccl)
		return;
	kind = tap_kernel_copy(span->name->name, parent->name->name,
			       parent->member ? tap_member_comm(parent->member)->nranks
					      : -1);
	if (kind)
		add_string(&span->entry, "kernel_kind", kind);
}

/* Adds what a launch of a graph repeats, and how certain that is. */
static void describe_graph(const struct cuda *cuda, struct tap_span *span)
{
	const struct tap_graph *graph = NULL;
	const char *known;
	uint64_t exec;

	if (!tap_call_get(span->name->row, TAP_ROLE_GRAPH_EXEC, &span->entry, &exec))
		graph = tap_graphs_find(&cuda->graphs, &cuda->context->loss,
					span->process, exec);
	known = tap_graph_known_name(graph ? graph->known : TAP_GRAPH_UNKNOWN);
	if (graph) {
		add_number(&span->entry, "capture_id", graph->capture_id);
		add_number(&span->entry, "graph_calls", graph->calls);
		add_number(&span->entry, "graph_kernels", graph->kernels);
	}
	add_string(&span->entry, "graph_known", known);
}

static int describe_capture(struct cuda *cuda, struct tap_span *span)
{
	const struct tap_graph *graph;
	uint64_t stream = 0;
	bool has_stream = tap_cuda_stream(span, &stream);
	int ret;

	/* Where the trace does not say, the call may be in any capture. */
	ret = tap_graphs_captured(&cuda->graphs, span,
				  has_stream && tap_cuda_capture(span) !=
							TAP_CAPTURE_REPORTED_NOT,
				  stream, &graph);
	if (!ret && graph)
		add_number(&span->entry, "capture_id", graph->capture_id);
	return ret;
}

static bool has_failed(const struct tap_event *event)
{
	return event->has_result && event->result;
}

/* ---- Spans and links ---- */

/* How it is known that what this thread launches belongs to a call of another thread. */
static enum tap_known thread_known(const struct cuda *cuda,
				   const struct tap_process *process, int64_t tid)
{
	const struct tap_nccl_thread *thread =
		tap_threads_find(cuda->threads, process, tid);

	return thread ? tap_thread_known(thread->how) : TAP_KNOWN_INFERRED;
}

/* The enclosing call is still open, or kept, so that it has certainly begun. */
static int emit_launch(struct cuda *cuda, const struct tap_process *process,
		       const struct tap_event *event, enum tap_known known)
{
	const struct tap_span *parent =
		tap_threads_span(cuda->threads, process, event->parent_id);
	struct tap_link_end ends[2] = {
		{.process = process, .call_id = event->parent_id, .rank = process->rank},
		{.process = process,
		 .name = event->name,
		 .call_id = event->call_id,
		 .rank = process->rank},
	};
	struct tap_link link = {.kind = TAP_LINK_API_LAUNCH,
				.known = known,
				.is_complete = true,
				.operation = event->name,
				.end_ns = event->begin_ns,
				.nranks = -1,
				.ends = ends,
				.count = 2};

	if (!parent) {
		tap_count_unmatched(cuda->context, TAP_MATCH_API_LAUNCH,
				    TAP_WHY_NOT_RECORDED);
		return 0;
	}
	ends[0].name = parent->name;
	link.begin_ns = parent->begin_ns;
	tap_count_match(cuda->context, TAP_MATCH_API_LAUNCH, known, TAP_WHY_NONE);
	return tap_emit_link(cuda->context, &link);
}

static int take_work(struct cuda *cuda, struct tap_process *process,
		     struct tap_event *event)
{
	const int64_t end_ns = event->time_ns;
	struct tap_field *result;
	bool is_of_thread = false;
	int ret;

	/* NCCL launches on threads of its own, too, for the call that made these. */
	if (!event->parent_id) {
		event->parent_id = tap_threads_call(cuda->threads, process, event->tid);
		is_of_thread = event->parent_id != 0;
	}
	/* A damaged event may begin after it has ended. */
	if (!event->begin_ns || event->begin_ns > end_ns)
		event->begin_ns = end_ns;
	event->time_ns = event->begin_ns;
	ret = tap_pairs_entry(&cuda->context->pairs, process, event);
	if (ret)
		return ret;
	/* The entry has the fields now. */
	tap_fields_clear(&event->fields);
	if (event->has_result) {
		result = tap_fields_add(&event->fields, "result", TAP_FIELD_SIGNED);
		if (!result)
			return -ENOMEM;
		result->value.i = event->result;
	}
	event->time_ns = end_ns;
	ret = tap_pairs_exit(&cuda->context->pairs, process, event);
	if (ret || !event->parent_id || has_failed(event) ||
	    !tap_name_is_launch(event->name))
		return ret;
	return emit_launch(cuda, process, event,
			   is_of_thread ? thread_known(cuda, process, event->tid)
					: TAP_KNOWN_EXACT);
}

/* ---- The layer ---- */

static void begin(void *state)
{
	struct cuda *cuda = state;

	cuda->threads = tap_context_state(cuda->context, &tap_threads_layer);
}

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	switch (event->kind) {
	case TAP_EVENT_WORK:
		return take_work(state, process, event);
	case TAP_EVENT_NCCL_ARGS:
		return take_nccl_args(state, process, event);
	default:
		return take_function(state, process, event);
	}
}

static tap_apart int describe(struct cuda *cuda, struct tap_span *span,
			      const struct tap_event *event)
{
	const int64_t capture = tap_cuda_capture(span);
	int ret = 0;

	if (span->name->cuda == TAP_CUDA_KERNEL)
		ret = describe_kernel(cuda, span);
	else if (tap_name_is_work(span->name))
		describe_copy(cuda, span);
	if (span->name->cuda == TAP_CUDA_GRAPH)
		describe_graph(cuda, span);
	if (!ret && event->kind == TAP_EVENT_WORK && !has_failed(event) &&
	    (capture == TAP_CAPTURE_ACTIVE || capture == TAP_CAPTURE_REPORTED_NOT))
		ret = describe_capture(cuda, span);
	return ret;
}

static int span_begun(void *state, struct tap_span *span, const struct tap_event *event)
{
	return span->name->cuda ? describe(state, span, event) : 0;
}

static int span_ended(void *state, struct tap_span *span)
{
	struct cuda *cuda = state;

	return span->name->cuda ? tap_graphs_ended(&cuda->graphs, span) : 0;
}

static void free_all(void *state)
{
	struct cuda *cuda = state;
	struct arguments *arguments;
	size_t i;

	for (i = 0; i < cuda->arguments.size; i++) {
		arguments = cuda->arguments.slots[i].value;
		if (arguments)
			tap_fields_free(&arguments->fields);
		free(arguments);
	}
	tap_table_free(&cuda->arguments);

	for (i = 0; i < cuda->functions.size; i++)
		free(cuda->functions.slots[i].value);
	tap_table_free(&cuda->functions);
	tap_graphs_free(&cuda->graphs);
}

const struct tap_layer tap_cuda_layer = {
	.name = "cuda",
	.size = sizeof(struct cuda),
	.events = TAP_TAKES(TAP_EVENT_WORK) | TAP_TAKES(TAP_EVENT_NCCL_ARGS) |
		  TAP_TAKES(TAP_EVENT_FUNCTION),
	.begin = begin,
	.take = take,
	.span_begun = span_begun,
	.span_ended = span_ended,
	.free = free_all,
};
