/* SPDX-License-Identifier: MIT */
/* Texts with numbers, and a ring of packets. */
#include "join/views/perfetto_packet.h"

#include "common/vec.h"
#include "join/base/chain.h"
#include "join/base/proto.h"
#include "join/views/perfetto_proto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Held packets and their bytes: a span has two packets, of some hundred bytes. */
#define HELD_MAX 262144
#define HELD_BYTES_MAX (UINT64_C(64) << 20)

/* Texts with a number, and the longest of them; with more, all begin anew. */
#define TEXTS_MAX 65536
#define TEXT_MAX 256

#define OUT_SIZE 65536

/* All packets are of one sequence. */
#define SEQUENCE 1

struct tap_packet {
	char *bytes; /* the head, then the event */
	size_t head, event;
	int64_t time_ns;
	uint64_t track;
	void *owner;
	TAP_VEC(struct flow {
		uint64_t flow;
		enum tap_flow_end end;
	}) flows;
};

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
 * The number of a text; 0 when memory is short.  Names of fields are the same few pointers
 * in millions of events: most are found without a hash of their letters.
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

void tap_packets_begin(struct tap_packets *packets, unsigned int type, uint64_t track)
{
	if (packets->text_count >= TEXTS_MAX)
		forget_texts(packets);
	packets->track = track;
	packets->event.used = 0;
	packets->interned.used = 0;
	tap_proto_unsigned(&packets->event, EVENT_TYPE, type);
	tap_proto_unsigned(&packets->event, EVENT_TRACK, track);
}

void tap_packets_name(struct tap_packets *packets, const char *name)
{
	if (strlen(name) > TEXT_MAX)
		tap_proto_string(&packets->event, EVENT_NAME, name);
	else
		tap_proto_unsigned(&packets->event, EVENT_NAME_IID,
				   iid_of(packets, TAP_INTERNED_NAME, name));
}

