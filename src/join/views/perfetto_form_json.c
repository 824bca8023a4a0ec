/* SPDX-License-Identifier: MIT */
/*
 * The form of chrome://tracing: the Trace Event Format
 * (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU).
 * A process or a host with tracks is a pid, a lane is a tid, and both are numbers of our
 * own: those of the system are not unique among hosts.
 */
#include "join/views/perfetto_form_json.h"

#include "join/views/perfetto_proto.h"

/*
 * Viewers keep times as floating-point microseconds: of the time since 1970 these hold a
 * quarter of a microsecond, so that times count from shortly before the trace, as those
 * of PyTorch's profiler do.  What began before the first event stands after it in the
 * trace.
 */
#define BEFORE_NS INT64_C(60000000000)
#define SECOND_NS INT64_C(1000000000)

#define FLOW_NAME "flow"

/* ---- Records ---- */

static int64_t base_of(struct tap_packets *packets)
{
	int64_t first_ns = packets->view->context->first_ns;

	if (packets->earliest_ns < first_ns)
		first_ns = packets->earliest_ns;
	if (!packets->has_base && first_ns > BEFORE_NS)
		packets->base_ns = (first_ns - BEFORE_NS) / SECOND_NS * SECOND_NS;
	packets->has_base = true;
	return packets->base_ns;
}

/* Microseconds with three decimals, of integers alone. */
static void add_time(struct tap_packets *packets, int64_t time_ns)
{
	struct tap_buffer *to = tap_json_name(&packets->json, "ts");
	int64_t since = (time_ns > 0 ? time_ns : 0) - base_of(packets);

	if (since < 0) {
		tap_buffer_add_char(to, '-');
		since = -since;
	}
	tap_buffer_add_unsigned(to, (uint64_t) since / 1000);
	tap_buffer_add_char(to, '.');
	tap_buffer_add_padded(to, (uint64_t) since % 1000, 3);
}

static void add_track(struct tap_packets *packets, uint64_t track)
{
	tap_json_unsigned(&packets->json, "pid", packets->parents.items[track]);
	tap_json_unsigned(&packets->json, "tid", track);
}

void tap_form_json_track(struct tap_packets *packets, uint64_t track)
{
	add_track(packets, track);
}

void tap_form_json_time(struct tap_packets *packets, int64_t time_ns)
{
	add_time(packets, time_ns);
}

/* Adds the record that is made, without the newline behind it, to the file. */
static void add_record(struct tap_packets *packets, struct tap_buffer *to)
{
	tap_buffer_add_string(to, packets->has_records ? ",\n" : "\n");
	packets->has_records = true;
	tap_json_end_line(&packets->json, to);
	if (!to->is_short)
		to->used--;
}

int tap_form_json_record(struct tap_packets *packets)
{
	add_record(packets, &packets->out);
	return tap_packets_write(packets);
}

/* ---- An event ---- */

static void begin(struct tap_packets *packets)
{
	static const char *const phases[] = {
		[TYPE_BEGIN] = "B",
		[TYPE_END] = "E",
		[TYPE_INSTANT] = "i",
		[TYPE_COUNTER] = "C",
	};

	tap_json_open(&packets->json, NULL, '{');
	tap_json_string(&packets->json, "ph", phases[packets->type]);
	add_track(packets, packets->track);
	if (packets->type == TYPE_INSTANT)
		tap_json_string(&packets->json, "s", "t");
	packets->has_fields = false;
	packets->has_category = false;
}

static void add_name(struct tap_packets *packets, const char *name)
{
	tap_json_string(&packets->json, "name", name);
}

static void add_category(struct tap_packets *packets, const char *category)
{
	tap_json_string(&packets->json, "cat", category);
	packets->has_category = true;
}

static struct tap_json *fields_of(struct tap_packets *packets)
{
	if (!packets->has_fields)
		tap_json_open(&packets->json, "args", '{');
	packets->has_fields = true;
	return &packets->json;
}

static void add_value(struct tap_packets *packets, const char *name, int64_t value)
{
	add_name(packets, name);
	tap_json_signed(fields_of(packets), "value", value);
}

static void add_unsigned(struct tap_packets *packets, const char *name, uint64_t value)
{
	tap_json_unsigned(fields_of(packets), name, value);
}

static void add_signed(struct tap_packets *packets, const char *name, int64_t value)
{
	tap_json_signed(fields_of(packets), name, value);
}

static void add_hex(struct tap_packets *packets, const char *name, uint64_t value)
{
	tap_json_hex(fields_of(packets), name, value);
}

static void add_bool(struct tap_packets *packets, const char *name, bool value)
{
	tap_json_bool(fields_of(packets), name, value);
}

static void add_string(struct tap_packets *packets, const char *name, const char *text)
{
	tap_json_string(fields_of(packets), name, text);
}

static void add_text(struct tap_packets *packets, const char *name,
		     const struct tap_buffer *text)
{
	struct tap_json *json = fields_of(packets);

	tap_buffer_add(&json->text, text->data, text->used);
	json->text.is_short |= text->is_short;
	tap_json_text(json, name);
}

static void add_field(struct tap_packets *packets, const struct tap_fields *fields,
		      const struct tap_field *field, const char *name)
{
	struct tap_field named = *field;

	named.name = name;
	tap_json_field(fields_of(packets), fields, &named);
}

