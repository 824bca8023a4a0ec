/* SPDX-License-Identifier: MIT */
/*
 * The view for people: a header, one line per call in order of beginning, and the calls
 * that never returned.  The header is known last: it comes behind the lines where
 * somebody reads while they are written.
 */
#include "join/views/view.h"

#include "common/vec.h"
#include "join/model/comm.h"
#include "join/model/nccl_thread.h"
#include "join/views/filtered.h"
#include "join/views/fold.h"
#include "join/views/order.h"
#include "join/views/stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * The most bytes of problems and states in the header: a trace may repeat them for ever.
 */
#define PROBLEMS_MAX 1000000

/* Lines of the section of calls that never returned. */
#define NOT_RETURNED_MAX 1000

/*
 * How many spans are held to order them where somebody waits for the first line: as many
 * as are read in a tenth of a second or two.
 */
#define WINDOW_STREAMED 30000

/* The blanks before each frame of a stack. */
#define STACK_INDENT 24

struct known_process {
	const struct tap_process *process; /* NULL: not reported */
	bool is_shown;			   /* something of it is */
};

struct text {
	struct tap_view view;
	struct tap_order order;
	struct tap_fold fold; /* behind the order */
	bool has_begun;
	bool is_streamed; /* the lines are read while they are written */
	bool has_hosts;	  /* a column for them */
	uint64_t span_count;
	uint64_t folded_count, fold_count; /* calls in how many lines */
	TAP_VEC(struct known_process) processes; /* by number */
	struct tap_buffer notes; /* lines of the header, after those of processes */
	struct tap_buffer not_returned;
	struct tap_buffer end_states;
	uint64_t not_returned_count;
	int64_t second; /* the second whose time of day is in clock */
	char clock[32];
};

static int fold_line(void *data, struct tap_span *span);
static int write_line(void *data, const struct tap_fold_line *of);

static int begin(struct text *text)
{
	struct tap_view *view = &text->view;
	size_t window = view->settings.window;
	int ret;

	if (text->has_begun)
		return 0;
	text->has_begun = true;
	text->has_hosts = tap_view_host_count(view->context) > 1;
	text->is_streamed = tap_outfile_is_streamed(view->output);
	if (text->is_streamed && window > WINDOW_STREAMED)
		window = WINDOW_STREAMED;
	ret = tap_order_init(&text->order, window, view->context, fold_line, text);
	if (!ret)
		ret = tap_fold_init(&text->fold, view->settings.is_unfolded, write_line,
				    text);
	if (ret)
		return ret;
	if (!text->is_streamed)
		return tap_outfile_begin(view->output, 0, false);
	tap_outfile_begin_headless(view->output);
	return 0;
}

static void add_process(struct tap_buffer *line, const struct tap_process *process)
{
	if (process->rank >= 0) {
		tap_buffer_add_string(line, "rank ");
		tap_buffer_add_signed(line, process->rank);
		tap_buffer_add_char(line, ' ');
	}
	tap_view_add_pid(line, process);
}

/* A process may describe itself after its first call, and is shown once. */
static int note_process(void *data, const struct tap_process *process)
{
	struct text *text = data;
	int ret;

	ret = begin(text);
	if (ret)
		return ret;
	if (process->number >= text->processes.count &&
	    tap_vec_resize(&text->processes, (size_t) process->number + 1))
		return -ENOMEM;
	text->processes.items[process->number].process = process;
	return 0;
}

/* Something is shown of the process, which has been reported. */
static void show_process(struct text *text, const struct tap_process *process)
{
	text->processes.items[process->number].is_shown = true;
}

static void add_process_line(struct tap_buffer *line, const struct tap_process *process)
{
	int64_t size;

	tap_buffer_add_string(line, "process: ");
	add_process(line, process);
	if (!tap_fields_get_signed(&process->about, "world_size", &size) && size >= 0) {
		tap_buffer_add_string(line, ", one of ");
		tap_buffer_add_signed(line, size);
	}
	if (*tap_view_command(process)) {
		tap_buffer_add_string(line, ": ");
		tap_buffer_add_visible(line, tap_view_command(process));
	}
	tap_buffer_add_char(line, '\n');
}

