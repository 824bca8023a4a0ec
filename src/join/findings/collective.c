/* SPDX-License-Identifier: MIT */
/*
 * A table of calls by process and number, each of which may wait for the link of its
 * operation, and a list of operations, each of which may wait for kernels.
 */
#include "join/findings/collective.h"

#include "common/list.h"
#include "common/vec.h"
#include "join/base/time.h"
#include "join/model/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * So long an operation waits for kernels after its link: CUPTI reports what ran when its
 * buffer is full, or once in a few seconds.
 */
#define KERNEL_WAIT_NS INT64_C(10000000000)

/* A call of one rank. */
struct call {
	uint64_t process, call_id;
	char algorithm[16], protocol[16];
	struct operation *operation; /* NULL: its link has not come */
	struct call *next;	     /* of the operation; unused */
	TAP_LIST_LINK(struct call) unlinked;
	struct tap_arrival arrival; /* its end, which is last, is set by the link */
};

struct operation {
	struct tap_collective collective;
	struct call *first, **last;
	size_t without_kernel; /* calls */
	int64_t linked_ns;
	struct operation *next; /* unused */
	TAP_LIST_LINK(struct operation) waiting;
};

/* What of a process's kernels can be expected. */
struct reports {
	int64_t launched_ns; /* NCCL's first launch */
	bool has_kernel;     /* one was reported */
};

/* What a thread did since its last operation. */
struct thread {
	int64_t ended_ns; /* of the operation, -1 none */
	const struct tap_name *longest;
	int64_t longest_ns;
};

/* The latest work on a stream that is not NCCL's. */
struct stream {
	int64_t begin_ns, end_ns;
	const char *name;
};

/* What a communicator did last, as far as calls show. */
struct last {
	uint64_t number;
	int64_t start_ns;
};

struct tap_collectives {
	int (*take)(void *data, const struct tap_collective *collective);
	void *data;
	struct tap_table calls;	  /* by (process, call_id) */
	struct tap_table threads; /* by (process, tid) */
	struct tap_table reports; /* by process; without a launch there is none */
	struct tap_table streams; /* by (process, device and stream) */
	struct tap_table lasts;	  /* by communicator */
	struct tap_table names;	  /* of kernels, by hash */
	TAP_LIST(struct call) unlinked;
	TAP_LIST(struct operation) waiting;
	size_t call_count, unlinked_count;
	struct call *unused_calls;
	struct operation *unused_operations;
	struct tap_arrival *arrivals; /* of the operation that is given */
	size_t arrival_room;
	/* The latest kernel of NCCL: the link to its calls comes right after it. */
	struct call kernel;
	uint64_t kernel_number; /* 0 none */
};

struct tap_collectives *
tap_collectives_create(int (*take)(void *data, const struct tap_collective *collective),
		       void *data)
{
	struct tap_collectives *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->take = take;
	all->data = data;
	return all;
}

/* ---- Calls ---- */

static struct call *find_call(const struct tap_collectives *all,
			      const struct tap_process *process, uint64_t call_id)
{
	return tap_table_find(&all->calls, process->number, call_id);
}

/* Makes a call that waits for its link.  NULL when memory is short. */
static struct call *make_call(struct tap_collectives *all,
			      const struct tap_process *process, uint64_t call_id)
{
	struct call *call = all->unused_calls;

	if (call)
		all->unused_calls = call->next;
	else
		call = malloc(sizeof(*call));
	if (!call)
		return NULL;
	memset(call, 0, offsetof(struct call, arrival.end));
	call->process = process->number;
	call->call_id = call_id;
	call->arrival.gap_ns = -1;
	call->arrival.launch_begin_ns = call->arrival.launch_end_ns = -1;
	call->arrival.kernel_begin_ns = call->arrival.kernel_end_ns = -1;
	if (tap_table_set(&all->calls, process->number, call_id, call)) {
		free(call);
		return NULL;
	}
	tap_list_append(&all->unlinked, call, unlinked);
	all->unlinked_count++;
	all->call_count++;
	return call;
}

