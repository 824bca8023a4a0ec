/* SPDX-License-Identifier: MIT */
/* A ring of packets, in one of the forms. */
#include "join/views/perfetto_packet.h"

#include "join/views/perfetto_proto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Held packets and their bytes: a span has two packets, of some hundred bytes. */
#define HELD_MAX 262144
#define HELD_BYTES_MAX (UINT64_C(64) << 20)

#define OUT_SIZE 65536

/* ---- An event ---- */

void tap_packets_begin(struct tap_packets *packets, unsigned int type, uint64_t track)
{
	packets->track = track;
	packets->type = type;
	packets->event.used = 0;
	packets->form->begin(packets);
}

void tap_packets_name(struct tap_packets *packets, const char *name)
{
	packets->form->name(packets, name);
}

void tap_packets_category(struct tap_packets *packets, const char *category)
{
	packets->form->category(packets, category);
}

void tap_packets_value(struct tap_packets *packets, const char *name, int64_t value)
{
	packets->form->value(packets, name, value);
}

void tap_packets_unsigned(struct tap_packets *packets, const char *name, uint64_t value)
{
	packets->form->unsigned_field(packets, name, value);
}

void tap_packets_signed(struct tap_packets *packets, const char *name, int64_t value)
{
	packets->form->signed_field(packets, name, value);
}

void tap_packets_hex(struct tap_packets *packets, const char *name, uint64_t value)
{
	packets->form->hex_field(packets, name, value);
}

void tap_packets_bool(struct tap_packets *packets, const char *name, bool value)
{
	packets->form->bool_field(packets, name, value);
}

void tap_packets_string(struct tap_packets *packets, const char *name, const char *text)
{
	packets->form->string_field(packets, name, text);
}

void tap_packets_text(struct tap_packets *packets, const char *name,
		      const struct tap_buffer *text)
{
	if (text->used)
		packets->form->text_field(packets, name, text);
}

void tap_packets_field(struct tap_packets *packets, const struct tap_fields *fields,
		       const struct tap_field *field, const char *name)
{
	packets->form->field(packets, fields, field, name);
}

/* ---- The file ---- */

static int write_out(struct tap_packets *packets, size_t at_least)
{
	return packets->out.used < at_least || !packets->out.used
		       ? 0
		       : tap_outfile_write(packets->view->output, &packets->out);
}

static int begin_file(struct tap_packets *packets)
{
	int ret = 0;

	if (packets->has_begun)
		return 0;
	packets->has_begun = true;
	if (packets->view->settings.is_gzip)
		ret = tap_outfile_begin_gzip(packets->view->output);
	else
		tap_outfile_begin_headless(packets->view->output);
	packets->form->begin_file(packets);
	return ret;
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
	void *owner = packet->owner;
	int ret = begin_file(packets);

	if (ret)
		return ret;
	packets->form->write(packets, packet);
	free_packet(packets, packet);
	if (owner)
		packets->written(owner, number);
	return write_out(packets, OUT_SIZE);
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

	if (head->is_short || event->is_short)
		return -ENOMEM;
	*packet = (struct tap_packet){.head = head->used,
				      .event = event->used,
				      .time_ns = time_ns,
				      .type = packets->type,
				      .track = packets->track,
				      .owner = owner,
				      .bytes = malloc(head->used + event->used)};
	if (!packet->bytes)
		return -ENOMEM;
	if (head->used)
		memcpy(packet->bytes, head->data, head->used);
	memcpy(packet->bytes + head->used, event->data, event->used);
	packets->held_bytes += head->used + event->used;
	packets->next++;
	return 0;
}

/* Before the form completes an event: what is written needs the same buffers. */
static int make_room(struct tap_packets *packets)
{
	int ret = begin_ring(packets);

	while (!ret && is_full(packets))
		ret = write_first(packets);
	return ret;
}

int tap_packets_end(struct tap_packets *packets, int64_t time_ns, void *owner,
		    uint64_t *number)
{
	int ret = make_room(packets);

	if (ret)
		return ret;
	packets->packet.used = 0;
	packets->form->end(packets, time_ns);
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

	return tap_vec_add(&packet->flows,
			   ((struct tap_packet_flow){.flow = flow, .end = end}));
}

int tap_packets_arrival(struct tap_packets *packets, uint64_t track, int64_t time_ns,
			uint64_t flow)
{
	int ret = make_room(packets);

	if (ret)
		return ret;
	packets->track = track;
	packets->type = TYPE_INSTANT;
	packets->event.used = packets->packet.used = 0;
	packets->form->arrival(packets, time_ns, flow);
	return hold(packets, time_ns, NULL);
}

int tap_packets_place(struct tap_packets *packets, uint64_t track, uint64_t parent)
{
	if (track >= packets->parents.count &&
	    tap_vec_resize(&packets->parents, (size_t) track + 1))
		return -ENOMEM;
	packets->parents.items[track] = parent;
	return 0;
}

int tap_packets_describe(struct tap_packets *packets, const struct tap_about_track *about,
			 const struct tap_buffer *name)
{
	int ret = name->is_short ? -ENOMEM : begin_file(packets);

	if (ret)
		return ret;
	packets->form->describe(packets, about, name);
	return write_out(packets, OUT_SIZE);
}

int tap_packets_write(struct tap_packets *packets)
{
	return write_out(packets, OUT_SIZE);
}

int tap_packets_finish(struct tap_packets *packets)
{
	int ret = begin_file(packets);

	while (!ret && packets->first < packets->next)
		ret = write_first(packets);
	if (ret)
		return ret;
	packets->form->end_file(packets);
	return tap_outfile_finish(packets->view->output, &packets->out);
}

void tap_packets_free(struct tap_packets *packets)
{
	for (; packets->first < packets->next; packets->first++)
		free_packet(packets, &packets->ring[packets->first % HELD_MAX]);
	free(packets->ring);
	packets->form->free(packets);
	tap_vec_free(&packets->parents);
	tap_buffer_free(&packets->event);
	tap_buffer_free(&packets->packet);
	tap_buffer_free(&packets->out);
}
