/* SPDX-License-Identifier: MIT */
/* Text and JSON that several views share. */
#include "join/views/view.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The bits of a communicator's key that are shown where space is short. */
#define KEY_BITS 32

static bool is_host_new(const struct tap_context *context, size_t number)
{
	const struct tap_trace *trace = context->traces.all[number], *other;
	size_t i;

	for (i = 0; i < number; i++) {
		other = context->traces.all[i];
		if (trace->clock && other->clock ? trace->clock == other->clock
						 : !strcmp(trace->host, other->host))
			return false;
	}
	return true;
}

size_t tap_view_host_count(const struct tap_context *context)
{
	size_t i, count = 0;

	for (i = 0; i < context->traces.count; i++)
		count += is_host_new(context, i);
	return count;
}

static void add_clock_json(struct tap_json *json, const struct tap_clock *clock)
{
	const bool is_converted = clock->reference != clock ||
				  clock->how == TAP_CLOCK_REFERENCE;

	tap_json_string(json, "clock", tap_clock_how_name(clock->how));
	tap_json_string(json, "clock_of", clock->reference->host);
	if (is_converted) {
		tap_json_signed(json, "offset_ns", clock->offset_ns);
		tap_json_signed(json, "drift_ppb", clock->drift_ppb);
		tap_json_signed(json, "uncertainty_ns", clock->uncertainty_ns);
	} else {
		tap_json_null(json, "offset_ns");
		tap_json_null(json, "drift_ppb");
		tap_json_null(json, "uncertainty_ns");
	}
}

/* Two significant digits, in the largest unit that does not make it less than 1. */
static void add_rough(struct tap_buffer *buffer, int64_t ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{" s", 1e9}, {" ms", 1e6}, {" us", 1e3}, {" ns", 1}};
	char text[32];
	size_t i = 0;

	while (i < 3 && (double) ns < units[i].ns)
		i++;
	snprintf(text, sizeof(text), (double) ns < 10 * units[i].ns && i < 3 ? "%.1f" : "%.0f",
		 (double) ns / units[i].ns);
	tap_buffer_add_string(buffer, text);
	tap_buffer_add_string(buffer, units[i].name);
}

static void add_clock_text(struct tap_buffer *buffer, const struct tap_clock *clock)
{
	char drift[32];

	tap_buffer_add_string(buffer, "clock: host ");
	tap_buffer_add_visible(buffer, clock->host);
	if (clock->reference == clock) {
		tap_buffer_add_string(buffer, clock->is_contradicted
						      ? ": unknown, as what happened on it "
							"contradicts the others; its times are "
							"not compared with theirs\n"
						      : ": unknown, as no messages to and fro and no "
							"collective connect it; its times are not "
							"compared with others\n");
		return;
	}
	tap_buffer_add_string(buffer, ": ");
	add_rough(buffer, clock->offset_ns < 0 ? -clock->offset_ns : clock->offset_ns);
	tap_buffer_add_string(buffer, clock->offset_ns < 0 ? " behind " : " ahead of ");
	tap_buffer_add_visible(buffer, clock->reference->host);
	snprintf(drift, sizeof(drift), ", %+.2g ppm, known to ",
		 (double) clock->drift_ppb / 1000);
	tap_buffer_add_string(buffer, drift);
	add_rough(buffer, clock->uncertainty_ns);
	tap_buffer_add_string(buffer, clock->how == TAP_CLOCK_COLLECTIVES
					      ? " (from collectives)\n"
					      : " (from messages)\n");
}

void tap_view_add_clocks_text(struct tap_buffer *buffer,
			      const struct tap_context *context)
{
	size_t i;

	for (i = 0; context->clocks.count > 1 && i < context->clocks.count; i++)
		if (context->clocks.all[i]->how != TAP_CLOCK_REFERENCE)
			add_clock_text(buffer, context->clocks.all[i]);
}

/* The clock of this host, if it has one and there are others. */
static const struct tap_clock *clock_of(const struct tap_context *context, size_t trace)
{
	return context->clocks.count > 1 ? context->traces.all[trace]->clock : NULL;
}

void tap_view_add_hosts_json(struct tap_json *json, const struct tap_context *context)
{
	size_t i;

	tap_json_open(json, "hosts", '[');
	for (i = 0; i < context->traces.count; i++) {
		if (!is_host_new(context, i))
			continue;
		tap_json_open(json, NULL, '{');
		tap_json_string(json, "name", context->traces.all[i]->host);
		if (clock_of(context, i))
			add_clock_json(json, clock_of(context, i));
		tap_json_close(json);
	}
	tap_json_close(json);
}

/*
 * Gets the next snapshot: its name, and how many its recorder has.  Returns false after
 * the last.
 */