static struct call *get_call(struct tap_collectives *all,
			     const struct tap_process *process, uint64_t call_id)
{
	struct call *call = find_call(all, process, call_id);

	return call ? call : make_call(all, process, call_id);
}

static void unlist(struct tap_collectives *all, struct call *call)
{
	tap_list_remove(&all->unlinked, call, unlinked);
	all->unlinked_count--;
}

static void drop_call(struct tap_collectives *all, struct call *call)
{
	if (!call->operation)
		unlist(all, call);
	tap_table_remove(&all->calls, call->process, call->call_id);
	all->call_count--;
	call->next = all->unused_calls;
	all->unused_calls = call;
}

/* ---- What an operation says when it is given ---- */

/* A word that several calls share, or "various". */
static void merge_word(char *word, const char *other)
{
	if (!*other)
		return;
	if (!*word)
		strcpy(word, other);
	else if (strcmp(word, other) != 0)
		strcpy(word, "various");
}

static void set_bytes(struct tap_collective *collective,
		      const struct tap_arrival *arrival)
{
	const int64_t bytes = tap_operation_bytes(&arrival->end.facts.operation);

	if (bytes > collective->bytes)
		collective->bytes = bytes;
}

/* A communicator's operations run one after the other, whenever they were called. */
static int set_starts_by_calls(struct tap_collectives *all,
			       const struct tap_collective *collective)
{
	struct last *last = tap_table_find(&all->lasts, collective->comm->number, 0);
	int64_t latest_ns = -1;
	size_t i;

	if (!last && !collective->is_message) {
		last = calloc(1, sizeof(*last));
		if (!last ||
		    tap_table_set(&all->lasts, collective->comm->number, 0, last)) {
			free(last);
			return -ENOMEM;
		}
		last->start_ns = -1;
	}
	for (i = 0; i < collective->count; i++) {
		struct tap_arrival *arrival = &all->arrivals[i];

		arrival->start_ns =
			arrival->is_captured ? -1 : arrival->end.facts.begin_ns;
		if (!collective->is_message && arrival->start_ns >= 0 &&
		    collective->number > last->number &&
		    arrival->start_ns < last->start_ns)
			arrival->start_ns = last->start_ns;
		if (arrival->start_ns > latest_ns)
			latest_ns = arrival->start_ns;
	}
	if (!collective->is_message && collective->number > last->number) {
		last->number = collective->number;
		last->start_ns = latest_ns;
	}
	return 0;
}

static void set_starts_by_kernels(struct tap_collectives *all,
				  struct tap_collective *collective)
{
	size_t i;

	for (i = 0; i < collective->count; i++) {
		all->arrivals[i].start_ns = all->arrivals[i].kernel_begin_ns;
		if (all->arrivals[i].kernel_end_ns > collective->end_ns)
			collective->end_ns = all->arrivals[i].kernel_end_ns;
	}
}

/* Compares all arrivals with the first whose start is known. */
static void compare_starts(struct tap_arrival *arrivals,
			   struct tap_collective *collective)
{
	const struct tap_arrival *reference = NULL;
	size_t i, comparable = 0;

	for (i = 0; i < collective->count; i++) {
		struct tap_arrival *arrival = &arrivals[i];
		int64_t uncertainty_ns;

		arrival->is_comparable = false;
		if (arrival->start_ns < 0)
			continue;
		if (!reference) {
			reference = arrival;
			collective->first = collective->last = i;
		}
		uncertainty_ns = tap_clock_uncertainty_ns(
			reference->end.process, reference->start_ns, arrival->end.process,
			arrival->start_ns);
		if (uncertainty_ns < 0)
			continue;
		arrival->is_comparable = true;
		comparable++;
		if (uncertainty_ns > collective->uncertainty_ns)
			collective->uncertainty_ns = uncertainty_ns;
		if (arrival->start_ns < arrivals[collective->first].start_ns)
			collective->first = i;
		if (arrival->start_ns >= arrivals[collective->last].start_ns)
			collective->last = i;
	}
	collective->is_timed = comparable >= 2;
}

