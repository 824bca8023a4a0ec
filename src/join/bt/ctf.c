/* SPDX-License-Identifier: MIT */
/* Tables of the events' fields, and the values in the same order. */
#include "join/bt/ctf.h"

#include "join/base/heap.h"
#include "join/model/profiler.h"
#include "join/model/stream.h"
#include "join/model/work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec.h"

#define NS_PER_S 1000000000

/*
 * The most messages that wait for earlier work on a GPU; beyond them such work is drawn
 * too late.
 */
#define HELD_MAX 262144

/* The types of fields; classes and values use the same tables. */
enum type { TEXT, UNSIGNED, SIGNED, SMALL };

struct member {
	const char *name;
	enum type type;
};

/* clang-format off */
#define WHO_MEMBERS \
	{"host", TEXT}, {"who", TEXT}, {"process", UNSIGNED}, {"rank", SIGNED}
#define SPAN_MEMBERS \
	{"row", TEXT}, {"lane", TEXT}, {"depth", UNSIGNED}, \
	{"layer", TEXT}, {"name", TEXT}, {"kind", TEXT}, {"kind_id", SMALL}, \
	{"call_id", UNSIGNED}, {"parent_id", UNSIGNED}, \
	{"inner", SMALL}, {"known_by", TEXT}, {"caller", TEXT}, \
	{"comm_id", UNSIGNED}, {"comm_key", TEXT}, {"comm_rank", SIGNED}, \
	{"op_number", UNSIGNED}, {"group_id", UNSIGNED}, \
	{"peer", SIGNED}, {"bytes", SIGNED}, {"work", TEXT}, \
	{"stream", TEXT}, {"function", TEXT}, {"collective", TEXT}, \
	{"launch", TEXT}, {"queue_ns", SIGNED}, {"op_key", TEXT}, {"nccl_event", TEXT}
static const struct member begin_members[] = {WHO_MEMBERS, SPAN_MEMBERS, {0}};
static const struct member end_members[] = {
	WHO_MEMBERS, SPAN_MEMBERS,
	{"state", TEXT}, {"result", TEXT}, {"failed", SMALL},
	{"begin_ns", SIGNED}, {"end_ns", SIGNED}, {"end_known", TEXT},
	{0},
};
static const struct member link_members[] = {
	WHO_MEMBERS,
	{"link", UNSIGNED}, {"part", UNSIGNED}, {"parts", UNSIGNED},
	{"kind", TEXT}, {"known", TEXT}, {"name", TEXT}, {"mismatch", SMALL},
	{"comm_key", TEXT}, {"op_number", UNSIGNED}, {"nranks", SIGNED},
	{"comm_rank", SIGNED}, {"call_id", UNSIGNED}, {"work", TEXT},
	{"op_key", TEXT},
	{0},
};
static const struct member counter_members[] = {
	WHO_MEMBERS,
	{"layer", TEXT}, {"name", TEXT}, {"value", SIGNED},
	{0},
};
/* clang-format on */

static const struct {
	const char *name;
	const struct member *members;
} classes[] = {
	[TAP_MARK_BEGIN] = {"ccltap:begin", begin_members},
	[TAP_MARK_END] = {"ccltap:end", end_members},
	[TAP_MARK_LINK] = {"ccltap:link", link_members},
	[TAP_MARK_COUNTER] = {"ccltap:counter", counter_members},
};

#define CLASS_COUNT (sizeof(classes) / sizeof(classes[0]))

/* The trace of one host on one clock. */
struct output {
	const char *host;
	bool has_uuid;
	uint8_t uuid[16];  /* of the clock: another boot is another clock */
	int64_t offset_ns; /* from the clock's values to the origin of times */
	bt_stream *stream;
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
	/* Messages that wait until no earlier work on a GPU is awaited. */
	const struct tap_context *context;
	struct tap_heap held;
	uint64_t held_count;
	int64_t last_ns; /* of the latest message that can be taken */
};

struct tap_ctf *tap_ctf_create(bt_self_message_iterator *iterator,
			       const struct tap_decoder *decoder,
			       const struct tap_context *context)
{
	struct tap_ctf *ctf = calloc(1, sizeof(*ctf));

	if (!ctf)
		return NULL;
	ctf->iterator = iterator;
	ctf->decoder = decoder;
	ctf->context = context;
	ctf->last_ns = INT64_MIN;
	return ctf;
}

