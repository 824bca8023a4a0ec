/* SPDX-License-Identifier: MIT */
/* Perfetto's form: texts with numbers, and messages within messages. */
#include "join/views/perfetto_form.h"

#include "join/base/chain.h"
#include "join/base/proto.h"
#include "join/views/perfetto_proto.h"

#include <stdlib.h>
#include <string.h>

/* Texts with a number, and the longest of them; with more, all begin anew. */
#define TEXTS_MAX 65536
#define TEXT_MAX 256

/* All packets are of one sequence. */
#define SEQUENCE 1

struct tap_text {
	struct tap_text *next; /* with the same hash */
	uint64_t iid;
	enum tap_interned kind;
	char text[];
};

/* ---- Texts ---- */

static void forget_texts(struct tap_packets *packets)
{
	struct tap_text *text, *next;
	size_t i;

	for (i = 0; i < packets->texts.size; i++)
		for (text = packets->texts.slots[i].value; text; text = next) {
			next = text->next;
			free(text);
		}
	tap_table_free(&packets->texts);
	packets->text_count = 0;
	memset(packets->last_iid, 0, sizeof(packets->last_iid));
	memset(packets->recent, 0, sizeof(packets->recent));
	packets->has_state = false;
}

static struct tap_text *make_text(struct tap_packets *packets, enum tap_interned kind,
				  uint64_t hash, const char *string)
{
	static const unsigned int fields[] = {
		[TAP_INTERNED_CATEGORY] = INTERNED_CATEGORY,
		[TAP_INTERNED_NAME] = INTERNED_NAME,
		[TAP_INTERNED_FIELD] = INTERNED_ANNOTATION_NAME,
		[TAP_INTERNED_VALUE] = INTERNED_ANNOTATION_STRING,
	};
	struct tap_text *text = malloc(sizeof(*text) + strlen(string) + 1);

	if (!text || tap_chain_push(&packets->texts, hash, kind, text, next)) {
		free(text);
		return NULL;
	}
	strcpy(text->text, string);
	text->kind = kind;
	text->iid = ++packets->last_iid[kind];
	packets->text_count++;
	packets->packet.used = 0;
	tap_proto_unsigned(&packets->packet, INTERNED_IID, text->iid);
	tap_proto_string(&packets->packet, INTERNED_TEXT, string);
	tap_proto_message(&packets->interned, fields[kind], &packets->packet);
	return text;
}

static struct tap_text *text_of(struct tap_packets *packets, enum tap_interned kind,
				const char *string)
{
	const uint64_t hash = tap_table_hash(string);
	struct tap_text *text = tap_table_find(&packets->texts, hash, kind);

	while (text && strcmp(text->text, string))
		text = text->next;
	return text ? text : make_text(packets, kind, hash, string);
}

/*
 * The number of a text; 0 when memory is short.  Names of fields are the same few
 * pointers in millions of events: most are found without a hash of their letters.
 */
static uint64_t iid_of(struct tap_packets *packets, enum tap_interned kind,
		       const char *string)
{
	struct tap_text **recent =
		&packets->recent[((uintptr_t) string >> 3 ^ kind) % TAP_TEXTS_RECENT];

	if (!*recent || (*recent)->kind != kind || strcmp((*recent)->text, string))
		*recent = text_of(packets, kind, string);
	if (*recent)
		return (*recent)->iid;
	packets->event.is_short = true;
	return 0;
}

/* ---- An event ---- */

static void begin(struct tap_packets *packets)
{
	if (packets->text_count >= TEXTS_MAX)
		forget_texts(packets);
	packets->interned.used = 0;
	tap_proto_unsigned(&packets->event, EVENT_TYPE, packets->type);
	tap_proto_unsigned(&packets->event, EVENT_TRACK, packets->track);
}

static void add_event_name(struct tap_packets *packets, const char *name)
{
	if (strlen(name) > TEXT_MAX)
		tap_proto_string(&packets->event, EVENT_NAME, name);
	else
		tap_proto_unsigned(&packets->event, EVENT_NAME_IID,
				   iid_of(packets, TAP_INTERNED_NAME, name));
}

