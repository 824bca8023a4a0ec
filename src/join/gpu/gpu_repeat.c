/* SPDX-License-Identifier: MIT */
/* Collects the launches whose nodes a call copies, until the call has made a graph. */
#include "join/gpu/gpu_repeat.h"

#include <errno.h>
#include <stdlib.h>

#include "join/gpu/gpu_graph.h"
#include "join/model/comm.h"
#include "join/model/stream.h"
#include "join/nccl/attribution.h"
#include "join/nccl/graph_ops.h"

/* Most graphs: a damaged trace cannot fill the memory. */
#define CONTENTS_MAX 65536

/* What an executable graph repeats. */
struct content {
	bool is_unknown; /* more, or something else */
	TAP_VEC(struct tap_gpu_launch *) launches;
	/* Of all calls that these are for, in the order of the capture. */
	TAP_VEC(struct tap_attribution_operation) operations;
};

static void free_content(struct content *content)
{
	size_t i;

	if (!content)
		return;
	for (i = 0; i < content->launches.count; i++)
		tap_gpu_launch_put(content->launches.items[i]);
	tap_vec_free(&content->launches);
	tap_vec_free(&content->operations);
	free(content);
}

static struct content *content_of(struct tap_table *table, uint64_t process, uint64_t key)
{
	struct content *content = tap_table_find(table, process, key);

	if (content)
		return content;
	content = calloc(1, sizeof(*content));
	if (!content || tap_table_set(table, process, key, content)) {
		free(content);
		return NULL;
	}
	return content;
}

int tap_gpu_repeats_copied(struct tap_gpu_repeats *repeats, uint64_t call_id,
			   struct tap_gpu_launch *launch)
{
	struct content *content;

	if (!call_id || repeats->copied.count >= CONTENTS_MAX ||
	    launch->name->cuda != TAP_CUDA_KERNEL ||
	    !tap_fields_find(&launch->about, "kernel_kind"))
		return 0;
	content = content_of(&repeats->copied, launch->process->number, call_id);
	if (!content || tap_vec_add(&content->launches, launch))
		return -ENOMEM;
	launch->references++;
	return 0;
}

/* ---- What the graph repeats ---- */

struct tap_attribution_operation tap_gpu_operation_of(const struct tap_gpu_op *op)
{
	return (struct tap_attribution_operation){.name = op->name,
						  .operation = &op->operation,
						  .member = op->member,
						  .call_id = op->call_id};
}

/* A communicator's kernels run in the order in which they were captured. */
static int compare(const void *left, const void *right)
{
	const struct tap_gpu_launch *a = *(struct tap_gpu_launch *const *) left,
				    *b = *(struct tap_gpu_launch *const *) right;

	return (a->call_id > b->call_id) - (a->call_id < b->call_id);
}

/* All operations of the call that have kernels: of a group, several may share them. */
static int add_call(struct content *content, const struct tap_gpu_call *call)
{
	size_t i;

	if (!call || !call->is_over || call->is_cut || !call->op_count) {
		content->is_unknown = true;
		return 0;
	}
	for (i = 0; i < call->op_count; i++) {
		const struct tap_gpu_op *op = &call->ops[i];

		content->is_unknown |= !op->is_captured || !op->member;
		if (tap_gpu_calls_is_copied(call, op))
			continue;
		if (tap_vec_add(&content->operations, tap_gpu_operation_of(op)))
			return -ENOMEM;
	}
	return 0;
}

static int find_operations(struct content *content)
{
	struct tap_gpu_launch **launches = content->launches.items;
	size_t i;
	int ret = 0;

	if (content->launches.count)
		qsort(launches, content->launches.count, sizeof(*launches), compare);
	for (i = 0; !ret && i < content->launches.count; i++)
		if (!i || !launches[i]->call || launches[i]->call != launches[i - 1]->call)
			ret = add_call(content, launches[i]->call);
	return ret;
}