static void free_output(struct output *output)
{
	size_t i;

	for (i = 0; i < CLASS_COUNT; i++)
		bt_event_class_put_ref(output->classes[i]);
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
	for (; ctf->held.count; tap_heap_pop(&ctf->held))
		bt_message_put_ref(tap_heap_first(&ctf->held)->value);
	tap_heap_free(&ctf->held);
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

static int append_held(struct tap_ctf *ctf)
{
	const struct tap_heap_item item = *tap_heap_first(&ctf->held);

	tap_heap_pop(&ctf->held);
	ctf->last_ns = item.time_ns;
	return append(ctf, item.value);
}

/*
 * Appends the message, which is NULL when memory was short, at a time that is not before
 * last_ns.
 */
static int append_at(struct tap_ctf *ctf, bt_message *message, int64_t time_ns)
{
	const int64_t horizon_ns = tap_context_horizon(ctf->context);
	const struct tap_heap_item item = {.time_ns = time_ns,
					   .order = ctf->held_count++,
					   .value = message};
	int ret = 0;

	if (!message)
		return -ENOMEM;
	if (tap_heap_push(&ctf->held, &item)) {
		bt_message_put_ref(message);
		return -ENOMEM;
	}
	while (!ret && ctf->held.count &&
	       (ctf->held.count > HELD_MAX ||
		tap_heap_first(&ctf->held)->time_ns <= horizon_ns))
		ret = append_held(ctf);
	return ret;
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
	if (class && type == SMALL)
		bt_field_class_integer_set_field_value_range(class, 8);
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

static void put_who(struct values *values, const struct tap_mark *mark)
{
	put_text(values, mark->process->host);
	put_text(values, mark->who);
	put_unsigned(values, mark->process->number);
	put_signed(values, mark->process->rank);
}

/* "thread 11", "nccl 0". */
static void put_place(struct values *values, struct tap_buffer *text,
		      const struct tap_span *span)
{
	if (span->work.kind) {
		tap_work_add_row(text, &span->work);
	} else {
		tap_buffer_add_string(text, "thread ");
		if (span->tid < 0)
			tap_buffer_add_char(text, '?');
		else
			tap_buffer_add_signed(text, span->tid);
	}
	put_buffer(values, text);
	if (tap_work_is_run(&span->work)) {
		tap_buffer_add_string(text, "stream ");
		tap_buffer_add_unsigned(text, span->work.run.stream);
	} else {
		tap_buffer_add_string(text, span->name->layer);
	}
	tap_buffer_add_char(text, ' ');
	tap_buffer_add_unsigned(text, span->place.lane);
	put_buffer(values, text);
	put_unsigned(values, span->place.depth);
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

static uint64_t key_of(const struct tap_span *span)
{
	return span->member ? tap_member_comm(span->member)->key
			    : span->operation.comm_key;
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

static void put_span(struct values *values, struct tap_buffer *text,
		     const struct tap_mark *mark)
{
	const struct tap_span *span = mark->span;
	const char *event = tap_profiler_event(span);

	put_place(values, text, span);
	put_text(values, span->name->layer);
	put_text(values, span->name->name);
	put_text(values, tap_span_kind_name(tap_span_kind(span)));
	put_unsigned(values, tap_span_kind(span));
	put_unsigned(values, span->call_id);
	put_unsigned(values, span->parent_id);
	put_unsigned(values, span->is_inner);
	put_text(values, span->is_from_nvtx ? "nvtx" : "-");
	if (span->caller_number)
		tap_view_add_caller(text, span->caller, span->caller_number,
				    span->caller_offset);
	put_buffer(values, text);
	put_unsigned(values, span->operation.comm_id);
	put_key(values, text, key_of(span));
	put_signed(values, span->member ? span->member->rank : -1);
	put_unsigned(values, span->operation.number);
	put_unsigned(values, span->operation.group_id);
	put_signed(values, span->operation.peer);
	put_signed(values, mark->bytes);
	put_work(values, text, span->process, &span->work);
	put_launch(values, text, span);
	tap_operation_add_key(text, span->gpu.call ? span->gpu.call : span->name,
			      span->member ? span->member->rank : -1,
			      span->operation.peer, span->operation.number);
	put_buffer(values, text);
	put_text(values, event ? event : "-");
}

static void put_end(struct values *values, struct tap_buffer *text,
		    const struct tap_span *span)
{
	const struct tap_field *result = tap_span_result(span);
	bool has_end =
		span->state == TAP_SPAN_COMPLETE || span->state == TAP_SPAN_BEGIN_LOST;

	put_text(values, tap_span_state_name(span->state));
	if (result && result->kind == TAP_FIELD_STRING)
		tap_buffer_add_string(text, tap_fields_string(&span->exit, result));
	else if (result)
		tap_view_add_value(text, &span->exit, result);
	put_buffer(values, text);
	put_unsigned(values, tap_span_is_failure(result));
	put_signed(values, span->state == TAP_SPAN_BEGIN_LOST ? -1 : span->begin_ns);
	put_signed(values, has_end && !span->is_end_bound ? span->end_ns : -1);
	put_text(values, !has_end ? "-" : span->is_end_bound ? "at-most" : "exact");
}

static void put_link(struct values *values, struct tap_buffer *text,
		     const struct tap_mark *mark)
{
	const struct tap_link *link = mark->link;

	put_unsigned(values, mark->link_number);
	put_unsigned(values, mark->part);
	put_unsigned(values, link->count);
	put_text(values, tap_link_kind_name(link->kind));
	put_text(values, tap_known_name(link->known));
	put_text(values, link->operation ? link->operation->name : "-");
	put_unsigned(values, link->is_mismatch);
	put_key(values, text, tap_link_comm_key(link));
	put_unsigned(values, link->op_number);
	put_signed(values, link->nranks);
	put_signed(values, mark->end->rank);
	put_unsigned(values, mark->end->call_id);
	put_work(values, text, mark->end->process, &mark->end->work);
	tap_link_add_op_key(text, link);
	put_buffer(values, text);
}

/* LTTng's contexts have 32 bits. */
static int64_t context_number(int64_t number)
{
	return number > INT32_MAX ? -1 : number;
}

int tap_ctf_add(struct tap_ctf *ctf, const struct tap_mark *mark)
{
	struct output *output = output_of(ctf, mark->process->trace);
	struct values values = {0};
	bt_message *message;
	bt_event *event;
	int64_t clock, time_ns = mark->time_ns;

	if (!output)
		return -ENOMEM;
	/* Times before the clock's origin occur only in a damaged trace. */
	if (time_ns < ctf->last_ns)
		time_ns = ctf->last_ns;
	if (__builtin_sub_overflow(time_ns, output->offset_ns, &clock) || clock < 0)
		clock = 0;
	message = bt_message_event_create_with_default_clock_snapshot(
		ctf->iterator, output->classes[mark->kind], output->stream,
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
	case TAP_MARK_END:
		put_span(&values, &ctf->text, mark);
		put_end(&values, &ctf->text, mark->span);
		break;
	case TAP_MARK_BEGIN:
		put_span(&values, &ctf->text, mark);
		break;
	case TAP_MARK_LINK:
		put_link(&values, &ctf->text, mark);
		break;
	case TAP_MARK_COUNTER:
		put_text(&values, mark->layer);
		put_text(&values, mark->counter);
		put_signed(&values, mark->value);
		break;
	}
	if (values.is_short) {
		bt_message_put_ref(message);
		return -ENOMEM;
	}
	return append_at(ctf, message, time_ns);
}

int tap_ctf_end(struct tap_ctf *ctf, const struct tap_context *context)
{
	struct output *output;
	size_t i;
	int ret = 0;

	while (!ret && ctf->held.count)
		ret = append_held(ctf);
	for (i = 0; i < context->traces.count; i++)
		if (!output_of(ctf, context->traces.all[i]))
			return -ENOMEM;
	for (output = ctf->outputs; !ret && output; output = output->next)
		ret = append(ctf,
			     bt_message_stream_end_create(ctf->iterator, output->stream));
	return ret;
}
