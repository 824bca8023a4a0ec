/* SPDX-License-Identifier: MIT */
/* Launches by their correlation, what ran by the time when it was told. */
#include "join/gpu/gpu.h"

#include "join/base/buffer.h"
#include "join/model/comm.h"
#include "join/model/stream.h"
#include "join/nccl/kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Names of kernels, so that a damaged trace cannot fill the memory. */
#define FUNCTIONS_MAX 65536

/* Launches that more than one thing may have run for, and so stay. */
#define REPEATED_MAX 65536

/* So long after the last that ran for one, nothing more of it is awaited. */
#define LINGER_NS 100000000

/* A launch is told when it has returned, which may be after its kernel was. */
#define LAUNCH_WAIT_NS 1000000000

/* What begins before its launch by no more than this still has its place. */
#define CLOCK_ERROR_NS 1000000

/* A clock that is wrong by more is damage. */
#define AHEAD_NS 1000000000

/* How often it is looked what has waited for so long. */
#define LOOK_NS 10000000

/* Something that ran, and waits for its launch or for the end of the call around that. */
struct tap_gpu_held {
	struct tap_span *span;
	struct tap_gpu_launch *launch; /* NULL: not there yet */
	struct tap_gpu_launch *root;   /* the same; of a graph, what was captured */
	uint64_t correlation_id;
	uint64_t node;	 /* of a graph, 0 none */
	int64_t told_ns; /* when its event came */
	bool is_in_graph;
	struct tap_gpu_held *before, *after; /* of all */
	struct tap_gpu_held *next;	     /* waiting for the same launch; unused */
};

/* What CUPTI is to a process. */
struct tap_gpu_site {
	const struct tap_process *process;
	bool is_ours;
	bool is_unobserved; /* since begin_ns */
	int64_t begin_ns;
	char *why;
	uint64_t dropped, zero_times; /* that no launch is accounted for by, yet */
	struct tap_gpu_site *next;
};

static void count_unmatched(struct tap_matches *matches, enum tap_why why)
{
	matches->unmatched++;
	matches->why[why]++;
}

/* A damaged trace may have any time. */
static int64_t since(int64_t ns, int64_t earlier_ns)
{
	return (int64_t) ((uint64_t) ns - (uint64_t) earlier_ns);
}

static uint64_t number_of(const struct tap_fields *fields, const char *name)
{
	uint64_t number = 0;

	tap_fields_get_unsigned(fields, name, &number);
	return number;
}

static int add_number(struct tap_fields *fields, const char *name, int64_t number)
{
	struct tap_field *field;

	if (tap_fields_find(fields, name))
		return 0;
	field = tap_fields_add(fields, name,
			       number < 0 ? TAP_FIELD_SIGNED : TAP_FIELD_UNSIGNED);
	if (!field)
		return -ENOMEM;
	field->value.i = number;
	return 0;
}

static int copy_field(struct tap_fields *to, const struct tap_fields *from,
		      const char *name)
{
	const struct tap_field *field = tap_fields_find(from, name);
	struct tap_field *copy;
	const char *string;

	if (!field || tap_fields_find(to, name))
		return 0;
	if (field->kind == TAP_FIELD_STRING) {
		string = tap_fields_string(from, field);
		return tap_fields_add_string(to, name, string, strlen(string)) ? 0
									       : -ENOMEM;
	}
	if (field->kind == TAP_FIELD_ARRAY)
		return 0;
	copy = tap_fields_add(to, name, field->kind);
	if (!copy)
		return -ENOMEM;
	copy->is_hex = field->is_hex;
	copy->value = field->value;
	return 0;
}

/* What kernel.h says of a launch. */
static int copy_about(struct tap_fields *to, const struct tap_fields *from)
{
	static const char *const names[] = {"kernel_kind", "known",    "collective",
					    "op",	   "datatype", "algorithm",
					    "protocol",	   "channels", "device_comm",
					    "left_out"};
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < sizeof(names) / sizeof(names[0]); i++)
		ret = copy_field(to, from, names[i]);
	return ret;
}

/* ---- What CUPTI is to a process ---- */

/* NULL when memory is short. */
static struct tap_gpu_site *site_of(struct tap_gpu *gpu,
				    const struct tap_process *process)
{
	struct tap_gpu_site *site = tap_table_find(&gpu->sites, process->number, 0);

	if (site)
		return site;
	site = calloc(1, sizeof(*site));
	if (!site || tap_table_set(&gpu->sites, process->number, 0, site)) {
		free(site);
		return NULL;
	}
	site->process = process;
	site->next = gpu->first_site;
	gpu->first_site = site;
	return site;
}

static void add_seconds(struct tap_buffer *buffer, int64_t ns)
{
	if (ns < 0)
		ns = 0;
	tap_buffer_add_unsigned(buffer, (uint64_t) ns / 1000000000);
	tap_buffer_add_char(buffer, '.');
	tap_buffer_add_padded(buffer, (uint64_t) ns % 1000000000, 9);
	tap_buffer_add_string(buffer, " s");
}

