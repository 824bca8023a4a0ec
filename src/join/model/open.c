/* SPDX-License-Identifier: MIT */
/*
 * A few numbers for each process, and for each thread that the tracer told of, until an
 * event of the thread itself shows that it is elsewhere.
 */
#include "join/model/open.h"

#include "join/gpu/cuda.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Streams that are kept, so that a damaged trace cannot fill the memory. */
#define STREAMS_MAX 65536

struct tap_stand {
	struct tap_standing is;
	struct tap_open_call *calls; /* at the end, by their entries */
	size_t room;
	int64_t beginning_ns;  /* of the state that is being told */
	uint64_t thread_count; /* that it has told */
	int64_t state_ns;      /* when the last one began that was told to its end */
	bool has_beginning, has_state;
};

static struct tap_stand *stand_of(struct tap_opens *opens,
				  const struct tap_process *process)
{
	size_t number = process->number, room = opens->room ? opens->room : 16;
	struct tap_stand **all;

	while (room <= number)
		room *= 2;
	if (room > opens->room) {
		all = realloc(opens->all, room * sizeof(*all));
		if (!all)
			return NULL;
		memset(all + opens->room, 0, (room - opens->room) * sizeof(*all));
		opens->all = all;
		opens->room = room;
	}
	if (!opens->all[number]) {
		opens->all[number] = calloc(1, sizeof(**opens->all));
		if (opens->all[number])
			opens->all[number]->is.process = process;
	}
	return opens->all[number];
}

/* ---- What the tracer told ---- */

static struct tap_open_call *told_of(const struct tap_opens *opens,
				     const struct tap_process *process, int64_t tid)
{
	return tid < 0 ? NULL
		       : tap_table_find(&opens->told, process->number, (uint64_t) tid);
}

static void forget(struct tap_opens *opens, const struct tap_process *process,
		   int64_t tid)
{
	free(tap_table_remove(&opens->told, process->number, (uint64_t) tid));
}

/*
 * Call numbers grow along a process: so the thread is in the told call still only if what
 * it does lies in that.  Of a call without a number nothing tells, but that it is
 * outside.
 */
static bool is_elsewhere(const struct tap_open_call *told, const struct tap_event *event)
{
	if (event->kind == TAP_EVENT_EXIT)
		return event->call_id <= told->call_id;
	return told->call_id ? event->parent_id < told->call_id : !event->parent_id;
}

int tap_opens_event(struct tap_opens *opens, const struct tap_process *process,
		    const struct tap_event *event)
{
	struct tap_stand *stand = stand_of(opens, process);
	const struct tap_open_call *told;

	if (!stand)
		return -ENOMEM;
	stand->is.seen_ns = event->time_ns;
	if (!opens->told.count ||
	    (event->kind != TAP_EVENT_ENTRY && event->kind != TAP_EVENT_EXIT &&
	     event->kind != TAP_EVENT_WORK) ||
	    (event->is_range && event->kind == TAP_EVENT_EXIT))
		return 0;
	told = told_of(opens, process, event->tid);
	if (told && is_elsewhere(told, event))
		forget(opens, process, event->tid);
	return 0;
}

int tap_opens_told(struct tap_opens *opens, const struct tap_thread_state *thread,
		   bool is_state)
{
	struct tap_open_call *told = told_of(opens, thread->process, thread->tid);

	opens->all[thread->process->number]->thread_count += is_state;
	if (thread->tid < 0)
		return 0;
	if (!thread->name) {
		forget(opens, thread->process, thread->tid);
		return 0;
	}
	if (!told) {
		told = calloc(1, sizeof(*told));
		if (!told || tap_table_set(&opens->told, thread->process->number,
					   (uint64_t) thread->tid, told)) {
			free(told);
			return -ENOMEM;
		}
	}
	*told = (struct tap_open_call){.process = thread->process,
				       .name = thread->name,
				       .tid = thread->tid,
				       .call_id = thread->call_id,
				       .is_begun_before = true,
				       .told_ns = thread->time_ns,
				       .least_ns = thread->least_ns,
				       .comm_id = thread->comm_id,
				       .comm_key = thread->comm_key,
				       .op_number = thread->op_number,
				       .peer = -1,
				       .member = thread->member};
	return 0;
}