static void add_category(struct tap_packets *packets, const char *category)
{
	tap_proto_unsigned(&packets->event, EVENT_CATEGORY_IID,
			   iid_of(packets, TAP_INTERNED_CATEGORY, category));
}

static void add_value(struct tap_packets *packets, const char *name, int64_t value)
{
	(void) name; /* its track has it */
	tap_proto_signed(&packets->event, EVENT_COUNTER_VALUE, value);
}

static struct tap_buffer *begin_annotation(struct tap_packets *packets, const char *name)
{
	packets->annotation.used = 0;
	tap_proto_unsigned(&packets->annotation, ANNOTATION_NAME_IID,
			   iid_of(packets, TAP_INTERNED_FIELD, name));
	return &packets->annotation;
}

static void end_annotation(struct tap_packets *packets)
{
	tap_proto_message(&packets->event, EVENT_ANNOTATION, &packets->annotation);
}

static void add_unsigned(struct tap_packets *packets, const char *name, uint64_t value)
{
	tap_proto_unsigned(begin_annotation(packets, name), ANNOTATION_UNSIGNED, value);
	end_annotation(packets);
}

static void add_signed(struct tap_packets *packets, const char *name, int64_t value)
{
	tap_proto_signed(begin_annotation(packets, name), ANNOTATION_SIGNED, value);
	end_annotation(packets);
}

static void add_hex(struct tap_packets *packets, const char *name, uint64_t value)
{
	tap_proto_unsigned(begin_annotation(packets, name), ANNOTATION_POINTER, value);
	end_annotation(packets);
}

static void add_bool(struct tap_packets *packets, const char *name, bool value)
{
	tap_proto_unsigned(begin_annotation(packets, name), ANNOTATION_BOOL, value);
	end_annotation(packets);
}

static void add_string(struct tap_packets *packets, struct tap_buffer *to,
		       const char *text)
{
	if (strlen(text) > TEXT_MAX)
		tap_proto_string(to, ANNOTATION_TEXT, text);
	else
		tap_proto_unsigned(to, ANNOTATION_TEXT_IID,
				   iid_of(packets, TAP_INTERNED_VALUE, text));
}

static void add_string_field(struct tap_packets *packets, const char *name,
			     const char *text)
{
	add_string(packets, begin_annotation(packets, name), text);
	end_annotation(packets);
}

static void add_text_field(struct tap_packets *packets, const char *name,
			   const struct tap_buffer *text)
{
	tap_proto_message(begin_annotation(packets, name), ANNOTATION_TEXT, text);
	end_annotation(packets);
}

static void add_integer(struct tap_buffer *to, bool is_hex, bool is_signed,
			uint64_t value)
{
	if (is_hex)
		tap_proto_unsigned(to, ANNOTATION_POINTER, value);
	else if (is_signed)
		tap_proto_signed(to, ANNOTATION_SIGNED, (int64_t) value);
	else
		tap_proto_unsigned(to, ANNOTATION_UNSIGNED, value);
}

static void add_elements(struct tap_packets *packets, struct tap_buffer *to,
			 const struct tap_fields *fields, const struct tap_field *field)
{
	size_t i;

	for (i = 0; i < field->value.data.length; i++) {
		packets->element.used = 0;
		add_integer(&packets->element, field->is_hex, field->is_signed,
			    tap_fields_array(fields, field)[i]);
		tap_proto_message(to, ANNOTATION_ELEMENT, &packets->element);
	}
}

static void add_field(struct tap_packets *packets, const struct tap_fields *fields,
		      const struct tap_field *field, const char *name)
{
	struct tap_buffer *to = begin_annotation(packets, name);

	switch (field->kind) {
	case TAP_FIELD_UNSIGNED:
	case TAP_FIELD_SIGNED:
		if (field->label)
			add_string(packets, to, field->label);
		else
			add_integer(to, field->is_hex, field->kind == TAP_FIELD_SIGNED,
				    field->value.u);
		break;
	case TAP_FIELD_REAL:
		tap_proto_double(to, ANNOTATION_REAL, field->value.real);
		break;
	case TAP_FIELD_STRING:
		add_string(packets, to, tap_fields_string(fields, field));
		break;
	case TAP_FIELD_ARRAY:
		add_elements(packets, to, fields, field);
		break;
	}
	end_annotation(packets);
}

