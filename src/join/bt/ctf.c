/* SPDX-License-Identifier: MIT */
/* Tables of the events' fields, and the values in the same order. */
#include "join/bt/ctf.h"

#include "join/model/profiler.h"
#include "join/model/stream.h"
#include "join/model/work.h"
#include "join/views/derived_place.h"
#include "join/views/derived_subject.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec.h"

#define NS_PER_S 1000000000

/*
 * The types of fields; classes and values use the same tables.  A NUMBER is signed and has
 * 32 bits, a SMALL one has 8.
 */
enum type { TEXT, UNSIGNED, SIGNED, NUMBER, SMALL };

struct member {
	const char *name;
	enum type type;
};

/* clang-format off */
#define WHO_MEMBERS {"who", TEXT}, {"process", NUMBER}
#define PLACE_MEMBERS {"row", TEXT}, {"lane", TEXT}, {"depth", SMALL}
#define BEGIN_MEMBERS \
	WHO_MEMBERS, PLACE_MEMBERS, \
	{"layer", TEXT}, {"name", TEXT}, {"label", TEXT}, {"kind_id", SMALL}, \
	{"work", TEXT}, {"comm_key", TEXT}, {"comm_rank", NUMBER}, \
	{"op_number", UNSIGNED}, {"op_key", TEXT}, {"peer", NUMBER}, {"bytes", SIGNED}, \
	{"open_bytes", SIGNED}
#define END_MEMBERS \
	{"open_bytes", SIGNED}, {"state", TEXT}, {"result", TEXT}, {"failed", SMALL}, \
	{"begin_ns", SIGNED}, {"end_ns", SIGNED}, {"end_known", TEXT}
static const struct member begin_members[] = {
	BEGIN_MEMBERS,
	{"rank", NUMBER}, {"kind", TEXT}, {"call_id", UNSIGNED}, {"parent_id", UNSIGNED}, {"inner", SMALL},
	{"known_by", TEXT}, {"caller", TEXT}, {"comm_id", UNSIGNED}, {"group_id", UNSIGNED},
	{"stream", TEXT}, {"function", TEXT}, {"collective", TEXT}, {"launch", TEXT},
	{"queue_ns", SIGNED}, {"nccl_event", TEXT},
	{0},
};
static const struct member end_members[] = {
	WHO_MEMBERS, PLACE_MEMBERS,
	{"name", TEXT}, {"kind_id", SMALL}, {"work", TEXT}, {"call_id", UNSIGNED},
	{"comm_key", TEXT}, {"op_number", UNSIGNED}, {"queued_ns", SIGNED},
	END_MEMBERS,
	{0},
};
static const struct member wire_begin_members[] = {BEGIN_MEMBERS, {"shade", SMALL}, {0}};
static const struct member wire_end_members[] = {
	WHO_MEMBERS, PLACE_MEMBERS,
	{"name", TEXT}, {"kind_id", SMALL}, {"work", TEXT},
	END_MEMBERS,
	{"shade", SMALL},
	{0},
};
static const struct member link_members[] = {
	WHO_MEMBERS,
	{"link", UNSIGNED}, {"part", NUMBER}, {"parts", NUMBER},
	{"kind", TEXT}, {"known", TEXT}, {"name", TEXT}, {"mismatch", SMALL},
	{"comm_key", TEXT}, {"op_number", UNSIGNED}, {"nranks", NUMBER},
	{"comm_rank", NUMBER}, {"call_id", UNSIGNED}, {"work", TEXT},
	{"op_key", TEXT},
	{0},
};
/* clang-format on */

static const struct {
	const char *name;
	const struct member *members;
} classes[] = {
	[TAP_MARK_BEGIN] = {"ccltap:begin", begin_members},
	[TAP_MARK_END] = {"ccltap:end", end_members},
	[TAP_MARK_WIRE_BEGIN] = {"ccltap:wire_begin", wire_begin_members},
	[TAP_MARK_WIRE_END] = {"ccltap:wire_end", wire_end_members},
	[TAP_MARK_LINK] = {"ccltap:link", link_members},
};

#define CLASS_COUNT (sizeof(classes) / sizeof(classes[0]))