/* From when to when nothing could be seen: seconds since the first event. */
static int tell_unobserved(struct tap_gpu *gpu, struct tap_gpu_site *site, int64_t end_ns)
{
	struct tap_buffer detail = {0};
	struct tap_problem problem = {.process = site->process,
				      .time_ns = site->begin_ns,
				      .what = "kernels on the GPU",
				      .count = 1,
				      .is_unobserved = true};
	int ret = 0;

	if (!site->is_unobserved)
		return 0;
	site->is_unobserved = false;
	tap_buffer_add_string(&detail, site->why);
	tap_buffer_add_string(&detail, ", from ");
	add_seconds(&detail, since(site->begin_ns, gpu->first_ns));
	tap_buffer_add_string(&detail, end_ns == INT64_MAX ? " to the end" : " to ");
	if (end_ns != INT64_MAX)
		add_seconds(&detail, since(end_ns, gpu->first_ns));
	tap_buffer_add_char(&detail, '\0');
	problem.detail = detail.data;
	if (detail.is_short)
		ret = -ENOMEM;
	else
		ret = tap_emit_problem(gpu->context, &problem);
	tap_buffer_free(&detail);
	free(site->why);
	site->why = NULL;
	return ret;
}

static void add_part(struct tap_buffer *buffer, const char *before, const char *string)
{
	if (!string || !*string)
		return;
	tap_buffer_add_string(buffer, before);
	tap_buffer_add_string(buffer, string);
}

static int take_owner(struct tap_gpu *gpu, const struct tap_process *process,
		      const struct tap_event *event)
{
	static const char *const unobserved[] = {"refused", "absent", "failed",
						 "released"};
	const struct tap_fields *fields = &event->fields;
	const char *state = tap_fields_get_string(fields, "state");
	struct tap_gpu_site *site = site_of(gpu, process);
	struct tap_buffer why = {0};
	bool is_unobserved = false;
	size_t i;
	int ret;

	if (!site)
		return -ENOMEM;
	if (!state) {
		gpu->context->loss.malformed_events++;
		return 0;
	}
	for (i = 0; i < sizeof(unobserved) / sizeof(unobserved[0]); i++)
		is_unobserved |= !strcmp(state, unobserved[i]);
	site->is_ours = !strcmp(state, "taken");
	if (!is_unobserved && !site->is_ours)
		return 0;
	tap_buffer_add_string(&why, "CUPTI is ");
	tap_buffer_add_string(&why, state);
	add_part(&why, ", held by ", tap_fields_get_string(fields, "holder"));
	add_part(&why, ": ", tap_fields_get_string(fields, "detail"));
	tap_buffer_add_char(&why, '\0');
	/* A state that is told again is no other. */
	if (why.is_short ||
	    (is_unobserved && site->is_unobserved && !strcmp(site->why, why.data))) {
		ret = why.is_short ? -ENOMEM : 0;
		tap_buffer_free(&why);
		return ret;
	}
	ret = tell_unobserved(gpu, site, event->time_ns);
	site->is_unobserved = is_unobserved;
	site->begin_ns = event->time_ns;
	if (is_unobserved) {
		site->why = why.data;
		return ret;
	}
	tap_buffer_free(&why);
	return ret;
}

static int take_lost(struct tap_gpu *gpu, const struct tap_process *process,
		     const struct tap_event *event)
{
	const char *what = tap_fields_get_string(&event->fields, "what");
	const uint64_t count = number_of(&event->fields, "count");
	struct tap_gpu_site *site = site_of(gpu, process);

	if (!site)
		return -ENOMEM;
	if (what && !strcmp(what, "dropped")) {
		gpu->context->loss.gpu_dropped += count;
		site->dropped += count;
	} else if (what && (!strcmp(what, "zero_time") || !strcmp(what, "other_clock"))) {
		gpu->context->loss.gpu_zero_times += count;
		site->zero_times += count;
	} else {
		gpu->context->loss.gpu_unknown += count;
	}
	return 0;
}

static void take_clock(struct tap_gpu *gpu, const struct tap_event *event)
{
	const uint64_t residual = number_of(&event->fields, "residual_ns");

	gpu->context->gpu_times.has_residual = true;
	if (residual > gpu->context->gpu_times.residual_max_ns)
		gpu->context->gpu_times.residual_max_ns = residual;
}

static int take_name(struct tap_gpu *gpu, const struct tap_process *process,
		     const struct tap_event *event)
{
	const char *text = tap_fields_get_string(&event->fields, "text");
	char *copy;

	if (!text || !event->name_number) {
		gpu->context->loss.malformed_events++;
		return 0;
	}
	free(tap_table_remove(&gpu->functions, process->number, event->name_number));
	if (gpu->functions.count >= FUNCTIONS_MAX)
		return 0;
	copy = strdup(text);
	if (copy &&
	    !tap_table_set(&gpu->functions, process->number, event->name_number, copy))
		return 0;
	free(copy);
	return -ENOMEM;
}

/* ---- Launches ---- */

static int64_t horizon_of(const void *state)
{
	const struct tap_gpu *gpu = state;
	int64_t horizon = gpu->oldest ? gpu->oldest->begin_ns : INT64_MAX;

	if (gpu->held_without && gpu->held_min_ns < horizon)
		horizon = gpu->held_min_ns;
	return horizon == INT64_MAX || horizon < INT64_MIN + CLOCK_ERROR_NS
		       ? horizon
		       : horizon - CLOCK_ERROR_NS;
}