static bool next_snapshot(const char **at, char *name, size_t size, uint64_t *of)
{
	const char *line = *at;
	size_t length;

	if (!line || sscanf(line, "%" SCNu64 " ", of) != 1)
		return false;
	length = strcspn(line, "\n");
	*at = line + length + !!line[length];
	line += strcspn(line, " ") + 1;
	snprintf(name, size, "%.*s", (int) strcspn(line, "\n"), line);
	return true;
}

void tap_view_add_snapshots_json(struct tap_json *json, const struct tap_context *context)
{
	const char *at = context->snapshots;
	char name[NAME_MAX + 1];
	uint64_t of;

	if (!at)
		return;
	tap_json_open(json, "snapshots", '[');
	while (next_snapshot(&at, name, sizeof(name), &of)) {
		tap_json_open(json, NULL, '{');
		tap_json_string(json, "name", name);
		tap_json_unsigned(json, "of", of);
		tap_json_close(json);
	}
	tap_json_close(json);
}

void tap_view_add_snapshots_text(struct tap_buffer *buffer,
				 const struct tap_context *context)
{
	const char *at = context->snapshots;
	char name[NAME_MAX + 1];
	uint64_t of;

	while (next_snapshot(&at, name, sizeof(name), &of)) {
		tap_buffer_add_string(buffer, "snapshot: ");
		tap_buffer_add_visible(buffer, name);
		tap_buffer_add_string(buffer, of > 1 ? ", one of " : ", the only one");
		if (of > 1)
			tap_buffer_add_unsigned(buffer, of);
		tap_buffer_add_string(buffer, " of a flight recorder\n");
	}
}

void tap_view_add_loss_json(struct tap_json *json, const struct tap_loss *loss,
			    bool has_streams)
{
	const struct tap_stream_loss *stream;

	tap_json_open(json, "loss", '{');
	tap_json_unsigned(json, "discarded_events", loss->discarded_events);
	tap_json_unsigned(json, "discarded_packets", loss->discarded_packets);
	tap_json_unsigned(json, "discarded_unknown", loss->discarded_unknown);
	tap_json_unsigned(json, "lost_exits", loss->lost_exits);
	tap_json_unsigned(json, "lost_entries", loss->lost_entries);
	tap_json_unsigned(json, "evicted_calls", loss->evicted_calls);
	tap_json_unsigned(json, "malformed_events", loss->malformed_events);
	tap_json_unsigned(json, "ignored_fields", loss->ignored_fields);
	tap_json_unsigned(json, "damaged_streams", loss->damaged_streams);
	tap_json_unsigned(json, "removed_chunks", loss->removed_chunks);
	if (loss->unrecorded)
		tap_json_unsigned(json, "unrecorded_processes", loss->unrecorded);
	if (loss->relay_gaps)
		tap_json_unsigned(json, "relay_gaps", loss->relay_gaps);
	if (loss->mixed_clocks)
		tap_json_unsigned(json, "mixed_clocks", loss->mixed_clocks);
	tap_json_unsigned(json, "unmatched_operations", loss->unmatched_operations);
	tap_json_unsigned(json, "missing_operations", loss->missing_operations);
	tap_json_unsigned(json, "not_recorded_operations", loss->not_recorded_operations);
	tap_json_unsigned(json, "ambiguous_operations", loss->ambiguous_operations);
	tap_json_unsigned(json, "mismatched_operations", loss->mismatched_operations);
	tap_json_unsigned(json, "unsure_operations", loss->unsure_operations);
	tap_json_unsigned(json, "gpu_dropped", loss->gpu_dropped);
	tap_json_unsigned(json, "gpu_zero_times", loss->gpu_zero_times);
	tap_json_unsigned(json, "gpu_unknown", loss->gpu_unknown);
	if (has_streams) {
		tap_json_open(json, "streams", '[');
		for (stream = loss->streams; stream; stream = stream->next) {
			tap_json_open(json, NULL, '{');
			tap_json_string(json, "name", stream->name);
			tap_json_unsigned(json, "discarded_events",
					  stream->discarded_events);
			tap_json_unsigned(json, "discarded_packets",
					  stream->discarded_packets);
			tap_json_close(json);
		}
		tap_json_close(json);
	}
	tap_json_close(json);
}

static void add_count(struct tap_buffer *buffer, uint64_t count, const char *what)
{
	if (!count || buffer->is_short)
		return;
	if (buffer->data[buffer->used - 1] != ':')
		tap_buffer_add_char(buffer, ',');
	tap_buffer_add_char(buffer, ' ');
	tap_buffer_add_string(buffer, what);
	tap_buffer_add_char(buffer, ' ');
	tap_buffer_add_unsigned(buffer, count);
}

