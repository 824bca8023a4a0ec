/* SPDX-License-Identifier: MIT */
/* Makes a span from an event, and emits it with its launch. */
#include "join/gpu/gpu_span.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "join/base/time.h"
#include "join/gpu/gpu_repeat.h"
#include "join/model/comm.h"
#include "join/nccl/attribution.h"
#include "join/nccl/kernel.h"

/* Most names of kernels: a damaged trace cannot fill the memory. */
#define FUNCTIONS_MAX 65536

static int add_number(struct tap_fields *fields, const char *name, int64_t number)
{
	struct tap_field *field;

	if (tap_fields_find(fields, name))
		return 0;
	field = tap_fields_add(fields, name,
			       number < 0 ? TAP_FIELD_SIGNED : TAP_FIELD_UNSIGNED);
	if (!field)
		return -ENOMEM;
	field->value.i = number;
	return 0;
}

/* Each name by itself: the compiler knows the head of a constant. */
int tap_gpu_copy_about(struct tap_fields *to, const struct tap_fields *from)
{
	int ret = 0;

#define COPY(name) ret = ret ? ret : tap_fields_copy(to, from, name)
	COPY("kernel_kind");
	COPY("known");
	COPY("collective");
	COPY("op");
	COPY("datatype");
	COPY("algorithm");
	COPY("protocol");
	COPY("channels");
	COPY("device_comm");
	COPY("left_out");
	COPY("channel_mask");
	COPY("nccl_version");
#undef COPY
	return ret;
}

/* ---- From an event to a span ---- */

int tap_gpu_spans_name(struct tap_gpu_spans *spans, struct tap_context *context,
		       const struct tap_process *process, const struct tap_event *event)
{
	const char *text = tap_fields_get_string(&event->fields, "text");
	char *copy;

	if (!text || !event->name_number) {
		context->loss.malformed_events++;
		return 0;
	}
	free(tap_table_remove(&spans->functions, process->number, event->name_number));
	if (spans->functions.count >= FUNCTIONS_MAX)
		return 0;
	copy = strdup(text);
	if (copy &&
	    !tap_table_set(&spans->functions, process->number, event->name_number, copy))
		return 0;
	free(copy);
	return -ENOMEM;
}

/* Names a run by device, stream and number among all runs. */
static struct tap_work work_of(const struct tap_fields *fields, uint64_t number)
{
	return (struct tap_work){.kind = TAP_WORK_GPU,
				 .run = {.device = tap_fields_number(fields, "device"),
					 .stream = tap_fields_number(fields, "stream"),
					 .number = number}};
}

struct tap_span *tap_gpu_spans_make(struct tap_gpu_spans *spans,
				    struct tap_context *context,
				    const struct tap_process *process,
				    struct tap_event *event)
{
	static const char *const names[] = {
		[TAP_GPU_KERNEL] = "kernel",
		[TAP_GPU_MEMCPY] = "memcpy",
		[TAP_GPU_MEMCPY_P2P] = "memcpy_p2p",
		[TAP_GPU_MEMSET] = "memset",
	};
	const char *word = names[event->gpu];
	const struct tap_name *name =
		tap_names_get(&context->names, "gpu", 3, word, strlen(word));
	struct tap_span *span =
		name ? tap_pairs_make(&context->pairs, process, name, -1) : NULL;
	const char *function = NULL;

	if (!span)
		return NULL;
	span->state = TAP_SPAN_RUNNING;
	span->begin_ns = event->begin_ns;
	span->end_ns = event->end_ns;
	span->operation = TAP_OPERATION_NONE;
	span->work = work_of(&event->fields, ++spans->count);
	if (event->name_number)
		function = tap_table_find(&spans->functions, process->number,
					  event->name_number);
	tap_fields_swap(&span->entry, &event->fields);
	if ((function && !tap_fields_add_string(&span->entry, "function", function,
						strlen(function))) ||
	    (event->gpu == TAP_GPU_KERNEL &&
	     tap_kernel_describe(&span->entry, function, 0, NULL))) {
		tap_pairs_put(&context->pairs, span);
		return NULL;
	}
	return span;
}