static void end(struct tap_packets *packets, int64_t time_ns)
{
	if (packets->has_fields)
		tap_json_close(&packets->json);
	/* Of a file that fits into no string chrome://tracing takes what has both, "ph" and
	 * "cat". */
	if (!packets->has_category)
		tap_json_string(&packets->json, "cat", "");
	add_time(packets, time_ns);
	tap_json_end_line(&packets->json, &packets->event);
	if (!packets->event.is_short)
		packets->event.used--;
}

/* ---- Arrows ---- */

/* An arrow begins or ends in the slice that is open on the track at this time. */
static void open_flow(struct tap_packets *packets, uint64_t track, int64_t time_ns,
		      uint64_t flow, bool is_begin)
{
	struct tap_json *json = &packets->json;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "ph", is_begin ? "s" : "f");
	add_track(packets, track);
	if (!is_begin)
		tap_json_string(json, "bp", "e");
	tap_json_string(json, "name", FLOW_NAME);
	tap_json_string(json, "cat", FLOW_NAME);
	tap_json_unsigned(json, "id", flow);
	add_time(packets, time_ns);
}

static void make_arrival(struct tap_packets *packets, int64_t time_ns, uint64_t flow)
{
	open_flow(packets, packets->track, time_ns, flow, false);
	tap_json_end_line(&packets->json, &packets->event);
	if (!packets->event.is_short)
		packets->event.used--;
}

static void write_flows(struct tap_packets *packets, const struct tap_packet *packet)
{
	size_t i;

	for (i = 0; i < packet->flows.count; i++) {
		const struct tap_packet_flow *flow = &packet->flows.items[i];

		open_flow(packets, packet->track, packet->time_ns, flow->flow,
			  flow->end == TAP_FLOW_BEGINS);
		add_record(packets, &packets->out);
	}
}

/* ---- The file ---- */

static void begin_file(struct tap_packets *packets)
{
	struct tap_buffer *out = &packets->out;

	tap_buffer_add_string(out,
			      "{\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":");
	tap_buffer_add_signed(out, base_of(packets));
	tap_buffer_add_string(out, ",\"traceEvents\":[");
}

/* While the slice is open: after its beginning, and before its end. */
static void write_packet(struct tap_packets *packets, const struct tap_packet *packet)
{
	if (packet->type == TYPE_END)
		write_flows(packets, packet);
	tap_buffer_add_string(&packets->out, packets->has_records ? ",\n" : "\n");
	packets->has_records = true;
	tap_buffer_add(&packets->out, packet->bytes, packet->event);
	if (packet->type != TYPE_END)
		write_flows(packets, packet);
}

static struct tap_json *open_metadata(struct tap_packets *packets,
				      const struct tap_about_track *about,
				      const char *what)
{
	const bool is_process =
		about->kind == TAP_TRACK_PROCESS || about->kind == TAP_TRACK_TRACE;
	struct tap_json *json = &packets->json;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "ph", "M");
	tap_json_unsigned(json, "pid", is_process ? about->track : about->parent);
	if (!is_process)
		tap_json_unsigned(json, "tid", about->track);
	tap_json_string(json, "name", what);
	tap_json_string(json, "cat", "__metadata");
	/* Trace Compass sorts by it, and loses events where one has none. */
	tap_json_unsigned(json, "ts", 0);
	tap_json_open(json, "args", '{');
	return json;
}

static void add_metadata(struct tap_packets *packets, const struct tap_about_track *about,
			 const char *name_is, const char *place_is, int64_t place,
			 const struct tap_buffer *name)
{
	struct tap_json *json = open_metadata(packets, about, name_is);

	tap_buffer_add(&json->text, name->data, name->used);
	tap_json_text(json, "name");
	tap_json_close(json);
	add_record(packets, &packets->out);
	json = open_metadata(packets, about, place_is);
	tap_json_signed(json, "sort_index", place);
	tap_json_close(json);
	add_record(packets, &packets->out);
}

static void describe(struct tap_packets *packets, const struct tap_about_track *about,
		     const struct tap_buffer *name)
{
	switch (about->kind) {
	case TAP_TRACK_TRACE:
		add_metadata(packets, about, "process_name", "process_sort_index", 0,
			     name);
		break;
	case TAP_TRACK_PROCESS:
		add_metadata(packets, about, "process_name", "process_sort_index",
			     about->place + 1, name);
		break;
	case TAP_TRACK_LANE:
	case TAP_TRACK_FINDINGS:
		add_metadata(packets, about, "thread_name", "thread_sort_index",
			     about->place, name);
		break;
	case TAP_TRACK_HOST:	/* part of the names of its processes */
	case TAP_TRACK_COUNTER: /* its values have its name */
		break;
	}
}

static void end_file(struct tap_packets *packets)
{
	tap_buffer_add_string(&packets->out, "\n]");
	tap_buffer_add(&packets->out, packets->tail.data, packets->tail.used);
	packets->out.is_short |= packets->tail.is_short;
	tap_buffer_add_string(&packets->out, "}\n");
}

static void release(struct tap_packets *packets)
{
	tap_json_free(&packets->json);
	tap_buffer_free(&packets->tail);
}

const struct tap_packet_form tap_packet_form_json = {
	.begin = begin,
	.name = add_name,
	.category = add_category,
	.value = add_value,
	.unsigned_field = add_unsigned,
	.signed_field = add_signed,
	.hex_field = add_hex,
	.bool_field = add_bool,
	.string_field = add_string,
	.text_field = add_text,
	.field = add_field,
	.end = end,
	.arrival = make_arrival,
	.begin_file = begin_file,
	.write = write_packet,
	.describe = describe,
	.end_file = end_file,
	.free = release,
};
