/* SPDX-License-Identifier: MIT */
/* Matches runs and launches, whichever comes first. */
#include "join/gpu/gpu.h"

#include <errno.h>
#include <string.h>

#include "common/compiler.h"
#include "join/base/time.h"
#include "join/gpu/gpu_call.h"
#include "join/gpu/gpu_cupti.h"
#include "join/gpu/gpu_graph.h"
#include "join/gpu/gpu_launch.h"
#include "join/gpu/gpu_repeat.h"
#include "join/gpu/gpu_run.h"
#include "join/gpu/gpu_span.h"
#include "join/model/stream.h"
#include "join/nccl/attribution.h"
#include "join/nccl/kernel.h"
#include "join/nccl/thread.h"

/*
 * How long a run waits for its launch, which is recorded when the call has returned,
 * perhaps after the kernel.
 */
#define LAUNCH_WAIT_NS 1000000000

/* A run may begin before its launch by this, and still be in order for the views. */
#define CLOCK_ERROR_NS 1000000

/* A run that ends after its report by more than this is damaged. */
#define AHEAD_NS 1000000000

/* Calls that returned while threads of NCCL's work for them. */
#define KEPT_MAX 64

/* How often the layer looks for runs that have waited too long. */
#define LOOK_NS 10000000

struct gpu {
	struct tap_context *context; /* first: layer.h */

	const struct tap_threads *threads;
	int64_t now_ns, first_ns, looked_ns;
	struct tap_gpu_calls calls; /* of NCCL, with launches */
	struct tap_gpu_graphs graphs;
	struct tap_gpu_repeats repeats;
	struct tap_gpu_launches launches; /* that may still have runs */
	struct tap_gpu_runs runs;	  /* that wait */
	struct tap_gpu_spans spans;
	struct tap_gpu_cupti cupti;
	struct tap_attribution *attribution;
};

static int64_t horizon_of(const void *state)
{
	const struct gpu *gpu = state;
	const int64_t launch = tap_gpu_launches_horizon(&gpu->launches);
	const int64_t run = tap_gpu_runs_horizon(&gpu->runs);
	const int64_t horizon = run < launch ? run : launch;

	return horizon == INT64_MAX || horizon < INT64_MIN + CLOCK_ERROR_NS
		       ? horizon
		       : horizon - CLOCK_ERROR_NS;
}

/* ---- Runs ---- */

/* Emits a run, and drops it. */
static int settle(struct gpu *gpu, struct tap_gpu_run *run, enum tap_why why)
{
	int ret = tap_gpu_emit(gpu->context, &gpu->calls, run, why);

	if (run->launch)
		tap_gpu_launches_emitted(&gpu->launches, run->launch);
	tap_gpu_runs_drop(&gpu->runs, gpu->context, run);
	return ret;
}

static bool is_call_open(const struct tap_gpu_run *run)
{
	return run->root && run->root->call && !run->root->call->is_over;
}

/* Gives a run its launch. */
static int match(struct gpu *gpu, struct tap_gpu_run *run, struct tap_gpu_launch *launch)
{
	const int64_t early_ns = tap_since_ns(launch->begin_ns, run->span->begin_ns);
	struct tap_gpu_times *times = &gpu->context->gpu_times;

	tap_count_match(gpu->context, TAP_MATCH_LAUNCH_KERNEL, TAP_KNOWN_EXACT,
			TAP_WHY_NONE);
	if (early_ns > 0) {
		times->clock_errors++;
		if (early_ns > times->clock_error_max_ns)
			times->clock_error_max_ns = early_ns;
	}
	run->launch = launch;
	launch->references++;
	tap_gpu_launches_found(&gpu->launches, launch, gpu->now_ns);
	run->root =
		run->is_in_graph || launch->name->cuda == TAP_CUDA_GRAPH
			? tap_gpu_graphs_find(&gpu->graphs, run->span->process, run->node)
			: launch;
	if (run->root)
		run->root->references++;
	return is_call_open(run) ? 0 : settle(gpu, run, TAP_WHY_NONE);
}