static int note_problem(void *data, const struct tap_problem *problem)
{
	struct text *text = data;
	struct tap_buffer *line = &text->notes;

	show_process(text, problem->process);
	if (line->used > PROBLEMS_MAX)
		return 0;
	tap_buffer_add_string(line, "problem: ");
	add_process(line, problem->process);
	tap_buffer_add_string(line, ": ");
	tap_buffer_add_visible(line, problem->what);
	if (*problem->detail) {
		tap_buffer_add_string(line, ": ");
		tap_buffer_add_visible(line, problem->detail);
	}
	if (problem->count > 1) {
		tap_buffer_add_string(line, " (");
		tap_buffer_add_unsigned(line, problem->count);
		tap_buffer_add_string(line, " times)");
	}
	tap_buffer_add_char(line, '\n');
	return 0;
}

/* "0x1f2e3d4c.. (rank 3/8)" */
static void add_side(struct tap_buffer *line, const struct tap_member *member)
{
	const struct tap_comm *comm = tap_member_comm(member);

	tap_view_add_key(line, comm->key);
	if (member->rank < 0)
		return;
	tap_buffer_add_string(line, " (rank ");
	tap_buffer_add_signed(line, member->rank);
	if (comm->nranks >= 0) {
		tap_buffer_add_char(line, '/');
		tap_buffer_add_signed(line, comm->nranks);
	}
	tap_buffer_add_char(line, ')');
}

static void add_member(struct tap_buffer *line, const struct tap_member *member)
{
	tap_buffer_add_string(line, " on ");
	add_side(line, member);
}

static void add_thread(struct tap_buffer *line, int64_t tid)
{
	if (tid < 0)
		return;
	tap_buffer_add_string(line, ", thread ");
	tap_buffer_add_signed(line, tid);
}

/* A thread's call: shows where a job stood, even if it hung before recording began. */
static int note_thread(void *data, const struct tap_thread_state *thread)
{
	struct text *text = data;
	struct tap_buffer *line = &text->notes;

	/* A recorded call has a line of its own. */
	if (thread->call_id || line->used > PROBLEMS_MAX)
		return 0;
	show_process(text, thread->process);
	tap_buffer_add_string(line, "in a call when recording began: ");
	add_process(line, thread->process);
	add_thread(line, thread->tid);
	tap_buffer_add_string(line, ": ");
	tap_buffer_add_visible(line, thread->name->name);
	if (thread->member)
		add_member(line, thread->member);
	tap_buffer_add_char(line, '\n');
	return 0;
}

/*
 * A thread of NCCL's own: what its number in the lines means.  Threads that do what one
 * call asked for are too many.
 */
static int note_nccl_thread(void *data, const struct tap_nccl_thread *thread)
{
	struct text *text = data;
	struct tap_buffer *line = &text->notes;

	if (thread->role == TAP_THREAD_JOB || line->used > PROBLEMS_MAX)
		return 0;
	show_process(text, thread->process);
	tap_buffer_add_string(line, "NCCL's ");
	tap_buffer_add_string(line, tap_thread_role_name(thread->role));
	tap_buffer_add_string(line, " thread: ");
	add_process(line, thread->process);
	add_thread(line, thread->tid);
	if (thread->member)
		add_member(line, thread->member);
	if (thread->member && thread->comm_known == TAP_KNOWN_INFERRED)
		tap_buffer_add_string(line, " (communicator inferred)");
	if (thread->how && tap_thread_known(thread->how) != TAP_KNOWN_EXACT)
		tap_buffer_add_string(line, " (inferred)");
	if (thread->is_asleep)
		tap_buffer_add_string(line, ", asleep at the end");
	tap_buffer_add_char(line, '\n');
	return 0;
}

static void add_time_of_day(struct text *text, struct tap_buffer *line, int64_t ns)
{
	int64_t second = ns / 1000000000, rest = ns % 1000000000;
	struct tm parts;
	time_t time;

	if (rest < 0) {
		rest += 1000000000;
		second--;
	}
	if (second != text->second || !*text->clock) {
		time = (time_t) second;
		text->second = second;
		if (!localtime_r(&time, &parts) ||
		    !strftime(text->clock, sizeof(text->clock), "%Y-%m-%d %H:%M:%S",
			      &parts))
			strcpy(text->clock, "?");
	}
	tap_buffer_add_string(line, text->clock);
	tap_buffer_add_char(line, '.');
	tap_buffer_add_padded(line, (uint64_t) rest, 9);
}

