/* SPDX-License-Identifier: MIT */
/* Threads by (process, thread id), the calls they were created for, and what they do. */
#include "join/nccl/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "join/model/process.h"
#include "join/model/vendor.h"
#include "join/nccl/thread_comm.h"
#include "join/nccl/thread_role.h"

/*
 * Threads that have ended, and are kept since one that they created may show what they
 * were: its first event may come after their last one.
 */
#define GONE_MAX 256

/* Most threads that live: a damaged trace ends. */
#define LIVE_MAX 65536

/* Calls that returned while a thread works for them. */
#define KEPT_MAX 64

/* As the tracer writes it: common/thread.h. */
#define DOES_ASYNC 1

struct tap_threads {
	struct tap_context *context; /* first: layer.h */

	struct tap_thread_roles roles;
	struct tap_table by_tid; /* live threads, by (process, tid) */
	size_t gone_count;
	struct tap_thread_comms comms;
	struct tap_span *kept[KEPT_MAX];
	size_t next_kept;
	uint64_t changes;
};

/* ---- Calls ---- */

bool tap_threads_is_kept(const struct tap_span *span)
{
	const struct tap_field *result = tap_span_result(span);

	return span->state == TAP_SPAN_COMPLETE && !span->is_inner &&
	       span->name->is_nccl && result &&
	       (result->kind == TAP_FIELD_SIGNED || result->kind == TAP_FIELD_UNSIGNED) &&
	       result->value.u == TAP_RESULT_ncclInProgress;
}

static void keep(struct tap_threads *threads, struct tap_span *span)
{
	struct tap_span **place = &threads->kept[threads->next_kept++ % KEPT_MAX];

	if (*place)
		tap_span_put(*place);
	*place = tap_span_get(span);
}

const struct tap_span *tap_threads_span(const struct tap_threads *threads,
					const struct tap_process *process,
					uint64_t call_id)
{
	const struct tap_span *span =
		call_id ? tap_table_find(&threads->context->pairs.open, process->number,
					 call_id)
			: NULL;
	size_t i;

	for (i = 0; call_id && !span && i < KEPT_MAX; i++)
		if (threads->kept[i] && threads->kept[i]->process == process &&
		    threads->kept[i]->call_id == call_id)
			span = threads->kept[i];
	return span;
}

/* ---- Threads ---- */

static struct tap_thread_entry *find(const struct tap_threads *threads,
				     const struct tap_process *process, int64_t tid)
{
	return tid < 0 ? NULL
		       : tap_table_find(&threads->by_tid, process->number,
					(uint64_t) tid);
}

const struct tap_nccl_thread *tap_threads_find(const struct tap_threads *threads,
					       const struct tap_process *process,
					       int64_t tid)
{
	const struct tap_thread_entry *thread = find(threads, process, tid);

	return thread ? &thread->about : NULL;
}

bool tap_threads_is_of_several(const struct tap_threads *threads,
			       const struct tap_process *process, int64_t tid)
{
	const struct tap_thread_entry *thread = find(threads, process, tid), *other;

	if (!thread || !thread->outer_call_id)
		return false;
	for (other = threads->roles.live.first; other; other = other->live.after)
		if (other != thread && other->about.process == process &&
		    other->outer_call_id == thread->outer_call_id &&
		    other->about.creator == thread->about.creator &&
		    other->creator_created == thread->creator_created &&
		    other->about.routine_library == thread->about.routine_library &&
		    other->about.routine_offset == thread->about.routine_offset)
			return true;
	return false;
}

uint64_t tap_threads_call(const struct tap_threads *threads,
			  const struct tap_process *process, int64_t tid)
{
	const struct tap_thread_entry *thread = find(threads, process, tid);

	return thread && (thread->about.role == TAP_THREAD_UNKNOWN ||
			  thread->about.role == TAP_THREAD_JOB)
		       ? thread->about.call_id
		       : 0;
}

const struct tap_member *tap_threads_serves(const struct tap_threads *threads,
					    const struct tap_process *process,
					    int64_t tid, enum tap_known *ret_known)
{
	const struct tap_thread_entry *thread = find(threads, process, tid);
	struct tap_thread_comm comm;

	if (!thread || (thread->about.role != TAP_THREAD_PROGRESS &&
			thread->about.role != TAP_THREAD_SOCKET))
		return NULL;
	comm = tap_thread_comms_of(&threads->comms, thread);
	if (comm.member)
		*ret_known = comm.known;
	return comm.member;
}

