/* SPDX-License-Identifier: MIT */
/*
 * A few numbers for each process, and for each thread that the tracer reported, until an
 * event of the thread shows that it has left the call.
 */
#include "join/model/open.h"

#include "join/model/layer.h"
#include "join/model/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "common/vec.h"

/* The most streams that are stored, so that a damaged trace cannot fill the memory. */
#define STREAMS_MAX 65536

#define NAME_BYTES_MAX 1024

/* The events that say which calls a process's threads are in. */
#define OWN \
	(TAP_TAKES(TAP_EVENT_STATEDUMP_PROCESS) | TAP_TAKES(TAP_EVENT_OPEN_CALL) | \
	 TAP_TAKES(TAP_EVENT_STATEDUMP_THREAD) | TAP_TAKES(TAP_EVENT_STATEDUMP_END) | \
	 TAP_TAKES(TAP_EVENT_PROCESS_END))

/* What the layer knows of one process. */
struct stand {
	struct tap_end_state is;
	struct tap_open_call *calls; /* the open ones at the end, by their entries */
	size_t room;
	int64_t beginning_ns;  /* of the state dump that is being read */
	uint64_t thread_count; /* threads in that state dump so far */
	int64_t statedump_ns;  /* when the last complete state dump began */
	int64_t idle_ns;       /* work asked for before this time is done */
	bool has_beginning, has_statedump;
};

struct opens {
	struct tap_context *context; /* first: layer.h */

	TAP_VEC(struct stand *) all; /* by number of the process */
	struct tap_table reported;   /* by (process, thread) */
	struct tap_table open;	/* by (process, thread): the index of the call, from 1 */
	struct tap_table asked; /* the last operation by (process, stream) */
};

static tap_apart struct stand *make_stand(struct opens *opens,
					  const struct tap_process *process)
{
	struct stand **stand;

	if (process->number >= opens->all.count &&
	    tap_vec_resize(&opens->all, process->number + 1))
		return NULL;
	stand = &opens->all.items[process->number];
	if (!*stand) {
		*stand = calloc(1, sizeof(**stand));
		if (*stand) {
			(*stand)->is.process = process;
			(*stand)->idle_ns = INT64_MIN;
		}
	}
	return *stand;
}

static struct stand *stand_of(struct opens *opens, const struct tap_process *process)
{
	struct stand *stand = process->number < opens->all.count
				      ? opens->all.items[process->number]
				      : NULL;

	return stand ? stand : make_stand(opens, process);
}

/* ---- What the tracer reported ---- */

static struct tap_open_call *reported_of(const struct opens *opens,
					 const struct tap_process *process, int64_t tid)
{
	return tid < 0 ? NULL
		       : tap_table_find(&opens->reported, process->number,
					(uint64_t) tid);
}

static void forget(struct opens *opens, const struct tap_process *process, int64_t tid)
{
	free(tap_table_remove(&opens->reported, process->number, (uint64_t) tid));
}

/*
 * Whether the event shows that the thread has left the reported call.  Call numbers
 * increase within a process: the thread is still in the call only if the event lies
 * inside it.  A call without a number is known to be over only when the thread is outside
 * all calls.
 */
static bool is_elsewhere(const struct tap_open_call *reported,
			 const struct tap_event *event)
{
	if (event->kind == TAP_EVENT_EXIT)
		return event->call_id <= reported->call_id;
	return reported->call_id ? event->parent_id < reported->call_id
				 : !event->parent_id;
}

static int note_event(struct opens *opens, const struct tap_process *process,
		      const struct tap_event *event)
{
	struct stand *stand = stand_of(opens, process);
	const struct tap_open_call *reported;

	if (!stand)
		return -ENOMEM;
	stand->is.seen_ns = event->time_ns;
	if (!opens->reported.count ||
	    (event->kind != TAP_EVENT_ENTRY && event->kind != TAP_EVENT_EXIT &&
	     event->kind != TAP_EVENT_WORK) ||
	    (event->is_range && event->kind == TAP_EVENT_EXIT))
		return 0;
	reported = reported_of(opens, process, event->tid);
	if (reported && is_elsewhere(reported, event))
		forget(opens, process, event->tid);
	return 0;
}

