/* SPDX-License-Identifier: MIT */
/* What passes, in four steps: whose it is, to what it belongs, when it was, what is held. */
#include "join/views/filtered.h"

#include "join/model/link.h"
#include "join/model/nccl_connection.h"
#include "join/model/nccl_thread.h"
#include "join/views/held.h"
#include "join/views/known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The member `filter` of a span. */
enum { LEFT_OUT, WAITS, PASSED };

/* Whether a process that does not say its rank has a wanted one. */
struct of_process {
	int64_t nranks; /* of its largest communicator */
	bool is_wanted;
};

struct tap_filtered {
	struct tap_view *view;
	const struct tap_filters *filters;
	const struct tap_consumer *all, *passed;
	uint64_t span_count, passed_count;
	struct tap_known_spans known;
	TAP_VEC(struct of_process) processes; /* by number */

	bool has_period;
	struct tap_period period;
	/* Calls that began before the period, and may last until it begins. */
	TAP_VEC(struct tap_span *) waiting;
	size_t waiting_room; /* those that ended are removed when there are so many */

	bool holds, has_given;
	struct tap_held held;
};

/* Calls a consumer's function, if it has it. */
#define GIVE(filtered, consumer, function, ...) \
	((filtered)->consumer && (filtered)->consumer->function \
		 ? (filtered)->consumer->function((filtered)->view, __VA_ARGS__) \
		 : 0)

/* ---- Ranks ---- */

/*
 * A process that does not say its rank has that of its largest communicator; one with
 * several GPUs has several.
 */
static int note_rank(struct tap_filtered *filtered, const struct tap_member *member)
{
	const int64_t nranks = tap_member_comm(member)->nranks;
	const bool is_wanted = tap_filters_pass_rank(filtered->filters, member->rank);
	struct of_process *found;

	if (!filtered->filters->given[TAP_FILTER_RANK] || member->rank < 0)
		return 0;
	if (member->process->number >= filtered->processes.count &&
	    tap_vec_resize(&filtered->processes, (size_t) member->process->number + 1))
		return -ENOMEM;
	found = &filtered->processes.items[member->process->number];
	if (nranks > found->nranks)
		*found = (struct of_process){.nranks = nranks, .is_wanted = is_wanted};
	else if (nranks == found->nranks)
		found->is_wanted |= is_wanted;
	return 0;
}

static bool is_process_wanted(const struct tap_filtered *filtered,
			      const struct tap_process *process)
{
	return tap_filters_pass_host(filtered->filters, process) &&
	       (tap_filters_pass_rank(filtered->filters, process->rank) ||
		(process->rank < 0 && process->number < filtered->processes.count &&
		 filtered->processes.items[process->number].is_wanted));
}

/* ---- Operations ---- */

static bool has_operation(const struct tap_filtered *filtered)
{
	return filtered->filters->given[TAP_FILTER_COMM] ||
	       filtered->filters->given[TAP_FILTER_OP];
}

static int remember(struct tap_filtered *filtered, const struct tap_span *span,
		    enum tap_known_of_span what)
{
	return tap_known_add(&filtered->known,
			     tap_known_span(span->process, &span->work, span->call_id),
			     what);
}

/* Whether the span's own communicator and operation are wanted. */
static bool is_own_wanted(const struct tap_filtered *filtered,
			  const struct tap_span *span)
{
	return tap_filters_pass_comm(filtered->filters, span->member,
				     span->operation.comm_key) &&
	       tap_filters_pass_number(filtered->filters, span->operation.number);
}

/* Whether the span says for itself to what it belongs. */
static bool has_own(const struct tap_filtered *filtered, const struct tap_span *span)
{
	return filtered->filters->given[TAP_FILTER_OP]
		       ? span->operation.number
		       : span->member || span->operation.comm_key;
}

/* Whether the span belongs to a wanted operation through another span. */
static bool is_part(const struct tap_filtered *filtered, const struct tap_span *span)
{
	static const char *const launches[] = {"launch_call_id", "captured_call_id"};
	struct tap_known_id id = {.process = span->process->number, .number = span->parent_id};
	size_t i;

	if (tap_work_is_run(&span->work)) {
		for (i = 0; i < sizeof(launches) / sizeof(launches[0]); i++) {
			id.number = tap_fields_number(&span->entry, launches[i]);
			if (id.number && tap_known_is(&filtered->known, id, TAP_KNOWN_WANTED))
				return true;
		}
		return false;
	}
	if (span->work.kind)
		return false;
	return (span->parent_id && tap_known_is(&filtered->known, id, TAP_KNOWN_WANTED)) ||
	       (span->operation.group_id &&
		tap_known_is(&filtered->known,
			     tap_known_group(span->process, span->operation.group_id),
			     TAP_KNOWN_WANTED));
}