const struct tap_member *tap_threads_served(const struct tap_threads *threads,
					    const struct tap_process *process, int64_t tid,
					    enum tap_known *ret_known)
{
	const struct tap_thread_entry *thread =
		tap_thread_role_find(&threads->roles, process, tid, UINT64_MAX);
	struct tap_thread_comm comm = {0};

	if (thread)
		comm = tap_thread_comms_of(&threads->comms, thread);
	*ret_known = comm.known;
	return comm.member;
}

/*
 * Each proxy has one service thread, and a communicator that shares the proxy of another
 * one makes none (NCCL 2.28.9, proxy.cc: ncclProxyCreate).
 */
bool tap_threads_are_own(const struct tap_threads *threads,
			 const struct tap_member *member)
{
	const struct tap_thread_entry *thread;
	struct tap_thread_comm comm;

	for (thread = threads->roles.live.first; thread; thread = thread->live.after) {
		if (thread->about.role != TAP_THREAD_SERVICE ||
		    thread->about.process != member->process)
			continue;
		comm = tap_thread_comms_of(&threads->comms, thread);
		if (comm.member == member && comm.known != TAP_KNOWN_INFERRED)
			return true;
	}
	return false;
}

uint64_t tap_threads_changes(const struct tap_threads *threads)
{
	return threads->changes;
}

/* Completes the role of a thread. */
static void settle_role(struct tap_threads *threads, struct tap_thread_entry *thread)
{
	thread->about.comm_count = tap_thread_comms_count(&threads->comms, thread);
	tap_thread_role_end(&threads->roles, thread);
}

/* Keeps the communicator that is known of a thread now. */
static void settle_comm(struct tap_threads *threads, struct tap_thread_entry *thread)
{
	const struct tap_thread_comm comm = tap_thread_comms_of(&threads->comms, thread);

	thread->about.comm_id = comm.comm_id;
	thread->about.comm_known = comm.known;
	thread->about.member = comm.member;
}

/* Completes a thread, and what the other threads of its call are known by through it. */
static void settle(struct tap_threads *threads, struct tap_thread_entry *thread)
{
	struct tap_thread_entry *other;

	settle_role(threads, thread);
	for (other = threads->roles.live.first; other; other = other->live.after)
		if (other->about.process == thread->about.process &&
		    other->outer_call_id == thread->outer_call_id)
			settle_comm(threads, other);
}

const struct tap_nccl_thread *tap_threads_ended(const struct tap_threads *threads,
						const struct tap_process *process,
						const struct tap_event *event)
{
	const struct tap_thread_entry *thread;
	int64_t tid = -1;

	tap_fields_get_signed(&event->fields, "tid", &tid);
	thread = tap_thread_role_find(&threads->roles, process, tid, UINT64_MAX);
	return thread && thread->about.is_over ? &thread->about : NULL;
}

/* Gives a settled thread to the consumer, and forgets it. */
static int emit(struct tap_threads *threads, struct tap_thread_entry *thread)
{
	const struct tap_context *context = threads->context;
	int ret = 0;

	if (context->consumer->nccl_thread)
		ret = context->consumer->nccl_thread(context->data, &thread->about);
	threads->gone_count -= thread->is_gone;
	tap_list_remove(&threads->roles.live, thread, live);
	free(thread);
	return ret;
}

/* Takes a thread from the living; the oldest of too many is not kept any longer. */
static int bury(struct tap_threads *threads, struct tap_thread_entry *thread)
{
	struct tap_thread_entry *oldest = threads->roles.live.first;

	tap_table_remove(&threads->by_tid, thread->about.process->number,
			 (uint64_t) thread->about.tid);
	thread->is_gone = true;
	if (++threads->gone_count <= GONE_MAX)
		return 0;
	while (!oldest->is_gone)
		oldest = oldest->live.after;
	settle(threads, oldest);
	return emit(threads, oldest);
}

static void describe(struct tap_thread_entry *thread, const struct tap_event *event)
{
	struct tap_nccl_thread *about = &thread->about;
	const struct tap_fields *fields = &event->fields;

	about->begin_ns = event->time_ns;
	about->is_late = event->kind == TAP_EVENT_STATEDUMP_CCL_THREAD;
	about->creator = -1;
	tap_fields_get_signed(fields, "creator_tid", &about->creator);
	about->creator_is_nccls = tap_fields_number(fields, "creator_is_ccl") != 0;
	about->call_id = tap_fields_number(fields, "call_id");
	about->routine_library = tap_fields_number(fields, "routine_library");
	about->routine_offset = tap_fields_number(fields, "routine_offset");
	about->argument = tap_fields_number(fields, "argument");
	thread->nr_arguments = tap_fields_number(fields, "nr_arguments");
	thread->created = tap_fields_number(fields, "begin_ns");
}

