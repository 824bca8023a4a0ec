/* SPDX-License-Identifier: MIT */
/*
 * Spans as slices of a Perfetto trace, and links as its flows (doc/perfetto.md).
 *
 * Hides that a slice is two packets, of which the reader knows the second later, and which
 * links are arrows between which slices.  report/perfetto.c adds the findings and is the
 * view.
 */
#ifndef TAP_JOIN_VIEWS_PERFETTO_H
#define TAP_JOIN_VIEWS_PERFETTO_H

#include "join/model/link.h"
#include "join/views/known.h"
#include "join/views/merged.h"
#include "join/views/perfetto_count.h"
#include "join/views/perfetto_packet.h"
#include "join/views/perfetto_track.h"

/* A cause and its effect. */
struct tap_arrow {
	struct tap_known_id from, to;
	bool is_receive; /* the effect is the receive of a message */
	bool is_served;	 /* or the kernel that got the message */
};

struct tap_perfetto {
	struct tap_packets packets;
	struct tap_tracks tracks;
	struct tap_counts counts;
	struct tap_merged merged; /* with this trace; of JSON alone */
	struct tap_table by_id; /* slices whose packets are held, or that are open */
	TAP_VEC(struct tap_arrow) waiting; /* for the effect to begin */
	struct tap_buffer text;
	uint64_t flow_count;
	uint64_t late; /* flows that are not drawn: a slice is written, or filtered out */
	uint64_t contradicted; /* or the importer would turn it around */
};

void tap_perfetto_init(struct tap_perfetto *perfetto, const struct tap_view *view,
		       const struct tap_packet_form *form);

/* Each returns 0 or -errno. */
int tap_perfetto_begun(struct tap_perfetto *perfetto, const struct tap_span *span);
int tap_perfetto_ended(struct tap_perfetto *perfetto, const struct tap_span *span);
int tap_perfetto_link(struct tap_perfetto *perfetto, const struct tap_link *link);
int tap_perfetto_problem(struct tap_perfetto *perfetto,
			 const struct tap_problem *problem);
/*
 * Begins an instant on the track of the findings about a process; of a NULL process, about
 * the trace.  The caller adds fields and ends it: tap_packets_end().
 */
int tap_perfetto_instant(struct tap_perfetto *perfetto, const struct tap_process *process,
			 const char *category, const char *name);
/* The trace is over: completes the file. */
int tap_perfetto_finish(struct tap_perfetto *perfetto, const struct tap_loss *loss);

void tap_perfetto_free(struct tap_perfetto *perfetto);

#endif
