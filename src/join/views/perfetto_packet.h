/* SPDX-License-Identifier: MIT */
/*
 * The packets of a Perfetto trace: each is one event of a track, or describes a track.
 *
 * Hides how a packet is encoded, that a text is written once and then referred to by a
 * number, and that the last packets are held back: a flow (an arrow) is a number that the
 * packets at its two ends share, and the reader knows a link only after the spans at its
 * ends.  Memory is bounded by how many packets are held.
 */
#ifndef TAP_JOIN_VIEWS_PERFETTO_PACKET_H
#define TAP_JOIN_VIEWS_PERFETTO_PACKET_H

#include "join/views/view.h"

/* Texts that are written once. */
enum tap_interned {
	TAP_INTERNED_CATEGORY,
	TAP_INTERNED_NAME,
	TAP_INTERNED_FIELD,
	TAP_INTERNED_VALUE,
	TAP_INTERNED_KINDS,
};

struct tap_packet;
struct tap_text;

/* A power of two. */
#define TAP_TEXTS_RECENT 1024

struct tap_packets {
	/* Set by the owner. */
	const struct tap_view *view;
	void (*written)(void *owner, uint64_t number); /* of packets that have an owner */

	/* The event that is being made: the message TrackEvent. */
	struct tap_buffer event;

	/* The rest is for perfetto_packet.c. */
	uint64_t track; /* of the event */
	struct tap_buffer interned, annotation, element, packet, out;
	struct tap_table texts; /* by (hash, kind) */
	struct tap_text *recent[TAP_TEXTS_RECENT]; /* by address */
	uint64_t text_count;
	uint64_t last_iid[TAP_INTERNED_KINDS];
	bool has_begun; /* the file has */
	bool has_state; /* the interned texts have a packet that says they begin */
	struct tap_packet *ring;
	uint64_t first, next; /* numbers of the packets that are held; from 1 */
	size_t held_bytes;
};

/* Begins the event of a track: a type of perfetto_proto.h. */
void tap_packets_begin(struct tap_packets *packets, unsigned int type, uint64_t track);
void tap_packets_name(struct tap_packets *packets, const char *name);
void tap_packets_category(struct tap_packets *packets, const char *category);

/* Each adds a field to the event. */
void tap_packets_unsigned(struct tap_packets *packets, const char *name, uint64_t value);
void tap_packets_signed(struct tap_packets *packets, const char *name, int64_t value);
void tap_packets_hex(struct tap_packets *packets, const char *name, uint64_t value);
void tap_packets_bool(struct tap_packets *packets, const char *name, bool value);
/* A text that many events have; of a text that few have, it need not be written apart. */
void tap_packets_string(struct tap_packets *packets, const char *name, const char *text);
void tap_packets_text(struct tap_packets *packets, const char *name,
		      const struct tap_buffer *text);
void tap_packets_field(struct tap_packets *packets, const struct tap_fields *fields,
		       const struct tap_field *field, const char *name);

/*
 * Ends the event, and holds it.  *number becomes its number, unless number is NULL; owner,
 * which is not NULL then, is told when it is written.  Returns 0 or -errno.
 */
int tap_packets_end(struct tap_packets *packets, int64_t time_ns, void *owner,
		    uint64_t *number);

/* Whether this packet is still held; 0 never is. */
bool tap_packets_holds(const struct tap_packets *packets, uint64_t number);

/* Where an arrow is fastened to a slice. */
enum tap_flow_end {
	TAP_FLOW_BEGINS,
	TAP_FLOW_ENDS,
	/* In an instant on the slice's track, when the slice ends: its packet is the last. */
	TAP_FLOW_ARRIVES,
};
/* Adds one end of an arrow to a packet that is held.  Returns 0 or -ENOMEM. */
int tap_packets_flow(struct tap_packets *packets, uint64_t number, uint64_t flow,
		     enum tap_flow_end end);
/* Adds an instant on a track, in which an arrow ends.  Returns 0 or -errno. */
int tap_packets_arrival(struct tap_packets *packets, uint64_t track, int64_t time_ns,
			uint64_t flow);

/* Writes a description of a track, a message, at once.  Returns 0 or -errno. */
int tap_packets_describe(struct tap_packets *packets, const struct tap_buffer *track);

/* Writes all that is held, and completes the file.  Returns 0 or -errno. */
int tap_packets_finish(struct tap_packets *packets);

/* Forgets what is held; written() is not called. */
void tap_packets_free(struct tap_packets *packets);

#endif