/* In order of their beginnings; they come in that of their ends. */
static void await(struct tap_gpu *gpu, struct tap_gpu_launch *launch)
{
	struct tap_gpu_launch *before = gpu->newest;

	while (before && before->begin_ns > launch->begin_ns)
		before = before->before;
	launch->before = before;
	launch->after = before ? before->after : gpu->oldest;
	if (before)
		before->after = launch;
	else
		gpu->oldest = launch;
	if (launch->after)
		launch->after->before = launch;
	else
		gpu->newest = launch;
	launch->is_outstanding = true;
	launch->references++;
	gpu->outstanding++;
}

static void await_no_more(struct tap_gpu *gpu, struct tap_gpu_launch *launch)
{
	if (!launch->is_outstanding)
		return;
	if (launch->before)
		launch->before->after = launch->after;
	else
		gpu->oldest = launch->after;
	if (launch->after)
		launch->after->before = launch->before;
	else
		gpu->newest = launch->before;
	launch->is_outstanding = false;
	gpu->outstanding--;
	tap_gpu_launch_put(launch);
}

static void linger_no_more(struct tap_gpu *gpu, struct tap_gpu_launch *launch)
{
	if (!launch->is_lingering)
		return;
	if (launch->before_lingering)
		launch->before_lingering->after_lingering = launch->after_lingering;
	else
		gpu->first_lingering = launch->after_lingering;
	if (launch->after_lingering)
		launch->after_lingering->before_lingering = launch->before_lingering;
	else
		gpu->last_lingering = launch->before_lingering;
	launch->is_lingering = false;
	tap_gpu_launch_put(launch);
}

static void linger(struct tap_gpu *gpu, struct tap_gpu_launch *launch)
{
	launch->references++;
	linger_no_more(gpu, launch);
	launch->before_lingering = gpu->last_lingering;
	launch->after_lingering = NULL;
	if (gpu->last_lingering)
		gpu->last_lingering->after_lingering = launch;
	else
		gpu->first_lingering = launch;
	gpu->last_lingering = launch;
	launch->is_lingering = true;
}

/* It can be found by its number no longer. */
static void forget_launch(struct tap_gpu *gpu, struct tap_gpu_launch *launch)
{
	const uint64_t process = launch->process->number;
	struct tap_gpu_launch *newest;

	if (!launch->is_there)
		return;
	launch->is_there = false;
	newest = tap_table_find(&gpu->by_correlation, process, launch->correlation_id);
	if (newest == launch) {
		tap_table_remove(&gpu->by_correlation, process, launch->correlation_id);
		/* In the room that has become free: that cannot fail. */
		if (launch->older)
			tap_table_set(&gpu->by_correlation, process,
				      launch->correlation_id, launch->older);
	} else {
		while (newest->older != launch)
			newest = newest->older;
		newest->older = launch->older;
	}
	if (launch->is_repeated) {
		if (launch->before_repeated)
			launch->before_repeated->after_repeated = launch->after_repeated;
		else
			gpu->first_repeated = launch->after_repeated;
		if (launch->after_repeated)
			launch->after_repeated->before_repeated = launch->before_repeated;
		else
			gpu->last_repeated = launch->before_repeated;
		gpu->repeated--;
	}
	tap_gpu_launch_put(launch);
}

/* Nothing ran for it, as far as is known. */
static void give_up_launch(struct tap_gpu *gpu, struct tap_gpu_launch *launch,
			   enum tap_why why)
{
	if (!launch->is_found)
		count_unmatched(&gpu->context->matches[TAP_MATCH_LAUNCH_KERNEL], why);
	launch->is_found = true;
	launch->references++;
	linger_no_more(gpu, launch);
	await_no_more(gpu, launch);
	forget_launch(gpu, launch);
	tap_gpu_launch_put(launch);
}

static int file_launch(struct tap_gpu *gpu, struct tap_gpu_launch *launch,
		       bool is_awaited)
{
	const uint64_t process = launch->process->number;

	launch->older =
		tap_table_find(&gpu->by_correlation, process, launch->correlation_id);
	if (tap_table_set(&gpu->by_correlation, process, launch->correlation_id, launch))
		return -ENOMEM;
	launch->references++;
	launch->is_there = true;
	if (launch->is_repeated) {
		launch->before_repeated = gpu->last_repeated;
		if (gpu->last_repeated)
			gpu->last_repeated->after_repeated = launch;
		else
			gpu->first_repeated = launch;
		gpu->last_repeated = launch;
		gpu->repeated++;
	}
	if (is_awaited)
		await(gpu, launch);
	if (gpu->repeated > REPEATED_MAX)
		give_up_launch(gpu, gpu->first_repeated, TAP_WHY_GIVEN_UP);
	while (gpu->outstanding > gpu->context->bounds.open_calls)
		give_up_launch(gpu, gpu->oldest, TAP_WHY_GIVEN_UP);
	return 0;
}

