/* SPDX-License-Identifier: MIT */
/* Rows of lanes, and their names. */
#include "join/views/perfetto_track.h"

#include "common/compiler.h"
#include "join/views/lane.h"
#include "join/views/span_row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct tap_track_row {
	struct tap_span_row what;
	TAP_VEC(struct tap_track_lane *) lanes;
};

/* ---- Hosts and processes ---- */

static struct tap_track_owner *host_of(struct tap_tracks *tracks, const char *host)
{
	size_t i;

	for (i = 0; i < tracks->hosts.count; i++)
		if (!strcmp(tracks->hosts.items[i].host, host))
			return &tracks->hosts.items[i];
	if (tap_vec_add(&tracks->hosts,
			((struct tap_track_owner){.host = host,
						  .track = tracks->last_track + 1})))
		return NULL;
	tracks->last_track++;
	return &tracks->hosts.items[i];
}

static struct tap_track_owner *owner_of(struct tap_tracks *tracks,
					const struct tap_process *process)
{
	struct tap_track_owner *owner = &tracks->trace;

	if (process) {
		if (process->number >= tracks->processes.count &&
		    tap_vec_resize(&tracks->processes, (size_t) process->number + 1))
			return NULL;
		owner = &tracks->processes.items[process->number];
		owner->process = process;
	}
	if (!owner->track)
		owner->track = ++tracks->last_track;
	return owner;
}

uint64_t tap_tracks_process(struct tap_tracks *tracks, const struct tap_process *process)
{
	const struct tap_track_owner *owner = owner_of(tracks, process);

	return owner ? owner->track : 0;
}

uint64_t tap_tracks_findings(struct tap_tracks *tracks, const struct tap_process *process)
{
	struct tap_track_owner *owner = owner_of(tracks, process);

	if (!owner)
		return 0;
	if (!owner->findings &&
	    !tap_packets_place(tracks->packets, tracks->last_track + 1, owner->track))
		owner->findings = ++tracks->last_track;
	return owner->findings;
}

/* ---- Rows ---- */

static struct tap_track_row *find_row(const struct tap_tracks *tracks,
				      struct tap_span_row_key key)
{
	return tap_table_find(&tracks->by_key, key.kind_and_process, key.number);
}

static struct tap_track_row *make_row(struct tap_tracks *tracks,
				      const struct tap_span *span)
{
	const struct tap_span_row_key key = tap_span_row_key(span);
	struct tap_track_row *row = calloc(1, sizeof(*row));

	if (!row || tap_vec_reserve(&tracks->rows, tracks->rows.count + 1) ||
	    tap_table_set(&tracks->by_key, key.kind_and_process, key.number, row)) {
		free(row);
		return NULL;
	}
	row->what = tap_span_row_of(span);
	tracks->rows.items[tracks->rows.count++] = row;
	return row;
}

/* ---- Lanes ---- */

static bool can_begin(const struct tap_track_lane *lane, uint64_t nest, int64_t begin_ns)
{
	if (begin_ns < lane->last_ns)
		return false;
	return !lane->open || nest == TAP_NEST_ANYWHERE ||
	       (nest != TAP_NEST_NOWHERE && nest == lane->nest);
}

static struct tap_track_lane *make_lane(struct tap_tracks *tracks,
					struct tap_track_row *row)
{
	const struct tap_track_owner *owner = owner_of(tracks, row->what.process);
	struct tap_track_lane *lane = owner ? calloc(1, sizeof(*lane)) : NULL;

	if (!lane ||
	    tap_packets_place(tracks->packets, tracks->last_track + 1, owner->track) ||
	    tap_vec_add(&row->lanes, lane)) {
		free(lane);
		return NULL;
	}
	lane->track = ++tracks->last_track;
	return lane;
}

struct tap_track_lane *tap_tracks_begin(struct tap_tracks *tracks,
					const struct tap_span *span, int64_t begin_ns)
{
	const uint64_t nest = tap_lanes_nest(span);
	struct tap_track_row *row = find_row(tracks, tap_span_row_key(span));
	struct tap_track_lane *lane = NULL;
	size_t i;

	if (!row)
		row = make_row(tracks, span);
	for (i = 0; row && !lane && i < row->lanes.count; i++)
		if (can_begin(row->lanes.items[i], nest, begin_ns))
			lane = row->lanes.items[i];
	if (row && !lane)
		lane = make_lane(tracks, row);
	if (!lane)
		return NULL;
	if (!lane->open++)
		lane->nest = nest;
	lane->last_ns = begin_ns;
	return lane;
}

int64_t tap_tracks_end(struct tap_track_lane *lane, int64_t end_ns)
{
	/* Only in a damaged trace a call ends before what it called. */
	if (end_ns > lane->last_ns)
		lane->last_ns = end_ns;
	lane->open--;
	return lane->last_ns;
}

/* ---- What becomes known ---- */

void tap_tracks_thread(struct tap_tracks *tracks, const struct tap_nccl_thread *thread)
{
	struct tap_span_row_key keys[TAP_SPAN_ROWS_OF_THREAD];
	struct tap_track_row *row;
	size_t i;

	tap_span_row_keys_of_thread(thread, keys);
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		row = find_row(tracks, keys[i]);
		if (row)
			row->what.role = thread->role;
	}
}

void tap_tracks_connection(struct tap_tracks *tracks,
			   const struct tap_nccl_connection *connection)
{
	struct tap_span_row_key keys[TAP_SPAN_ROWS_OF_CONNECTION];
	struct tap_track_row *row;
	size_t i;

	tap_span_row_keys_of_connection(connection, keys);
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		row = find_row(tracks, keys[i]);
		if (row)
			row->what.about = *connection;
	}
}

