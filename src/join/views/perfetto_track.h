/* SPDX-License-Identifier: MIT */
/*
 * The tracks of a Perfetto trace: host, process, and below it threads, streams, connections,
 * queues and counters.
 *
 * Hides which track shows a span, and that tracks are named when the trace is over, when
 * ranks, roles of threads and peers of connections are known.  A track is a lane of a row:
 * the importer takes the end of a span for that of the span on top, so that in the order
 * of the file the times of a track never go back, and a span lies on another only where it
 * is certain to end first.  lane.c chooses lanes without times, since the derived trace may
 * move a beginning to when it became known; here each time is as it was.  There is a row
 * for each thread, stream, connection and queue of the trace.
 */
#ifndef TAP_JOIN_VIEWS_PERFETTO_TRACK_H
#define TAP_JOIN_VIEWS_PERFETTO_TRACK_H

#include "common/vec.h"
#include "join/model/nccl_connection.h"
#include "join/model/nccl_thread.h"
#include "join/views/perfetto_packet.h"

struct tap_track_row;

struct tap_track_lane {
	uint64_t track;
	int64_t last_ns; /* of the events in it */
	unsigned int open;
	uint64_t nest; /* tap_lanes_nest() of the spans in it */
};

/* Something that has a track of its own: a host, a process, or the whole trace. */
struct tap_track_owner {
	const struct tap_process *process; /* NULL: no process */
	const char *host;
	uint64_t track, findings; /* 0: nothing refers to it yet */
};

/* All zero but for packets is empty. */
struct tap_tracks {
	struct tap_packets *packets; /* set by the owner */
	uint64_t last_track;
	struct tap_table by_key; /* rows */
	TAP_VEC(struct tap_track_row *) rows;
	TAP_VEC(struct tap_track_owner) processes; /* by number */
	TAP_VEC(struct tap_track_owner) hosts;
	struct tap_track_owner trace;
};

/*
 * The lane in which a span that begins at this time is drawn, marked as used.  NULL when
 * memory is short.
 */
struct tap_track_lane *tap_tracks_begin(struct tap_tracks *tracks,
					const struct tap_span *span, int64_t begin_ns);
/* The span on top of the lane ends; returns when, in its track: not before it began. */
int64_t tap_tracks_end(struct tap_track_lane *lane, int64_t end_ns);

/* The track of a process.  Returns 0 when memory is short. */
uint64_t tap_tracks_process(struct tap_tracks *tracks, const struct tap_process *process);

/*
 * The track of the findings about a process; of a NULL process, about the trace.  Returns
 * 0 when memory is short.
 */
uint64_t tap_tracks_findings(struct tap_tracks *tracks, const struct tap_process *process);

/*
 * Makes a counter of a process, or with NULL of the trace, and describes it.  Returns 0 or
 * -errno.
 */
int tap_tracks_counter(struct tap_tracks *tracks, const struct tap_process *process,
		       const char *name, enum tap_track_unit unit, uint64_t *track);

/* What becomes known of a thread, and of a connection, for their names. */
void tap_tracks_thread(struct tap_tracks *tracks, const struct tap_nccl_thread *thread);
void tap_tracks_connection(struct tap_tracks *tracks,
			   const struct tap_nccl_connection *connection);

/* The trace is over: describes all tracks but counters.  Returns 0 or -errno. */
int tap_tracks_describe(struct tap_tracks *tracks);

void tap_tracks_free(struct tap_tracks *tracks);

#endif