/* ---- What ran ---- */

static void link_held(struct tap_gpu *gpu, struct tap_gpu_held *held)
{
	held->after = NULL;
	held->before = gpu->last_held;
	if (gpu->last_held)
		gpu->last_held->after = held;
	else
		gpu->first_held = held;
	gpu->last_held = held;
	gpu->held++;
}

static void drop_held(struct tap_gpu *gpu, struct tap_gpu_held *held)
{
	if (held->before)
		held->before->after = held->after;
	else
		gpu->first_held = held->after;
	if (held->after)
		held->after->before = held->before;
	else
		gpu->last_held = held->before;
	gpu->held--;
	if (held->launch)
		tap_gpu_launch_put(held->launch);
	if (held->root)
		tap_gpu_launch_put(held->root);
	tap_pairs_put(&gpu->context->pairs, held->span);
	held->next = gpu->free_held;
	gpu->free_held = held;
}

static void wait_no_more(struct tap_gpu *gpu, struct tap_gpu_held *held)
{
	const uint64_t process = held->span->process->number;
	struct tap_gpu_held *first =
		tap_table_find(&gpu->waiting, process, held->correlation_id);

	if (first == held) {
		tap_table_remove(&gpu->waiting, process, held->correlation_id);
		/* In the room that has become free: that cannot fail. */
		if (held->next)
			tap_table_set(&gpu->waiting, process, held->correlation_id,
				      held->next);
	} else {
		while (first->next != held)
			first = first->next;
		first->next = held->next;
	}
	held->next = NULL;
	gpu->held_without--;
}

/* Returns 0 or -ENOMEM. */
static int wait_for_launch(struct tap_gpu *gpu, struct tap_gpu_held *held)
{
	const uint64_t process = held->span->process->number;
	struct tap_gpu_held *last =
		tap_table_find(&gpu->waiting, process, held->correlation_id);

	held->next = NULL;
	if (last) {
		while (last->next)
			last = last->next;
		last->next = held;
	} else if (tap_table_set(&gpu->waiting, process, held->correlation_id, held)) {
		return -ENOMEM;
	}
	if (!gpu->held_without++ || held->span->begin_ns < gpu->held_min_ns)
		gpu->held_min_ns = held->span->begin_ns;
	return 0;
}

/* ---- Spans and links ---- */

static int add_launch(const struct tap_gpu_held *held)
{
	const struct tap_gpu_launch *launch = held->launch;
	struct tap_span *span = held->span;
	const int64_t queue_ns = since(span->begin_ns, launch->begin_ns);
	const int64_t least_ns = since(span->begin_ns, launch->end_ns);

	span->gpu.has_launch = true;
	span->gpu.launch_ns = since(launch->end_ns, launch->begin_ns);
	span->gpu.queue_ns = queue_ns;
	if (add_number(&span->entry, "launch_call_id", (int64_t) launch->call_id) ||
	    add_number(&span->entry, "queue_ns", queue_ns) ||
	    add_number(&span->entry, "queue_least_ns", least_ns > 0 ? least_ns : 0))
		return -ENOMEM;
	if (held->root && held->root != launch &&
	    add_number(&span->entry, "captured_call_id", (int64_t) held->root->call_id))
		return -ENOMEM;
	return 0;
}

static void set_operation(struct tap_gpu_held *held,
			  const struct tap_gpu_reading *reading)
{
	const struct tap_gpu_op *op = reading->ops[0];
	const struct tap_gpu_call *call = held->root->call;
	struct tap_span *span = held->span;

	span->member = op->member;
	span->operation.comm_id = op->operation.comm_id;
	span->operation.comm_key = op->operation.comm_key;
	if (reading->count == 1) {
		span->operation.number = op->operation.number;
		span->operation.peer = op->operation.peer;
	}
	span->gpu.call = op->name->operation;
	/* A graph runs again what was called once. */
	if (held->root != held->launch)
		return;
	span->gpu.has_call = true;
	span->gpu.call_ns = call->end_ns ? since(call->end_ns, call->begin_ns) : -1;
	span->gpu.to_launch_ns = since(held->launch->begin_ns, call->begin_ns);
}

static int tell_launch(struct tap_gpu *gpu, const struct tap_gpu_held *held)
{
	const struct tap_gpu_launch *launch = held->launch;
	const struct tap_span *span = held->span;
	const struct tap_link_end ends[2] = {
		{.process = span->process,
		 .name = launch->name,
		 .call_id = launch->call_id,
		 .rank = span->process->rank},
		{.process = span->process,
		 .name = span->name,
		 .work = span->work,
		 .rank = span->process->rank},
	};
	const struct tap_link link = {.kind = TAP_LINK_LAUNCH_KERNEL,
				      .known = TAP_KNOWN_EXACT,
				      .is_complete = true,
				      .operation = span->name,
				      .begin_ns = launch->begin_ns,
				      .end_ns = span->begin_ns,
				      .nranks = -1,
				      .ends = ends,
				      .count = 2};

	return tap_emit_link(gpu->context, &link);
}