/*
 * Adds counts of losses: those that a flight recorder overwrites on purpose, or the
 * others; of other recordings, all.
 */
static void add_counts(struct tap_buffer *buffer, const struct tap_loss *loss,
		       bool is_overwritten)
{
	const struct {
		uint64_t count;
		const char *what;
		bool is_overwritten;
	} counts[] = {
		{loss->discarded_events, "discarded events", false},
		{loss->discarded_packets, "discarded packets", true},
		{loss->discarded_unknown, "discarded without number", false},
		{loss->lost_exits, "lost returns", true},
		{loss->lost_entries, "lost beginnings", true},
		{loss->evicted_calls, "open calls given up", false},
		{loss->malformed_events, "malformed events", false},
		{loss->ignored_fields, "ignored fields", false},
		{loss->damaged_streams, "damaged streams", false},
		{loss->removed_chunks, "chunks removed for --max-size", false},
		{loss->unrecorded, "processes that could not be recorded", false},
		{loss->relay_gaps, "gaps while the relay daemon was gone", false},
		{loss->mixed_clocks, "processes with another clock (time namespace)",
		 false},
		{loss->unmatched_operations - loss->incomplete_alone,
		 "operations called by one rank only", true},
		{loss->missing_operations, "operations missing", true},
		{loss->not_recorded_operations, "operations not recorded", true},
		{loss->ambiguous_operations, "ambiguous operations", false},
		{loss->unsure_operations, "operations that may not count", true},
		{loss->gpu_dropped, "GPU records dropped", false},
		{loss->gpu_zero_times, "GPU records without times", false},
		{loss->gpu_unknown, "GPU records not known", false},
	};
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (!loss->is_window || counts[i].is_overwritten == is_overwritten)
			add_count(buffer, counts[i].count, counts[i].what);
}

void tap_view_add_lost(struct tap_buffer *buffer, const struct tap_loss *loss)
{
	add_counts(buffer, loss, false);
}

/* Counts of what the program lacks, which is not a fault of the trace. */
static void add_program(struct tap_buffer *buffer, const struct tap_loss *loss)
{
	if (!loss->incomplete_operations && !loss->mismatched_operations)
		return;
	tap_buffer_add_string(buffer, "program:");
	add_count(buffer, loss->incomplete_operations, "operations with missing ranks");
	add_count(buffer, loss->mismatched_operations, "mismatched operations");
	tap_buffer_add_char(buffer, '\n');
}

void tap_view_add_loss_text(struct tap_buffer *buffer, const struct tap_loss *loss)
{
	const struct tap_stream_loss *stream;
	size_t start, none;

	add_program(buffer, loss);
	if (loss->is_window) {
		start = buffer->used;
		tap_buffer_add_string(buffer, "overwritten by the flight recorder:");
		none = buffer->used;
		add_counts(buffer, loss, true);
		if (buffer->used > none)
			tap_buffer_add_char(buffer, '\n');
		else
			buffer->used = start;
	}
	tap_buffer_add_string(buffer, "loss:");
	start = buffer->used;
	add_counts(buffer, loss, false);
	tap_buffer_add_string(buffer, buffer->used == start ? " none\n" : "\n");
	for (stream = loss->streams; stream; stream = stream->next) {
		tap_buffer_add_string(buffer, "loss: in stream ");
		tap_buffer_add_visible(buffer, stream->name);
		tap_buffer_add_char(buffer, ':');
		add_count(buffer, stream->discarded_events, "discarded events");
		add_count(buffer, stream->discarded_packets, "discarded packets");
		tap_buffer_add_char(buffer, '\n');
	}
	if (loss->first_damage) {
		tap_buffer_add_string(buffer, "loss: the first damaged stream: ");
		tap_buffer_add_visible(buffer, loss->first_damage);
		tap_buffer_add_char(buffer, '\n');
	}
}

void tap_view_add_caller(struct tap_buffer *buffer, const struct tap_library *library,
			 uint64_t number, uint64_t offset)
{
	if (library && *library->base_name) {
		tap_buffer_add_visible(buffer, library->base_name);
	} else {
		tap_buffer_add_string(buffer, "library ");
		tap_buffer_add_unsigned(buffer, number);
	}
	tap_buffer_add_char(buffer, '+');
	tap_buffer_add_hex(buffer, offset);
}