static int give(struct tap_collectives *all, struct operation *operation)
{
	struct tap_collective *collective = &operation->collective;
	struct call *call, *next;
	size_t i = 0;
	int ret = 0;

	tap_list_remove(&all->waiting, operation, waiting);
	if (tap_array_reserve(all->arrivals, all->arrival_room, collective->count))
		return -ENOMEM;
	collective->has_kernels = !operation->without_kernel;
	for (call = operation->first; call; call = next) {
		next = call->next;
		all->arrivals[i++] = call->arrival;
		set_bytes(collective, &call->arrival);
		merge_word(collective->algorithm, call->algorithm);
		merge_word(collective->protocol, call->protocol);
		drop_call(all, call);
	}
	collective->arrivals = all->arrivals;
	if (collective->has_kernels)
		set_starts_by_kernels(all, collective);
	else
		ret = set_starts_by_calls(all, collective);
	compare_starts(all->arrivals, collective);
	if (!ret)
		ret = all->take(all->data, collective);
	operation->next = all->unused_operations;
	all->unused_operations = operation;
	return ret;
}

/* Gives, or forgets, what waits for too long, or is too much. */
static int evict(struct tap_collectives *all, const struct tap_context *context)
{
	const size_t held_max = context->bounds.held_operations;
	struct operation *oldest;
	int ret = 0;

	while (!ret && (oldest = all->waiting.first) &&
	       tap_since_ns(context->last_ns, oldest->linked_ns) > KERNEL_WAIT_NS)
		ret = give(all, oldest);
	while (!ret && all->call_count > held_max) {
		if (all->unlinked_count > held_max / 2 || !all->waiting.first)
			drop_call(all, all->unlinked.first);
		else
			ret = give(all, all->waiting.first);
	}
	return ret;
}

/* ---- Spans ---- */

static struct thread *get_thread(struct tap_collectives *all, const struct tap_span *span)
{
	const uint64_t tid = (uint64_t) span->tid;
	struct thread *thread = tap_table_find(&all->threads, span->process->number, tid);

	if (thread)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (!thread || tap_table_set(&all->threads, span->process->number, tid, thread)) {
		free(thread);
		return NULL;
	}
	thread->ended_ns = -1;
	return thread;
}

static bool is_operation(const struct tap_span *span)
{
	return span->operation.number && span->member && !span->is_inner &&
	       !span->is_from_nvtx && span->state != TAP_SPAN_BEGIN_LOST;
}

static int take_operation(struct tap_collectives *all, const struct tap_span *span,
			  struct thread *thread)
{
	struct call *call = get_call(all, span->process, span->call_id);

	if (!call)
		return -ENOMEM;
	if (thread->ended_ns >= 0 && thread->ended_ns <= span->begin_ns) {
		call->arrival.gap_ns = tap_since_ns(span->begin_ns, thread->ended_ns);
		call->arrival.before = thread->longest;
		call->arrival.before_ns = thread->longest_ns;
	}
	thread->ended_ns = span->state == TAP_SPAN_COMPLETE ? span->end_ns : -1;
	thread->longest = NULL;
	thread->longest_ns = 0;
	return 0;
}

static int take_call(struct tap_collectives *all, const struct tap_span *span)
{
	struct thread *thread;

	if (span->tid < 0 || span->work.kind || span->is_range)
		return 0;
	/* Inner calls are part of those around them. */
	if (!is_operation(span) && (span->depth || span->is_inner))
		return 0;
	thread = get_thread(all, span);
	if (!thread)
		return -ENOMEM;
	if (is_operation(span))
		return take_operation(all, span, thread);
	if (span->state == TAP_SPAN_COMPLETE && thread->ended_ns >= 0 &&
	    tap_span_duration(span) > thread->longest_ns) {
		thread->longest = span->name;
		thread->longest_ns = tap_span_duration(span);
	}
	return 0;
}

