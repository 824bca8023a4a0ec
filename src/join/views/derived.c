/* SPDX-License-Identifier: MIT */
/*
 * Spans and links as events.  A span whose exit is missing gets an end, too, when the
 * reader notices that it is over: a viewer must not wait for ever.
 */
#include "join/views/derived.h"

#include "join/views/lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec.h"

struct process {
	char *who;
	int64_t bytes;	   /* of operations whose calls are open */
	int64_t in_flight; /* of its work requests */
};

struct derived {
	struct tap_view view;
	struct tap_mark_taker taker;
	struct tap_lanes lanes;
	TAP_VEC(struct process) processes; /* by number */
	struct tap_table by_pid;	   /* whether a name is in use, by pid and host */
	uint64_t link_count;
	int64_t last_ns;
};

/* ---- Processes ---- */

/*
 * Names a process "rank 3, pid 4711"; adds its number where another process had that
 * name.
 */
static int name_process(struct derived *derived, const struct tap_process *process,
			struct process *to)
{
	struct tap_buffer *line = &derived->view.line;
	const uint64_t pid = (uint64_t) process->pid;
	const uint64_t host = tap_table_hash(process->host);

	line->used = 0;
	if (process->rank >= 0) {
		tap_buffer_add_string(line, "rank ");
		tap_buffer_add_signed(line, process->rank);
		tap_buffer_add_string(line, ", ");
	}
	tap_buffer_add_string(line, "pid ");
	if (process->pid < 0)
		tap_buffer_add_char(line, '?');
	else
		tap_buffer_add_signed(line, process->pid);
	if (tap_table_find(&derived->by_pid, pid, host)) {
		tap_buffer_add_string(line, ", process ");
		tap_buffer_add_unsigned(line, process->number);
	}
	tap_buffer_add_char(line, '\0');
	if (line->is_short || tap_table_set(&derived->by_pid, pid, host, derived))
		return -ENOMEM;
	to->who = strdup(line->data);
	return to->who ? 0 : -ENOMEM;
}

/* NULL when memory is short. */
static struct process *process_of(struct derived *derived,
				  const struct tap_process *process)
{
	struct process *found;

	if (process->number >= derived->processes.count &&
	    tap_vec_resize(&derived->processes, process->number + 1))
		return NULL;
	found = &derived->processes.items[process->number];
	if (!found->who && name_process(derived, process, found))
		return NULL;
	return found;
}

/* ---- Events ---- */

/* Emits an event.  A damaged trace may go back in time; the output may not. */
static int give(struct derived *derived, struct tap_mark *mark, int64_t time_ns)
{
	if (time_ns > derived->last_ns)
		derived->last_ns = time_ns;
	mark->time_ns = derived->last_ns;
	return derived->taker.mark(derived->taker.data, mark);
}

/* Counts the bytes of a call: positive when it begins, negative when it ends. */
static int count_bytes(struct derived *derived, const struct tap_span *span,
		       struct process *process, int64_t bytes)
{
	struct tap_mark mark = {.kind = TAP_MARK_COUNTER,
				.process = span->process,
				.who = process->who,
				.layer = span->name->layer,
				.counter = span->work.kind ? "bytes in flight"
							   : "bytes in calls"};
	int64_t *sum = span->work.kind ? &process->in_flight : &process->bytes;

	if (__builtin_add_overflow(*sum, bytes, sum))
		*sum = bytes < 0 ? INT64_MIN : INT64_MAX;
	mark.value = *sum;
	return give(derived, &mark, derived->last_ns);
}

static int64_t bytes_of(const struct tap_span *span)
{
	uint64_t bytes;

	/* NVTX reports bytes, not elements.  The bytes of a receive are only its room. */
	if ((span->is_from_nvtx || span->work.kind == TAP_WORK_SEND) &&
	    !tap_fields_get_unsigned(&span->entry, "bytes", &bytes) && bytes <= INT64_MAX)
		return (int64_t) bytes;
	return tap_operation_bytes(&span->operation);
}

/*
 * The time, at most that of the latest event of the trace: a wrong clock must not delay
 * all later events.
 */
static int64_t not_ahead(const struct derived *derived, int64_t time_ns)
{
	const int64_t now_ns = derived->view.context->last_ns;

	return time_ns < now_ns ? time_ns : now_ns;
}

static int64_t bytes_of_copy(const struct tap_span *span)
{
	uint64_t bytes;

	return !tap_fields_get_unsigned(&span->entry, "bytes", &bytes) &&
			       bytes <= INT64_MAX
		       ? (int64_t) bytes
		       : -1;
}

