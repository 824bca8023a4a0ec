/* SPDX-License-Identifier: MIT */
/*
 * Spans and links as events.  A span whose exit is missing gets an end, too, when the
 * reader notices that it is over: a viewer must not wait for ever.
 */
#include "join/views/derived.h"

#include "join/views/derived_queue.h"
#include "join/views/lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec.h"

struct derived {
	struct tap_view view;
	struct tap_mark_taker taker;
	bool has_links;
	struct tap_lanes lanes;
	struct tap_places places;
	struct tap_subjects subjects;
	struct tap_mark_queue queue;
	uint64_t link_count;
	int64_t last_ns;
};

/* ---- Spans ---- */

/* A damaged trace may go back in time. */
static int64_t not_back(struct derived *derived, int64_t time_ns)
{
	if (time_ns > derived->last_ns)
		derived->last_ns = time_ns;
	return derived->last_ns;
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

static bool is_wire(const struct tap_span *span)
{
	return tap_work_is_request(&span->work) || tap_work_is_message(&span->work);
}

static int add(struct derived *derived, const struct tap_waiting *waiting,
	       int64_t time_ns)
{
	return tap_mark_queue_add(&derived->queue, waiting, time_ns,
				  tap_context_horizon(derived->view.context));
}

static int add_end(struct derived *derived, struct tap_shown *shown,
		   enum tap_span_state state, bool is_end_bound, int64_t time_ns)
{
	const struct tap_waiting waiting = {.kind = is_wire(shown->span)
							    ? TAP_MARK_WIRE_END
							    : TAP_MARK_END,
					    .process = shown->span->process,
					    .shown = shown,
					    .state = state,
					    .is_end_bound = is_end_bound};

	shown->is_ended = true;
	return add(derived, &waiting, time_ns);
}

static int take_begin(void *data, struct tap_span *span)
{
	struct derived *derived = data;
	const bool is_late = tap_work_is_known_late(&span->work);
	struct tap_waiting waiting = {.kind = is_wire(span) ? TAP_MARK_WIRE_BEGIN
							    : TAP_MARK_BEGIN,
				      .process = span->process};
	int ret = is_late ? tap_lanes_place(&derived->lanes, span)
			  : tap_lanes_begin(&derived->lanes, span);

	if (ret)
		return ret;
	waiting.shown = tap_mark_queue_open(&derived->queue, span);
	if (!waiting.shown)
		return -ENOMEM;
	if (!span->work.kind && span->operation.number) {
		waiting.shown->subject = tap_subject_of_call(span);
		ret = tap_subjects_add(&derived->subjects, span);
	}
	if (span->gpu.is_nccl)
		derived->queue.has_kernels = true;
	return ret ? ret
		   : add(derived, &waiting,
			 is_late ? not_ahead(derived, span->begin_ns)
				 : not_back(derived, span->begin_ns));
}

/* A span whose exit is missing is over when the reader notices it. */
static int64_t end_of(struct derived *derived, const struct tap_span *span)
{
	const bool has_end =
		span->state == TAP_SPAN_COMPLETE || span->state == TAP_SPAN_BEGIN_LOST;

	if (tap_work_is_known_late(&span->work))
		return not_ahead(derived, span->end_ns);
	return not_back(derived, has_end ? span->end_ns : derived->view.context->last_ns);
}

static int take_end(void *data, struct tap_span *span)
{
	struct derived *derived = data;
	struct tap_shown *shown = tap_mark_queue_of(&derived->queue, span);
	int ret = 0;

	if (!shown)
		shown = tap_mark_queue_open(&derived->queue, span);
	if (!shown)
		return -ENOMEM;
	tap_lanes_end(&derived->lanes, span);
	/* What a message proved has ended before. */
	if (!shown->is_ended)
		ret = add_end(derived, shown, span->state, span->is_end_bound,
			      end_of(derived, span));
	tap_mark_queue_close(&derived->queue, shown);
	return ret;
}

/* ---- What links tell of spans ---- */

static struct tap_shown *shown_of(const struct derived *derived,
				  const struct tap_link_end *end)
{
	return tap_mark_queue_find(&derived->queue, end->process, &end->work,
				   end->call_id);
}

/*
 * The receiver's clear-to-send asked for the message that has arrived: it was over by
 * now, though nothing completes it.
 */
static int close_proved(struct derived *derived, const struct tap_link *link)
{
	struct tap_shown *shown = shown_of(derived, &link->ends[0]);

	if (!shown || shown->is_ended || link->known == TAP_KNOWN_INFERRED ||
	    shown->span->state != TAP_SPAN_RUNNING)
		return 0;
	tap_lanes_end(&derived->lanes, shown->span);
	return add_end(derived, shown, TAP_SPAN_COMPLETE, true,
		       not_back(derived, derived->view.context->last_ns));
}

static int set_peers(struct derived *derived, const struct tap_link_end *end,
		     const struct tap_process *peer)
{
	struct tap_shown *shown = shown_of(derived, end);

	if (shown)
		shown->subject.peer = peer;
	return tap_places_note_peer(&derived->places, end->process, &end->work, peer);
}

static int take_message(struct derived *derived, const struct tap_link *link)
{
	const struct tap_link_end *ends = link->ends;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < link->count; i++) {
		/* The first is the receiver's clear-to-send, the third its message. */
		struct tap_shown *message =
			shown_of(derived, &ends[i == 0 || i == 2 ? 2 : 1]);
		struct tap_shown *shown = shown_of(derived, &ends[i]);

		ret = set_peers(derived, &ends[i],
				ends[i == 0 || i == 2 ? 1 : 2].process);
		if (shown && message)
			tap_mark_queue_set_message(&derived->queue, shown, message);
	}
	return ret ? ret : close_proved(derived, link);
}