static int tell_collective(struct tap_gpu *gpu, const struct tap_gpu_held *held,
			   const struct tap_gpu_reading *reading)
{
	const struct tap_span *span = held->span;
	struct tap_link_end *ends;
	struct tap_link link = {.kind = TAP_LINK_KERNEL_COLLECTIVE,
				.known = reading->known,
				.is_complete = true,
				.operation = span->gpu.call,
				.end_ns = span->begin_ns,
				.nranks = -1,
				.count = reading->count + 1};
	size_t i;
	int ret;

	if (!gpu->context->consumer->link)
		return 0;
	ends = calloc(link.count, sizeof(*ends));
	if (!ends)
		return -ENOMEM;
	link.ends = ends;
	link.begin_ns = reading->ops[0]->begin_ns;
	ends[0].name = span->name;
	ends[0].work = span->work;
	for (i = 0; i < link.count; i++) {
		ends[i].process = span->process;
		ends[i].rank = span->process->rank;
		if (!i)
			continue;
		ends[i].name = reading->ops[i - 1]->name;
		ends[i].member = reading->ops[i - 1]->member;
		ends[i].call_id = reading->ops[i - 1]->call_id;
	}
	ret = tap_emit_link(gpu->context, &link);
	free(ends);
	return ret;
}

/* Which collective; nothing is claimed of a kernel that is not NCCL's. */
static int find_collective(struct tap_gpu *gpu, struct tap_gpu_held *held,
			   enum tap_why why, struct tap_gpu_reading *reading)
{
	struct tap_span *span = held->span;
	const char *kind;
	int ret = 0;

	memset(reading, 0, sizeof(*reading));
	reading->why = why ? why : TAP_WHY_NOT_RECORDED;
	if (held->root)
		ret = copy_about(&span->entry, &held->root->about);
	kind = tap_fields_get_string(&span->entry, "kernel_kind");
	if (ret || !kind)
		return ret;
	span->gpu.is_nccl = true;
	if (held->root)
		ret = tap_gpu_calls_read(&gpu->calls, held->root, &span->entry, reading);
	if (ret)
		return ret;
	if (reading->why) {
		count_unmatched(&gpu->context->matches[TAP_MATCH_KERNEL_COLLECTIVE],
				reading->why);
		return 0;
	}
	if (reading->known == TAP_KNOWN_EXACT)
		gpu->context->matches[TAP_MATCH_KERNEL_COLLECTIVE].exact++;
	else if (reading->known == TAP_KNOWN_DECODED)
		gpu->context->matches[TAP_MATCH_KERNEL_COLLECTIVE].decoded++;
	else
		gpu->context->matches[TAP_MATCH_KERNEL_COLLECTIVE].inferred++;
	set_operation(held, reading);
	return 0;
}

/* All that can be known of it is: it goes to the consumer. */
static int settle(struct tap_gpu *gpu, struct tap_gpu_held *held, enum tap_why why)
{
	struct tap_gpu_reading reading;
	struct tap_span *span = held->span;
	int ret = held->launch ? add_launch(held) : 0;

	if (!held->launch)
		count_unmatched(&gpu->context->matches[TAP_MATCH_LAUNCH_KERNEL], why);
	if (!ret)
		ret = find_collective(gpu, held, why, &reading);
	else
		reading.ops = NULL;
	if (!ret)
		ret = tap_emit_begun(gpu->context, span);
	span->state = TAP_SPAN_COMPLETE;
	if (!ret)
		ret = tap_emit_ended(gpu->context, span);
	if (!ret && held->launch)
		ret = tell_launch(gpu, held);
	if (!ret && span->gpu.call)
		ret = tell_collective(gpu, held, &reading);
	free(reading.ops);
	if (held->launch && !held->launch->is_repeated)
		await_no_more(gpu, held->launch);
	drop_held(gpu, held);
	return ret;
}

static bool is_call_open(const struct tap_gpu_held *held)
{
	return held->root && held->root->call && !held->root->call->is_over;
}

/* Its launch is this one. */
static int match(struct tap_gpu *gpu, struct tap_gpu_held *held,
		 struct tap_gpu_launch *launch)
{
	const int64_t early_ns = since(launch->begin_ns, held->span->begin_ns);

	gpu->context->matches[TAP_MATCH_LAUNCH_KERNEL].exact++;
	if (early_ns > 0) {
		gpu->context->gpu_times.clock_errors++;
		if (early_ns > gpu->context->gpu_times.clock_error_max_ns)
			gpu->context->gpu_times.clock_error_max_ns = early_ns;
	}
	held->launch = launch;
	launch->references++;
	launch->is_found = true;
	launch->found_ns = gpu->now_ns;
	if (launch->is_repeated)
		linger(gpu, launch);
	else
		forget_launch(gpu, launch);
	held->root = held->is_in_graph || launch->name->cuda == TAP_CUDA_GRAPH
			     ? tap_gpu_graphs_find(&gpu->graphs, held->span->process,
						   held->node)
			     : launch;
	if (held->root)
		held->root->references++;
	return is_call_open(held) ? 0 : settle(gpu, held, TAP_WHY_NONE);
}

/* What is told before a launch began is not its. */
static bool may_be(const struct tap_gpu_launch *launch, const struct tap_gpu_held *held)
{
	return launch->begin_ns <= held->told_ns;
}