/* NULL: not recorded yet. */
static struct tap_gpu_launch *
find_launch(const struct gpu *gpu, const struct tap_gpu_run *run, bool *ret_is_ambiguous)
{
	const struct tap_gpu_wanted wanted = {.process = run->span->process,
					      .number = run->number,
					      .begin_ns = run->span->begin_ns,
					      .reported_ns = run->reported_ns};

	return tap_gpu_launches_find(&gpu->launches, &wanted, ret_is_ambiguous);
}

static enum tap_why why_alone(const struct gpu *gpu, const struct tap_gpu_run *run)
{
	const struct tap_loss *loss = &gpu->context->loss;

	if (run->span->begin_ns < gpu->first_ns)
		return TAP_WHY_BEFORE;
	return loss->discarded_events || loss->discarded_packets ? TAP_WHY_DROPPED
								 : TAP_WHY_NOT_RECORDED;
}

static int give_up(struct gpu *gpu, struct tap_gpu_run *run, enum tap_why why)
{
	if (!run->launch)
		tap_gpu_runs_wait_no_more(&gpu->runs, run);
	return settle(gpu, run, why);
}

/* Makes a run from its event.  NULL when memory is short. */
static struct tap_gpu_run *make_run(struct gpu *gpu, const struct tap_process *process,
				    struct tap_event *event)
{
	const uint64_t number = tap_fields_number(&event->fields, "correlation_id");
	const uint64_t graph = tap_fields_number(&event->fields, "graph");
	const uint64_t node = tap_fields_number(&event->fields, "graph_node");
	struct tap_span *span =
		tap_gpu_spans_make(&gpu->spans, gpu->context, process, event);
	struct tap_gpu_run *run = span ? tap_gpu_runs_add(&gpu->runs, span) : NULL;

	if (run) {
		run->number = number;
		run->node = node;
		run->is_in_graph = graph || node;
		run->reported_ns = event->time_ns;
	} else if (span) {
		tap_pairs_put(&gpu->context->pairs, span);
	}
	return run;
}

/* Finds the launch of a run, or makes the run wait for it. */
static int place_run(struct gpu *gpu, struct tap_gpu_run *run)
{
	struct tap_gpu_launch *launch = NULL;
	bool is_ambiguous = false;
	int ret;

	if (run->number)
		launch = find_launch(gpu, run, &is_ambiguous);
	if (launch && is_ambiguous)
		return settle(gpu, run, TAP_WHY_AMBIGUOUS);
	if (launch)
		return match(gpu, run, launch);
	if (!run->number)
		return settle(gpu, run, why_alone(gpu, run));
	ret = tap_gpu_runs_wait(&gpu->runs, run);
	if (ret) {
		tap_gpu_runs_drop(&gpu->runs, gpu->context, run);
		return ret;
	}
	while (!ret &&
	       tap_gpu_runs_count(&gpu->runs) > gpu->context->bounds.held_operations)
		ret = give_up(gpu, tap_gpu_runs_first(&gpu->runs), TAP_WHY_GIVEN_UP);
	return ret;
}

static int take_run(struct gpu *gpu, const struct tap_process *process,
		    struct tap_event *event)
{
	struct tap_gpu_run *run;

	if (!event->begin_ns || !event->end_ns) {
		gpu->context->loss.gpu_zero_times++;
		return 0;
	}
	/* CUPTI cannot report a run before its end. */
	if (event->end_ns < event->begin_ns || event->begin_ns > event->time_ns ||
	    tap_since_ns(event->end_ns, event->time_ns) > AHEAD_NS) {
		gpu->context->loss.malformed_events++;
		return 0;
	}
	run = make_run(gpu, process, event);
	return run ? place_run(gpu, run) : -ENOMEM;
}

/* ---- Calls that end ---- */

static bool is_launch(const struct tap_span *span)
{
	switch (span->name->cuda) {
	case TAP_CUDA_KERNEL:
	case TAP_CUDA_GRAPH:
	case TAP_CUDA_COPY:
	case TAP_CUDA_SET:
		return span->state == TAP_SPAN_COMPLETE &&
		       !tap_span_is_failure(tap_span_result(span));
	default:
		return false;
	}
}

/*
 * The innermost enclosing NCCL call that asks for an operation or ends a group; else the
 * innermost one.
 */