int tap_opens_state_begins(struct tap_opens *opens, const struct tap_process *process,
			   int64_t time_ns)
{
	struct tap_stand *stand = stand_of(opens, process);

	if (!stand)
		return -ENOMEM;
	stand->has_beginning = true;
	stand->beginning_ns = time_ns;
	stand->thread_count = 0;
	return 0;
}

/* What was discarded of it might have told a thread. */
bool tap_opens_state_ends(struct tap_opens *opens, const struct tap_process *process,
			  uint64_t thread_count)
{
	struct tap_stand *stand = opens->all[process->number];
	const bool is_whole = stand->has_beginning && stand->thread_count == thread_count;

	if (is_whole) {
		stand->has_state = true;
		stand->state_ns = stand->beginning_ns;
	}
	stand->has_beginning = false;
	return is_whole;
}

static bool is_of_state(const struct tap_stand *stand, const struct tap_open_call *told)
{
	return told && stand->has_state && told->told_ns >= stand->state_ns;
}

/* A thread can be seen to be in a call before the entry is written, and after the exit
 * is. */
bool tap_opens_is_returned(const struct tap_opens *opens, const struct tap_span *span)
{
	const struct tap_stand *stand = opens->all[span->process->number];
	const struct tap_open_call *told;

	if (span->tid < 0 || !stand->has_state || span->begin_ns >= stand->state_ns)
		return false;
	told = told_of(opens, span->process, span->tid);
	return !is_of_state(stand, told) || !told->call_id ||
	       told->call_id > span->call_id;
}

/* ---- What the spans tell ---- */

static struct tap_open_call *call_of(struct tap_opens *opens, struct tap_stand *stand,
				     int64_t tid)
{
	const uintptr_t number =
		tid < 0 ? 0
			: (uintptr_t) tap_table_find(&opens->open,
						     stand->is.process->number,
						     (uint64_t) tid);

	return number ? &stand->calls[number - 1] : NULL;
}

static int add(struct tap_opens *opens, struct tap_stand *stand,
	       const struct tap_open_call *call)
{
	struct tap_open_call *calls = stand->calls;
	size_t room = stand->room ? stand->room * 2 : 4;

	if (stand->is.count == stand->room) {
		calls = realloc(calls, room * sizeof(*calls));
		if (!calls)
			return -ENOMEM;
		stand->calls = calls;
		stand->room = room;
	}
	calls[stand->is.count++] = *call;
	return call->tid < 0 ? 0
			     : tap_table_set(&opens->open, stand->is.process->number,
					     (uint64_t) call->tid,
					     (void *) (uintptr_t) stand->is.count);
}

/* What a program waits for on a stream is what it asked for there. */
static int note_asked(struct tap_opens *opens, const struct tap_span *span,
		      const struct tap_open_call *call)
{
	struct tap_open_call *last;
	uint64_t stream;

	if (!call->op_number || span->is_inner || tap_cuda_is_captured(span) ||
	    tap_span_is_failure(tap_span_result(span)) || !tap_cuda_stream(span, &stream))
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

/* What was asked for since, by another thread, it does not wait for. */
static const struct tap_open_call *awaited_by(const struct tap_opens *opens,
					      const struct tap_span *span)
{
	const struct tap_open_call *last;
	uint64_t stream;

	if (span->name->cuda != TAP_CUDA_SYNCHRONIZE || !tap_cuda_stream(span, &stream))
		return NULL;
	last = tap_table_find(&opens->asked, span->process->number, stream);
	return last && last->end_ns <= span->begin_ns ? last : NULL;
}

int tap_opens_span(struct tap_opens *opens, const struct tap_span *span)
{
	struct tap_stand *stand = opens->all[span->process->number];
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
				     .member = span->member};

	if (span->state == TAP_SPAN_COMPLETE && note_asked(opens, span, &call))
		return -ENOMEM;
	if (span->is_range || span->is_enclosed)
		return 0;
	if (span->state == TAP_SPAN_OPEN && !call_of(opens, stand, span->tid)) {
		call.awaited = awaited_by(opens, span);
		return add(opens, stand, &call);
	}
	/* What a program launches says less of where it stands. */
	if (!span->is_inner &&
	    (!span->name->cuda || !stand->is.last.name || stand->is.last.name->cuda) &&
	    (span->state == TAP_SPAN_COMPLETE || span->state == TAP_SPAN_BEGIN_LOST)) {
		stand->is.last = call;
		stand->is.last.is_begun_before = span->state == TAP_SPAN_BEGIN_LOST;
	}
	return 0;
}