/* The trace of one host on one clock. */
struct output {
	const char *host;
	bool has_uuid;
	uint8_t uuid[16];  /* of the clock: another boot is another clock */
	int64_t offset_ns; /* from the clock's values to the origin of times */
	bt_stream *stream;
	bt_packet *packet;   /* NULL before the first event */
	uint64_t last_clock; /* of the last event */
	bt_event_class *classes[CLASS_COUNT];
	struct output *next;
};

struct tap_ctf {
	bt_self_message_iterator *iterator;
	const struct tap_decoder *decoder;
	struct output *outputs;
	TAP_VEC(struct output *) by_trace; /* by number; NULL: not made */
	TAP_VEC(const bt_message *) messages;
	size_t first; /* the first message not taken */
	struct tap_buffer text;
};

struct tap_ctf *tap_ctf_create(bt_self_message_iterator *iterator,
			       const struct tap_decoder *decoder)
{
	struct tap_ctf *ctf = calloc(1, sizeof(*ctf));

	if (!ctf)
		return NULL;
	ctf->iterator = iterator;
	ctf->decoder = decoder;
	return ctf;
}

static void free_output(struct output *output)
{
	size_t i;

	for (i = 0; i < CLASS_COUNT; i++)
		bt_event_class_put_ref(output->classes[i]);
	bt_packet_put_ref(output->packet);
	bt_stream_put_ref(output->stream);
	free(output);
}

void tap_ctf_destroy(struct tap_ctf *ctf)
{
	struct output *output;

	if (!ctf)
		return;
	for (; ctf->first < ctf->messages.count; ctf->first++)
		bt_message_put_ref(ctf->messages.items[ctf->first]);
	while ((output = ctf->outputs)) {
		ctf->outputs = output->next;
		free_output(output);
	}
	tap_vec_free(&ctf->by_trace);
	tap_vec_free(&ctf->messages);
	tap_buffer_free(&ctf->text);
	free(ctf);
}

/* ---- Messages ---- */

size_t tap_ctf_count(const struct tap_ctf *ctf)
{
	return ctf->messages.count - ctf->first;
}

uint64_t tap_ctf_take(struct tap_ctf *ctf, bt_message_array_const messages,
		      uint64_t count)
{
	if (count > tap_ctf_count(ctf))
		count = tap_ctf_count(ctf);
	if (!count)
		return 0;
	memcpy(messages, ctf->messages.items + ctf->first, count * sizeof(*messages));
	ctf->first += count;
	if (ctf->first == ctf->messages.count)
		ctf->first = ctf->messages.count = 0;
	return count;
}

/* Appends the message, which is NULL when memory was short. */
static int append(struct tap_ctf *ctf, const bt_message *message)
{
	if (message && !tap_vec_add(&ctf->messages, message))
		return 0;
	bt_message_put_ref(message);
	return -ENOMEM;
}

/* ---- Traces ---- */

static bool is_unsigned(enum type type)
{
	return type == UNSIGNED || type == SMALL;
}

static bt_field_class *make_field_class(bt_trace_class *traces, enum type type)
{
	bt_field_class *class;

	if (type == TEXT)
		return bt_field_class_string_create(traces);
	class = is_unsigned(type) ? bt_field_class_integer_unsigned_create(traces)
				  : bt_field_class_integer_signed_create(traces);
	if (class && (type == SMALL || type == NUMBER))
		bt_field_class_integer_set_field_value_range(class,
							     type == SMALL ? 8 : 32);
	return class;
}

static bool add_member(bt_field_class *structure, const char *name, bt_field_class *class)
{
	bool is_there =
		class && !bt_field_class_structure_append_member(structure, name, class);

	bt_field_class_put_ref(class);
	return is_there;
}

static bt_event_class *make_event_class(bt_trace_class *traces, bt_stream_class *streams,
					size_t kind)
{
	bt_field_class *payload = bt_field_class_structure_create(traces);
	bt_event_class *class = bt_event_class_create(streams);
	const struct member *member = classes[kind].members;
	bool is_whole =
		payload && class && !bt_event_class_set_name(class, classes[kind].name);

	for (; is_whole && member->name; member++)
		is_whole = add_member(payload, member->name,
				      make_field_class(traces, member->type));
	if (is_whole && !bt_event_class_set_payload_field_class(class, payload)) {
		bt_field_class_put_ref(payload);
		return class;
	}
	bt_field_class_put_ref(payload);
	bt_event_class_put_ref(class);
	return NULL;
}

