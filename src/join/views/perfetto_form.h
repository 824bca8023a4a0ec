/* SPDX-License-Identifier: MIT */
/*
 * The forms in which the packets of a trace are written: Perfetto's protobuf, or the JSON
 * of chrome://tracing (Trace Event Format); and what they share with perfetto_packet.c.
 *
 * Hides from all else how an event is encoded: which tracks, lanes, slices, flows and
 * counters there are is decided once, for both forms.
 */
#ifndef TAP_JOIN_VIEWS_PERFETTO_FORM_H
#define TAP_JOIN_VIEWS_PERFETTO_FORM_H

#include "common/vec.h"
#include "join/views/view.h"

/* Where an arrow is fastened to a slice. */
enum tap_flow_end {
	TAP_FLOW_BEGINS,
	TAP_FLOW_ENDS,
	/* When the slice ends, whose last packet it is: in an instant on its track. */
	TAP_FLOW_ARRIVES,
};

/* Texts that are written once. */
enum tap_interned {
	TAP_INTERNED_CATEGORY,
	TAP_INTERNED_NAME,
	TAP_INTERNED_FIELD,
	TAP_INTERNED_VALUE,
	TAP_INTERNED_KINDS,
};

struct tap_packet_form;
struct tap_text;

/* The unit of a counter. */
enum tap_track_unit {
	TAP_TRACK_PLAIN,
	TAP_TRACK_BYTES,
	TAP_TRACK_NS,
	TAP_TRACK_PER_SECOND,
	TAP_TRACK_RANKS,
};

/* What a track is, besides its name. */
enum tap_track_kind {
	TAP_TRACK_TRACE, /* the recording as a whole */
	TAP_TRACK_HOST,
	TAP_TRACK_PROCESS,
	TAP_TRACK_LANE, /* of a row, which others with its name belong to */
	TAP_TRACK_FINDINGS,
	TAP_TRACK_COUNTER,
};

struct tap_about_track {
	enum tap_track_kind kind;
	enum tap_track_unit unit; /* of a counter */
	uint64_t track, parent;	  /* parent 0: none */
	int64_t place;		  /* among its siblings */
};

/* A power of two. */
#define TAP_TEXTS_RECENT 1024

struct tap_packets {
	/* Set by the owner. */
	const struct tap_view *view;
	const struct tap_packet_form *form;
	void (*written)(void *owner, uint64_t number); /* of packets that have an owner */

	/* The rest is for perfetto_packet.c and the forms. */
	struct tap_buffer event; /* that is being made */
	unsigned int type;	 /* of the event, as track */
	uint64_t track;
	struct tap_buffer packet, out;
	bool has_begun; /* the file has */
	struct tap_packet *ring;
	uint64_t first, next; /* numbers of the packets that are held; from 1 */
	size_t held_bytes;

	/* For Perfetto's form. */
	struct tap_buffer interned, annotation, element;
	struct tap_table texts;			   /* by (hash, kind) */
	struct tap_text *recent[TAP_TEXTS_RECENT]; /* by address */
	uint64_t text_count;
	uint64_t last_iid[TAP_INTERNED_KINDS];
	bool has_state; /* the interned texts have a packet that says they begin */

	/* For JSON. */
	TAP_VEC(uint64_t) parents; /* by track: of which process it is */
	struct tap_json json;
	bool has_fields;  /* the event has one */
	bool has_category;
	bool has_records; /* the file has one */
	bool has_base;
	int64_t base_ns; /* times count from here */
	int64_t earliest_ns;	/* of what other programs recorded; set by the owner */
	struct tap_buffer tail; /* members of the file behind its events */
};

/* A packet that is held. */
struct tap_packet {
	char *bytes; /* the head, then the event */
	size_t head, event;
	int64_t time_ns;
	unsigned int type; /* of enum in perfetto_proto.h */
	uint64_t track;
	void *owner;
	TAP_VEC(struct tap_packet_flow {
		uint64_t flow;
		enum tap_flow_end end;
	})
	flows;
};

/*
 * The first ones add to the event that is being made, of packets->type and on
 * packets->track.  Memory that is short is remembered in its buffer.
 */
struct tap_packet_form {
	void (*begin)(struct tap_packets *packets);
	void (*name)(struct tap_packets *packets, const char *name);
	void (*category)(struct tap_packets *packets, const char *category);
	void (*value)(struct tap_packets *packets, const char *name, int64_t value);
	void (*unsigned_field)(struct tap_packets *packets, const char *name,
			       uint64_t value);
	void (*signed_field)(struct tap_packets *packets, const char *name,
			     int64_t value);
	void (*hex_field)(struct tap_packets *packets, const char *name, uint64_t value);
	void (*bool_field)(struct tap_packets *packets, const char *name, bool value);
	void (*string_field)(struct tap_packets *packets, const char *name,
			     const char *text);
	void (*text_field)(struct tap_packets *packets, const char *name,
			   const struct tap_buffer *text);
	void (*field)(struct tap_packets *packets, const struct tap_fields *fields,
		      const struct tap_field *field, const char *name);

	/* Completes the event; what stands before it goes into packets->packet. */
	void (*end)(struct tap_packets *packets, int64_t time_ns);
	/* Makes and completes the event of an instant in which an arrow ends. */
	void (*arrival)(struct tap_packets *packets, int64_t time_ns, uint64_t flow);

	/* Each adds to packets->out. */
	void (*begin_file)(struct tap_packets *packets);
	void (*write)(struct tap_packets *packets, const struct tap_packet *packet);
	void (*describe)(struct tap_packets *packets, const struct tap_about_track *about,
			 const struct tap_buffer *name);
	void (*end_file)(struct tap_packets *packets);

	void (*free)(struct tap_packets *packets);
};

extern const struct tap_packet_form tap_packet_form_proto;
extern const struct tap_packet_form tap_packet_form_json;

#endif