/* Gets whether the span belongs to a wanted operation, and remembers it. */
static int find_operation(struct tap_filtered *filtered, const struct tap_span *span,
			  bool *is_wanted)
{
	const bool is_own = has_own(filtered, span);
	int ret = 0;

	*is_wanted = !has_operation(filtered);
	if (*is_wanted)
		return 0;
	*is_wanted = is_own ? is_own_wanted(filtered, span) : is_part(filtered, span);
	if (!*is_wanted)
		return 0;
	/* What is asked for in a group is launched at its end. */
	if (is_own && span->operation.group_id)
		ret = tap_known_add(
			&filtered->known,
			tap_known_group(span->process, span->operation.group_id),
			TAP_KNOWN_WANTED);
	return ret ? ret : remember(filtered, span, TAP_KNOWN_WANTED);
}

/* Gets whether the span passes the filters that do not depend on time or outcome. */
static int find_wanted(struct tap_filtered *filtered, const struct tap_span *span,
		       bool *is_wanted)
{
	int ret = find_operation(filtered, span, is_wanted);

	*is_wanted = *is_wanted &&
		     is_process_wanted(filtered, span->process) &&
		     tap_filters_pass_name(filtered->filters, span->name);
	return ret;
}

/* ---- The period ---- */

static void find_period(struct tap_filtered *filtered)
{
	if (filtered->has_period || !filtered->view->context->has_first)
		return;
	filtered->has_period = true;
	filtered->period = tap_filters_period(filtered->filters,
					      filtered->view->context->first_ns);
}

/* A span without a beginning is where it ended. */
static int64_t begin_of(const struct tap_span *span)
{
	return span->state == TAP_SPAN_BEGIN_LOST ? span->end_ns : span->begin_ns;
}

/* The end of a span that is over; it is at least open until now if it has none. */
static int64_t end_of(const struct tap_filtered *filtered, const struct tap_span *span)
{
	return span->state == TAP_SPAN_COMPLETE || span->state == TAP_SPAN_BEGIN_LOST
		       ? span->end_ns
		       : filtered->view->context->last_ns;
}

static int pass_begun(struct tap_filtered *filtered, struct tap_span *span)
{
	int ret = remember(filtered, span, TAP_KNOWN_PASSED);

	span->filter = PASSED;
	return ret ? ret : GIVE(filtered, passed, span_begun, span);
}

static int pass_ended(struct tap_filtered *filtered, struct tap_span *span)
{
	filtered->passed_count++;
	return GIVE(filtered, passed, span_ended, span);
}

/* The period has begun: what still waits for it passes, in order of beginning. */
static int begin_period(struct tap_filtered *filtered)
{
	struct tap_span *span;
	int ret = 0;
	size_t i;

	for (i = 0; i < filtered->waiting.count; i++) {
		span = filtered->waiting.items[i];
		if (!ret && span->filter == WAITS)
			ret = pass_begun(filtered, span);
		tap_span_put(span);
	}
	filtered->waiting.count = 0;
	return ret;
}

static int wait_for_period(struct tap_filtered *filtered, struct tap_span *span)
{
	size_t i, kept = 0;

	span->filter = WAITS;
	if (filtered->waiting.count >= filtered->waiting_room) {
		for (i = 0; i < filtered->waiting.count; i++)
			if (filtered->waiting.items[i]->filter == WAITS)
				filtered->waiting.items[kept++] =
					filtered->waiting.items[i];
			else
				tap_span_put(filtered->waiting.items[i]);
		filtered->waiting.count = kept;
		filtered->waiting_room = 2 * kept + 64;
	}
	if (tap_vec_add(&filtered->waiting, span))
		return -ENOMEM;
	tap_span_get(span);
	return 0;
}

/* ---- Spans as they come ---- */

static int begin_span(void *data, struct tap_span *span)
{
	struct tap_filtered *filtered = data;
	const int64_t now_ns = filtered->view->context->last_ns;
	bool is_wanted;
	int ret = GIVE(filtered, all, span_begun, span);

	find_period(filtered);
	span->filter = LEFT_OUT;
	if (!ret)
		ret = find_wanted(filtered, span, &is_wanted);
	if (ret || !is_wanted || filtered->holds ||
	    span->begin_ns > filtered->period.end_ns)
		return ret;
	if (tap_work_is_known_late(&span->work)) {
		if (span->end_ns < filtered->period.begin_ns)
			return 0;
	} else if (now_ns < filtered->period.begin_ns) {
		return wait_for_period(filtered, span);
	}
	ret = begin_period(filtered);
	return ret ? ret : pass_begun(filtered, span);
}

static bool is_in_period(const struct tap_filtered *filtered, const struct tap_span *span)
{
	return begin_of(span) <= filtered->period.end_ns &&
	       end_of(filtered, span) >= filtered->period.begin_ns;
}