int tap_opens_ended(struct tap_opens *opens, const struct tap_process *process,
		    enum tap_end end, int64_t time_ns)
{
	struct tap_stand *stand = stand_of(opens, process);

	if (!stand)
		return -ENOMEM;
	/* A number is used again when its process is over. */
	if (stand->is.end != TAP_END_NOT_SEEN)
		return 0;
	stand->is.end = end;
	stand->is.end_ns = time_ns;
	return 0;
}

/* ---- At the end ---- */

/* It was open when the tracer told, and nothing after that says otherwise. */
static void set_least(const struct tap_stand *stand, struct tap_open_call *call)
{
	const int64_t since = call->is_begun_before ? call->told_ns : call->begin_ns;
	const uint64_t more = (uint64_t) stand->is.seen_ns - (uint64_t) since;

	if (stand->is.seen_ns > since && more <= (uint64_t) (INT64_MAX - call->least_ns))
		call->least_ns += (int64_t) more;
}

/*
 * What a thread itself did since would have taken back what was told: so that is newer,
 * or it is around the call.
 */
static int merge(struct tap_opens *opens, struct tap_stand *stand,
		 const struct tap_open_call *told)
{
	struct tap_open_call *call = call_of(opens, stand, told->tid);

	if (!call)
		return add(opens, stand, told);
	if (told->call_id != call->call_id)
		*call = *told;
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
	const struct tap_process *a = (*(struct tap_stand *const *) left)->is.process;
	const struct tap_process *b = (*(struct tap_stand *const *) right)->is.process;
	uint64_t x = (uint64_t) a->rank, y = (uint64_t) b->rank;

	if (x == y) {
		x = a->number;
		y = b->number;
	}
	return (x > y) - (x < y);
}

static int give(struct tap_stand *stand, const struct tap_consumer *consumer, void *data)
{
	size_t i;

	for (i = 0; i < stand->is.count; i++)
		set_least(stand, &stand->calls[i]);
	if (stand->is.count)
		qsort(stand->calls, stand->is.count, sizeof(*stand->calls),
		      compare_calls);
	stand->is.calls = stand->calls;
	return consumer->standing ? consumer->standing(data, &stand->is) : 0;
}

int tap_opens_finish(struct tap_opens *opens, const struct tap_processes *processes,
		     const struct tap_consumer *consumer, void *data)
{
	const struct tap_open_call *told;
	struct tap_stand *stand;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < opens->told.size; i++) {
		told = opens->told.slots[i].value;
		if (!told)
			continue;
		stand = opens->all[told->process->number];
		/* Told before the last state, and not in it: it has returned since. */
		if (!stand->has_state || is_of_state(stand, told))
			ret = merge(opens, stand, told);
	}
	for (i = 0; !ret && i < processes->count; i++)
		if (!stand_of(opens, processes->all[i]))
			ret = -ENOMEM;
	if (ret || !processes->count)
		return ret;
	qsort(opens->all, processes->count, sizeof(struct tap_stand *), compare_stands);
	for (i = 0; !ret && i < processes->count; i++)
		ret = give(opens->all[i], consumer, data);
	return ret;
}

void tap_opens_free(struct tap_opens *opens)
{
	size_t i;

	for (i = 0; i < opens->told.size; i++)
		free(opens->told.slots[i].value);
	tap_table_free(&opens->told);
	for (i = 0; i < opens->asked.size; i++)
		free(opens->asked.slots[i].value);
	tap_table_free(&opens->asked);
	tap_table_free(&opens->open);
	for (i = 0; i < opens->room; i++) {
		if (opens->all[i])
			free(opens->all[i]->calls);
		free(opens->all[i]);
	}
	free(opens->all);
}
