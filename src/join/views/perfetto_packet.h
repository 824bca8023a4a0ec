/* SPDX-License-Identifier: MIT */
/*
 * The packets of a trace of slices and flows, for Perfetto or as JSON: each is one event
 * of a track, or describes a track.
 *
 * Hides in which form a packet is encoded (perfetto_form.h), and that the last packets
 * are held back: a flow (an arrow) is a number that the packets at its two ends share,
 * and the reader knows a link only after the spans at its ends.  Memory is bounded by how
 * many packets are held.
 */
#ifndef TAP_JOIN_VIEWS_PERFETTO_PACKET_H
#define TAP_JOIN_VIEWS_PERFETTO_PACKET_H

#include "join/views/perfetto_form.h"

/* Begins the event of a track: a type of perfetto_proto.h. */
void tap_packets_begin(struct tap_packets *packets, unsigned int type, uint64_t track);
void tap_packets_name(struct tap_packets *packets, const char *name);
void tap_packets_category(struct tap_packets *packets, const char *category);
/* The value of a counter, with the counter's name. */
void tap_packets_value(struct tap_packets *packets, const char *name, int64_t value);

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
 * Ends the event, and holds it.  *number becomes its number, unless number is NULL;
 * owner, which is not NULL then, is told when it is written.  Returns 0 or -errno.
 */
int tap_packets_end(struct tap_packets *packets, int64_t time_ns, void *owner,
		    uint64_t *number);

/* Whether this packet is still held; 0 never is. */
bool tap_packets_holds(const struct tap_packets *packets, uint64_t number);

/* Adds one end of an arrow to a packet that is held.  Returns 0 or -ENOMEM. */
int tap_packets_flow(struct tap_packets *packets, uint64_t number, uint64_t flow,
		     enum tap_flow_end end);
/* Adds an instant on a track, in which an arrow ends.  Returns 0 or -errno. */
int tap_packets_arrival(struct tap_packets *packets, uint64_t track, int64_t time_ns,
			uint64_t flow);

/*
 * Says of which process, or other owner of tracks, a track is: before its first event.
 * Returns 0 or -ENOMEM.
 */
int tap_packets_place(struct tap_packets *packets, uint64_t track, uint64_t parent);
/* Writes a description of a track at once.  Returns 0 or -errno. */
int tap_packets_describe(struct tap_packets *packets, const struct tap_about_track *about,
			 const struct tap_buffer *name);

/*
 * Writes what a form has put into packets->out, once it is much, after the beginning of
 * the file.  Returns 0 or -errno.
 */
int tap_packets_write(struct tap_packets *packets);

/* Writes all that is held, and completes the file.  Returns 0 or -errno. */
int tap_packets_finish(struct tap_packets *packets);

/* Forgets what is held; written() is not called. */
void tap_packets_free(struct tap_packets *packets);

#endif