/* ---- From a run to the consumer ---- */

static int add_launch(const struct tap_gpu_run *run)
{
	const struct tap_gpu_launch *launch = run->launch;
	struct tap_span *span = run->span;
	const int64_t queue_ns = tap_since_ns(span->begin_ns, launch->begin_ns);
	const int64_t min_ns = tap_since_ns(span->begin_ns, launch->end_ns);

	span->gpu.has_launch = true;
	span->gpu.launch_ns = tap_since_ns(launch->end_ns, launch->begin_ns);
	span->gpu.queue_ns = queue_ns;
	if (add_number(&span->entry, "launch_call_id", (int64_t) launch->call_id) ||
	    add_number(&span->entry, "queue_ns", queue_ns) ||
	    add_number(&span->entry, "queue_min_ns", min_ns > 0 ? min_ns : 0))
		return -ENOMEM;
	if (run->root && run->root != launch &&
	    add_number(&span->entry, "captured_call_id", (int64_t) run->root->call_id))
		return -ENOMEM;
	return 0;
}

static void set_operation(struct tap_gpu_run *run, const struct tap_gpu_reading *reading)
{
	const struct tap_gpu_op *op = reading->ops[0];
	const struct tap_gpu_call *call = run->root->call;
	struct tap_span *span = run->span;

	span->member = op->member;
	span->operation.comm_id = op->operation.comm_id;
	span->operation.comm_key = op->operation.comm_key;
	if (reading->count == 1) {
		span->operation.number = op->operation.number;
		span->operation.peer = op->operation.peer;
	}
	span->gpu.call = op->name->operation;
	/* A graph repeats a call, so that the time since the call means nothing. */
	if (run->root != run->launch)
		return;
	span->gpu.has_call = true;
	span->gpu.call_ns =
		call->end_ns ? tap_since_ns(call->end_ns, call->begin_ns) : -1;
	span->gpu.to_launch_ns = tap_since_ns(run->launch->begin_ns, call->begin_ns);
}

static int emit_launch(struct tap_context *context, const struct tap_gpu_run *run)
{
	const struct tap_gpu_launch *launch = run->launch;
	const struct tap_span *span = run->span;
	const struct tap_link_end ends[2] = {
		{.process = span->process,
		 .name = launch->name,
		 .call_id = launch->call_id,
		 .rank = span->process->rank},
		{.process = span->process,
		 .name = span->name,
		 .work = span->work,
		 .rank = span->process->rank},
	};
	const struct tap_link link = {.kind = TAP_LINK_LAUNCH_KERNEL,
				      .known = TAP_KNOWN_EXACT,
				      .is_complete = true,
				      .operation = span->name,
				      .begin_ns = launch->begin_ns,
				      .end_ns = span->begin_ns,
				      .nranks = -1,
				      .ends = ends,
				      .count = 2};

	return tap_emit_link(context, &link);
}

static int emit_collective(struct tap_context *context, const struct tap_gpu_run *run,
			   const struct tap_gpu_reading *reading)
{
	const struct tap_span *span = run->span;
	struct tap_link_end *ends;
	struct tap_link link = {.kind = TAP_LINK_KERNEL_COLLECTIVE,
				.known = reading->known,
				.is_complete = true,
				.operation = span->gpu.call,
				.end_ns = span->begin_ns,
				.nranks = -1,
				.count = reading->count + 1};
	size_t i;
	int ret;

	if (!context->consumer->link)
		return 0;
	ends = calloc(link.count, sizeof(*ends));
	if (!ends)
		return -ENOMEM;
	link.ends = ends;
	link.begin_ns = reading->ops[0]->begin_ns;
	ends[0].name = span->name;
	ends[0].work = span->work;
	for (i = 0; i < link.count; i++) {
		ends[i].process = span->process;
		ends[i].rank = span->process->rank;
		if (!i)
			continue;
		ends[i].name = reading->ops[i - 1]->name;
		ends[i].member = reading->ops[i - 1]->member;
		ends[i].call_id = reading->ops[i - 1]->call_id;
	}
	ret = tap_emit_link(context, &link);
	free(ends);
	return ret;
}