static void add_time(struct text *text, struct tap_buffer *line, int64_t ns)
{
	const int64_t first_ns = text->view.context->first_ns;
	uint64_t since;

	if (text->view.settings.is_absolute) {
		add_time_of_day(text, line, ns);
		return;
	}
	since = (uint64_t) ns - (uint64_t) first_ns;
	/* The first may be a call with one event, after it. */
	if (ns < first_ns) {
		tap_buffer_add_char(line, '-');
		since = -since;
	}
	tap_buffer_add_unsigned(line, since / 1000000000);
	tap_buffer_add_char(line, '.');
	tap_buffer_add_padded(line, since % 1000000000, 9);
}

static void add_who(struct text *text, const struct tap_span *span)
{
	struct tap_buffer *line = &text->view.line;
	const struct tap_process *process = span->process;
	size_t start = line->used;

	if (text->has_hosts) {
		tap_buffer_add_visible(line, process->host);
		tap_buffer_fill(line, start, 12, ' ');
		tap_buffer_add_char(line, ' ');
		start = line->used;
	}
	if (process->rank < 0)
		tap_buffer_add_char(line, '-');
	else
		tap_buffer_add_signed(line, process->rank);
	tap_buffer_align_right(line, start, 4);
	tap_buffer_add_char(line, ' ');
	start = line->used;
	if (process->pid < 0)
		tap_buffer_add_char(line, '?');
	else
		tap_buffer_add_signed(line, process->pid);
	tap_buffer_add_char(line, '/');
	if (tap_work_is_run(&span->work)) {
		tap_buffer_add_string(line, "gpu");
		tap_buffer_add_unsigned(line, span->work.run.device);
	} else if (span->tid < 0) {
		tap_buffer_add_char(line, '?');
	} else {
		tap_buffer_add_signed(line, span->tid);
	}
	tap_buffer_fill(line, start, 15, ' ');
}

/* The operation and its communicator: the same text on all its ranks. */
static void add_operation(struct tap_buffer *line, const struct tap_span *span)
{
	if (span->operation.number) {
		tap_buffer_add_string(line, " #");
		tap_buffer_add_unsigned(line, span->operation.number);
	}
	if (span->member)
		add_member(line, span->member);
}

/* Whether the line leaves the field out because its value is the usual one. */
static bool is_plain(const struct tap_field *field)
{
	static const char *const names[] = {
		"pnccl",	 "group_depth",	   "capture",	     "scope",
		"per_thread",	 "runtime",	   "context",	     "numAttrs",
		"clusterDimX",	 "clusterDimY",	   "sharedMemBytes", "clusterDimZ",
		"static_shared", "dynamic_shared", "clusterX",	     "clusterY",
		"clusterZ",	 "graph",	   "graph_node",     "queue_min_ns"};
	size_t i;

	/* How the function was found, in which of several copies, and CUPTI's number. */
	if (!strcmp(field->name, "looked_up") || !strcmp(field->name, "library") ||
	    !strcmp(field->name, "correlation_id"))
		return true;
	if ((field->kind != TAP_FIELD_UNSIGNED && field->kind != TAP_FIELD_SIGNED) ||
	    field->value.u)
		return false;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(field->name, names[i]))
			return true;
	return false;
}

/* The result is shown apart: an argument may have the same name. */
static void add_fields(struct tap_buffer *line, const struct tap_fields *fields,
		       const struct tap_field *result)
{
	size_t i;

	for (i = 0; i < fields->count; i++) {
		const struct tap_field *field = &fields->list[i];

		if (field == result || is_plain(field))
			continue;
		tap_buffer_add_char(line, ' ');
		tap_buffer_add_visible(line, field->name);
		tap_buffer_add_char(line, '=');
		tap_view_add_value(line, fields, field);
	}
}

static void add_result(struct tap_buffer *line, const struct tap_span *span)
{
	const struct tap_field *result = tap_span_result(span);
	size_t start = line->used;

	tap_buffer_add_string(line, " ->");
	if (result &&
	    ((result->kind != TAP_FIELD_UNSIGNED && result->kind != TAP_FIELD_SIGNED) ||
	     result->value.u)) {
		tap_buffer_add_char(line, ' ');
		tap_view_add_value(line, &span->exit, result);
	}
	add_fields(line, &span->exit, result);
	if (line->used == start + 3)
		line->used = start;
}