static int instantiate(struct tap_gpu_repeats *repeats, const struct tap_span *span)
{
	const uint64_t process = span->process->number;
	struct content *content =
		content_of(&repeats->copied, process, span->call_id);
	uint64_t exec = 0;
	int ret = content ? find_operations(content) : -ENOMEM;

	tap_call_get(span->name->row, TAP_ROLE_MADE_GRAPH_EXEC, &span->exit, &exec);
	if (ret || !exec)
		return ret;
	free_content(tap_table_remove(&repeats->execs, process, exec));
	if (repeats->execs.count >= CONTENTS_MAX)
		return 0;
	ret = tap_table_set(&repeats->execs, process, exec, content);
	if (!ret)
		tap_table_remove(&repeats->copied, process, span->call_id);
	return ret;
}

/* Takes one that has succeeded. */
static int take_call(struct tap_gpu_repeats *repeats, const struct tap_span *span)
{
	const uint64_t process = span->process->number;
	struct content *content;
	uint64_t exec = 0;

	switch (span->name->cuda) {
	case TAP_CUDA_INSTANTIATE_GRAPH:
		return instantiate(repeats, span);
	case TAP_CUDA_UPDATE_GRAPH:
		tap_call_get(span->name->row, TAP_ROLE_GRAPH_EXEC, &span->entry, &exec);
		content = tap_table_find(&repeats->execs, process, exec);
		/* One that has no kernel of NCCL's to change brings none. */
		if (content)
			content->is_unknown |= content->launches.count > 0;
		return 0;
	case TAP_CUDA_DESTROY_GRAPH_EXEC:
		tap_call_get(span->name->row, TAP_ROLE_GRAPH_EXEC, &span->entry, &exec);
		free_content(tap_table_remove(&repeats->execs, process, exec));
		return 0;
	default:
		return 0;
	}
}

int tap_gpu_repeats_ended(struct tap_gpu_repeats *repeats, const struct tap_span *span)
{
	int ret = 0;

	if (span->state == TAP_SPAN_COMPLETE &&
	    !tap_span_is_failure(tap_span_result(span)))
		ret = take_call(repeats, span);
	if (repeats->copied.count)
		free_content(tap_table_remove(&repeats->copied, span->process->number,
					      span->call_id));
	return ret;
}

/* ---- Launches ---- */

/* Whether the process has a communicator, and one that is older than the recording. */
static bool has_members(const struct tap_context *context,
			const struct tap_process *process, bool is_old)
{
	const struct tap_comms *comms = &context->comms;
	size_t i;

	for (i = 0; i < comms->member_count; i++)
		if (comms->members[i]->process == process &&
		    !(is_old && comms->members[i]->is_made))
			return true;
	return false;
}

int tap_gpu_repeats_launched(struct tap_gpu_repeats *repeats, struct tap_context *context,
			     const struct tap_span *span, int64_t capture)
{
	struct tap_attribution *attribution =
		tap_context_state(context, &tap_attribution_layer);
	const struct content *content;
	struct tap_graph_launch launch = {.process = span->process,
					  .call_id = span->call_id,
					  .begin_ns = span->begin_ns};
	uint64_t exec = 0;

	tap_call_get(span->name->row, TAP_ROLE_GRAPH_EXEC, &span->entry, &exec);
	content = tap_table_find(&repeats->execs, span->process->number, exec);
	/* A graph that is captured becomes a part of another one. */
	if (capture >= TAP_CAPTURE_ACTIVE ||
	    (content && !content->is_unknown && !content->launches.count))
		return 0;
	/* Ranks begin to be recorded at different launches of a graph. */
	if (!content || content->is_unknown || capture != TAP_CAPTURE_NONE ||
	    has_members(context, span->process, true))
		return has_members(context, span->process, false)
			       ? tap_attribution_unknown(attribution, span->process)
			       : 0;
	launch.operations = content->operations.items;
	launch.count = content->operations.count;
	return tap_attribution_graph(attribution, &launch);
}

void tap_gpu_repeats_free(struct tap_gpu_repeats *repeats)
{
	size_t i;

	for (i = 0; i < repeats->copied.size; i++)
		free_content(repeats->copied.slots[i].value);
	for (i = 0; i < repeats->execs.size; i++)
		free_content(repeats->execs.slots[i].value);
	tap_table_free(&repeats->copied);
	tap_table_free(&repeats->execs);
}