/* ---- The file ---- */

/* The moment of the first event on both clocks, since all times count from the epoch. */
static void add_clocks(struct tap_packets *packets)
{
	static const unsigned int ids[] = {CLOCK_BOOT, CLOCK_REALTIME};
	struct tap_buffer *clock = &packets->annotation, *snapshot = &packets->element;
	const int64_t now_ns = packets->view->context->first_ns;
	size_t i;

	snapshot->used = 0;
	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		clock->used = 0;
		tap_proto_unsigned(clock, CLOCK_ID, ids[i]);
		tap_proto_unsigned(clock, CLOCK_TIMESTAMP,
				   now_ns > 0 ? (uint64_t) now_ns : 0);
		tap_proto_message(snapshot, SNAPSHOT_CLOCK, clock);
	}
	packets->packet.used = 0;
	tap_proto_message(&packets->packet, PACKET_CLOCK_SNAPSHOT, snapshot);
	tap_proto_unsigned(&packets->packet, PACKET_SEQUENCE_ID, SEQUENCE);
	tap_proto_message(&packets->out, TRACE_PACKET, &packets->packet);
}

/* Adds those arrows that end in an instant, or all others, to an event. */
static void add_flows(struct tap_buffer *event, const struct tap_packet *packet,
		      bool is_arrival)
{
	size_t i;

	for (i = 0; i < packet->flows.count; i++) {
		const struct tap_packet_flow *flow = &packet->flows.items[i];

		if (is_arrival == (flow->end == TAP_FLOW_ARRIVES))
			tap_proto_fixed64(event,
					  flow->end == TAP_FLOW_BEGINS ? EVENT_FLOW
								       : EVENT_LAST_FLOW,
					  flow->flow);
	}
}

/* A tag of two bytes, and eight bytes. */
#define FLOW_BYTES 10

static size_t flow_bytes(const struct tap_packet *packet)
{
	size_t i, bytes = 0;

	for (i = 0; i < packet->flows.count; i++)
		bytes += packet->flows.items[i].end == TAP_FLOW_ARRIVES ? 0 : FLOW_BYTES;
	return bytes;
}

/* The event of an instant in which arrows end: its texts need no number. */
static void begin_arrival(struct tap_buffer *event, uint64_t track)
{
	event->used = 0;
	tap_proto_unsigned(event, EVENT_TYPE, TYPE_INSTANT);
	tap_proto_unsigned(event, EVENT_TRACK, track);
	tap_proto_string(event, EVENT_CATEGORY, "arrival");
	tap_proto_string(event, EVENT_NAME, "arrived");
}

/* Before the end of a slice at the same time, so that the instant lies in the slice. */
static void write_arrival(struct tap_packets *packets, const struct tap_packet *packet)
{
	struct tap_buffer *event = &packets->annotation, *to = &packets->element;

	if (flow_bytes(packet) == packet->flows.count * FLOW_BYTES)
		return;
	begin_arrival(event, packet->track);
	add_flows(event, packet, true);
	to->used = 0;
	tap_proto_unsigned(to, PACKET_TIMESTAMP,
			   packet->time_ns > 0 ? (uint64_t) packet->time_ns : 0);
	tap_proto_unsigned(to, PACKET_SEQUENCE_ID, SEQUENCE);
	tap_proto_message(to, PACKET_TRACK_EVENT, event);
	tap_proto_message(&packets->out, TRACE_PACKET, to);
}

static void write_packet(struct tap_packets *packets, const struct tap_packet *packet)
{
	struct tap_buffer *to = &packets->packet;

	write_arrival(packets, packet);
	to->used = 0;
	tap_buffer_add(to, packet->bytes, packet->head);
	tap_proto_open(to, PACKET_TRACK_EVENT, packet->event + flow_bytes(packet));
	tap_buffer_add(to, packet->bytes + packet->head, packet->event);
	add_flows(to, packet, false);
	tap_proto_message(&packets->out, TRACE_PACKET, to);
}

