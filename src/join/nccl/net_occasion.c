/* SPDX-License-Identifier: MIT */
/* Each process has a history of what was open; it is asked for soon after. */
#include "join/nccl/net_occasion.h"

#include <errno.h>
#include <stdlib.h>

#include "join/model/process.h"
#include "join/nccl/thread.h"

/* Changes of a process that are kept. */
#define CHANGES_MAX 256
/* More threads than these are not followed: a damaged trace ends. */
#define THREADS_MAX 65536

enum tap_occasion {
	TAP_OCCASION_NONE, /* no call that connects is open */
	TAP_OCCASION_COLLECTIVES,
	TAP_OCCASION_MESSAGES,
	TAP_OCCASION_ANY,
	TAP_OCCASIONS,
};

/* What was open from then on. */
struct change {
	int64_t time_ns;
	enum tap_occasion occasion;
};

struct process {
	size_t open[TAP_OCCASIONS]; /* threads with a call of this kind */
	bool is_deferred;	    /* a call has returned before its work was done */
	struct change changes[CHANGES_MAX];
	size_t count; /* of all changes, those that are forgotten too */
};

struct thread {
	struct process *process;
	enum tap_occasion open; /* of its call */
	/* What the calls of its latest group ask for. */
	uint64_t group_id;
	enum tap_occasion group;
};

/* ---- What is open ---- */

static enum tap_occasion both(enum tap_occasion a, enum tap_occasion b)
{
	return !a || a == b ? b : !b ? a : TAP_OCCASION_ANY;
}

static enum tap_occasion occasion_of(const struct process *process)
{
	enum tap_occasion all = TAP_OCCASION_NONE;
	int i;

	for (i = TAP_OCCASION_COLLECTIVES; i < TAP_OCCASIONS; i++)
		if (process->open[i])
			all = both(all, i);
	return process->is_deferred ? TAP_OCCASION_ANY : all;
}

static void open_call(struct thread *thread, enum tap_occasion occasion, int64_t time_ns)
{
	struct process *process = thread->process;
	struct change *latest = &process->changes[(process->count - 1) % CHANGES_MAX];
	const enum tap_occasion before =
		process->count ? latest->occasion : TAP_OCCASION_NONE;
	enum tap_occasion after;

	if (thread->open)
		process->open[thread->open]--;
	if (occasion)
		process->open[occasion]++;
	thread->open = occasion;
	after = occasion_of(process);
	if (after != before)
		process->changes[process->count++ % CHANGES_MAX] =
			(struct change){time_ns, after};
}

int64_t tap_net_occasion_index(const struct tap_net_occasions *occasions,
			       const struct tap_process *process, int64_t time_ns)
{
	const struct process *own =
		tap_table_find(&occasions->processes, process->number, 0);
	size_t left = own && own->count > CHANGES_MAX ? CHANGES_MAX
		      : own			      ? own->count
						      : 0;
	size_t at = own ? own->count : 0;

	if (!tap_loss_is_none(&occasions->context->loss))
		return -1;
	for (; left; left--) {
		const struct change *change = &own->changes[--at % CHANGES_MAX];

		if (change->time_ns <= time_ns)
			return change->occasion == TAP_OCCASION_COLLECTIVES ? 0
			       : change->occasion == TAP_OCCASION_MESSAGES  ? 1
									    : -1;
	}
	return -1;
}

/* ---- Calls ---- */

static struct thread *thread_of(struct tap_net_occasions *occasions,
				const struct tap_span *span)
{
	const uint64_t process = span->process->number, tid = (uint64_t) span->tid;
	struct thread *thread = tap_table_find(&occasions->threads, process, tid);
	struct process *own;

	if (thread || occasions->threads.count >= THREADS_MAX)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (!thread || tap_table_set(&occasions->threads, process, tid, thread)) {
		free(thread);
		return NULL;
	}
	own = tap_table_find(&occasions->processes, process, 0);
	if (!own) {
		own = calloc(1, sizeof(*own));
		if (!own || tap_table_set(&occasions->processes, process, 0, own)) {
			free(own);
			tap_table_remove(&occasions->threads, process, tid);
			free(thread);
			return NULL;
		}
	}
	thread->process = own;
	return thread;
}

/* Whether the program's thread calls NCCL, and is in no other call of NCCL's. */
static bool is_call(const struct tap_span *span)
{
	return span->name->is_nccl && !span->is_inner && !span->is_from_nvtx &&
	       !span->is_enclosed && span->tid >= 0;
}

static enum tap_occasion asked_by(const struct tap_span *span)
{
	const struct tap_name *name = span->name;

	if (!span->operation.number)
		return TAP_OCCASION_ANY;
	return name->kind == TAP_NAME_SEND || name->kind == TAP_NAME_RECEIVE ||
			       name->is_made_of_messages
		       ? TAP_OCCASION_MESSAGES
		       : TAP_OCCASION_COLLECTIVES;
}

/* What the call may connect for. */
static enum tap_occasion opened_by(struct thread *thread, const struct tap_span *span)
{
	const uint64_t group_id = span->operation.group_id;

	if (span->name->is_poll || span->name->kind == TAP_NAME_GROUP_START)
		return TAP_OCCASION_NONE;
	if (span->name->kind == TAP_NAME_GROUP_END)
		return group_id && group_id == thread->group_id ? thread->group
								: TAP_OCCASION_ANY;
	if (!group_id)
		return asked_by(span);
	/* In a group it only asks. */
	thread->group =
		both(group_id == thread->group_id ? thread->group : TAP_OCCASION_NONE,
		     asked_by(span));
	thread->group_id = group_id;
	return TAP_OCCASION_NONE;
}

static int span_begun(void *state, struct tap_span *span, const struct tap_event *event)
{
	struct thread *thread;

	(void) event;
	if (!is_call(span))
		return 0;
	thread = thread_of(state, span);
	if (thread)
		open_call(thread, opened_by(thread, span), span->begin_ns);
	return 0;
}

static int span_ended(void *state, struct tap_span *span)
{
	struct tap_net_occasions *occasions = state;
	struct thread *thread =
		is_call(span) ? tap_table_find(&occasions->threads, span->process->number,
					       (uint64_t) span->tid)
			      : NULL;

	if (!thread)
		return 0;
	thread->process->is_deferred |= tap_threads_is_kept(span);
	open_call(thread, TAP_OCCASION_NONE, span->end_ns);
	return 0;
}

/* ---- The layer ---- */

static void free_all(void *state)
{
	struct tap_net_occasions *occasions = state;
	size_t i;

	for (i = 0; i < occasions->processes.size; i++)
		free(occasions->processes.slots[i].value);
	for (i = 0; i < occasions->threads.size; i++)
		free(occasions->threads.slots[i].value);
	tap_table_free(&occasions->processes);
	tap_table_free(&occasions->threads);
}

const struct tap_layer tap_net_occasions_layer = {
	.name = "occasions",
	.size = sizeof(struct tap_net_occasions),
	.is_of_views = true,
	.span_begun = span_begun,
	.span_ended = span_ended,
	.free = free_all,
};