static void add_call(struct tap_buffer *line, const struct tap_span *span, uint64_t count)
{
	unsigned int i;

	for (i = 0; i < span->depth && i < 16; i++)
		tap_buffer_add_string(line, "  ");
	tap_buffer_add_visible(line, span->name->name);
	if (count > 1) {
		tap_buffer_add_string(line, " \303\227"); /* a multiplication sign */
		tap_buffer_add_unsigned(line, count);
	}
	if (span->is_inner)
		tap_buffer_add_string(line, " (inner)");
	if (span->is_from_nvtx && strcmp(span->name->layer, "nvtx"))
		tap_buffer_add_string(line, " (nvtx)");
	add_operation(line, span);
	add_fields(line, &span->entry, NULL);
	add_result(line, span);
	if (span->caller_number) {
		tap_buffer_add_string(line, " <- ");
		tap_view_add_caller(line, span->caller, span->caller_number,
				    span->caller_offset);
	}
	if (span->state == TAP_SPAN_OPEN && span->work.kind != TAP_WORK_PROXY_CTRL)
		tap_buffer_add_string(line, span->work.kind ? "  ** not completed"
							    : "  ** never returned");
	if (span->state == TAP_SPAN_END_LOST)
		tap_buffer_add_string(line, span->work.kind
						    ? "  ** its completion is not there"
						    : "  ** its return is lost");
	if (span->state == TAP_SPAN_BEGIN_LOST)
		tap_buffer_add_string(line,
				      "  ** its beginning is lost, it returned here");
	if (span->is_late)
		tap_buffer_add_string(line, "  ** late line");
	tap_buffer_add_char(line, '\n');
}

static void add_title(struct text *text)
{
	struct tap_buffer *line = &text->view.line;
	size_t start = line->used;

	tap_buffer_add_string(line, text->view.settings.is_absolute ? "time" : "seconds");
	tap_buffer_align_right(line, start, text->view.settings.is_absolute ? 29 : 15);
	tap_buffer_add_string(line, "    duration ");
	if (text->has_hosts)
		tap_buffer_add_string(line, "host         ");
	tap_buffer_add_string(line, "rank pid/thread      call\n");
}

static int fold_line(void *data, struct tap_span *span)
{
	struct text *text = data;

	return tap_fold_add(&text->fold, span);
}

static void count_line(struct text *text, const struct tap_fold_line *of)
{
	text->span_count += of->count;
	if (of->count > 1) {
		text->folded_count += of->count;
		text->fold_count++;
	}
	show_process(text, of->span->process);
}

static int write_line(void *data, const struct tap_fold_line *of)
{
	struct text *text = data;
	const struct tap_span *span = of->span;
	struct tap_buffer *line = &text->view.line;
	size_t start;
	int ret;

	if (!text->span_count && text->is_streamed) {
		add_title(text);
		ret = tap_outfile_write(text->view.output, line);
		if (ret)
			return ret;
	}
	count_line(text, of);
	start = line->used;
	add_time(text, line,
		 span->state == TAP_SPAN_BEGIN_LOST ? span->end_ns : span->begin_ns);
	tap_buffer_align_right(line, start, 15);
	tap_buffer_add_char(line, ' ');
	start = line->used;
	if (span->state == TAP_SPAN_COMPLETE && span->is_end_bound)
		tap_buffer_add_string(line, "<=");
	if (of->count > 1)
		tap_view_add_duration(line, (int64_t) ((uint64_t) of->end_ns -
						       (uint64_t) span->begin_ns));
	else if (span->state == TAP_SPAN_COMPLETE)
		tap_view_add_duration(line, tap_span_duration(span));
	else
		tap_buffer_add_char(line, '-');
	tap_buffer_align_right(line, start, 11);
	tap_buffer_add_char(line, ' ');
	add_who(text, span);
	tap_buffer_add_char(line, ' ');
	add_call(line, span, of->count);
	if (text->view.symbols && span->stack) {
		ret = tap_stack_add_text(line, text->view.symbols, span->process,
					 span->stack, STACK_INDENT);
		if (ret)
			return ret;
	}
	if (span->state == TAP_SPAN_OPEN && !span->work.kind &&
	    text->not_returned_count++ < NOT_RETURNED_MAX) {
		tap_buffer_add_string(&text->not_returned, "  ");
		tap_buffer_add(&text->not_returned, line->data, line->used);
	}
	return tap_outfile_write(text->view.output, line);
}