void tap_view_add_duration(struct tap_buffer *buffer, int64_t duration_ns)
{
	static const struct {
		int64_t ns;
		const char *name;
	} units[] = {{1000000000, " s"}, {1000000, " ms"}, {1000, " us"}};
	uint64_t ns = duration_ns < 0 ? -(uint64_t) duration_ns : (uint64_t) duration_ns;
	size_t i;

	if (duration_ns < 0)
		tap_buffer_add_char(buffer, '-');
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		uint64_t unit = units[i].ns;

		if (ns < unit)
			continue;
		tap_buffer_add_unsigned(buffer, ns / unit);
		tap_buffer_add_char(buffer, '.');
		tap_buffer_add_padded(buffer, ns % unit / (unit / 1000), 3);
		tap_buffer_add_string(buffer, units[i].name);
		return;
	}
	tap_buffer_add_unsigned(buffer, ns);
	tap_buffer_add_string(buffer, " ns");
}

void tap_view_add_cell(struct tap_buffer *line, uint64_t value, size_t width)
{
	size_t start = line->used;

	tap_buffer_add_unsigned(line, value);
	tap_buffer_align_right(line, start, width);
}

void tap_view_add_word(struct tap_buffer *buffer, const char *word,
		       enum tap_view_colour colour, bool has_colour)
{
	/* Bold, and one of the eight colours that every terminal has. */
	static const char *const begins[] = {
		[TAP_VIEW_GREEN] = "\033[1;32m",
		[TAP_VIEW_YELLOW] = "\033[1;33m",
		[TAP_VIEW_RED] = "\033[1;31m",
	};
	const bool is_coloured = has_colour && colour != TAP_VIEW_PLAIN;

	if (is_coloured)
		tap_buffer_add_string(buffer, begins[colour]);
	tap_buffer_add_string(buffer, word);
	if (is_coloured)
		tap_buffer_add_string(buffer, "\033[m");
}

static void add_integer(struct tap_buffer *buffer, bool is_hex, bool is_signed,
			uint64_t value)
{
	if (is_hex)
		tap_buffer_add_hex(buffer, value);
	else if (is_signed)
		tap_buffer_add_signed(buffer, (int64_t) value);
	else
		tap_buffer_add_unsigned(buffer, value);
}

void tap_view_add_value(struct tap_buffer *buffer, const struct tap_fields *fields,
			const struct tap_field *field)
{
	size_t i;

	switch (field->kind) {
	case TAP_FIELD_UNSIGNED:
	case TAP_FIELD_SIGNED:
		if (field->label)
			tap_buffer_add_visible(buffer, field->label);
		else
			add_integer(buffer, field->is_hex,
				    field->kind == TAP_FIELD_SIGNED, field->value.u);
		break;
	case TAP_FIELD_REAL:
		tap_buffer_add_real(buffer, field->value.real);
		break;
	case TAP_FIELD_STRING:
		tap_buffer_add_char(buffer, '"');
		tap_buffer_add_visible(buffer, tap_fields_string(fields, field));
		tap_buffer_add_string(buffer, field->is_cut ? "...\"" : "\"");
		break;
	case TAP_FIELD_ARRAY:
		tap_buffer_add_char(buffer, '[');
		for (i = 0; i < field->value.data.length; i++) {
			if (i)
				tap_buffer_add_char(buffer, ',');
			add_integer(buffer, field->is_hex, field->is_signed,
				    tap_fields_array(fields, field)[i]);
		}
		tap_buffer_add_string(buffer, field->is_cut ? ",...]" : "]");
		break;
	}
}

void tap_view_add_key(struct tap_buffer *buffer, uint64_t key)
{
	unsigned int shift = 0;

	if (!key) {
		tap_buffer_add_char(buffer, '?');
		return;
	}
	while (key >> shift >> KEY_BITS)
		shift += 4;
	tap_buffer_add_hex(buffer, key >> shift);
	if (shift)
		tap_buffer_add_string(buffer, "..");
}

void tap_view_add_process(struct tap_buffer *buffer, const struct tap_process *process)
{
	if (tap_process_rank(process) >= 0) {
		tap_buffer_add_string(buffer, "rank ");
		tap_buffer_add_signed(buffer, tap_process_rank(process));
	} else {
		tap_buffer_add_string(buffer, "pid ");
		tap_buffer_add_signed(buffer, process->pid);
	}
}

void tap_view_add_pid(struct tap_buffer *buffer, const struct tap_process *process)
{
	tap_buffer_add_string(buffer, "pid ");
	if (process->pid < 0)
		tap_buffer_add_char(buffer, '?');
	else
		tap_buffer_add_signed(buffer, process->pid);
	if (*process->host) {
		tap_buffer_add_string(buffer, " on ");
		tap_buffer_add_visible(buffer, process->host);
	}
}

const char *tap_view_command(const struct tap_process *process)
{
	const char *command = tap_fields_get_string(&process->about, "command");

	if (!command || !*command)
		command = tap_fields_get_string(&process->about, "executable");
	return command ? command : "";
}