static int set_reported(struct opens *opens, const struct tap_thread_state *thread,
			bool is_statedump)
{
	struct tap_open_call *reported = reported_of(opens, thread->process, thread->tid);

	opens->all.items[thread->process->number]->thread_count += is_statedump;
	if (thread->tid < 0)
		return 0;
	if (!thread->name) {
		forget(opens, thread->process, thread->tid);
		return 0;
	}
	if (!reported) {
		reported = calloc(1, sizeof(*reported));
		if (!reported || tap_table_set(&opens->reported, thread->process->number,
					       (uint64_t) thread->tid, reported)) {
			free(reported);
			return -ENOMEM;
		}
	}
	*reported = (struct tap_open_call){.process = thread->process,
					   .name = thread->name,
					   .tid = thread->tid,
					   .call_id = thread->call_id,
					   .is_begun_before = true,
					   .reported_ns = thread->time_ns,
					   .min_ns = thread->min_ns,
					   .comm_id = thread->comm_id,
					   .comm_key = thread->comm_key,
					   .op_number = thread->op_number,
					   .peer = -1,
					   .member = thread->member};
	return 0;
}

static int begin_statedump(struct opens *opens, const struct tap_process *process,
			   int64_t time_ns)
{
	struct stand *stand = stand_of(opens, process);

	if (!stand)
		return -ENOMEM;
	stand->has_beginning = true;
	stand->beginning_ns = time_ns;
	stand->thread_count = 0;
	return 0;
}

/*
 * Ends a state dump.  Returns whether all its threads are in the trace: a discarded event
 * may have reported a thread.
 */
static bool end_statedump(struct opens *opens, const struct tap_process *process,
			  uint64_t thread_count)
{
	struct stand *stand = opens->all.items[process->number];
	const bool is_whole = stand->has_beginning && stand->thread_count == thread_count;

	if (is_whole) {
		stand->has_statedump = true;
		stand->statedump_ns = stand->beginning_ns;
	}
	stand->has_beginning = false;
	return is_whole;
}

static bool is_of_statedump(const struct stand *stand,
			    const struct tap_open_call *reported)
{
	return reported && stand->has_statedump &&
	       reported->reported_ns >= stand->statedump_ns;
}

/*
 * Whether an open call has returned, as the last state dump shows.  Calls that began
 * later are left alone: the tracer may see a thread in a call before the entry is
 * written, and after the exit is.
 */
static bool is_returned(const void *state, const struct tap_span *span)
{
	const struct opens *opens = state;
	const struct stand *stand = opens->all.items[span->process->number];
	const struct tap_open_call *reported;

	if (span->tid < 0 || !stand->has_statedump ||
	    span->begin_ns >= stand->statedump_ns)
		return false;
	reported = reported_of(opens, span->process, span->tid);
	return !is_of_statedump(stand, reported) || !reported->call_id ||
	       reported->call_id > span->call_id;
}

/* ---- What the spans show ---- */

static struct tap_open_call *call_of(struct opens *opens, struct stand *stand,
				     int64_t tid)
{
	const uintptr_t number =
		tid < 0 ? 0
			: (uintptr_t) tap_table_find(&opens->open,
						     stand->is.process->number,
						     (uint64_t) tid);

	return number ? &stand->calls[number - 1] : NULL;
}

static int add(struct opens *opens, struct stand *stand, const struct tap_open_call *call)
{
	if (tap_array_reserve(stand->calls, stand->room, stand->is.count + 1))
		return -ENOMEM;
	stand->calls[stand->is.count++] = *call;
	return call->tid < 0 ? 0
			     : tap_table_set(&opens->open, stand->is.process->number,
					     (uint64_t) call->tid,
					     (void *) (uintptr_t) stand->is.count);
}

/*
 * Notes the operation as the process's last one, and the last one on its stream: a program
 * that waits for the stream waits for it.
 */
static int note_operation(struct opens *opens, struct stand *stand,
			  const struct tap_span *span, const struct tap_open_call *call)
{
	struct tap_open_call *last;
	uint64_t stream;

	if (!call->op_number || span->is_inner || tap_cuda_is_captured(span) ||
	    tap_span_is_failure(tap_span_result(span)))
		return 0;
	stand->is.last_operation = *call;
	if (!tap_cuda_stream(span, &stream))
		return 0;
	last = tap_table_find(&opens->asked, span->process->number, stream);
	if (!last) {
		if (opens->asked.count >= STREAMS_MAX)
			return 0;
		last = malloc(sizeof(*last));
		if (!last ||
		    tap_table_set(&opens->asked, span->process->number, stream, last)) {
			free(last);
			return -ENOMEM;
		}
	}
	*last = *call;
	return 0;
}