/*
 * The launch with its number: the one that began last before it, where the numbers began
 * anew.  Two that nothing ran for yet are no answer.
 */
static struct tap_gpu_launch *
launch_of(const struct tap_gpu *gpu, const struct tap_gpu_held *held, bool *is_ambiguous)
{
	struct tap_gpu_launch *launch, *found = NULL, *early = NULL;

	*is_ambiguous = false;
	launch = tap_table_find(&gpu->by_correlation, held->span->process->number,
				held->correlation_id);
	for (; launch; launch = launch->older) {
		if (!may_be(launch, held))
			continue;
		if (launch->begin_ns > held->span->begin_ns) {
			early = launch;
			continue;
		}
		if (found && !launch->is_found)
			*is_ambiguous = true;
		if (!found)
			found = launch;
	}
	return found ? found : early;
}

static enum tap_why why_alone(const struct tap_gpu *gpu, const struct tap_gpu_held *held)
{
	if (held->span->begin_ns < gpu->first_ns)
		return TAP_WHY_BEFORE;
	return gpu->context->loss.discarded_events || gpu->context->loss.discarded_packets
		       ? TAP_WHY_DROPPED
		       : TAP_WHY_NOT_RECORDED;
}

static int give_up_held(struct tap_gpu *gpu, struct tap_gpu_held *held, enum tap_why why)
{
	if (!held->launch)
		wait_no_more(gpu, held);
	return settle(gpu, held, why);
}

static struct tap_span *make_span(struct tap_gpu *gpu, const struct tap_process *process,
				  struct tap_event *event)
{
	static const char *const names[] = {
		[TAP_GPU_KERNEL] = "kernel",
		[TAP_GPU_MEMCPY] = "memcpy",
		[TAP_GPU_MEMCPY_P2P] = "memcpy_p2p",
		[TAP_GPU_MEMSET] = "memset",
	};
	const char *word = names[event->gpu];
	const struct tap_name *name =
		tap_names_get(&gpu->context->names, "gpu", 3, word, strlen(word));
	const uint64_t device = number_of(&event->fields, "device");
	const uint64_t stream = number_of(&event->fields, "stream");
	struct tap_span *span =
		name ? tap_pairs_make(&gpu->context->pairs, process, name, -1) : NULL;
	const char *function = NULL;

	if (!span)
		return NULL;
	span->state = TAP_SPAN_RUNNING;
	span->begin_ns = event->begin_ns;
	span->end_ns = event->end_ns;
	span->operation =
		(struct tap_operation){.not_counted = -1, .peer = -1, .datatype = -1};
	span->work = (struct tap_work){.kind = TAP_WORK_GPU,
				       .qp_id = stream,
				       .life = device,
				       .seq = ++gpu->span_count};
	if (event->name_number)
		function = tap_table_find(&gpu->functions, process->number,
					  event->name_number);
	tap_fields_swap(&span->entry, &event->fields);
	if ((function && !tap_fields_add_string(&span->entry, "function", function,
						strlen(function))) ||
	    (event->gpu == TAP_GPU_KERNEL &&
	     tap_kernel_describe(&span->entry, function, 0, NULL))) {
		tap_pairs_put(&gpu->context->pairs, span);
		return NULL;
	}
	return span;
}

static int take_run(struct tap_gpu *gpu, const struct tap_process *process,
		    struct tap_event *event)
{
	const uint64_t graph = number_of(&event->fields, "graph");
	const uint64_t node = number_of(&event->fields, "graph_node");
	struct tap_gpu_held *held = gpu->free_held;
	struct tap_gpu_launch *launch;
	bool is_ambiguous;
	int ret;

	if (!event->begin_ns || !event->end_ns) {
		gpu->context->loss.gpu_zero_times++;
		return 0;
	}
	/* It cannot have been told before it was over. */
	if (event->end_ns < event->begin_ns || event->begin_ns > event->time_ns ||
	    since(event->end_ns, event->time_ns) > AHEAD_NS) {
		gpu->context->loss.malformed_events++;
		return 0;
	}
	if (held)
		gpu->free_held = held->next;
	else
		held = malloc(sizeof(*held));
	if (!held)
		return -ENOMEM;
	*held = (struct tap_gpu_held){.correlation_id =
					      number_of(&event->fields, "correlation_id"),
				      .node = node,
				      .is_in_graph = graph || node,
				      .told_ns = event->time_ns};
	held->span = make_span(gpu, process, event);
	if (!held->span) {
		free(held);
		return -ENOMEM;
	}
	link_held(gpu, held);
	launch = held->correlation_id ? launch_of(gpu, held, &is_ambiguous) : NULL;
	if (launch && is_ambiguous)
		return settle(gpu, held, TAP_WHY_AMBIGUOUS);
	if (launch)
		return match(gpu, held, launch);
	if (!held->correlation_id)
		return settle(gpu, held, why_alone(gpu, held));
	ret = wait_for_launch(gpu, held);
	if (ret) {
		drop_held(gpu, held);
		return ret;
	}
	while (!ret && gpu->held > gpu->context->bounds.held_operations)
		ret = give_up_held(gpu, gpu->first_held, TAP_WHY_GIVEN_UP);
	return ret;
}