/* A list of equal words, with commas, is one word; other lists are "various". */
static void copy_word(char word[16], const struct tap_fields *fields, const char *name)
{
	const char *list = tap_fields_get_string(fields, name);
	size_t length;

	*word = 0;
	while (list) {
		char one[16];

		length = strcspn(list, ",");
		if (length >= sizeof(one))
			return;
		memcpy(one, list, length);
		one[length] = 0;
		merge_word(word, one);
		list = list[length] ? list + length + 1 : NULL;
	}
}

static uint64_t stream_of(const struct tap_span *span)
{
	return span->work.run.device << 32 | (span->work.run.stream & UINT32_MAX);
}

/* The most names of kernels that are kept. */
#define NAMES_MAX 4096

/* A function's own name is in _Z9my_kernelPf with its length before it. */
static const char *own_name(const char *function, size_t *length)
{
	char *end;
	unsigned long stated;

	*length = strlen(function);
	if (strncmp(function, "_Z", 2) != 0)
		return function;
	stated = strtoul(function + 2, &end, 10);
	if (end == function + 2 || stated > strlen(end))
		return function;
	*length = stated;
	return end;
}

/* The name of work that is not NCCL's, kept once; NULL when memory is short. */
static const char *name_of(struct tap_collectives *all, const struct tap_span *span)
{
	const char *function = tap_fields_get_string(&span->entry, "function");
	uint64_t hash;
	size_t length;
	char *name;

	if (!function)
		return span->name->name;
	hash = tap_table_hash(function);
	name = tap_table_find(&all->names, hash, 0);
	if (name)
		return name;
	if (all->names.count == NAMES_MAX)
		return span->name->name;
	function = own_name(function, &length);
	name = strndup(function, length);
	if (name && !tap_table_set(&all->names, hash, 0, name))
		return name;
	free(name);
	return NULL;
}

/* Work on a stream is reported nearly in order. */
static int note_other_work(struct tap_collectives *all, const struct tap_span *span)
{
	struct stream *stream =
		tap_table_find(&all->streams, span->process->number, stream_of(span));

	if (!stream) {
		stream = calloc(1, sizeof(*stream));
		if (!stream || tap_table_set(&all->streams, span->process->number,
					     stream_of(span), stream)) {
			free(stream);
			return -ENOMEM;
		}
	}
	stream->begin_ns = span->begin_ns;
	stream->end_ns = span->end_ns;
	stream->name = name_of(all, span);
	return stream->name ? 0 : -ENOMEM;
}

/* Notes what of the time from a kernel's launch on the stream had other work. */
static void note_blocker(const struct tap_collectives *all, const struct tap_span *span,
			 struct tap_arrival *arrival)
{
	const struct stream *stream =
		tap_table_find(&all->streams, span->process->number, stream_of(span));
	int64_t begin_ns, end_ns;

	arrival->blocked_ns = 0;
	arrival->blocker = NULL;
	if (!stream || arrival->launch_begin_ns < 0)
		return;
	begin_ns = stream->begin_ns > arrival->launch_begin_ns ? stream->begin_ns
							       : arrival->launch_begin_ns;
	end_ns = stream->end_ns < span->begin_ns ? stream->end_ns : span->begin_ns;
	if (end_ns <= begin_ns)
		return;
	arrival->blocked_ns = tap_since_ns(end_ns, begin_ns);
	arrival->blocker = stream->name;
}