/*
 * The operation that a wait for a stream, or for all of them, waits for.  It does not
 * wait for one that another thread has asked for since.
 */
static const struct tap_open_call *find_waits_for(const struct opens *opens,
						  const struct stand *stand,
						  const struct tap_span *span)
{
	const struct tap_open_call *last = &stand->is.last_operation;
	uint64_t stream;

	if (span->name->cuda != TAP_CUDA_SYNCHRONIZE)
		return NULL;
	if (tap_cuda_stream(span, &stream))
		last = tap_table_find(&opens->asked, span->process->number, stream);
	else if (strncmp(span->name->name, "cuCtx", 5))
		return NULL;
	return last && last->name && last->end_ns <= span->begin_ns ? last : NULL;
}

/* A wait that returned shows that what was asked for before it is done. */
static void note_wait(struct opens *opens, struct stand *stand,
		      const struct tap_span *span)
{
	const struct tap_open_call *last;
	uint64_t stream;

	if (span->name->cuda != TAP_CUDA_SYNCHRONIZE ||
	    tap_span_is_failure(tap_span_result(span)))
		return;
	if (tap_cuda_stream(span, &stream)) {
		last = tap_table_find(&opens->asked, span->process->number, stream);
		if (!last || last->call_id != stand->is.last_operation.call_id)
			return;
	} else if (strncmp(span->name->name, "cuCtx", 5)) {
		return;
	}
	if (span->begin_ns > stand->idle_ns)
		stand->idle_ns = span->begin_ns;
}

/*
 * Whether the call says more about where its process stands than the last one: any other
 * does than a poll, or one of the CUDA driver.
 */
static bool is_telling(const struct stand *stand, const struct tap_name *name)
{
	return !name->cuda || !stand->is.last.name || stand->is.last.name->cuda;
}

static void note_returned(struct stand *stand, const struct tap_span *span,
			  const struct tap_open_call *call)
{
	struct tap_open_call *last = &stand->is.last;

	if (span->is_inner)
		return;
	if (tap_name_is_poll(span->name))
		last = &stand->is.poll;
	else if (!is_telling(stand, span->name))
		return;
	*last = *call;
	last->is_begun_before = span->state == TAP_SPAN_BEGIN_LOST;
}

static int take_span(struct opens *opens, const struct tap_span *span)
{
	struct stand *stand = opens->all.items[span->process->number];
	struct tap_open_call call = {.process = span->process,
				     .name = span->name,
				     .tid = span->tid,
				     .call_id = span->call_id,
				     .begin_ns = span->begin_ns,
				     .end_ns = span->end_ns,
				     .comm_id = span->operation.comm_id,
				     .comm_key = span->operation.comm_key,
				     .op_number = span->operation.number,
				     .peer = span->operation.peer,
				     .member = span->member,
				     .caller_number = span->caller_number,
				     .caller = span->caller,
				     .caller_offset = span->caller_offset};

	if (span->state == TAP_SPAN_COMPLETE) {
		if (note_operation(opens, stand, span, &call))
			return -ENOMEM;
		note_wait(opens, stand, span);
	}
	if (span->is_range || span->is_enclosed)
		return 0;
	if (span->state == TAP_SPAN_OPEN && !call_of(opens, stand, span->tid)) {
		call.waits_for = find_waits_for(opens, stand, span);
		return add(opens, stand, &call);
	}
	if (span->state == TAP_SPAN_COMPLETE || span->state == TAP_SPAN_BEGIN_LOST)
		note_returned(stand, span, &call);
	return 0;
}

/* An enclosed call without an operation says nothing of where its process stands. */
static int span_ended(void *state, struct tap_span *span)
{
	if ((span->is_range || span->is_enclosed) && !span->operation.number)
		return 0;
	return take_span(state, span);
}

static int set_end(struct opens *opens, const struct tap_process *process,
		   enum tap_end end, int64_t time_ns)
{
	struct stand *stand = stand_of(opens, process);

	if (!stand)
		return -ENOMEM;
	/*
	 * The first end counts: the number is used again only when the process is over.
	 */
	if (stand->is.end != TAP_END_NOT_SEEN)
		return 0;
	stand->is.end = end;
	stand->is.end_ns = time_ns;
	return 0;
}