/* The call that a thread was created for: of its own creation, or its creator's. */
static int find_call(struct tap_threads *threads, struct tap_thread_entry *thread,
		     const struct tap_thread_entry *creator,
		     const struct tap_event *event)
{
	const char *function = tap_fields_get_string(&event->fields, "function");
	struct tap_nccl_thread *about = &thread->about;
	const struct tap_span *span;

	if (!about->call_id && creator) {
		about->call_id = creator->about.call_id;
		about->call = creator->about.call;
		thread->outer_call_id = creator->outer_call_id;
		return 0;
	}
	thread->outer_call_id = tap_fields_number(&event->fields, "outer_call_id");
	span = tap_threads_span(threads, about->process, about->call_id);
	if (span)
		about->call = span->name;
	else if (function && *function)
		about->call = tap_names_get(&threads->context->names, "nccl", 4, function,
					    strlen(function));
	return span || !function || !*function || about->call ? 0 : -ENOMEM;
}

static int begin_thread(struct tap_threads *threads, const struct tap_process *process,
			const struct tap_event *event, int64_t tid)
{
	struct tap_thread_entry *thread, *creator;
	int ret;

	if (threads->by_tid.count >= LIVE_MAX)
		return 0;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return -ENOMEM;
	thread->about.process = process;
	thread->about.tid = tid;
	describe(thread, event);
	creator = thread->about.creator_is_nccls
			  ? tap_thread_role_find(&threads->roles, process,
						 thread->about.creator, thread->created)
			  : NULL;
	if (creator) {
		thread->creator_created = creator->created;
		thread->creators_creator = creator->about.creator;
	}
	ret = find_call(threads, thread, creator, event);
	if (ret ||
	    tap_table_set(&threads->by_tid, process->number, (uint64_t) tid, thread)) {
		free(thread);
		return -ENOMEM;
	}
	tap_list_append(&threads->roles.live, thread, live);
	threads->changes++;
	return tap_thread_role_begin(&threads->roles, thread, creator);
}

/* ---- What a thread does ---- */

static void fall_asleep(struct tap_nccl_thread *thread, int64_t now_ns)
{
	thread->is_asleep = true;
	thread->asleep_since_ns = now_ns;
	thread->sleeps++;
}

static void wake(struct tap_nccl_thread *thread, int64_t now_ns)
{
	if (thread->is_asleep && now_ns > thread->asleep_since_ns)
		thread->asleep_ns += now_ns - thread->asleep_since_ns;
	thread->is_asleep = false;
}

static int take_state(struct tap_threads *threads, struct tap_thread_entry *thread,
		      const struct tap_event *event)
{
	struct tap_nccl_thread *about = &thread->about;

	about->yields = tap_fields_number(&event->fields, "yields");
	if (event->kind == TAP_EVENT_CCL_THREAD_SLEEP)
		fall_asleep(about, event->time_ns);
	else if (event->kind == TAP_EVENT_CCL_THREAD_WAKE)
		wake(about, event->time_ns);
	else if (about->is_late && !about->is_asleep &&
		 tap_fields_number(&event->fields, "is_asleep"))
		fall_asleep(about, event->time_ns);
	return tap_fields_number(&event->fields, "does") & DOES_ASYNC
		       ? tap_thread_role_does(&threads->roles, thread, TAP_THREAD_DEVICE)
		       : 0;
}

/* State dumps repeat what is known; a number may be that of a thread that has ended. */
static int take_thread(struct tap_threads *threads, const struct tap_process *process,
		       const struct tap_event *event)
{
	struct tap_thread_entry *thread;
	int64_t tid = -1;
	int ret = 0;

	tap_fields_get_signed(&event->fields, "tid", &tid);
	if (tid < 0) {
		threads->context->loss.malformed_events++;
		return 0;
	}
	thread = find(threads, process, tid);
	if (event->kind == TAP_EVENT_CCL_THREAD ||
	    event->kind == TAP_EVENT_STATEDUMP_CCL_THREAD) {
		if (thread &&
		    thread->created != tap_fields_number(&event->fields, "begin_ns")) {
			ret = bury(threads, thread);
			thread = NULL;
		}
		if (!ret && !thread)
			ret = begin_thread(threads, process, event, tid);
		thread = find(threads, process, tid);
	}
	if (ret || !thread)
		return ret;
	ret = take_state(threads, thread, event);
	if (ret || event->kind != TAP_EVENT_CCL_THREAD_END)
		return ret;
	wake(&thread->about, event->time_ns);
	thread->about.is_over = true;
	thread->about.end_ns = event->time_ns;
	return bury(threads, thread);
}