/* Adds vpid and vtid, as LTTng's contexts are. */
static bool add_context(bt_trace_class *traces, bt_stream_class *streams)
{
	bt_field_class *context = bt_field_class_structure_create(traces);
	static const char *const names[] = {"vpid", "vtid"};
	bool is_whole = context;
	size_t i;

	for (i = 0; is_whole && i < sizeof(names) / sizeof(names[0]); i++) {
		bt_field_class *class = bt_field_class_integer_signed_create(traces);

		if (class)
			bt_field_class_integer_set_field_value_range(class, 32);
		is_whole = add_member(context, names[i], class);
	}
	if (is_whole &&
	    bt_stream_class_set_event_common_context_field_class(streams, context))
		is_whole = false;
	bt_field_class_put_ref(context);
	return is_whole;
}

/*
 * Copies the environment, except entries that describe LTTng's buffers, which the output
 * does not have.
 */
static bool copy_environment(const bt_trace *from, bt_trace *to)
{
	static const char *const passed_over[] = {
		"tracer_buffering_scheme", "tracer_buffering_id", "vpid", "procname",
		"vpid_datetime",
	};
	uint64_t i, count = from ? bt_trace_get_environment_entry_count(from) : 0;
	const size_t names = sizeof(passed_over) / sizeof(passed_over[0]);
	const bt_value *value;
	const char *name;
	bool is_whole = true;
	size_t j;

	for (i = 0; is_whole && i < count; i++) {
		bt_trace_borrow_environment_entry_by_index_const(from, i, &name, &value);
		for (j = 0; j < names && strcmp(name, passed_over[j]); j++)
			;
		if (j < names)
			continue;
		is_whole =
			bt_value_is_string(value)
				? !bt_trace_set_environment_entry_string(
					  to, name, bt_value_string_get(value))
				: !bt_trace_set_environment_entry_integer(
					  to, name, bt_value_integer_signed_get(value));
	}
	return is_whole;
}

static const bt_clock_class *find_clock(const bt_trace *trace)
{
	uint64_t i, count = trace ? bt_trace_get_stream_count(trace) : 0;
	const bt_clock_class *clock = NULL;

	for (i = 0; !clock && i < count; i++)
		clock = bt_stream_class_borrow_default_clock_class_const(
			bt_stream_borrow_class_const(
				bt_trace_borrow_stream_by_index_const(trace, i)));
	return clock;
}

/*
 * Makes a clock that counts ns and is otherwise a copy; LTTng's counts ns already.  One
 * that was ahead of the reference begins earlier, as the reference shows an earlier time.
 */
static bt_clock_class *copy_clock(const bt_clock_class *from, bt_self_component *self,
				  int64_t ahead_s, struct output *output)
{
	bt_clock_class *to = bt_clock_class_create(self);
	int64_t offset_s;
	uint64_t offset, frequency;

	if (!to || !from)
		return to;
	frequency = bt_clock_class_get_frequency(from);
	bt_clock_class_get_offset(from, &offset_s, &offset);
	offset = (uint64_t) ((__uint128_t) offset * NS_PER_S / frequency);
	offset_s -= ahead_s;
	if (__builtin_mul_overflow(offset_s, NS_PER_S, &output->offset_ns) ||
	    __builtin_add_overflow(output->offset_ns, (int64_t) offset,
				   &output->offset_ns))
		output->offset_ns = 0;
	else
		bt_clock_class_set_offset(to, offset_s, offset);
	bt_clock_class_set_origin_is_unix_epoch(to, bt_clock_class_origin_is_unix_epoch(
							    from));
	if (output->has_uuid)
		bt_clock_class_set_uuid(to, output->uuid);
	if ((bt_clock_class_get_name(from) &&
	     bt_clock_class_set_name(to, bt_clock_class_get_name(from))) ||
	    (bt_clock_class_get_description(from) &&
	     bt_clock_class_set_description(to, bt_clock_class_get_description(from))))
		BT_CLOCK_CLASS_PUT_REF_AND_RESET(to);
	return to;
}