static void note_kernel(struct tap_collectives *all, const struct tap_span *span)
{
	struct call *kernel = &all->kernel;

	all->kernel_number = span->work.run.number;
	kernel->arrival.kernel_begin_ns = span->begin_ns;
	kernel->arrival.kernel_end_ns = span->end_ns;
	kernel->arrival.launch_begin_ns = kernel->arrival.launch_end_ns = -1;
	if (span->gpu.has_launch) {
		kernel->arrival.launch_begin_ns =
			tap_since_ns(span->begin_ns, span->gpu.queue_ns);
		kernel->arrival.launch_end_ns =
			tap_since_ns(span->begin_ns, tap_since_ns(span->gpu.queue_ns,
								  span->gpu.launch_ns));
	}
	note_blocker(all, span, &kernel->arrival);
	kernel->arrival.is_captured = !span->gpu.has_call;
	copy_word(kernel->algorithm, &span->entry, "algorithm");
	copy_word(kernel->protocol, &span->entry, "protocol");
}

int tap_collectives_span(struct tap_collectives *all, const struct tap_context *context,
			 const struct tap_span *span)
{
	int ret = 0;

	if (tap_work_is_run(&span->work)) {
		if (span->gpu.call)
			note_kernel(all, span);
		else if (!span->gpu.is_nccl)
			ret = note_other_work(all, span);
	} else {
		ret = take_call(all, span);
	}
	return ret ? ret : evict(all, context);
}

/* ---- Links ---- */

/* Adds a kernel to the one call that it carries, or to each of several. */
static void add_kernel(struct call *call, const struct call *kernel, bool is_shared)
{
	struct tap_arrival *to = &call->arrival;
	const struct tap_arrival *from = &kernel->arrival;

	to->is_captured |= from->is_captured;
	if (to->is_captured)
		return;
	to->is_shared |= is_shared;
	if (to->kernel_begin_ns < 0 || from->kernel_begin_ns < to->kernel_begin_ns) {
		to->kernel_begin_ns = from->kernel_begin_ns;
		to->launch_begin_ns = from->launch_begin_ns;
		to->launch_end_ns = from->launch_end_ns;
		to->blocked_ns = from->blocked_ns;
		to->blocker = from->blocker;
	}
	if (from->kernel_end_ns > to->kernel_end_ns)
		to->kernel_end_ns = from->kernel_end_ns;
	merge_word(call->algorithm, kernel->algorithm);
	merge_word(call->protocol, kernel->protocol);
}

static int take_kernel(struct tap_collectives *all, const struct tap_link *link)
{
	struct reports *reports;
	int ret = 0;
	size_t i;

	if (link->ends[0].work.run.number != all->kernel_number)
		return 0;
	reports = tap_table_find(&all->reports, link->ends[0].process->number, 0);
	if (reports)
		reports->has_kernel = true;
	for (i = 1; !ret && i < link->count; i++) {
		const struct tap_link_end *end = &link->ends[i];
		struct call *call = get_call(all, end->process, end->call_id);
		bool had_kernel;

		if (!call)
			return -ENOMEM;
		had_kernel = call->arrival.kernel_begin_ns >= 0;
		add_kernel(call, &all->kernel, link->count > 2);
		if (call->operation && !had_kernel &&
		    call->arrival.kernel_begin_ns >= 0 &&
		    !--call->operation->without_kernel)
			ret = give(all, call->operation);
	}
	return ret;
}

/* The launch inside a call, whose kernel may be reported. */
static int take_launch(struct tap_collectives *all, const struct tap_link *link)
{
	const struct tap_process *process = link->ends[0].process;
	struct reports *reports = tap_table_find(&all->reports, process->number, 0);

	if (reports)
		return 0;
	reports = calloc(1, sizeof(*reports));
	if (!reports || tap_table_set(&all->reports, process->number, 0, reports)) {
		free(reports);
		return -ENOMEM;
	}
	reports->launched_ns = link->end_ns;
	return 0;
}