static const struct tap_span *find_call(const struct gpu *gpu,
					const struct tap_span *launch)
{
	const struct tap_span *span = launch, *found = NULL;

	while (span->parent_id) {
		span = tap_threads_span(gpu->threads, launch->process, span->parent_id);
		if (!span)
			break;
		if (!span->name->is_nccl)
			continue;
		if (span->operation.number || span->name->kind == TAP_NAME_GROUP_END)
			return span;
		if (!found)
			found = span;
	}
	return found;
}

static struct tap_gpu_launch *make_launch(struct gpu *gpu, const struct tap_span *span)
{
	struct tap_gpu_launch *launch = tap_gpu_launch_make(span);

	if (!launch)
		return NULL;
	tap_call_get(span->name->row, TAP_ROLE_GRID, &span->entry, &launch->blocks);
	if (!tap_gpu_copy_about(&launch->about, &span->entry) &&
	    !tap_gpu_calls_launch(&gpu->calls, find_call(gpu, span), launch))
		return launch;
	tap_gpu_launch_put(launch);
	return NULL;
}

/* Matches runs that were reported before their launch. */
static int match_waiting(struct gpu *gpu, struct tap_gpu_launch *launch, uint64_t number)
{
	struct tap_gpu_run *run = tap_gpu_runs_waiting(&gpu->runs, launch->process,
						       number),
			   *next;
	int ret = 0;

	for (; run && !ret; run = next) {
		next = run->next;
		if (!tap_gpu_launch_is_possible(launch, run->reported_ns))
			continue;
		tap_gpu_runs_wait_no_more(&gpu->runs, run);
		ret = match(gpu, run, launch);
		if (!tap_gpu_launch_is_repeated(launch))
			break;
	}
	return ret;
}

/* Takes one that graphs may repeat, or that repeats others. */
static int take_graph(struct gpu *gpu, const struct tap_span *span, int64_t capture,
		      uint64_t number)
{
	if (span->name->cuda == TAP_CUDA_GRAPH)
		return tap_gpu_repeats_launched(&gpu->repeats, gpu->context, span,
						capture);
	if (span->name->cuda != TAP_CUDA_KERNEL || !capture ||
	    !tap_fields_find(&span->entry, "kernel_kind") ||
	    (capture == TAP_CAPTURE_ACTIVE && number &&
	     tap_gpu_graphs_have(&gpu->graphs, span->process, span->call_id)))
		return 0;
	return tap_attribution_unknown(gpu->attribution, span->process);
}

static int take_launch(struct gpu *gpu, const struct tap_span *span)
{
	struct tap_gpu_launch *launch;
	int64_t capture = 0;
	uint64_t number;
	int ret;

	/* An older tracer does not record the number. */
	if (!is_launch(span) || tap_gpu_launch_number(span, &number))
		return 0;
	tap_fields_get_signed(&span->entry, "capture", &capture);
	ret = take_graph(gpu, span, capture, number);
	if (ret)
		return ret;
	if (!number) {
		if (capture <= 0 && tap_gpu_cupti_is_foreign(&gpu->cupti, span->process))
			tap_count_unmatched(gpu->context, TAP_MATCH_LAUNCH_KERNEL,
					    TAP_WHY_IN_USE);
		return 0;
	}
	/* CUPTI has no record of a copy of 0 bytes. */
	if (!tap_cuda_bytes(span))
		return 0;
	launch = make_launch(gpu, span);
	if (!launch)
		return -ENOMEM;
	/* capture below 0 is unknown: the launch may be captured. */
	if (capture)
		ret = tap_gpu_graphs_captured(&gpu->graphs, launch);
	if (!ret && capture <= 0)
		ret = tap_gpu_launches_add(&gpu->launches, gpu->context, launch,
					   !capture);
	if (!ret && capture <= 0)
		ret = match_waiting(gpu, launch, number);
	tap_gpu_launch_put(launch);
	return ret;
}

/* Emits the runs that waited for the end of a call. */
static int settle_call(struct gpu *gpu, const struct tap_gpu_call *call)
{
	struct tap_gpu_run *run, *after;
	int ret = 0;

	for (run = tap_gpu_runs_first(&gpu->runs); !ret && run; run = after) {
		after = tap_gpu_runs_next(run);
		if (run->root && run->root->call == call)
			ret = settle(gpu, run, TAP_WHY_NONE);
	}
	return ret;
}