void tap_packets_category(struct tap_packets *packets, const char *category)
{
	tap_proto_unsigned(&packets->event, EVENT_CATEGORY_IID,
			   iid_of(packets, TAP_INTERNED_CATEGORY, category));
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

void tap_packets_unsigned(struct tap_packets *packets, const char *name, uint64_t value)
{
	tap_proto_unsigned(begin_annotation(packets, name), ANNOTATION_UNSIGNED, value);
	end_annotation(packets);
}

void tap_packets_signed(struct tap_packets *packets, const char *name, int64_t value)
{
	tap_proto_signed(begin_annotation(packets, name), ANNOTATION_SIGNED, value);
	end_annotation(packets);
}

void tap_packets_hex(struct tap_packets *packets, const char *name, uint64_t value)
{
	tap_proto_unsigned(begin_annotation(packets, name), ANNOTATION_POINTER, value);
	end_annotation(packets);
}

void tap_packets_bool(struct tap_packets *packets, const char *name, bool value)
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

void tap_packets_string(struct tap_packets *packets, const char *name, const char *text)
{
	add_string(packets, begin_annotation(packets, name), text);
	end_annotation(packets);
}

void tap_packets_text(struct tap_packets *packets, const char *name,
		      const struct tap_buffer *text)
{
	if (!text->used)
		return;
	tap_proto_message(begin_annotation(packets, name), ANNOTATION_TEXT, text);
	end_annotation(packets);
}

static void add_integer(struct tap_buffer *to, bool is_hex, bool is_signed, uint64_t value)
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

void tap_packets_field(struct tap_packets *packets, const struct tap_fields *fields,
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

static int write_out(struct tap_packets *packets, size_t at_least)
{
	return packets->out.used < at_least || !packets->out.used
		       ? 0
		       : tap_outfile_write(packets->view->output, &packets->out);
}

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

static void begin_file(struct tap_packets *packets)
{
	if (packets->has_begun)
		return;
	packets->has_begun = true;
	tap_outfile_begin_headless(packets->view->output);
	add_clocks(packets);
}

/* Adds those arrows that end in an instant, or all others, to an event. */
static void add_flows(struct tap_buffer *event, const struct tap_packet *packet,
		      bool is_arrival)
{
	size_t i;

	for (i = 0; i < packet->flows.count; i++) {
		const struct flow *flow = &packet->flows.items[i];

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

static void free_packet(struct tap_packets *packets, struct tap_packet *packet)
{
	packets->held_bytes -= packet->head + packet->event;
	free(packet->bytes);
	tap_vec_free(&packet->flows);
}

/* Writes the packet that is held for the longest time. */
static int write_first(struct tap_packets *packets)
{
	const uint64_t number = packets->first++;
	struct tap_packet *packet = &packets->ring[number % HELD_MAX];
	struct tap_buffer *to = &packets->packet;
	void *owner = packet->owner;

	begin_file(packets);
	write_arrival(packets, packet);
	to->used = 0;
	tap_buffer_add(to, packet->bytes, packet->head);
	tap_proto_open(to, PACKET_TRACK_EVENT, packet->event + flow_bytes(packet));
	tap_buffer_add(to, packet->bytes + packet->head, packet->event);
	add_flows(to, packet, false);
	tap_proto_message(&packets->out, TRACE_PACKET, to);
	free_packet(packets, packet);
	if (owner)
		packets->written(owner, number);
	return write_out(packets, OUT_SIZE);
}

/* What stands before the event. */
static void add_head(struct tap_packets *packets, int64_t time_ns)
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

static bool is_full(const struct tap_packets *packets)
{
	return packets->next - packets->first >= HELD_MAX ||
	       packets->held_bytes > HELD_BYTES_MAX;
}

static int begin_ring(struct tap_packets *packets)
{
	if (packets->ring)
		return 0;
	packets->ring = calloc(HELD_MAX, sizeof(*packets->ring));
	packets->first = packets->next = 1;
	return packets->ring ? 0 : -ENOMEM;
}

/* Holds the event that is made. */
static int hold(struct tap_packets *packets, int64_t time_ns, void *owner)
{
	const struct tap_buffer *head = &packets->packet, *event = &packets->event;
	struct tap_packet *packet = &packets->ring[packets->next % HELD_MAX];

	if (head->is_short || event->is_short || packets->interned.is_short)
		return -ENOMEM;
	*packet = (struct tap_packet){.head = head->used,
				      .event = event->used,
				      .time_ns = time_ns,
				      .track = packets->track,
				      .owner = owner,
				      .bytes = malloc(head->used + event->used)};
	if (!packet->bytes)
		return -ENOMEM;
	memcpy(packet->bytes, head->data, head->used);
	memcpy(packet->bytes + head->used, event->data, event->used);
	packets->held_bytes += head->used + event->used;
	packets->next++;
	return 0;
}

int tap_packets_end(struct tap_packets *packets, int64_t time_ns, void *owner,
		    uint64_t *number)
{
	int ret = begin_ring(packets);

	while (!ret && is_full(packets))
		ret = write_first(packets);
	if (ret)
		return ret;
	add_head(packets, time_ns);
	ret = hold(packets, time_ns, owner);
	if (!ret && number)
		*number = packets->next - 1;
	return ret;
}

bool tap_packets_holds(const struct tap_packets *packets, uint64_t number)
{
	return number >= packets->first && number < packets->next && number;
}

int tap_packets_flow(struct tap_packets *packets, uint64_t number, uint64_t flow,
		     enum tap_flow_end end)
{
	struct tap_packet *packet = &packets->ring[number % HELD_MAX];

	return tap_vec_add(&packet->flows, ((struct flow){.flow = flow, .end = end}));
}

int tap_packets_arrival(struct tap_packets *packets, uint64_t track, int64_t time_ns,
			uint64_t flow)
{
	packets->track = track;
	packets->interned.used = 0;
	begin_arrival(&packets->event, track);
	tap_proto_fixed64(&packets->event, EVENT_LAST_FLOW, flow);
	return tap_packets_end(packets, time_ns, NULL, NULL);
}

int tap_packets_describe(struct tap_packets *packets, const struct tap_buffer *track)
{
	begin_file(packets);
	packets->packet.used = 0;
	tap_proto_unsigned(&packets->packet, PACKET_SEQUENCE_ID, SEQUENCE);
	tap_proto_message(&packets->packet, PACKET_TRACK_DESCRIPTOR, track);
	tap_proto_message(&packets->out, TRACE_PACKET, &packets->packet);
	return write_out(packets, OUT_SIZE);
}

int tap_packets_finish(struct tap_packets *packets)
{
	int ret = 0;

	begin_file(packets);
	while (!ret && packets->first < packets->next)
		ret = write_first(packets);
	return ret ? ret : tap_outfile_finish(packets->view->output, &packets->out);
}

void tap_packets_free(struct tap_packets *packets)
{
	for (; packets->first < packets->next; packets->first++)
		free_packet(packets, &packets->ring[packets->first % HELD_MAX]);
	free(packets->ring);
	forget_texts(packets);
	tap_buffer_free(&packets->event);
	tap_buffer_free(&packets->interned);
	tap_buffer_free(&packets->annotation);
	tap_buffer_free(&packets->element);
	tap_buffer_free(&packets->packet);
	tap_buffer_free(&packets->out);
}