static int take_begin(void *data, struct tap_span *span)
{
	struct derived *derived = data;
	struct process *process = process_of(derived, span->process);
	struct tap_mark mark = {.kind = TAP_MARK_BEGIN, .process = span->process};
	int ret;

	if (!process)
		return -ENOMEM;
	mark.who = process->who;
	mark.span = span;
	if (tap_work_is_known_late(&span->work)) {
		mark.bytes = bytes_of_copy(span);
		ret = tap_lanes_place(&derived->lanes, span);
		mark.time_ns = not_ahead(derived, span->begin_ns);
		return ret ? ret : derived->taker.mark(derived->taker.data, &mark);
	}
	ret = tap_lanes_begin(&derived->lanes, span);
	if (ret)
		return ret;
	mark.bytes = bytes_of(span);
	ret = give(derived, &mark, span->begin_ns);
	return ret || mark.bytes <= 0 ? ret
				      : count_bytes(derived, span, process, mark.bytes);
}

static int take_end(void *data, struct tap_span *span)
{
	struct derived *derived = data;
	struct process *process = process_of(derived, span->process);
	struct tap_mark mark = {.kind = TAP_MARK_END, .process = span->process};
	bool has_end =
		span->state == TAP_SPAN_COMPLETE || span->state == TAP_SPAN_BEGIN_LOST;
	int ret;

	if (!process)
		return -ENOMEM;
	mark.who = process->who;
	mark.span = span;
	if (tap_work_is_known_late(&span->work)) {
		mark.bytes = bytes_of_copy(span);
		mark.time_ns = not_ahead(derived, span->end_ns);
		return derived->taker.mark(derived->taker.data, &mark);
	}
	tap_lanes_end(&derived->lanes, span);
	mark.bytes = bytes_of(span);
	ret = give(derived, &mark,
		   has_end ? span->end_ns : derived->view.context->last_ns);
	if (ret || mark.bytes <= 0 || span->state == TAP_SPAN_BEGIN_LOST)
		return ret;
	return count_bytes(derived, span, process, -mark.bytes);
}

static int take_link(void *data, const struct tap_link *link)
{
	struct derived *derived = data;
	struct tap_mark mark = {.kind = TAP_MARK_LINK, .link = link};
	int ret = 0;

	/* The span of a work request already shows this link. */
	if (link->kind == TAP_LINK_POST_COMPLETION)
		return 0;
	mark.link_number = ++derived->link_count;
	while (!ret && mark.part < link->count) {
		const struct tap_link_end *end = &link->ends[mark.part++];
		struct process *process = process_of(derived, end->process);

		if (!process)
			return -ENOMEM;
		mark.process = end->process;
		mark.who = process->who;
		mark.end = end;
		ret = give(derived, &mark, derived->view.context->last_ns);
	}
	return ret;
}

static int finish(void *data, const struct tap_loss *loss)
{
	struct derived *derived = data;

	return derived->taker.finish(derived->taker.data, loss);
}

static enum tap_span_kind cuda_kind(const struct tap_name *name)
{
	if (name->is_cuda_wait)
		return TAP_SPAN_WAIT;
	if (!tap_name_is_launch(name))
		return TAP_SPAN_CALL;
	return name->cuda == TAP_CUDA_COPY || name->cuda == TAP_CUDA_SET
		       ? TAP_SPAN_COPY
		       : TAP_SPAN_LAUNCH;
}

/* The kind of a kernel by NCCL's names; several functions are a list. */
static enum tap_span_kind kernel_kind(const struct tap_span *span)
{
	static const struct {
		const char *collective;
		enum tap_span_kind kind;
	} kinds[] = {
		{"AllReduce", TAP_SPAN_KERNEL_ALL_REDUCE},
		{"AllGather", TAP_SPAN_KERNEL_ALL_GATHER},
		{"ReduceScatter", TAP_SPAN_KERNEL_REDUCE_SCATTER},
		{"Broadcast", TAP_SPAN_KERNEL_BROADCAST},
		{"Reduce", TAP_SPAN_KERNEL_REDUCE},
		{"SendRecv", TAP_SPAN_KERNEL_SEND_RECV},
	};
	const char *collective = tap_fields_get_string(&span->entry, "collective");
	size_t i;

	if (!collective && span->gpu.call && !strncmp(span->gpu.call->name, "nccl", 4))
		collective = span->gpu.call->name + 4;
	for (i = 0; collective && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(collective, kinds[i].collective))
			return kinds[i].kind;
	return TAP_SPAN_KERNEL_NCCL;
}

static enum tap_span_kind run_kind(const struct tap_span *span)
{
	if (span->gpu.is_nccl)
		return kernel_kind(span);
	if (!strcmp(span->name->name, "kernel"))
		return TAP_SPAN_KERNEL;
	return strcmp(span->name->name, "memset") ? TAP_SPAN_GPU_COPY : TAP_SPAN_GPU_SET;
}