/* Makes a stream, in a trace with the environment of `from`; NULL: memory is short. */
static bt_stream *make_stream(bt_trace_class *traces, bt_stream_class *streams,
			      const bt_trace *from, const char *host)
{
	bt_trace *trace = bt_trace_create(traces);
	bt_stream *stream = NULL;

	if (trace && copy_environment(from, trace) && !bt_trace_set_name(trace, host))
		stream = bt_stream_create(streams, trace);
	bt_trace_put_ref(trace);
	return stream;
}

static bool fill_output(struct output *output, bt_self_component *self,
			const bt_trace *from, const bt_clock_class *from_clock,
			const struct tap_clock *converted)
{
	bt_trace_class *traces = bt_trace_class_create(self);
	bt_stream_class *streams = traces ? bt_stream_class_create(traces) : NULL;
	bt_clock_class *clock =
		copy_clock(from_clock, self,
			   converted && converted->offset_ns > 0
				   ? converted->offset_ns / NS_PER_S + 1
				   : 0,
			   output);
	bool is_whole = streams && clock && add_context(traces, streams) &&
			!bt_stream_class_set_default_clock_class(streams, clock);
	size_t i;

	/* babeltrace2 2.1 aborts where it reads events with times in packets without. */
	if (is_whole)
		bt_stream_class_set_supports_packets(streams, BT_TRUE, BT_TRUE, BT_TRUE);

	for (i = 0; is_whole && i < CLASS_COUNT; i++) {
		output->classes[i] = make_event_class(traces, streams, i);
		is_whole = output->classes[i];
	}
	if (is_whole)
		output->stream = make_stream(traces, streams, from, output->host);
	bt_clock_class_put_ref(clock);
	bt_stream_class_put_ref(streams);
	bt_trace_class_put_ref(traces);
	return output->stream;
}

static bool is_same(const struct output *a, const struct output *b)
{
	return !strcmp(a->host, b->host) && a->has_uuid == b->has_uuid &&
	       !memcmp(a->uuid, b->uuid, sizeof(a->uuid));
}

/* Makes or finds the output for a trace not met before; NULL: memory is short. */
static struct output *find_output(struct tap_ctf *ctf, const struct tap_trace *trace)
{
	const bt_trace *from = tap_decoder_find_trace(ctf->decoder, trace);
	const bt_clock_class *clock = find_clock(from);
	struct output *output, *made = calloc(1, sizeof(*made));
	bt_uuid uuid = clock ? bt_clock_class_get_uuid(clock) : NULL;

	if (!made)
		return NULL;
	made->host = trace->host;
	made->has_uuid = uuid;
	if (uuid)
		memcpy(made->uuid, uuid, sizeof(made->uuid));
	for (output = ctf->outputs; output && !is_same(output, made);)
		output = output->next;
	if (output) {
		free(made);
		return output;
	}
	if (!fill_output(made, bt_self_message_iterator_borrow_component(ctf->iterator),
			 from, clock, trace->clock) ||
	    append(ctf,
		   bt_message_stream_beginning_create(ctf->iterator, made->stream))) {
		free_output(made);
		return NULL;
	}
	made->next = ctf->outputs;
	ctf->outputs = made;
	return made;
}

/* NULL when memory is short. */
static struct output *output_of(struct tap_ctf *ctf, const struct tap_trace *trace)
{
	struct output **output;

	if (trace->number >= ctf->by_trace.count &&
	    tap_vec_resize(&ctf->by_trace, trace->number + 1))
		return NULL;
	output = &ctf->by_trace.items[trace->number];
	if (!*output)
		*output = find_output(ctf, trace);
	return *output;
}

/* ---- Events ---- */

/* Writes values into the members of a structure, one after the other. */
struct values {
	bt_field *structure;
	uint64_t next;
	bool is_short; /* memory was short */
};

static bt_field *next_field(struct values *values)
{
	return bt_field_structure_borrow_member_field_by_index(values->structure,
							       values->next++);
}