/* A span whose end decides whether it passes. */
static int judge_ended(struct tap_filtered *filtered, struct tap_span *span)
{
	const struct tap_filters *filters = filtered->filters;
	bool is_wanted;
	int ret = find_wanted(filtered, span, &is_wanted);

	if (ret || !is_wanted || !is_in_period(filtered, span) ||
	    (filters->given[TAP_FILTER_ERRORS] && !tap_filters_is_failure(span)))
		return ret;
	if (filtered->holds)
		return tap_held_add(&filtered->held, span, filtered->view->context);
	ret = begin_period(filtered);
	if (!ret)
		ret = remember(filtered, span, TAP_KNOWN_PASSED);
	return ret ? ret : pass_ended(filtered, span);
}

static int end_span(void *data, struct tap_span *span)
{
	struct tap_filtered *filtered = data;
	int ret = GIVE(filtered, all, span_ended, span);

	filtered->span_count++;
	find_period(filtered);
	if (ret)
		return ret;
	if (filtered->holds || span->state == TAP_SPAN_BEGIN_LOST)
		return judge_ended(filtered, span);
	if (span->filter == WAITS && !is_in_period(filtered, span))
		span->filter = LEFT_OUT;
	if (span->filter == WAITS)
		ret = begin_period(filtered);
	return ret || span->filter != PASSED ? ret : pass_ended(filtered, span);
}

/* ---- What is no span ---- */

static int take_process(void *data, const struct tap_process *process)
{
	struct tap_filtered *filtered = data;
	int ret = GIVE(filtered, all, process, process);

	return ret ? ret : GIVE(filtered, passed, process, process);
}

static int take_library(void *data, const struct tap_process *process,
			const struct tap_library *library)
{
	struct tap_filtered *filtered = data;
	int ret = GIVE(filtered, all, library, process, library);

	return ret ? ret : GIVE(filtered, passed, library, process, library);
}

static int take_problem(void *data, const struct tap_problem *problem)
{
	struct tap_filtered *filtered = data;
	int ret = GIVE(filtered, all, problem, problem);

	return ret || !is_process_wanted(filtered, problem->process)
		       ? ret
		       : GIVE(filtered, passed, problem, problem);
}

static int take_sample(void *data, const struct tap_sampled *sample)
{
	struct tap_filtered *filtered = data;
	int ret = GIVE(filtered, all, sample, sample);

	return ret || !is_process_wanted(filtered, sample->process)
		       ? ret
		       : GIVE(filtered, passed, sample, sample);
}

static int take_thread(void *data, const struct tap_thread_state *thread)
{
	struct tap_filtered *filtered = data;
	int ret = GIVE(filtered, all, thread, thread);

	return ret || !is_process_wanted(filtered, thread->process)
		       ? ret
		       : GIVE(filtered, passed, thread, thread);
}

static int take_nccl_thread(void *data, const struct tap_nccl_thread *thread)
{
	struct tap_filtered *filtered = data;
	int ret = GIVE(filtered, all, nccl_thread, thread);

	return ret || !is_process_wanted(filtered, thread->process)
		       ? ret
		       : GIVE(filtered, passed, nccl_thread, thread);
}

static int take_connection(void *data, const struct tap_nccl_connection *connection)
{
	struct tap_filtered *filtered = data;
	int ret = GIVE(filtered, all, connection, connection);

	return ret || !is_process_wanted(filtered, connection->process)
		       ? ret
		       : GIVE(filtered, passed, connection, connection);
}

static int take_communicator(void *data, const struct tap_member *member)
{
	struct tap_filtered *filtered = data;
	int ret = note_rank(filtered, member);

	if (!ret)
		ret = GIVE(filtered, all, communicator, member);
	return ret || !is_process_wanted(filtered, member->process) ||
			       !tap_filters_pass_comm(filtered->filters, member, 0)
		       ? ret
		       : GIVE(filtered, passed, communicator, member);
}

static int take_link(void *data, const struct tap_link *link)
{
	struct tap_filtered *filtered = data;
	const struct tap_link_end *end;
	int ret = GIVE(filtered, all, link, link);

	for (end = link->ends; !ret && end < link->ends + link->count; end++)
		if (tap_known_is(&filtered->known,
				 tap_known_span(end->process, &end->work, end->call_id),
				 TAP_KNOWN_PASSED))
			return GIVE(filtered, passed, link, link);
	return ret;
}

static bool is_end_wanted(const struct tap_filtered *filtered,
			  const struct tap_link *link, const struct tap_link_end *end)
{
	return is_process_wanted(filtered, end->process) &&
	       tap_filters_pass_name(filtered->filters, end->name) &&
	       tap_filters_pass_comm(filtered->filters, end->member, link->comm->key) &&
	       tap_filters_pass_number(filtered->filters, link->op_number);
}