static int hold_span(void *data, struct tap_span *span)
{
	struct text *text = data;

	return tap_work_is_known_late(&span->work) ? 0
						   : tap_order_begun(&text->order, span);
}

static int end_span(void *data, struct tap_span *span)
{
	struct text *text = data;

	return tap_work_is_known_late(&span->work) ? tap_order_ran(&text->order, span)
						   : tap_order_ended(&text->order, span);
}

/* ---- Where each process stood ---- */

/* "ncclAllReduce, operation 12 of 0x1f2e3d4c.. (rank 3/8)" */
static void add_open_call(struct tap_buffer *line, const struct tap_open_call *call)
{
	tap_buffer_add_visible(line, call->name->name);
	if (call->op_number) {
		tap_buffer_add_string(line, ", operation ");
		tap_buffer_add_unsigned(line, call->op_number);
		tap_buffer_add_string(line, " of ");
	} else if (call->member || call->comm_key) {
		tap_buffer_add_string(line, " on ");
	}
	if (call->member)
		add_side(line, call->member);
	else if (call->op_number || call->comm_key)
		tap_view_add_key(line, call->comm_key);
}

static void add_where(struct tap_buffer *line, const struct tap_open_call *call)
{
	tap_buffer_add_string(line, "in ");
	add_open_call(line, call);
	add_thread(line, call->tid);
	/* A call that puts work on a stream has its event when it returns. */
	if (call->is_begun_before && !tap_name_is_work(call->name))
		tap_buffer_add_string(line, ", begun before the trace");
	if (call->min_ns > 0) {
		tap_buffer_add_string(line, ", for at least ");
		tap_view_add_duration(line, call->min_ns);
	}
	if (call->waits_for) {
		tap_buffer_add_string(line, "; on its stream ");
		add_open_call(line, call->waits_for);
	}
}

static void add_last(struct text *text, struct tap_buffer *line,
		     const struct tap_end_state *end_state)
{
	if (!end_state->last.name) {
		tap_buffer_add_string(line, "idle");
		return;
	}
	tap_buffer_add_string(line, "idle; last call ");
	add_open_call(line, &end_state->last);
	tap_buffer_add_string(line, ", returned at ");
	add_time(text, line, end_state->last.end_ns);
}

static void add_end(struct text *text, struct tap_buffer *line,
		    const struct tap_end_state *end_state)
{
	switch (end_state->end) {
	case TAP_END_EXIT:
		tap_buffer_add_string(line, "; began to exit at ");
		add_time(text, line, end_state->end_ns);
		break;
	case TAP_END_REPLACED:
		tap_buffer_add_string(line, "; another program had its number at ");
		add_time(text, line, end_state->end_ns);
		break;
	case TAP_END_NOT_SEEN:
		tap_buffer_add_string(line, "; last seen at ");
		add_time(text, line, end_state->seen_ns);
		break;
	}
	tap_buffer_add_char(line, '\n');
}

static int note_end_state(void *data, const struct tap_end_state *end_state)
{
	struct text *text = data;
	struct tap_buffer *line = &text->end_states;
	size_t i = 0;

	show_process(text, end_state->process);
	do {
		tap_buffer_add_string(line, "  ");
		add_process(line, end_state->process);
		tap_buffer_add_string(line, ": ");
		if (end_state->count)
			add_where(line, &end_state->calls[i]);
		else
			add_last(text, line, end_state);
		add_end(text, line, end_state);
	} while (++i < end_state->count);
	return 0;
}

/* The end of the title of calls that seem to be open. */
static void add_doubt(struct tap_buffer *line, const struct tap_loss *loss)
{
	if (loss->discarded_events || loss->discarded_unknown || loss->damaged_streams)
		tap_buffer_add_string(line, " (or returned, where events are missing)");
	tap_buffer_add_string(line, ":\n");
}