/* ---- The layer ---- */

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct tap_threads *threads = state;

	return event->kind == TAP_EVENT_COMM
		       ? tap_thread_comms_take(&threads->comms, process, event)
		       : take_thread(threads, process, event);
}

/* Only a thread that does what a call asked for launches kernels of NCCL's. */
static int span_ended(void *state, struct tap_span *span)
{
	struct tap_threads *threads = state;
	struct tap_thread_entry *thread;

	if (tap_threads_is_kept(span))
		keep(threads, span);
	/* All that it makes is known. */
	if (span->name->is_nccl &&
	    tap_table_find(&threads->comms.made, span->process->number, span->call_id))
		threads->changes++;
	if (!threads->by_tid.count || span->name->cuda != TAP_CUDA_KERNEL ||
	    !tap_fields_find(&span->entry, "kernel_kind"))
		return 0;
	thread = find(threads, span->process, span->tid);
	return thread ? tap_thread_role_does(&threads->roles, thread, TAP_THREAD_JOB) : 0;
}

static int emit_all(struct tap_threads *threads, const struct tap_process *process)
{
	struct tap_thread_entry *thread, *after;
	int ret = 0;

	/* Both may follow from other threads, so these are all there until then. */
	for (thread = threads->roles.live.first; thread; thread = thread->live.after)
		if (!process || thread->about.process == process)
			settle_role(threads, thread);
	for (thread = threads->roles.live.first; thread; thread = thread->live.after)
		if (!process || thread->about.process == process)
			settle_comm(threads, thread);
	for (thread = threads->roles.live.first; thread && !ret; thread = after) {
		after = thread->live.after;
		if (process && thread->about.process != process)
			continue;
		if (!thread->is_gone)
			tap_table_remove(&threads->by_tid, thread->about.process->number,
					 (uint64_t) thread->about.tid);
		ret = emit(threads, thread);
	}
	return ret;
}

static int process_replaced(void *state, const struct tap_process *process,
			    int64_t time_ns)
{
	(void) time_ns;
	return emit_all(state, process);
}

static int finish(void *state)
{
	return emit_all(state, NULL);
}

/* Others look for calls until they have finished; spans are freed before this layer. */
static int let_go(void *state)
{
	struct tap_threads *threads = state;
	size_t i;

	for (i = 0; i < KEPT_MAX; i++) {
		if (threads->kept[i])
			tap_span_put(threads->kept[i]);
		threads->kept[i] = NULL;
	}
	return 0;
}

static void free_all(void *state)
{
	struct tap_threads *threads = state;
	struct tap_thread_entry *thread;

	while ((thread = tap_list_take_first(&threads->roles.live, live)))
		free(thread);
	tap_thread_comms_free(&threads->comms);
	tap_table_free(&threads->by_tid);
	tap_table_free(&threads->roles.by_routine);
}

static void begin(void *state)
{
	struct tap_threads *threads = state;

	threads->comms.context = threads->context;
	threads->comms.roles = &threads->roles;
}

const struct tap_layer tap_threads_layer = {
	.name = "threads",
	.size = sizeof(struct tap_threads),
	.events = TAP_TAKES(TAP_EVENT_COMM) | TAP_TAKES(TAP_EVENT_CCL_THREAD) |
		  TAP_TAKES(TAP_EVENT_CCL_THREAD_DOES) |
		  TAP_TAKES(TAP_EVENT_CCL_THREAD_SLEEP) |
		  TAP_TAKES(TAP_EVENT_CCL_THREAD_WAKE) |
		  TAP_TAKES(TAP_EVENT_CCL_THREAD_END) |
		  TAP_TAKES(TAP_EVENT_STATEDUMP_CCL_THREAD),
	.begin = begin,
	.take = take,
	.span_ended = span_ended,
	.process_replaced = process_replaced,
	.finish = finish,
	.close = let_go,
	.free = free_all,
};