/* ---- Events ---- */

/*
 * The name of a function, as the traced program gives it; only functions of the CUDA
 * driver and of HIP begin with "cu" and "hip".
 */
static const struct tap_name *name_of(struct tap_context *context, const char *function)
{
	const char *layer = strncmp(function, "cu", 2) && strncmp(function, "hip", 3)
				    ? "nccl"
				    : "cuda";
	const struct tap_name *other =
		tap_names_get(&context->names, layer, 4, "(others)", 8);
	const size_t length = strlen(function);

	return !other || length > NAME_BYTES_MAX
		       ? other
		       : tap_context_name_reported(context, other, function, length);
}

static int take_thread(struct opens *opens, const struct tap_process *process,
		       const struct tap_event *event)
{
	struct tap_context *context = opens->context;
	struct tap_thread_state thread = {.process = process,
					  .time_ns = event->time_ns,
					  .tid = -1};
	const struct tap_fields *fields = &event->fields;
	const char *function = tap_fields_get_string(fields, "function");
	uint64_t min_ns = 0;
	int ret;

	if (function && *function) {
		thread.name = name_of(context, function);
		if (!thread.name)
			return -ENOMEM;
	}
	/* The event's own tid is that of the thread that wrote it. */
	if (tap_fields_get_signed(fields, "tid", &thread.tid) || thread.tid < 0)
		thread.tid = -1;
	tap_fields_get_unsigned(fields, "call_id", &thread.call_id);
	tap_fields_get_unsigned(fields, "group_id", &thread.group_id);
	tap_fields_get_unsigned(fields, "comm_key", &thread.comm_key);
	tap_fields_get_unsigned(fields, "op_number", &thread.op_number);
	if (!tap_fields_get_unsigned(fields, "min_ns", &min_ns) && min_ns <= INT64_MAX)
		thread.min_ns = (int64_t) min_ns;
	if (!tap_fields_get_unsigned(fields, "comm_id", &thread.comm_id) &&
	    thread.comm_id)
		thread.member = tap_table_find(&context->comms.by_id, process->number,
					       thread.comm_id);
	ret = set_reported(opens, &thread, event->kind == TAP_EVENT_STATEDUMP_THREAD);
	if (ret || !thread.name || event->kind != TAP_EVENT_STATEDUMP_THREAD)
		return ret;
	return context->consumer->thread
		       ? context->consumer->thread(context->data, &thread)
		       : 0;
}

/*
 * Older tracers, and one that could not look, report not all threads: nothing follows
 * from a thread that is missing.
 */
static int take_statedump_end(struct opens *opens, const struct tap_process *process,
			      const struct tap_event *event)
{
	uint64_t has_all = 0, threads = 0;

	tap_fields_get_unsigned(&event->fields, "all_threads", &has_all);
	if (!has_all || tap_fields_get_unsigned(&event->fields, "threads", &threads) ||
	    !end_statedump(opens, process, threads))
		return 0;
	return tap_pairs_returned(&opens->context->pairs, process, is_returned, opens);
}

static tap_apart int take_own(struct opens *opens, const struct tap_process *process,
			      const struct tap_event *event)
{
	switch (event->kind) {
	case TAP_EVENT_STATEDUMP_PROCESS:
		return begin_statedump(opens, process, event->time_ns);
	case TAP_EVENT_OPEN_CALL:
	case TAP_EVENT_STATEDUMP_THREAD:
		return take_thread(opens, process, event);
	case TAP_EVENT_STATEDUMP_END:
		return take_statedump_end(opens, process, event);
	case TAP_EVENT_PROCESS_END:
		return set_end(opens, process, TAP_END_EXIT, event->time_ns);
	default:
		return 0;
	}
}

/* Most events are of calls. */
static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct opens *opens = state;
	int ret = note_event(opens, process, event);

	return ret || !(OWN & TAP_TAKES(event->kind)) ? ret
						      : take_own(opens, process, event);
}

static int process_replaced(void *state, const struct tap_process *process,
			    int64_t time_ns)
{
	return set_end(state, process, TAP_END_REPLACED, time_ns);
}

/* ---- At the end ---- */

/*
 * The call was open when it began or was reported, and until the process's last event
 * nothing shows that it ended.
 */
