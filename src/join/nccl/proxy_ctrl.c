/* SPDX-License-Identifier: MIT */
/* At most one span of each progress thread is open. */
#include "join/nccl/proxy_ctrl.h"

#include "join/model/work.h"
#include "join/nccl/thread.h"

#include <errno.h>
#include <stdlib.h>

struct ctrl {
	struct tap_span *span; /* owned */
	uint64_t yields;       /* when it began */
	TAP_LIST_LINK(struct ctrl) all;
};

struct ctrls {
	struct tap_context *context; /* first: layer.h */
	const struct tap_threads *threads;
	struct tap_table by_thread; /* by (process, tid) */
	TAP_LIST(struct ctrl) all;
	uint64_t count;
};

static struct ctrl *find(const struct ctrls *ctrls, const struct tap_process *process,
			 int64_t tid)
{
	return tap_table_find(&ctrls->by_thread, process->number, (uint64_t) tid);
}

static void drop(struct ctrls *ctrls, struct ctrl *ctrl)
{
	tap_table_remove(&ctrls->by_thread, ctrl->span->process->number,
			 (uint64_t) ctrl->span->tid);
	tap_list_remove(&ctrls->all, ctrl, all);
	tap_pairs_put(&ctrls->context->pairs, ctrl->span);
	free(ctrl);
}

static int end(struct ctrls *ctrls, struct ctrl *ctrl, enum tap_span_state state,
	       int64_t time_ns)
{
	int ret;

	ctrl->span->state = state;
	ctrl->span->end_ns = time_ns;
	ret = tap_emit_ended(ctrls->context, ctrl->span);
	drop(ctrls, ctrl);
	return ret;
}

static struct tap_span *make_span(struct ctrls *ctrls, const struct tap_process *process,
				  const struct tap_event *event, int64_t tid,
				  const char *state)
{
	struct tap_span *span =
		tap_work_make_span(ctrls->context, process, "proxy", "ProxyCtrl", tid);
	enum tap_known known = TAP_KNOWN_EXACT;
	const struct tap_member *member;

	if (!span)
		return NULL;
	span->begin_ns = event->time_ns;
	span->work = (struct tap_work){.kind = TAP_WORK_PROXY_CTRL,
				       .proxy = {.id = (uint64_t) tid,
						 .number = ++ctrls->count}};
	member = tap_threads_serves(ctrls->threads, process, tid, &known);
	if (known != TAP_KNOWN_INFERRED)
		span->member = (struct tap_member *) member;
	if (span->member)
		span->operation.comm_id = span->member->comm_id;
	tap_fields_add_text(&span->entry, "state", state);
	return span;
}

static int begin_state(struct ctrls *ctrls, const struct tap_process *process,
		       const struct tap_event *event, int64_t tid, const char *state)
{
	struct ctrl *ctrl = calloc(1, sizeof(*ctrl));
	struct tap_span *span =
		ctrl ? make_span(ctrls, process, event, tid, state) : NULL;

	if (!span ||
	    tap_table_set(&ctrls->by_thread, process->number, (uint64_t) tid, ctrl)) {
		if (span)
			tap_pairs_put(&ctrls->context->pairs, span);
		free(ctrl);
		return -ENOMEM;
	}
	ctrl->span = span;
	ctrl->yields = tap_fields_number(&event->fields, "yields");
	tap_list_append(&ctrls->all, ctrl, all);
	return tap_emit_begun(ctrls->context, span);
}

static void add_turns(const struct ctrl *ctrl, const struct tap_event *event)
{
	const uint64_t yields = tap_fields_number(&event->fields, "yields");

	if (yields >= ctrl->yields)
		tap_fields_add_unsigned(&ctrl->span->exit, "idle_turns",
					yields - ctrl->yields);
}

/* Ends the state of the thread, and begins the next one, NULL for none. */
static int change(struct ctrls *ctrls, const struct tap_process *process,
		  const struct tap_event *event, int64_t tid, const char *state)
{
	struct ctrl *ctrl = find(ctrls, process, tid);
	const struct tap_nccl_thread *thread;
	int ret = 0;

	if (ctrl) {
		add_turns(ctrl, event);
		ret = end(ctrls, ctrl, TAP_SPAN_COMPLETE, event->time_ns);
	}
	if (ret || !state)
		return ret;
	thread = tap_threads_find(ctrls->threads, process, tid);
	return thread && thread->role == TAP_THREAD_PROGRESS
		       ? begin_state(ctrls, process, event, tid, state)
		       : 0;
}

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct ctrls *ctrls = state;
	int64_t tid = -1;

	if (tap_fields_get_signed(&event->fields, "tid", &tid) || tid < 0)
		return 0;
	switch (event->kind) {
	case TAP_EVENT_CCL_THREAD:
		return change(ctrls, process, event, tid, "Awake");
	case TAP_EVENT_CCL_THREAD_SLEEP:
		return change(ctrls, process, event, tid, "Sleep");
	case TAP_EVENT_CCL_THREAD_WAKE:
		return change(ctrls, process, event, tid, "Awake");
	default:
		return change(ctrls, process, event, tid, NULL);
	}
}

static int end_all(struct ctrls *ctrls, const struct tap_process *process)
{
	struct ctrl *ctrl, *after;
	int ret = 0;

	for (ctrl = ctrls->all.first; ctrl && !ret; ctrl = after) {
		after = ctrl->all.after;
		if (!process || ctrl->span->process == process)
			ret = end(ctrls, ctrl, TAP_SPAN_OPEN, 0);
	}
	return ret;
}

static int process_replaced(void *state, const struct tap_process *process,
			    int64_t time_ns)
{
	(void) time_ns;
	return end_all(state, process);
}

static void begin(void *state)
{
	struct ctrls *ctrls = state;

	ctrls->threads = tap_context_state(ctrls->context, &tap_threads_layer);
}

static int finish(void *state)
{
	return end_all(state, NULL);
}

static void free_all(void *state)
{
	struct ctrls *ctrls = state;

	while (ctrls->all.first)
		drop(ctrls, ctrls->all.first);
	tap_table_free(&ctrls->by_thread);
}

const struct tap_layer tap_proxy_ctrls_layer = {
	.name = "proxy-ctrls",
	.size = sizeof(struct ctrls),
	.is_of_views = true,
	.events = TAP_TAKES(TAP_EVENT_CCL_THREAD) |
		  TAP_TAKES(TAP_EVENT_CCL_THREAD_SLEEP) |
		  TAP_TAKES(TAP_EVENT_CCL_THREAD_WAKE) |
		  TAP_TAKES(TAP_EVENT_CCL_THREAD_END),
	.begin = begin,
	.take = take,
	.process_replaced = process_replaced,
	.finish = finish,
	.free = free_all,
};