/* A kernel of its own for all that a call asked for bounds the messages of others. */
static int ascribe(struct tap_context *context, const struct tap_gpu_run *run,
		   const struct tap_gpu_reading *reading)
{
	struct tap_attribution_kernel kernel = {.span = run->span,
						.member = run->span->member,
						.about = &run->root->about,
						.blocks = run->root->blocks,
						.count = reading->count};
	struct tap_attribution *attribution =
		tap_context_state(context, &tap_attribution_layer);
	const bool is_repeated = run->root != run->launch;
	bool is_contradicted = false;
	size_t i;
	int ret;

	if (!kernel.member || run->root->name->cuda != TAP_CUDA_KERNEL ||
	    !tap_gpu_calls_is_whole(run->root, reading))
		return 0;
	if (is_repeated)
		kernel.graph_launch_id = run->launch->call_id;
	kernel.operations = malloc(reading->count * sizeof(*kernel.operations));
	if (!kernel.operations)
		return -ENOMEM;
	for (i = 0; i < reading->count; i++) {
		kernel.operations[i] = tap_gpu_operation_of(reading->ops[i]);
		is_contradicted |= reading->ops[i]->is_captured != is_repeated;
	}
	ret = is_contradicted ? tap_attribution_unknown(attribution, kernel.span->process)
			      : tap_attribution_kernel(attribution, &kernel);
	free(kernel.operations);
	return ret;
}

/* Finds the collective of a run; none for a kernel that is not NCCL's. */
static int find_collective(struct tap_context *context, const struct tap_gpu_calls *calls,
			   struct tap_gpu_run *run, enum tap_why why,
			   struct tap_gpu_reading *reading)
{
	struct tap_span *span = run->span;
	const char *kind;
	int ret = 0;

	memset(reading, 0, sizeof(*reading));
	reading->why = why ? why : TAP_WHY_NOT_RECORDED;
	if (run->root)
		ret = tap_gpu_copy_about(&span->entry, &run->root->about);
	kind = tap_fields_get_string(&span->entry, "kernel_kind");
	if (ret || !kind)
		return ret;
	span->gpu.is_nccl = true;
	if (run->root)
		ret = tap_gpu_calls_read(calls, run->root, &span->entry, reading);
	if (ret)
		return ret;
	if (reading->why) {
		tap_count_unmatched(context, TAP_MATCH_KERNEL_COLLECTIVE, reading->why);
		return 0;
	}
	tap_count_match(context, TAP_MATCH_KERNEL_COLLECTIVE, reading->known,
			TAP_WHY_NONE);
	set_operation(run, reading);
	return 0;
}

int tap_gpu_emit(struct tap_context *context, const struct tap_gpu_calls *calls,
		 struct tap_gpu_run *run, enum tap_why why)
{
	struct tap_gpu_reading reading = {0};
	struct tap_span *span = run->span;
	int ret = run->launch ? add_launch(run) : 0;

	if (!run->launch)
		tap_count_unmatched(context, TAP_MATCH_LAUNCH_KERNEL, why);
	if (!ret)
		ret = find_collective(context, calls, run, why, &reading);
	if (!ret)
		ret = tap_emit_begun(context, span);
	span->state = TAP_SPAN_COMPLETE;
	if (!ret)
		ret = tap_emit_ended(context, span);
	if (!ret && run->launch)
		ret = emit_launch(context, run);
	if (!ret && span->gpu.call)
		ret = emit_collective(context, run, &reading);
	if (!ret && span->gpu.call)
		ret = ascribe(context, run, &reading);
	/* Of a node that is not known, nothing was told when its graph was launched. */
	if (!ret && span->gpu.is_nccl && run->is_in_graph && !run->root)
		ret = tap_attribution_unknown(tap_context_state(context,
								&tap_attribution_layer),
					      span->process);
	free(reading.ops);
	return ret;
}

void tap_gpu_spans_free(struct tap_gpu_spans *spans)
{
	size_t i;

	for (i = 0; i < spans->functions.size; i++)
		free(spans->functions.slots[i].value);
	tap_table_free(&spans->functions);
}