static int write_end(struct text *text, const struct tap_loss *loss)
{
	struct tap_buffer *line = &text->view.line;

	if (text->not_returned_count) {
		tap_buffer_add_string(line, "\nNot returned");
		add_doubt(line, loss);
		tap_buffer_add(line, text->not_returned.data, text->not_returned.used);
		if (text->not_returned_count > NOT_RETURNED_MAX) {
			tap_buffer_add_string(line, "  and ");
			tap_buffer_add_unsigned(line, text->not_returned_count -
							      NOT_RETURNED_MAX);
			tap_buffer_add_string(line, " more\n");
		}
		line->is_short |= text->not_returned.is_short;
	}
	if (text->end_states.used) {
		tap_buffer_add_string(line, "\nAt the end of the trace");
		add_doubt(line, loss);
		tap_buffer_add(line, text->end_states.data, text->end_states.used);
		line->is_short |= text->end_states.is_short;
	}
	tap_buffer_add_char(line, '\n');
	if (text->view.symbols)
		tap_stack_add_modules_text(line, text->view.symbols);
	tap_view_add_loss_text(line, loss);
	return tap_outfile_write(text->view.output, line);
}

static void add_folded(struct text *text)
{
	struct tap_buffer *line = &text->view.line;

	if (!text->fold_count)
		return;
	tap_buffer_add_string(line, "folded: ");
	tap_buffer_add_unsigned(line, text->folded_count);
	tap_buffer_add_string(line, " polling calls in ");
	tap_buffer_add_unsigned(line, text->fold_count);
	tap_buffer_add_string(line, text->fold_count == 1 ? " line; --all shows each\n"
							  : " lines; --all shows each\n");
}

static void add_header(struct text *text)
{
	struct tap_view *view = &text->view;
	struct tap_buffer *line = &view->line;

	tap_buffer_add_unsigned(line, text->span_count);
	tap_buffer_add_string(line, text->span_count == 1 ? " call, " : " calls, ");
	tap_buffer_add_unsigned(line, tap_view_host_count(view->context));
	tap_buffer_add_string(line, tap_view_host_count(view->context) == 1 ? " host"
									    : " hosts");
	tap_buffer_add_string(line, ", times are ");
	tap_buffer_add_string(line, view->settings.is_absolute
					    ? "local time\n"
					    : "seconds since the first event\n");
	tap_filtered_add_text(line, view);
	add_folded(text);
	tap_view_add_snapshots_text(line, view->context);
	tap_view_add_clocks_text(line, view->context);
	for (size_t i = 0; i < text->processes.count; i++) {
		const struct known_process *known = &text->processes.items[i];

		/* Filters leave out processes of which nothing is shown. */
		if (known->process && (!view->filters || known->is_shown))
			add_process_line(line, known->process);
	}
	if (text->notes.used)
		tap_buffer_add(line, text->notes.data, text->notes.used);
	line->is_short |= text->notes.is_short;
}

static int finish(void *data, const struct tap_loss *loss)
{
	struct text *text = data;
	struct tap_view *view = &text->view;
	struct tap_buffer *line = &view->line;
	int ret;

	ret = begin(text);
	if (!ret)
		ret = tap_order_finish(&text->order);
	if (!ret)
		ret = tap_fold_finish(&text->fold);
	if (!ret && text->is_streamed) {
		if (text->span_count)
			tap_buffer_add_char(line, '\n');
		add_header(text);
		ret = tap_outfile_write(view->output, line);
	}
	if (!ret)
		ret = write_end(text, loss);
	if (ret)
		return ret;
	if (!text->is_streamed) {
		add_header(text);
		tap_view_add_loss_text(line, loss);
		if (text->span_count) {
			tap_buffer_add_char(line, '\n');
			add_title(text);
		}
	}
	return tap_outfile_finish(view->output, line);
}

static void destroy(struct tap_view *view)
{
	struct text *text = (struct text *) view;

	if (text->order.ring)
		tap_order_free(&text->order);
	if (text->fold.ring)
		tap_fold_free(&text->fold);
	tap_vec_free(&text->processes);
	tap_buffer_free(&text->notes);
	tap_buffer_free(&text->not_returned);
	tap_buffer_free(&text->end_states);
	tap_buffer_free(&view->line);
	free(text);
}

static const struct tap_consumer consumer = {
	.process = note_process,
	.problem = note_problem,
	.thread = note_thread,
	.nccl_thread = note_nccl_thread,
	.span_begun = hold_span,
	.span_ended = end_span,
	.end_state = note_end_state,
	.finish = finish,
};

struct tap_view *tap_text_create(void)
{
	struct text *text = calloc(1, sizeof(*text));

	if (!text)
		return NULL;
	text->view.consumer = &consumer;
	text->view.destroy = destroy;
	return &text->view;
}