enum tap_span_kind tap_span_kind(const struct tap_span *span)
{
	if (tap_work_is_run(&span->work))
		return run_kind(span);
	if (span->name->cuda)
		return cuda_kind(span->name);
	if (!strcmp(span->name->layer, "nvtx"))
		return TAP_SPAN_RANGE;
	if (tap_work_is_proxy(&span->work))
		return span->work.kind == TAP_WORK_PROXY_OP ? TAP_SPAN_PROXY_OP
							    : TAP_SPAN_PROXY_CTRL;
	if (span->work.kind == TAP_WORK_SEND)
		return TAP_SPAN_WORK_SEND;
	if (span->work.kind == TAP_WORK_RECEIVE)
		return TAP_SPAN_WORK_RECEIVE;
	if (tap_work_is_message(&span->work))
		return tap_work_is_receive(&span->work) ? TAP_SPAN_NET_RECEIVE
							: TAP_SPAN_NET_SEND;
	switch (span->name->kind) {
	case TAP_NAME_SEND:
		return TAP_SPAN_SEND;
	case TAP_NAME_RECEIVE:
		return TAP_SPAN_RECEIVE;
	case TAP_NAME_GROUP_START:
	case TAP_NAME_GROUP_END:
		return TAP_SPAN_GROUP;
	case TAP_NAME_COLLECTIVE:
		break;
	}
	/*
	 * TAP_NAME_COLLECTIVE is also the kind of an unknown name.  NVTX reports bytes,
	 * and no operation number.
	 */
	return span->operation.number || (span->is_from_nvtx && bytes_of(span) >= 0)
		       ? TAP_SPAN_COLLECTIVE
		       : TAP_SPAN_CALL;
}

const char *tap_span_kind_name(enum tap_span_kind kind)
{
	static const char *const names[] = {
		[TAP_SPAN_CALL] = "call",
		[TAP_SPAN_COLLECTIVE] = "collective",
		[TAP_SPAN_SEND] = "send",
		[TAP_SPAN_RECEIVE] = "receive",
		[TAP_SPAN_GROUP] = "group",
		[TAP_SPAN_RANGE] = "range",
		[TAP_SPAN_WORK_SEND] = "work-send",
		[TAP_SPAN_WORK_RECEIVE] = "work-receive",
		[TAP_SPAN_NET_SEND] = "net-send",
		[TAP_SPAN_NET_RECEIVE] = "net-receive",
		[TAP_SPAN_LAUNCH] = "launch",
		[TAP_SPAN_COPY] = "copy",
		[TAP_SPAN_WAIT] = "wait",
		[TAP_SPAN_KERNEL] = "kernel",
		[TAP_SPAN_KERNEL_NCCL] = "kernel-nccl",
		[TAP_SPAN_KERNEL_ALL_REDUCE] = "kernel-all-reduce",
		[TAP_SPAN_KERNEL_ALL_GATHER] = "kernel-all-gather",
		[TAP_SPAN_KERNEL_REDUCE_SCATTER] = "kernel-reduce-scatter",
		[TAP_SPAN_KERNEL_BROADCAST] = "kernel-broadcast",
		[TAP_SPAN_KERNEL_REDUCE] = "kernel-reduce",
		[TAP_SPAN_KERNEL_SEND_RECV] = "kernel-send-recv",
		[TAP_SPAN_GPU_COPY] = "gpu-copy",
		[TAP_SPAN_GPU_SET] = "gpu-set",
		[TAP_SPAN_PROXY_OP] = "proxy-op",
		[TAP_SPAN_PROXY_CTRL] = "proxy-ctrl",
	};

	return names[kind];
}

static void destroy(struct tap_view *view)
{
	struct derived *derived = (struct derived *) view;
	size_t i;

	for (i = 0; i < derived->processes.count; i++)
		free(derived->processes.items[i].who);
	tap_vec_free(&derived->processes);
	tap_lanes_free(&derived->lanes);
	tap_table_free(&derived->by_pid);
	tap_buffer_free(&view->line);
	free(derived);
}

static const struct tap_consumer consumer = {
	.span_begun = take_begin,
	.span_ended = take_end,
	.link = take_link,
	.finish = finish,
};

struct tap_view *tap_derived_create(const struct tap_mark_taker *taker)
{
	struct derived *derived = calloc(1, sizeof(*derived));

	if (!derived)
		return NULL;
	derived->view.consumer = &consumer;
	derived->view.destroy = destroy;
	derived->taker = *taker;
	derived->last_ns = INT64_MIN;
	return &derived->view;
}