/*
 * Writes a text that is never empty: babeltrace2 2.0 reads an empty string as the text
 * that was there before.
 */
static void put_text(struct values *values, const char *text)
{
	if (bt_field_string_set_value(next_field(values), *text ? text : "-"))
		values->is_short = true;
}

/* Writes the content of the buffer and empties it. */
static void put_buffer(struct values *values, struct tap_buffer *buffer)
{
	tap_buffer_add_char(buffer, '\0');
	put_text(values, buffer->is_short ? "-" : buffer->data);
	if (buffer->is_short)
		values->is_short = true;
	buffer->used = 0;
}

static void put_unsigned(struct values *values, uint64_t value)
{
	bt_field_integer_unsigned_set_value(next_field(values), value);
}

static void put_signed(struct values *values, int64_t value)
{
	bt_field_integer_signed_set_value(next_field(values), value);
}

/* What has no room is unknown: it occurs only in a damaged trace. */
static void put_number(struct values *values, int64_t value)
{
	put_signed(values, value < INT32_MIN || value > INT32_MAX ? -1 : value);
}

static void put_who(struct values *values, const struct tap_mark *mark)
{
	put_text(values, mark->who);
	put_number(values, mark->process->number);
}

static void put_place(struct values *values, struct tap_buffer *text,
		      const struct tap_mark *mark)
{
	const unsigned int depth = mark->span->place.depth;

	put_text(values, mark->row);
	tap_places_add_lane(text, mark->span);
	put_buffer(values, text);
	if (mark->state == TAP_SPAN_BEGIN_LOST)
		put_unsigned(values, 0);
	else
		put_unsigned(values, depth < UINT8_MAX ? depth : UINT8_MAX);
}

/* A key as text, so that a user can search for the text of the jsonl view. */
static void put_key(struct values *values, struct tap_buffer *text, uint64_t key)
{
	if (key)
		tap_buffer_add_hex(text, key);
	put_buffer(values, text);
}

/* The id of a work request, as in the jsonl view. */
static void put_work(struct values *values, struct tap_buffer *text,
		     const struct tap_process *process, const struct tap_work *work)
{
	if (work->kind)
		tap_work_add_id(text, process, work);
	put_buffer(values, text);
}

/* The member that a span is of, or works for; NULL unknown. */
static const struct tap_member *member_of(const struct tap_mark *mark)
{
	return mark->span->member ? mark->span->member : mark->subject->member;
}

static uint64_t key_of(const struct tap_mark *mark)
{
	const struct tap_member *member = member_of(mark);

	return member ? tap_member_comm(member)->key : mark->span->operation.comm_key;
}

static uint64_t op_number_of(const struct tap_mark *mark)
{
	return mark->span->operation.number ? mark->span->operation.number
					    : mark->subject->operation.number;
}

static void put_op_key(struct values *values, struct tap_buffer *text,
		       const struct tap_mark *mark)
{
	const struct tap_span *span = mark->span;
	const struct tap_member *member = member_of(mark);
	const bool is_own = span->operation.number;

	if (is_own || mark->subject->name)
		tap_operation_add_key(text,
				      is_own ? span->gpu.call ? span->gpu.call : span->name
					     : mark->subject->name,
				      member ? member->rank : -1,
				      is_own ? span->operation.peer
					     : mark->subject->operation.peer,
				      op_number_of(mark));
	put_buffer(values, text);
}

/*
 * Of a call of the CUDA driver, and of the work that ran for it: the stream and the
 * kernel.
 */
static void put_launch(struct values *values, struct tap_buffer *text,
		       const struct tap_span *span)
{
	const bool is_run = tap_work_is_run(&span->work);
	const char *function = NULL, *collective = NULL;
	uint64_t stream, launch;

	if (is_run)
		tap_buffer_add_unsigned(text, span->work.run.stream);
	else if (span->name->cuda && tap_cuda_stream(span, &stream))
		tap_cuda_add_stream(text, stream);
	if (is_run || span->name->cuda) {
		function = tap_fields_get_string(&span->entry, "function");
		collective = tap_fields_get_string(&span->entry, "collective");
	}
	if (!collective && span->gpu.call)
		collective = span->gpu.call->name;
	put_buffer(values, text);
	put_text(values, function ? function : "-");
	put_text(values, collective ? collective : "-");
	if (span->gpu.has_launch &&
	    !tap_fields_get_unsigned(&span->entry, "launch_call_id", &launch)) {
		tap_buffer_add_unsigned(text, span->process->number);
		tap_buffer_add_char(text, '.');
		tap_buffer_add_unsigned(text, launch);
	}
	put_buffer(values, text);
	put_signed(values, span->gpu.has_launch ? span->gpu.queue_ns : -1);
}

