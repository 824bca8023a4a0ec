/* SPDX-License-Identifier: MIT */
/* Clauses that are put together from what is known. */
#include "join/findings/words.h"

#include "join/views/view.h"

#include <ctype.h>

/* A longer list ends with how many more there are. */
#define RANGES_MAX 12

static size_t end_of_range(const int64_t *ranks, size_t count, size_t i)
{
	while (i + 1 < count && ranks[i] >= 0 && ranks[i + 1] == ranks[i] + 1)
		i++;
	return i;
}

static void add_range(struct tap_buffer *text, int64_t first, int64_t last)
{
	if (first < 0) {
		tap_buffer_add_char(text, '?');
		return;
	}
	tap_buffer_add_signed(text, first);
	if (last == first)
		return;
	tap_buffer_add_string(text, last == first + 1 ? ", " : "-");
	tap_buffer_add_signed(text, last);
}

void tap_words_add_ranks(struct tap_buffer *text, const int64_t *ranks, size_t count)
{
	size_t i, last, ranges = 0;

	if (!count) {
		tap_buffer_add_string(text, "no rank");
		return;
	}
	tap_buffer_add_string(text, count == 1 ? "rank " : "ranks ");
	for (i = 0; i < count && ranges < RANGES_MAX; i = last + 1, ranges++) {
		last = end_of_range(ranks, count, i);
		tap_buffer_add_string(text, i ? ", " : "");
		add_range(text, ranks[i], ranks[last]);
	}
	if (i == count)
		return;
	tap_buffer_add_string(text, " and ");
	tap_buffer_add_unsigned(text, count - i);
	tap_buffer_add_string(text, " more");
}

void tap_words_begin_with_ranks(struct tap_buffer *text, const int64_t *ranks,
				size_t count)
{
	const size_t first = text->used;

	tap_words_add_ranks(text, ranks, count);
	if (text->used > first)
		text->data[first] = (char) toupper((unsigned char) text->data[first]);
}

void tap_words_add_about(struct tap_buffer *text, int64_t duration_ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000000, " s"}, {1000000, " ms"}, {1000, " us"}, {1, " ns"}};
	const uint64_t ns = duration_ns > 0 ? (uint64_t) duration_ns : 0;
	uint64_t whole, step = 1;
	size_t i = 0;

	while (i < 3 && ns < units[i].ns)
		i++;
	whole = ns / units[i].ns;
	if (whole < 10 && units[i].ns > 1) {
		tap_buffer_add_unsigned(text, whole);
		tap_buffer_add_char(text, '.');
		tap_buffer_add_unsigned(text, ns % units[i].ns / (units[i].ns / 10));
	} else {
		while (whole / step >= 100)
			step *= 10;
		tap_buffer_add_unsigned(text, whole / step * step);
	}
	tap_buffer_add_string(text, units[i].name);
}

void tap_words_add_time(struct tap_buffer *text, const struct tap_context *context,
			int64_t time_ns)
{
	const uint64_t ns = (uint64_t) time_ns - (uint64_t) context->first_ns;

	tap_buffer_add_unsigned(text, ns / 1000000000);
	tap_buffer_add_char(text, '.');
	tap_buffer_add_padded(text, ns % 1000000000 / 1000000, 3);
	tap_buffer_add_string(text, " s");
}

void tap_words_add_operation(struct tap_buffer *text, const struct tap_name *name,
			     uint64_t number, const struct tap_comm *comm)
{
	tap_buffer_add_visible(text, name ? name->name : "operation");
	if (number) {
		tap_buffer_add_string(text, " #");
		tap_buffer_add_unsigned(text, number);
	}
	if (!comm || !comm->key)
		return;
	tap_buffer_add_string(text, " on ");
	tap_view_add_key(text, comm->key);
}

bool tap_words_add_caller(struct tap_buffer *text, const struct tap_library *library,
			  uint64_t number, uint64_t offset)
{
	if (!number)
		return false;
	tap_view_add_caller(text, library, number, offset);
	return true;
}

void tap_words_add_pid(struct tap_buffer *text, const struct tap_context *context,
		       const struct tap_process *process)
{
	if (tap_view_host_count(context) > 1) {
		tap_view_add_pid(text, process);
		return;
	}
	tap_buffer_add_string(text, "pid ");
	if (process->pid < 0)
		tap_buffer_add_char(text, '?');
	else
		tap_buffer_add_signed(text, process->pid);
}

/* ---- Where a process stands ---- */

const struct tap_open_call *tap_words_open_call(const struct tap_end_state *end)
{
	const struct tap_open_call *longest = NULL;
	size_t i;

	for (i = 0; i < end->count; i++)
		if (!longest || end->calls[i].min_ns > longest->min_ns)
			longest = &end->calls[i];
	return longest;
}