static bool has_runs(const struct gpu *gpu, const struct tap_gpu_call *call)
{
	struct tap_gpu_run *run = tap_gpu_runs_first(&gpu->runs);

	while (run && !(run->root && run->root->call == call))
		run = tap_gpu_runs_next(run);
	return run;
}

/* What copy engines carried out for a call that is over has no messages. */
static void tell_copied(const struct gpu *gpu, const struct tap_gpu_call *call)
{
	size_t i;

	for (i = 0; i < call->op_count; i++) {
		const struct tap_gpu_op *op = &call->ops[i];

		/* A captured one never runs; a graph's launch repeats kernels alone. */
		if (op->member && !op->is_captured && tap_gpu_calls_is_copied(call, op))
			tap_attribution_copied(gpu->attribution, op->name, op->member,
					       op->operation.number);
	}
}

/* A call that was kept is over: its runs know all its launches now. */
static int end_kept(struct gpu *gpu, const struct tap_gpu_call *call)
{
	const bool is_pending = has_runs(gpu, call);

	tap_gpu_calls_drop(&gpu->calls, call);
	return is_pending ? settle_call(gpu, call) : 0;
}

static int end_all_kept(struct gpu *gpu, size_t more_than)
{
	const struct tap_gpu_call *call;
	int ret = 0;

	while (!ret && (call = tap_gpu_calls_kept(&gpu->calls, more_than)))
		ret = end_kept(gpu, call);
	return ret;
}

/* Of a call that does not block, launches may come until a thread of NCCL's ends. */
static int take_call(struct gpu *gpu, const struct tap_span *span)
{
	const struct tap_gpu_call *call = tap_gpu_calls_find(&gpu->calls, span);
	const bool is_kept =
		tap_threads_is_kept(span) && !(call && call->is_worked) &&
		(span->name->kind == TAP_NAME_GROUP_END ||
		 (span->operation.number && !span->operation.group_id));
	const bool is_pending = call && !is_kept && has_runs(gpu, call);
	int ret;

	if (call && !is_kept && span->state == TAP_SPAN_COMPLETE)
		tell_copied(gpu, call);
	ret = tap_gpu_calls_ended(&gpu->calls, span, is_kept);
	if (!ret && is_pending)
		ret = settle_call(gpu, call);
	return ret ? ret : end_all_kept(gpu, KEPT_MAX);
}

/* The first thread that a call made ends last: it waits for those that it made itself. */
static int take_thread_end(struct gpu *gpu, const struct tap_process *process,
			   const struct tap_event *event)
{
	const struct tap_nccl_thread *thread =
		tap_threads_ended(gpu->threads, process, event);
	const struct tap_gpu_call *call = NULL;

	if (thread && !thread->creator_is_nccls)
		call = tap_gpu_calls_worked(&gpu->calls, process, thread->call_id);
	if (call)
		tell_copied(gpu, call);
	return call ? end_kept(gpu, call) : 0;
}

/* ---- The layer ---- */

static int span_ended(void *state, struct tap_span *span)
{
	struct gpu *gpu = state;
	int ret;

	if (span->name->cuda) {
		ret = tap_gpu_repeats_ended(&gpu->repeats, span);
		if (!ret && tap_kernel_is_batch(span->name->name))
			ret = tap_gpu_calls_batch(&gpu->calls, find_call(gpu, span));
		return ret ? ret : take_launch(gpu, span);
	}
	return span->name->is_nccl ? take_call(gpu, span) : 0;
}

static tap_apart int give_up_old(struct gpu *gpu, int64_t now_ns)
{
	struct tap_gpu_run *run, *after;
	int ret = 0;

	gpu->looked_ns = now_ns;
	/* By reported_ns: runs that wait for the end of a call stay. */
	for (run = tap_gpu_runs_first(&gpu->runs);
	     run && !ret && tap_since_ns(now_ns, run->reported_ns) > LAUNCH_WAIT_NS;
	     run = after) {
		after = tap_gpu_runs_next(run);
		if (!run->launch)
			ret = give_up(gpu, run, why_alone(gpu, run));
	}
	return ret;
}