static int add_end(struct tap_collectives *all, struct operation *operation,
		   const struct tap_link_end *end)
{
	struct call *call = get_call(all, end->process, end->call_id);

	if (!call)
		return -ENOMEM;
	/* Two links of one call: only a damaged trace has them. */
	if (call->operation)
		return 0;
	unlist(all, call);
	call->operation = operation;
	call->arrival.end = *end;
	*operation->last = call;
	operation->last = &call->next;
	operation->collective.count++;
	operation->without_kernel += call->arrival.kernel_begin_ns < 0;
	return 0;
}

/*
 * Whether kernels of the operation may still be reported.  What NCCL did not launch has
 * none; and where nothing was reported for long after the first launch, nothing will be.
 */
static bool expects_kernels(const struct tap_collectives *all,
			    const struct tap_context *context,
			    const struct operation *operation)
{
	const struct reports *reports;
	const struct call *call;

	for (call = operation->first; call; call = call->next) {
		if (call->arrival.kernel_begin_ns >= 0)
			continue;
		reports = tap_table_find(&all->reports, call->process, 0);
		if (!reports || (!reports->has_kernel &&
				 tap_since_ns(context->last_ns, reports->launched_ns) >
					 KERNEL_WAIT_NS))
			return false;
	}
	return operation->without_kernel > 0;
}

static int take_operation_link(struct tap_collectives *all,
			       const struct tap_context *context,
			       const struct tap_link *link)
{
	struct operation *operation = all->unused_operations;
	size_t i;
	int ret = 0;

	if (operation)
		all->unused_operations = operation->next;
	else
		operation = malloc(sizeof(*operation));
	if (!operation)
		return -ENOMEM;
	memset(operation, 0, sizeof(*operation));
	operation->collective = (struct tap_collective){
		.comm = link->comm,
		.name = link->operation,
		.number = link->op_number,
		.nranks = link->nranks,
		.is_message = link->kind == TAP_LINK_SEND_RECV,
		.is_complete = link->is_complete,
		.known = link->known,
		.mismatch = link->mismatch,
		.bytes = -1,
		.end_ns = -1,
	};
	operation->last = &operation->first;
	operation->linked_ns = context->last_ns;
	tap_list_append(&all->waiting, operation, waiting);
	for (i = 0; !ret && i < link->count; i++)
		ret = add_end(all, operation, &link->ends[i]);
	if (!ret && !expects_kernels(all, context, operation))
		return give(all, operation);
	return ret;
}

int tap_collectives_link(struct tap_collectives *all, const struct tap_context *context,
			 const struct tap_link *link)
{
	switch (link->kind) {
	case TAP_LINK_COLLECTIVE_RANKS:
	case TAP_LINK_SEND_RECV:
		return take_operation_link(all, context, link);
	case TAP_LINK_KERNEL_COLLECTIVE:
		return take_kernel(all, link);
	case TAP_LINK_API_LAUNCH:
		return take_launch(all, link);
	default:
		return 0;
	}
}

/* ---- The end ---- */

int tap_collectives_finish(struct tap_collectives *all)
{
	int ret = 0;

	while (!ret && all->waiting.first)
		ret = give(all, all->waiting.first);
	return ret;
}

static void free_values(struct tap_table *table)
{
	size_t i;

	for (i = 0; i < table->size; i++)
		free(table->slots[i].value);
	tap_table_free(table);
}

void tap_collectives_destroy(struct tap_collectives *all)
{
	struct operation *operation;
	struct call *call;

	if (!all)
		return;
	while ((operation = all->waiting.first)) {
		tap_list_remove(&all->waiting, operation, waiting);
		free(operation);
	}
	while ((operation = all->unused_operations)) {
		all->unused_operations = operation->next;
		free(operation);
	}
	while ((call = all->unused_calls)) {
		all->unused_calls = call->next;
		free(call);
	}
	free_values(&all->calls);
	free_values(&all->threads);
	free_values(&all->reports);
	free_values(&all->streams);
	free_values(&all->lasts);
	free_values(&all->names);
	free(all->arrivals);
	free(all);
}