static void put_begin(struct values *values, struct tap_buffer *text,
		      const struct tap_mark *mark)
{
	const struct tap_span *span = mark->span;
	const struct tap_member *member = member_of(mark);

	put_place(values, text, mark);
	put_text(values, span->name->layer);
	put_text(values, span->name->name);
	tap_subject_add_label(text, mark->subject, span);
	put_buffer(values, text);
	put_unsigned(values, tap_span_kind(span));
	put_work(values, text, span->process, &span->work);
	put_key(values, text, key_of(mark));
	put_number(values, member ? member->rank : -1);
	put_unsigned(values, op_number_of(mark));
	put_op_key(values, text, mark);
	put_number(values, mark->peer);
	put_signed(values, mark->bytes);
	put_signed(values, mark->open_bytes);
}

/* What only a call has, or what ran on a GPU. */
static void put_call(struct values *values, struct tap_buffer *text,
		     const struct tap_mark *mark)
{
	const struct tap_span *span = mark->span;
	const char *event = tap_profiler_event(span);

	put_number(values, mark->rank);
	put_text(values, tap_span_kind_name(tap_span_kind(span)));
	put_unsigned(values, span->call_id);
	put_unsigned(values, span->parent_id);
	put_unsigned(values, span->is_inner);
	put_text(values, span->is_from_nvtx ? "nvtx" : "-");
	if (span->caller_number)
		tap_view_add_caller(text, span->caller, span->caller_number,
				    span->caller_offset);
	put_buffer(values, text);
	put_unsigned(values, span->operation.comm_id);
	put_unsigned(values, span->operation.group_id);
	put_launch(values, text, span);
	put_text(values, event ? event : "-");
}

/* What identifies the span and its place once more. */
static void put_again(struct values *values, struct tap_buffer *text,
		      const struct tap_mark *mark)
{
	put_place(values, text, mark);
	put_text(values, mark->span->name->name);
	put_unsigned(values, tap_span_kind(mark->span));
	put_work(values, text, mark->span->process, &mark->span->work);
}

static void put_end(struct values *values, struct tap_buffer *text,
		    const struct tap_mark *mark)
{
	const struct tap_span *span = mark->span;
	const bool has_end = mark->state == TAP_SPAN_COMPLETE ||
			     mark->state == TAP_SPAN_BEGIN_LOST;
	const bool is_exact = has_end && !mark->is_end_bound;
	const struct tap_field *result = tap_span_result(span);

	put_signed(values, mark->open_bytes);
	put_text(values, tap_span_state_name(mark->state));
	if (result && result->kind == TAP_FIELD_STRING)
		tap_buffer_add_string(text, tap_fields_string(&span->exit, result));
	else if (result)
		tap_view_add_value(text, &span->exit, result);
	put_buffer(values, text);
	put_unsigned(values, tap_span_is_failure(result));
	put_signed(values, mark->state == TAP_SPAN_BEGIN_LOST ? -1 : span->begin_ns);
	put_signed(values, is_exact ? span->end_ns : -1);
	put_text(values, is_exact ? "exact" : has_end ? "at-most" : "-");
}

/* When what ran on a GPU was launched. */
static int64_t queued_ns(const struct tap_span *span)
{
	return tap_work_is_run(&span->work) && span->gpu.has_launch
		       ? span->begin_ns - span->gpu.queue_ns
		       : -1;
}