static int take_defect(void *data, const struct tap_link *link)
{
	struct tap_filtered *filtered = data;
	const struct tap_link_end *end;
	int ret = GIVE(filtered, all, defect, link);

	for (end = link->ends; !ret && end < link->ends + link->count; end++)
		if (is_end_wanted(filtered, link, end))
			return GIVE(filtered, passed, defect, link);
	return ret;
}

/* The trace is over. */
static int give_held(struct tap_filtered *filtered)
{
	if (!filtered->holds || filtered->has_given)
		return 0;
	filtered->has_given = true;
	return tap_held_give(&filtered->held, filtered->view->context,
			     filtered->passed, filtered->view);
}

static int take_end_state(void *data, const struct tap_end_state *end_state)
{
	struct tap_filtered *filtered = data;
	int ret = give_held(filtered);

	if (!ret)
		ret = GIVE(filtered, all, end_state, end_state);
	return ret || !is_process_wanted(filtered, end_state->process)
		       ? ret
		       : GIVE(filtered, passed, end_state, end_state);
}

static int finish(void *data, const struct tap_loss *loss)
{
	struct tap_filtered *filtered = data;
	int ret = give_held(filtered);

	if (!ret)
		ret = GIVE(filtered, all, finish, loss);
	return ret ? ret : GIVE(filtered, passed, finish, loss);
}

const struct tap_consumer tap_filtered_consumer = {
	.process = take_process,
	.library = take_library,
	.problem = take_problem,
	.sample = take_sample,
	.thread = take_thread,
	.nccl_thread = take_nccl_thread,
	.connection = take_connection,
	.communicator = take_communicator,
	.span_begun = begin_span,
	.span_ended = end_span,
	.link = take_link,
	.defect = take_defect,
	.end_state = take_end_state,
	.finish = finish,
};

/* ---- Life and output ---- */

struct tap_filtered *tap_filtered_create(struct tap_view *view,
					 const struct tap_filters *filters,
					 size_t held_max)
{
	struct tap_filtered *filtered = calloc(1, sizeof(*filtered));

	if (!filtered)
		return NULL;
	filtered->view = view;
	filtered->filters = filters;
	filtered->all = view->all;
	filtered->passed = view->passed ? view->passed : view->consumer;
	filtered->holds = tap_held_is_needed(filters);
	tap_held_init(&filtered->held, filters, held_max);
	view->filters = filters;
	view->filtered = filtered;
	return filtered;
}

void tap_filtered_destroy(struct tap_filtered *filtered)
{
	size_t i;

	if (!filtered)
		return;
	for (i = 0; i < filtered->waiting.count; i++)
		tap_span_put(filtered->waiting.items[i]);
	tap_vec_free(&filtered->waiting);
	tap_held_free(&filtered->held);
	tap_vec_free(&filtered->processes);
	tap_known_free(&filtered->known);
	free(filtered);
}

/* Of the spans that are held, the view gets those that are left at the end. */
static uint64_t passed_count(const struct tap_filtered *filtered)
{
	return filtered->holds ? filtered->held.spans.count : filtered->passed_count;
}

void tap_filtered_add_text(struct tap_buffer *text, const struct tap_view *view)
{
	const struct tap_filtered *filtered = view->filtered;

	if (!view->filters)
		return;
	tap_buffer_add_string(text, "filtered: ");
	tap_filters_add_text(text, view->filters);
	if (filtered) {
		tap_buffer_add_string(text, ": ");
		tap_buffer_add_unsigned(text, passed_count(filtered));
		tap_buffer_add_string(text, " of ");
		tap_buffer_add_unsigned(text, filtered->span_count);
		tap_buffer_add_string(text, filtered->span_count == 1 ? " span" : " spans");
		if (filtered->held.is_cut)
			tap_buffer_add_string(text, filtered->filters->last_ns
							    ? ", earlier ones are too many"
							    : ", later ones are too many");
	}
	tap_buffer_add_char(text, '\n');
}

void tap_filtered_add_filters(struct tap_buffer *text, const struct tap_view *view)
{
	if (!view->filters)
		return;
	tap_buffer_add_string(text, "filtered: ");
	tap_filters_add_text(text, view->filters);
	tap_buffer_add_char(text, '\n');
}

void tap_filtered_add_json(struct tap_json *json, const struct tap_view *view)
{
	const struct tap_filtered *filtered = view->filtered;

	if (!view->filters)
		return;
	tap_filters_add_json(json, view->filters);
	if (!filtered)
		return;
	tap_json_unsigned(json, "spans_passed", passed_count(filtered));
	tap_json_unsigned(json, "spans", filtered->span_count);
	tap_json_bool(json, "spans_cut", filtered->held.is_cut);
}