/* A kernel, and the calls that it ran for. */
static void take_kernel(struct derived *derived, const struct tap_link *link)
{
	struct tap_shown *kernel = shown_of(derived, &link->ends[0]), *launch;
	const struct tap_link_end *call = &link->ends[1];
	const struct tap_subject *subject;
	uint64_t launch_id;

	subject = tap_subjects_find(&derived->subjects, call->process, call->call_id);
	if (link->count != 2 || !subject || !kernel)
		return;
	kernel->subject = *subject;
	if (tap_fields_get_unsigned(&kernel->span->entry, "launch_call_id", &launch_id))
		return;
	launch = tap_mark_queue_find(&derived->queue, call->process,
				     &(struct tap_work){0}, launch_id);
	if (launch)
		launch->subject = *subject;
}

/* A launch inside a call. */
static void take_launch(struct derived *derived, const struct tap_link *link)
{
	struct tap_shown *launch = shown_of(derived, &link->ends[1]);
	const struct tap_subject *subject =
		tap_subjects_find(&derived->subjects, link->ends[0].process,
				  link->ends[0].call_id);

	if (launch && subject)
		launch->subject = *subject;
}

/* One end of a message, and the kernels of both ranks. */
static void settle(struct derived *derived, const struct tap_link *link,
		   const struct tap_link_end *message, const struct tap_link_end *own,
		   const struct tap_link_end *other)
{
	struct tap_shown *shown = shown_of(derived, message);
	const struct tap_shown *kernel = shown_of(derived, own);
	struct tap_subject *subject = shown ? &shown->subject : NULL;

	if (!shown)
		return;
	shown->is_settled = true;
	if (kernel && kernel->subject.name && link->op_number) {
		subject->name = kernel->subject.name;
		subject->operation = kernel->subject.operation;
	} else if (link->operation && link->op_number) {
		subject->name = link->operation;
		subject->operation = TAP_OPERATION_NONE;
		subject->operation.number = link->op_number;
	}
	subject->member = own->member;
	subject->has_peer_rank = other->rank >= 0;
	subject->peer_rank = other->rank;
}