static void put_link(struct values *values, struct tap_buffer *text,
		     const struct tap_mark *mark)
{
	const struct tap_mark_link *link = mark->link;

	put_unsigned(values, link->number);
	put_number(values, (int64_t) link->part);
	put_number(values, (int64_t) link->count);
	put_text(values, tap_link_kind_name(link->kind));
	put_text(values, tap_known_name(link->known));
	put_text(values, link->operation ? link->operation->name : "-");
	put_unsigned(values, link->is_mismatch);
	put_key(values, text, link->comm_key);
	put_unsigned(values, link->op_number);
	put_number(values, link->nranks);
	put_number(values, link->rank);
	put_unsigned(values, link->call_id);
	put_work(values, text, mark->process, &link->work);
	put_text(values, link->op_key);
}

/* LTTng's contexts have 32 bits. */
static int64_t context_number(int64_t number)
{
	return number > INT32_MAX ? -1 : number;
}

/* A stream is one packet, from its first event to its last. */
static int begin_packet(struct tap_ctf *ctf, struct output *output, uint64_t clock)
{
	output->packet = bt_packet_create(output->stream);
	if (!output->packet)
		return -ENOMEM;
	return append(ctf, bt_message_packet_beginning_create_with_default_clock_snapshot(
				   ctf->iterator, output->packet, clock));
}

int tap_ctf_add(struct tap_ctf *ctf, const struct tap_mark *mark)
{
	struct output *output = output_of(ctf, mark->process->trace);
	struct values values = {0};
	bt_message *message;
	bt_event *event;
	int64_t clock;

	if (!output)
		return -ENOMEM;
	/* Times before the clock's origin occur only in a damaged trace. */
	if (__builtin_sub_overflow(mark->time_ns, output->offset_ns, &clock) || clock < 0)
		clock = 0;
	if (!output->packet && begin_packet(ctf, output, (uint64_t) clock))
		return -ENOMEM;
	output->last_clock = (uint64_t) clock;
	message = bt_message_event_create_with_packet_and_default_clock_snapshot(
		ctf->iterator, output->classes[mark->kind], output->packet,
		(uint64_t) clock);
	if (!message)
		return -ENOMEM;
	event = bt_message_event_borrow_event(message);
	values.structure = bt_event_borrow_common_context_field(event);
	put_signed(&values, context_number(mark->process->pid));
	put_signed(&values, mark->span ? context_number(mark->span->tid) : -1);
	values.structure = bt_event_borrow_payload_field(event);
	values.next = 0;
	put_who(&values, mark);
	switch (mark->kind) {
	case TAP_MARK_BEGIN:
		put_begin(&values, &ctf->text, mark);
		put_call(&values, &ctf->text, mark);
		break;
	case TAP_MARK_WIRE_BEGIN:
		put_begin(&values, &ctf->text, mark);
		put_unsigned(&values, mark->shade);
		break;
	case TAP_MARK_END:
		put_again(&values, &ctf->text, mark);
		put_unsigned(&values, mark->span->call_id);
		put_key(&values, &ctf->text, key_of(mark));
		put_unsigned(&values, op_number_of(mark));
		put_signed(&values, queued_ns(mark->span));
		put_end(&values, &ctf->text, mark);
		break;
	case TAP_MARK_WIRE_END:
		put_again(&values, &ctf->text, mark);
		put_end(&values, &ctf->text, mark);
		put_unsigned(&values, mark->shade);
		break;
	case TAP_MARK_LINK:
		put_link(&values, &ctf->text, mark);
		break;
	}
	if (values.is_short) {
		bt_message_put_ref(message);
		return -ENOMEM;
	}
	return append(ctf, message);
}

int tap_ctf_end(struct tap_ctf *ctf, const struct tap_context *context)
{
	struct output *output;
	size_t i;
	int ret = 0;

	for (i = 0; i < context->traces.count; i++)
		if (!output_of(ctf, context->traces.all[i]))
			return -ENOMEM;
	for (output = ctf->outputs; !ret && output; output = output->next) {
		if (output->packet)
			ret = append(
				ctf,
				bt_message_packet_end_create_with_default_clock_snapshot(
					ctf->iterator, output->packet,
					output->last_clock));
		if (!ret)
			ret = append(ctf, bt_message_stream_end_create(ctf->iterator,
								       output->stream));
	}
	return ret;
}