/* ---- What ends ---- */

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

/* The call of NCCL around it, the innermost that asks for something. */
static const struct tap_span *find_call(const struct tap_gpu *gpu,
					const struct tap_span *launch)
{
	const struct tap_span *span = launch, *found = NULL;

	while (span->parent_id) {
		span = tap_table_find(&gpu->context->pairs.open, launch->process->number,
				      span->parent_id);
		if (!span)
			break;
		if (strcmp(span->name->layer, "nccl"))
			continue;
		if (span->operation.number || span->name->kind == TAP_NAME_GROUP_END)
			return span;
		if (!found)
			found = span;
	}
	return found;
}

/* A call that waits has it at its end.  -ENOENT where it is not told. */
static int get_correlation(const struct tap_span *span, uint64_t *ret)
{
	return tap_fields_get_unsigned(span->name->is_cuda_wait ? &span->exit
								: &span->entry,
				       "correlation_id", ret);
}

static struct tap_gpu_launch *make_launch(struct tap_gpu *gpu,
					  const struct tap_span *span)
{
	struct tap_gpu_launch *launch = calloc(1, sizeof(*launch));

	if (!launch)
		return NULL;
	launch->references = 1;
	launch->process = span->process;
	launch->name = span->name;
	launch->call_id = span->call_id;
	launch->begin_ns = span->begin_ns;
	launch->end_ns = span->end_ns;
	get_correlation(span, &launch->correlation_id);
	/* A copy may be made of several, a set of several kernels. */
	launch->is_repeated = span->name->cuda != TAP_CUDA_KERNEL;
	if (!copy_about(&launch->about, &span->entry) &&
	    !tap_gpu_calls_launch(&gpu->calls, find_call(gpu, span), launch))
		return launch;
	tap_gpu_launch_put(launch);
	return NULL;
}

/* What ran for it may have been told already. */
static int match_waiting(struct tap_gpu *gpu, struct tap_gpu_launch *launch)
{
	struct tap_gpu_held *held = tap_table_find(&gpu->waiting, launch->process->number,
						   launch->correlation_id),
			    *next;
	int ret = 0;

	for (; held && !ret; held = next) {
		next = held->next;
		if (!may_be(launch, held))
			continue;
		wait_no_more(gpu, held);
		ret = match(gpu, held, launch);
		if (!launch->is_repeated)
			break;
	}
	return ret;
}

static int take_launch(struct tap_gpu *gpu, const struct tap_span *span)
{
	const struct tap_gpu_site *site;
	struct tap_gpu_launch *launch;
	int64_t capture = 0;
	uint64_t number;
	int ret = 0;

	if (!is_launch(span))
		return 0;
	/* An older tracer does not tell. */
	if (get_correlation(span, &number))
		return 0;
	tap_fields_get_signed(&span->entry, "capture", &capture);
	if (!number) {
		site = tap_table_find(&gpu->sites, span->process->number, 0);
		if (site && !site->is_ours && capture <= 0)
			count_unmatched(&gpu->context->matches[TAP_MATCH_LAUNCH_KERNEL],
					TAP_WHY_NOT_OURS);
		return 0;
	}
	/* Of nothing there is no record. */
	if (!tap_cuda_bytes(span))
		return 0;
	launch = make_launch(gpu, span);
	if (!launch)
		return -ENOMEM;
	/* Where nobody can tell it may be captured. */
	if (capture)
		ret = tap_gpu_graphs_captured(&gpu->graphs, launch);
	if (!ret && capture <= 0)
		ret = file_launch(gpu, launch, !capture);
	if (!ret && capture <= 0)
		ret = match_waiting(gpu, launch);
	tap_gpu_launch_put(launch);
	return ret;
}

static int take_call(struct tap_gpu *gpu, const struct tap_span *span)
{
	const struct tap_gpu_call *call =
		tap_table_find(&gpu->calls.open, span->process->number, span->call_id);
	struct tap_gpu_held *held, *after;
	bool is_awaited = false;
	int ret;

	for (held = gpu->first_held; call && held && !is_awaited; held = held->after)
		is_awaited = held->root && held->root->call == call;
	ret = tap_gpu_calls_ended(&gpu->calls, span);
	for (held = gpu->first_held; is_awaited && !ret && held; held = after) {
		after = held->after;
		if (held->root && held->root->call == call)
			ret = settle(gpu, held, TAP_WHY_NONE);
	}
	return ret;
}

static int span_ended(void *state, struct tap_span *span)
{
	struct tap_gpu *gpu = state;

	if (span->name->cuda)
		return take_launch(gpu, span);
	return strcmp(span->name->layer, "nccl") ? 0 : take_call(gpu, span);
}