/* Each event of the trace comes by here. */
static int advance(void *state, int64_t now_ns)
{
	struct gpu *gpu = state;

	if (!gpu->now_ns)
		gpu->first_ns = gpu->cupti.first_ns = now_ns;
	gpu->now_ns = now_ns;
	if (tap_gpu_launches_are_retained(&gpu->launches))
		tap_gpu_launches_advance(&gpu->launches, now_ns);
	if (!tap_gpu_runs_are_waiting(&gpu->runs) ||
	    tap_since_ns(now_ns, gpu->looked_ns) < LOOK_NS)
		return 0;
	return give_up_old(gpu, now_ns);
}

static void begin(void *state)
{
	struct gpu *gpu = state;

	gpu->threads = tap_context_state(gpu->context, &tap_threads_layer);
	gpu->attribution = tap_context_state(gpu->context, &tap_attribution_layer);
}

static int take_node(struct gpu *gpu, const struct tap_process *process,
		     const struct tap_event *event)
{
	const struct tap_fields *fields = &event->fields;
	const uint64_t node = tap_fields_number(fields, "node");
	const uint64_t call_id = tap_fields_number(fields, "call_id");
	const uint64_t original = tap_fields_number(fields, "original");
	struct tap_gpu_launch *launch;
	int ret = tap_gpu_graphs_node(&gpu->graphs, process, node, call_id, original);

	if (ret || !original)
		return ret;
	launch = tap_gpu_graphs_find(&gpu->graphs, process, node);
	return launch ? tap_gpu_repeats_copied(&gpu->repeats, call_id, launch) : 0;
}

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct gpu *gpu = state;

	if (event->kind == TAP_EVENT_CCL_THREAD_END)
		return take_thread_end(gpu, process, event);
	switch (event->gpu) {
	case TAP_GPU_KERNEL:
	case TAP_GPU_MEMCPY:
	case TAP_GPU_MEMCPY_P2P:
	case TAP_GPU_MEMSET:
		return take_run(gpu, process, event);
	case TAP_GPU_GRAPH_NODE:
		return take_node(gpu, process, event);
	case TAP_GPU_NAME:
		return tap_gpu_spans_name(&gpu->spans, gpu->context, process, event);
	case TAP_GPU_OWNER:
		return tap_gpu_cupti_owner(&gpu->cupti, gpu->context, process, event);
	case TAP_GPU_CLOCK:
		tap_gpu_cupti_clock(gpu->context, event);
		return 0;
	case TAP_GPU_LOST:
		return tap_gpu_cupti_lost(&gpu->cupti, gpu->context, process, event);
	case TAP_GPU_NONE:
		break;
	}
	return 0;
}

static int finish(void *state)
{
	struct gpu *gpu = state;
	struct tap_gpu_run *run;
	int ret = end_all_kept(gpu, 0);

	while (!ret && (run = tap_gpu_runs_first(&gpu->runs)))
		ret = give_up(gpu, run, why_alone(gpu, run));
	tap_gpu_launches_finish(&gpu->launches, gpu->context, &gpu->cupti);
	return ret ? ret : tap_gpu_cupti_finish(&gpu->cupti, gpu->context);
}

static void free_all(void *state)
{
	struct gpu *gpu = state;

	tap_gpu_runs_free(&gpu->runs, gpu->context);
	tap_gpu_launches_free(&gpu->launches, gpu->context);
	tap_gpu_spans_free(&gpu->spans);
	tap_gpu_cupti_free(&gpu->cupti);
	tap_gpu_repeats_free(&gpu->repeats);
	tap_gpu_graphs_free(&gpu->graphs);
	tap_gpu_calls_free(&gpu->calls);
}

const struct tap_layer tap_gpu_layer = {
	.name = "gpu",
	.size = sizeof(struct gpu),
	.events = TAP_TAKES(TAP_EVENT_GPU) | TAP_TAKES(TAP_EVENT_CCL_THREAD_END),
	.begin = begin,
	.take = take,
	.span_ended = span_ended,
	.advance = advance,
	.horizon = horizon_of,
	.finish = finish,
	.free = free_all,
};