static void set_least(const struct stand *stand, struct tap_open_call *call)
{
	const int64_t since = call->is_begun_before ? call->reported_ns : call->begin_ns;
	const uint64_t more = (uint64_t) stand->is.seen_ns - (uint64_t) since;

	if (stand->is.seen_ns > since && more <= (uint64_t) (INT64_MAX - call->min_ns))
		call->min_ns += (int64_t) more;
}

/*
 * Adds a reported call.  The report still stands, so no later event of the thread
 * contradicts it: the reported call is newer than the one known by its entry, or encloses
 * it.
 */
static int merge(struct opens *opens, struct stand *stand,
		 const struct tap_open_call *reported)
{
	struct tap_open_call *call = call_of(opens, stand, reported->tid);

	if (!call)
		return add(opens, stand, reported);
	if (reported->call_id != call->call_id)
		*call = *reported;
	return 0;
}

static int compare_calls(const void *left, const void *right)
{
	const struct tap_open_call *a = left, *b = right;

	return a->tid != b->tid ? (a->tid < b->tid ? -1 : 1)
				: (a->call_id > b->call_id) - (a->call_id < b->call_id);
}

static int compare_stands(const void *left, const void *right)
{
	const struct tap_process *a = (*(struct stand *const *) left)->is.process;
	const struct tap_process *b = (*(struct stand *const *) right)->is.process;
	uint64_t x = (uint64_t) a->rank, y = (uint64_t) b->rank;

	if (x == y) {
		x = a->number;
		y = b->number;
	}
	return (x > y) - (x < y);
}

/* The last operation, if the program polls its communicator and it may not be done. */
static void set_polled(struct stand *stand)
{
	const struct tap_open_call *operation = &stand->is.last_operation;
	struct tap_open_call *poll = &stand->is.poll;

	if (poll->name && operation->name && operation->end_ns <= poll->end_ns &&
	    operation->end_ns > stand->idle_ns &&
	    (!poll->comm_id || poll->comm_id == operation->comm_id))
		poll->waits_for = operation;
}

static int give(const struct tap_context *context, struct stand *stand)
{
	size_t i;

	set_polled(stand);
	for (i = 0; i < stand->is.count; i++)
		set_least(stand, &stand->calls[i]);
	if (stand->is.count)
		qsort(stand->calls, stand->is.count, sizeof(*stand->calls),
		      compare_calls);
	stand->is.calls = stand->calls;
	return context->consumer->end_state
		       ? context->consumer->end_state(context->data, &stand->is)
		       : 0;
}

/* Gives the end states, in order of rank, then of appearance. */
static int close_all(void *state)
{
	struct opens *opens = state;
	const struct tap_processes *processes = &opens->context->processes;
	const struct tap_open_call *reported;
	struct stand *stand;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < opens->reported.size; i++) {
		reported = opens->reported.slots[i].value;
		if (!reported)
			continue;
		stand = opens->all.items[reported->process->number];
		/*
		 * Otherwise: a call reported before the last complete state dump, and not
		 * in it, has returned.
		 */
		if (!stand->has_statedump || is_of_statedump(stand, reported))
			ret = merge(opens, stand, reported);
	}
	for (i = 0; !ret && i < processes->count; i++)
		if (!stand_of(opens, processes->all[i]))
			ret = -ENOMEM;
	if (ret || !processes->count)
		return ret;
	qsort(opens->all.items, processes->count, sizeof(struct stand *), compare_stands);
	for (i = 0; !ret && i < processes->count; i++)
		ret = give(opens->context, opens->all.items[i]);
	return ret;
}

static void free_all(void *state)
{
	struct opens *opens = state;
	size_t i;

	for (i = 0; i < opens->reported.size; i++)
		free(opens->reported.slots[i].value);
	tap_table_free(&opens->reported);
	for (i = 0; i < opens->asked.size; i++)
		free(opens->asked.slots[i].value);
	tap_table_free(&opens->asked);
	tap_table_free(&opens->open);
	for (i = 0; i < opens->all.count; i++) {
		if (opens->all.items[i])
			free(opens->all.items[i]->calls);
		free(opens->all.items[i]);
	}
	tap_vec_free(&opens->all);
}

const struct tap_layer tap_opens_layer = {
	.name = "open calls",
	.size = sizeof(struct opens),
	.is_of_views = true,
	.events = TAP_TAKES_ALL,
	.take = take,
	.span_ended = span_ended,
	.process_replaced = process_replaced,
	.close = close_all,
	.free = free_all,
};