static int advance(void *state, int64_t now_ns)
{
	struct tap_gpu *gpu = state;
	struct tap_gpu_held *held, *after;
	int ret = 0;

	if (!gpu->now_ns)
		gpu->first_ns = now_ns;
	gpu->now_ns = now_ns;
	while (gpu->first_lingering &&
	       since(now_ns, gpu->first_lingering->found_ns) > LINGER_NS) {
		struct tap_gpu_launch *launch = gpu->first_lingering;

		launch->references++;
		linger_no_more(gpu, launch);
		await_no_more(gpu, launch);
		tap_gpu_launch_put(launch);
	}
	if (!gpu->held_without || since(now_ns, gpu->looked_ns) < LOOK_NS)
		return 0;
	gpu->looked_ns = now_ns;
	/* In order of being told: those that wait for the end of a call stay. */
	for (held = gpu->first_held;
	     held && !ret && since(now_ns, held->told_ns) > LAUNCH_WAIT_NS;
	     held = after) {
		after = held->after;
		if (!held->launch)
			ret = give_up_held(gpu, held, why_alone(gpu, held));
	}
	return ret;
}

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct tap_gpu *gpu = state;
	const struct tap_fields *fields = &event->fields;

	switch (event->gpu) {
	case TAP_GPU_KERNEL:
	case TAP_GPU_MEMCPY:
	case TAP_GPU_MEMCPY_P2P:
	case TAP_GPU_MEMSET:
		return take_run(gpu, process, event);
	case TAP_GPU_GRAPH_NODE:
		return tap_gpu_graphs_node(&gpu->graphs, process,
					   number_of(fields, "node"),
					   number_of(fields, "call_id"),
					   number_of(fields, "original"));
	case TAP_GPU_NAME:
		return take_name(gpu, process, event);
	case TAP_GPU_OWNER:
		return take_owner(gpu, process, event);
	case TAP_GPU_CLOCK:
		take_clock(gpu, event);
		return 0;
	case TAP_GPU_LOST:
		return take_lost(gpu, process, event);
	case TAP_GPU_NONE:
		break;
	}
	return 0;
}

/* Why nothing ran for a launch, when all is told; NONE: nobody knows that it will not. */
static enum tap_why why_nothing(struct tap_gpu *gpu, const struct tap_gpu_launch *launch)
{
	struct tap_gpu_site *site =
		tap_table_find(&gpu->sites, launch->process->number, 0);

	if (site && site->dropped) {
		site->dropped--;
		return TAP_WHY_DROPPED;
	}
	if (site && site->zero_times) {
		site->zero_times--;
		return TAP_WHY_ZERO_TIME;
	}
	return site && !site->is_ours ? TAP_WHY_NOT_OURS : TAP_WHY_NONE;
}

static int finish(void *state)
{
	struct tap_gpu *gpu = state;
	struct tap_gpu_site *site;
	enum tap_why why;
	int ret = 0;

	while (!ret && gpu->first_held)
		ret = give_up_held(gpu, gpu->first_held, why_alone(gpu, gpu->first_held));
	while (gpu->oldest) {
		if (!gpu->oldest->is_found) {
			why = why_nothing(gpu, gpu->oldest);
			if (why)
				count_unmatched(
					&gpu->context->matches[TAP_MATCH_LAUNCH_KERNEL],
					why);
			else
				gpu->context->matches[TAP_MATCH_LAUNCH_KERNEL]
					.outstanding++;
			gpu->oldest->is_found = true;
		}
		give_up_launch(gpu, gpu->oldest, TAP_WHY_NONE);
	}
	for (site = gpu->first_site; !ret && site; site = site->next)
		ret = tell_unobserved(gpu, site, INT64_MAX);
	return ret;
}

static void free_all(void *state)
{
	struct tap_gpu *gpu = state;
	struct tap_gpu_held *held;
	struct tap_gpu_site *site;
	size_t i;

	while (gpu->first_held)
		drop_held(gpu, gpu->first_held);
	while ((held = gpu->free_held)) {
		gpu->free_held = held->next;
		free(held);
	}
	while (gpu->oldest)
		give_up_launch(gpu, gpu->oldest, TAP_WHY_NONE);
	while (gpu->first_lingering)
		linger_no_more(gpu, gpu->first_lingering);
	for (i = 0; i < gpu->by_correlation.size; i++) {
		struct tap_gpu_launch *launch = gpu->by_correlation.slots[i].value;
		struct tap_gpu_launch *older;

		for (; launch; launch = older) {
			older = launch->older;
			tap_gpu_launch_put(launch);
		}
	}
	while ((site = gpu->first_site)) {
		gpu->first_site = site->next;
		free(site->why);
		free(site);
	}
	for (i = 0; i < gpu->functions.size; i++)
		free(gpu->functions.slots[i].value);
	tap_gpu_graphs_free(&gpu->graphs);
	tap_gpu_calls_free(&gpu->calls);
	tap_table_free(&gpu->by_correlation);
	tap_table_free(&gpu->waiting);
	tap_table_free(&gpu->functions);
	tap_table_free(&gpu->sites);
}

const struct tap_layer tap_gpu_layer = {
	.name = "gpu",
	.size = sizeof(struct tap_gpu),
	.events = TAP_TAKES(TAP_EVENT_GPU),
	.take = take,
	.span_ended = span_ended,
	.advance = advance,
	.horizon = horizon_of,
	.finish = finish,
	.free = free_all,
};