static int learn(struct derived *derived, const struct tap_link *link)
{
	const struct tap_link_end *ends = link->ends;
	int ret = 0;

	switch (link->kind) {
	case TAP_LINK_SEND_RECEIVE:
	case TAP_LINK_SOCKET_MESSAGE:
		ret = set_peers(derived, &ends[0], ends[1].process);
		return ret ? ret : set_peers(derived, &ends[1], ends[0].process);
	case TAP_LINK_CTS_MESSAGE:
		return take_message(derived, link);
	case TAP_LINK_FLUSH_MESSAGE:
		if (shown_of(derived, &ends[0]) && shown_of(derived, &ends[1]))
			tap_mark_queue_set_message(&derived->queue,
						   shown_of(derived, &ends[1]),
						   shown_of(derived, &ends[0]));
		return 0;
	case TAP_LINK_API_LAUNCH:
		take_launch(derived, link);
		return 0;
	case TAP_LINK_KERNEL_COLLECTIVE:
		take_kernel(derived, link);
		return 0;
	case TAP_LINK_MESSAGE_KERNEL:
		if (link->count < 4)
			return 0;
		settle(derived, link, &ends[1], &ends[0], &ends[3]);
		settle(derived, link, &ends[2], &ends[3], &ends[0]);
		return 0;
	case TAP_LINK_COLLECTIVE_RANKS:
	case TAP_LINK_SEND_RECV:
	case TAP_LINK_POST_COMPLETION:
	case TAP_LINK_LAUNCH_KERNEL:
	case TAP_LINK_PROXY_OP:
		break;
	}
	return 0;
}

/* ---- Links as events ---- */

static struct tap_mark_link *copy_link(struct derived *derived,
				       const struct tap_link *link, size_t part)
{
	struct tap_mark_link *copy = calloc(1, sizeof(*copy));
	const struct tap_link_end *end = &link->ends[part];
	struct tap_buffer *line = &derived->view.line;

	if (!copy)
		return NULL;
	*copy = (struct tap_mark_link){.number = derived->link_count,
				       .part = part + 1,
				       .count = link->count,
				       .kind = link->kind,
				       .known = link->known,
				       .is_mismatch = link->is_mismatch,
				       .operation = link->operation,
				       .comm_key = tap_link_comm_key(link),
				       .op_number = link->op_number,
				       .nranks = link->nranks,
				       .rank = end->rank,
				       .call_id = end->call_id,
				       .work = end->work};
	line->used = 0;
	tap_link_add_op_key(line, link);
	if (!line->is_short && line->used && line->used < sizeof(copy->op_key))
		memcpy(copy->op_key, line->data, line->used);
	return copy;
}

static int take_link(void *data, const struct tap_link *link)
{
	struct derived *derived = data;
	int ret = learn(derived, link);
	size_t part;

	/* The span of a work request already shows the link to its completion. */
	if (ret || !derived->has_links || link->kind == TAP_LINK_POST_COMPLETION)
		return ret;
	derived->link_count++;
	for (part = 0; !ret && part < link->count; part++) {
		const struct tap_waiting waiting = {.kind = TAP_MARK_LINK,
						    .process = link->ends[part].process,
						    .link = copy_link(derived, link,
								      part)};

		if (!waiting.link)
			return -ENOMEM;
		ret = add(derived, &waiting,
			  not_back(derived, derived->view.context->last_ns));
	}
	return ret;
}

static int take_communicator(void *data, const struct tap_member *member)
{
	struct derived *derived = data;

	return tap_places_note_member(&derived->places, member);
}

static int finish(void *data, const struct tap_loss *loss)
{
	struct derived *derived = data;
	int ret = tap_mark_queue_finish(&derived->queue);

	return ret ? ret : derived->taker.finish(derived->taker.data, loss);
}

/* ---- Kinds ---- */

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
	return span->operation.number || (span->is_from_nvtx &&
					  tap_fields_find(&span->entry, "bytes"))
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

	tap_mark_queue_free(&derived->queue);
	tap_lanes_free(&derived->lanes);
	tap_places_free(&derived->places);
	tap_subjects_free(&derived->subjects);
	tap_buffer_free(&view->line);
	free(derived);
}

static const struct tap_consumer consumer = {
	.communicator = take_communicator,
	.span_begun = take_begin,
	.span_ended = take_end,
	.link = take_link,
	.finish = finish,
};

struct tap_view *tap_derived_create(const struct tap_mark_taker *taker, bool has_links)
{
	struct derived *derived = calloc(1, sizeof(*derived));

	if (!derived)
		return NULL;
	derived->view.consumer = &consumer;
	derived->view.destroy = destroy;
	derived->taker = *taker;
	derived->has_links = has_links;
	derived->queue.places = &derived->places;
	derived->queue.taker = &derived->taker;
	derived->last_ns = INT64_MIN;
	return &derived->view;
}