/* What stands before the event. */
static void end(struct tap_packets *packets, int64_t time_ns)
{
	struct tap_buffer *head = &packets->packet;

	head->used = 0;
	tap_proto_unsigned(head, PACKET_TIMESTAMP, time_ns > 0 ? (uint64_t) time_ns : 0);
	tap_proto_unsigned(head, PACKET_SEQUENCE_ID, SEQUENCE);
	tap_proto_unsigned(head, PACKET_SEQUENCE_FLAGS,
			   packets->has_state ? STATE_NEEDED
					      : STATE_NEEDED | STATE_CLEARED);
	packets->has_state = true;
	if (packets->interned.used)
		tap_proto_message(head, PACKET_INTERNED_DATA, &packets->interned);
}

static void make_arrival(struct tap_packets *packets, int64_t time_ns, uint64_t flow)
{
	packets->interned.used = 0;
	begin_arrival(&packets->event, packets->track);
	tap_proto_fixed64(&packets->event, EVENT_LAST_FLOW, flow);
	end(packets, time_ns);
}

/* ---- Tracks ---- */

static void add_unit(struct tap_buffer *counter, enum tap_track_unit unit)
{
	switch (unit) {
	case TAP_TRACK_PLAIN:
		tap_proto_unsigned(counter, COUNTER_UNIT, UNIT_COUNT);
		break;
	case TAP_TRACK_BYTES:
		tap_proto_unsigned(counter, COUNTER_UNIT, UNIT_BYTES);
		break;
	case TAP_TRACK_NS:
		tap_proto_unsigned(counter, COUNTER_UNIT, UNIT_NS);
		break;
	case TAP_TRACK_PER_SECOND:
		tap_proto_string(counter, COUNTER_UNIT_NAME, "1/s");
		break;
	case TAP_TRACK_RANKS:
		tap_proto_string(counter, COUNTER_UNIT_NAME, "ranks");
		break;
	}
}

static void add_track(struct tap_packets *packets, const struct tap_about_track *about,
		      const struct tap_buffer *name)
{
	struct tap_buffer *message = &packets->annotation, *counter = &packets->element;

	message->used = 0;
	tap_proto_unsigned(message, TRACK_ID, about->track);
	if (about->parent)
		tap_proto_unsigned(message, TRACK_PARENT, about->parent);
	tap_proto_message(message, TRACK_NAME, name);
	if (about->kind == TAP_TRACK_TRACE || about->kind == TAP_TRACK_HOST ||
	    about->kind == TAP_TRACK_PROCESS)
		tap_proto_unsigned(message, TRACK_CHILD_ORDER, ORDER_EXPLICIT);
	tap_proto_signed(message, TRACK_RANK_AMONG_SIBLINGS, about->place);
	tap_proto_unsigned(message, TRACK_MERGE,
			   about->kind == TAP_TRACK_LANE ? MERGE_BY_NAME : MERGE_NONE);
	if (about->kind != TAP_TRACK_COUNTER)
		return;
	counter->used = 0;
	add_unit(counter, about->unit);
	tap_proto_message(message, TRACK_COUNTER, counter);
}

static void describe(struct tap_packets *packets, const struct tap_about_track *about,
		     const struct tap_buffer *name)
{
	add_track(packets, about, name);
	packets->packet.used = 0;
	tap_proto_unsigned(&packets->packet, PACKET_SEQUENCE_ID, SEQUENCE);
	tap_proto_message(&packets->packet, PACKET_TRACK_DESCRIPTOR,
			  &packets->annotation);
	tap_proto_message(&packets->out, TRACE_PACKET, &packets->packet);
}

static void end_file(struct tap_packets *packets)
{
	(void) packets;
}

static void release(struct tap_packets *packets)
{
	forget_texts(packets);
	tap_buffer_free(&packets->interned);
	tap_buffer_free(&packets->annotation);
	tap_buffer_free(&packets->element);
}

const struct tap_packet_form tap_packet_form_proto = {
	.begin = begin,
	.name = add_event_name,
	.category = add_category,
	.value = add_value,
	.unsigned_field = add_unsigned,
	.signed_field = add_signed,
	.hex_field = add_hex,
	.bool_field = add_bool,
	.string_field = add_string_field,
	.text_field = add_text_field,
	.field = add_field,
	.end = end,
	.arrival = make_arrival,
	.begin_file = add_clocks,
	.write = write_packet,
	.describe = describe,
	.end_file = end_file,
	.free = release,
};