/* ---- Names ---- */

/* "rank 2 (pid 118) on node1" */
static void add_process_name(struct tap_buffer *name, const struct tap_process *process)
{
	if (tap_process_rank(process) >= 0) {
		tap_view_add_process(name, process);
		tap_buffer_add_string(name, " (pid ");
		tap_buffer_add_signed(name, process->pid);
		tap_buffer_add_char(name, ')');
		if (*process->host)
			tap_buffer_add_string(name, " on ");
		tap_buffer_add_visible(name, process->host);
	} else {
		tap_view_add_pid(name, process);
	}
}

/* ---- Descriptions ---- */

static int describe_findings(struct tap_tracks *tracks,
			     const struct tap_track_owner *owner, struct tap_buffer *name)
{
	const struct tap_about_track about = {.kind = TAP_TRACK_FINDINGS,
					      .track = owner->findings,
					      .parent = owner->track};

	if (!owner->findings)
		return 0;
	name->used = 0;
	tap_buffer_add_string(name, "findings");
	return tap_packets_describe(tracks->packets, &about, name);
}

static int describe_trace(struct tap_tracks *tracks, struct tap_buffer *name)
{
	const struct tap_about_track about = {.kind = TAP_TRACK_TRACE,
					      .track = tracks->trace.track};
	int ret;

	if (!tracks->trace.track)
		return 0;
	name->used = 0;
	tap_buffer_add_string(name, "ccltap");
	ret = tap_packets_describe(tracks->packets, &about, name);
	return ret ? ret : describe_findings(tracks, &tracks->trace, name);
}

static int describe_process(struct tap_tracks *tracks,
			    const struct tap_track_owner *owner, struct tap_buffer *name)
{
	struct tap_about_track about = {.kind = TAP_TRACK_PROCESS,
					.track = owner->track};
	struct tap_track_owner *host;
	int ret;

	if (!owner->track)
		return 0;
	host = host_of(tracks, owner->process->host);
	if (!host)
		return -ENOMEM;
	about.parent = host->track;
	about.place = tap_process_rank(owner->process);
	if (about.place < 0)
		about.place = (int64_t) 1000000 + owner->process->number;
	name->used = 0;
	add_process_name(name, owner->process);
	ret = tap_packets_describe(tracks->packets, &about, name);
	return ret ? ret : describe_findings(tracks, owner, name);
}

static int describe_host(struct tap_tracks *tracks, size_t number,
			 struct tap_buffer *name)
{
	const struct tap_track_owner *host = &tracks->hosts.items[number];
	const struct tap_about_track about = {.kind = TAP_TRACK_HOST,
					      .track = host->track,
					      .place = (int64_t) number + 1};

	name->used = 0;
	tap_buffer_add_string(name, "host ");
	tap_buffer_add_visible(name, *host->host ? host->host : "?");
	return tap_packets_describe(tracks->packets, &about, name);
}

static int describe_row(struct tap_tracks *tracks, const struct tap_track_row *row,
			struct tap_buffer *name)
{
	const struct tap_track_owner *owner = owner_of(tracks, row->what.process);
	struct tap_about_track about = {.kind = TAP_TRACK_LANE,
					.place = tap_span_row_place(&row->what)};
	int ret = 0;
	size_t i;

	if (!owner)
		return -ENOMEM;
	about.parent = owner->track;
	name->used = 0;
	tap_span_row_add_name(name, &row->what);
	for (i = 0; !ret && i < row->lanes.count; i++) {
		about.track = row->lanes.items[i]->track;
		ret = tap_packets_describe(tracks->packets, &about, name);
	}
	return ret;
}

int tap_tracks_describe(struct tap_tracks *tracks)
{
	struct tap_buffer name = {0};
	int ret = describe_trace(tracks, &name);
	size_t i;

	for (i = 0; !ret && i < tracks->rows.count; i++)
		ret = describe_row(tracks, tracks->rows.items[i], &name);
	for (i = 0; !ret && i < tracks->processes.count; i++)
		ret = describe_process(tracks, &tracks->processes.items[i], &name);
	for (i = 0; !ret && i < tracks->hosts.count; i++)
		ret = describe_host(tracks, i, &name);
	tap_buffer_free(&name);
	return ret;
}

int tap_tracks_counter(struct tap_tracks *tracks, const struct tap_process *process,
		       const char *name, enum tap_track_unit unit, uint64_t *track)
{
	/* Behind all rows. */
	enum { COUNTERS = 900000000 };
	struct tap_track_owner *owner = owner_of(tracks, process);
	struct tap_buffer text = {0};
	int ret;

	if (!owner)
		return -ENOMEM;
	*track = ++tracks->last_track;
	ret = tap_packets_place(tracks->packets, *track, owner->track);
	if (ret)
		return ret;
	tap_buffer_add_visible(&text, name);
	ret = tap_packets_describe(tracks->packets,
				   &(struct tap_about_track){.kind = TAP_TRACK_COUNTER,
							     .unit = unit,
							     .track = *track,
							     .parent = owner->track,
							     .place = COUNTERS},
				   &text);
	tap_buffer_free(&text);
	return ret;
}

void tap_tracks_free(struct tap_tracks *tracks)
{
	struct tap_track_row *row;
	size_t i, j;

	for (i = 0; i < tracks->rows.count; i++) {
		row = tracks->rows.items[i];
		for (j = 0; j < row->lanes.count; j++)
			free(row->lanes.items[j]);
		tap_vec_free(&row->lanes);
		free(row);
	}
	tap_vec_free(&tracks->rows);
	tap_vec_free(&tracks->processes);
	tap_vec_free(&tracks->hosts);
	tap_table_free(&tracks->by_key);
}