static const struct tap_comm *comm_of(const struct tap_open_call *call)
{
	return call->member ? tap_member_comm(call->member) : NULL;
}

/* "#5", with the communicator where it is another one than the sentence is about. */
static void add_last_operation(struct tap_buffer *text, const struct tap_context *context,
			       const struct tap_open_call *last,
			       const struct tap_comm *comm)
{
	tap_buffer_add_string(text, ", last operation ");
	if (comm && comm_of(last) == comm && last->peer < 0) {
		tap_buffer_add_char(text, '#');
		tap_buffer_add_unsigned(text, last->op_number);
	} else {
		tap_words_add_operation(text, last->name, last->op_number, comm_of(last));
	}
	tap_buffer_add_string(text, " at ");
	tap_words_add_time(text, context, last->begin_ns);
}

static void add_open_call(struct tap_buffer *text, const struct tap_open_call *call)
{
	const struct tap_open_call *waits_for = call->waits_for;

	tap_buffer_add_string(text, ", in ");
	tap_words_add_operation(text, call->name, call->op_number, comm_of(call));
	if (waits_for) {
		tap_buffer_add_string(text, " behind ");
		tap_words_add_operation(text, waits_for->name, waits_for->op_number,
					comm_of(waits_for));
	} else if (call->min_ns) {
		tap_buffer_add_string(text, " for ");
		tap_words_add_about(text, call->min_ns);
		tap_buffer_add_string(text, " and more");
	}
}

void tap_words_add_place(struct tap_buffer *text, const struct tap_context *context,
			 const struct tap_end_state *end, const struct tap_comm *comm)
{
	const struct tap_open_call *open = tap_words_open_call(end);

	tap_words_add_pid(text, context, end->process);
	if (end->end == TAP_END_EXIT) {
		tap_buffer_add_string(text, ", exited at ");
		tap_words_add_time(text, context, end->end_ns);
		return;
	}
	if (open) {
		add_open_call(text, open);
		return;
	}
	if (end->last_operation.name)
		add_last_operation(text, context, &end->last_operation, comm);
	else
		tap_buffer_add_string(text, ", no operation before");
}

static void add_call(struct tap_buffer *text, const struct tap_open_call *call)
{
	tap_words_add_operation(text, call->name, call->op_number, comm_of(call));
	if (!call->caller_number)
		return;
	tap_buffer_add_string(text, " (");
	tap_words_add_caller(text, call->caller, call->caller_number,
			     call->caller_offset);
	tap_buffer_add_char(text, ')');
}

void tap_words_add_since(struct tap_buffer *text, const struct tap_context *context,
			 const struct tap_end_state *end)
{
	const struct tap_open_call *last = &end->last;

	if (last->name) {
		tap_buffer_add_string(text, "its last call, ");
		add_call(text, last);
		tap_buffer_add_string(text, ", returned at ");
		tap_words_add_time(text, context, last->end_ns);
	} else {
		tap_buffer_add_string(text, "no call of it has returned");
	}
	if (end->poll.name) {
		tap_buffer_add_string(text, "; it polls ");
		tap_buffer_add_visible(text, end->poll.name->name);
	}
	if (end->end == TAP_END_EXIT) {
		tap_buffer_add_string(text, "; it exited at ");
		tap_words_add_time(text, context, end->end_ns);
	} else if (!end->count) {
		tap_buffer_add_string(text, "; nothing of it since ");
		tap_words_add_time(text, context, end->seen_ns);
		tap_buffer_add_string(text, ": killed, or busy outside of traced calls");
	}
}

void tap_words_add_next(struct tap_buffer *text, const struct tap_end_state *end,
			int64_t rank)
{
	const struct tap_open_call *open = tap_words_open_call(end);

	if (end->end == TAP_END_EXIT) {
		tap_buffer_add_string(text, "why did ");
		tap_words_add_ranks(text, &rank, 1);
		tap_buffer_add_string(text, " exit?");
		return;
	}
	tap_buffer_add_string(text, "what does ");
	tap_words_add_ranks(text, &rank, 1);
	tap_buffer_add_string(text, " do ");
	if (open) {
		tap_buffer_add_string(text, "in ");
		add_call(text, open);
	} else if (end->last.name) {
		tap_buffer_add_string(text, "after ");
		add_call(text, &end->last);
	}
	tap_buffer_add_string(text, "? py-spy dump --pid ");
	tap_buffer_add_signed(text, end->process->pid);
	tap_buffer_add_string(text, ", or gdb -p ");
	tap_buffer_add_signed(text, end->process->pid);
	if (*end->process->host) {
		tap_buffer_add_string(text, " on ");
		tap_buffer_add_visible(text, end->process->host);
	}
}
