/* SPDX-License-Identifier: MIT */
/*
 * Rows by thread or queue, and layer; each has lanes, each lane has spans that lie above
 * each other.
 */
#include "join/views/lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec.h"
#include "join/base/chain.h"

struct lane {
	uint64_t nest;
	unsigned int open;
	TAP_VEC(bool) is_taken; /* by depth, up to the highest span */
};

/* The open spans of one layer in one thread. */
struct tap_row {
	const char *layer;
	uint64_t process;
	int64_t tid;
	struct tap_row *next; /* of the same thread, or unused */
	TAP_VEC(struct lane) lanes;
	unsigned int open;
};

uint64_t tap_lanes_nest(const struct tap_span *span)
{
	const struct tap_field *scope;
	const char *domain;
	uint64_t hash;

	/* Only calls have a thread. */
	if (span->thread)
		return TAP_NEST_AMONG_CALLS;
	scope = tap_fields_find(&span->entry, "scope");
	if (span->tid < 0 || !scope || !scope->label)
		return TAP_NEST_NOWHERE;
	if (!strcmp(scope->label, "mark"))
		return TAP_NEST_ANYWHERE;
	if (strcmp(scope->label, "thread"))
		return TAP_NEST_NOWHERE;
	/* A thread pops the last range that it has pushed in a domain. */
	domain = tap_fields_get_string(&span->entry, "domain");
	hash = tap_table_hash(domain ? domain : "");
	return hash < TAP_NEST_IN_DOMAIN ? TAP_NEST_IN_DOMAIN : hash;
}

/* The number of a thread, or of a queue, which no thread has. */
static int64_t row_number(const struct tap_span *span)
{
	const struct tap_work *work = &span->work;

	if (!work->kind || work->kind == TAP_WORK_PROXY_CTRL)
		return span->tid;
	return (int64_t) (UINT64_C(1) << 62 | tap_work_queue_id(work) << 2 |
			  tap_work_is_shared(work) << 1 | tap_work_is_receive(work));
}

static struct tap_row *make_row(struct tap_lanes *lanes, const struct tap_span *span)
{
	struct tap_row *row = lanes->unused;

	if (row)
		lanes->unused = row->next;
	else
		row = calloc(1, sizeof(*row));
	if (!row)
		return NULL;
	row->layer = span->name->layer;
	row->process = span->process->number;
	row->tid = row_number(span);
	if (!tap_chain_push(&lanes->by_thread, row->process, (uint64_t) row->tid, row,
			    next))
		return row;
	row->next = lanes->unused;
	lanes->unused = row;
	return NULL;
}

static struct tap_row *row_of(struct tap_lanes *lanes, const struct tap_span *span)
{
	struct tap_row *row = tap_table_find(&lanes->by_thread, span->process->number,
					     (uint64_t) row_number(span));

	while (row && strcmp(row->layer, span->name->layer))
		row = row->next;
	return row ? row : make_row(lanes, span);
}

/* Forgets a row without open spans, and keeps its memory for another. */
static void drop_row(struct tap_lanes *lanes, struct tap_row *row)
{
	tap_chain_remove(&lanes->by_thread, row->process, (uint64_t) row->tid, row, next);
	row->next = lanes->unused;
	lanes->unused = row;
}

/* The first lane where the span ends before the one below it, or an empty one. */
static struct lane *lane_of(struct tap_row *row, uint64_t nest)
{
	struct lane *lane, *empty = NULL;
	size_t i;

	for (i = 0; i < row->lanes.count; i++) {
		lane = &row->lanes.items[i];
		if (!lane->open) {
			if (!empty)
				empty = lane;
		} else if (nest == TAP_NEST_ANYWHERE ||
			   (nest != TAP_NEST_NOWHERE && lane->nest == nest)) {
			return lane;
		}
	}
	if (!empty && !tap_vec_add(&row->lanes, (struct lane){0}))
		empty = &row->lanes.items[row->lanes.count - 1];
	if (empty)
		empty->nest = nest;
	return empty;
}

/* Lays a span on top of the lane.  Returns its depth, or 0 when memory is short. */
static unsigned int lay(struct lane *lane)
{
	if (tap_vec_add(&lane->is_taken, true))
		return 0;
	lane->open++;
	return (unsigned int) lane->is_taken.count;
}

int tap_lanes_begin(struct tap_lanes *lanes, struct tap_span *span)
{
	struct tap_row *row = row_of(lanes, span);
	struct lane *lane;
	unsigned int depth;

	if (!row)
		return -ENOMEM;
	lane = lane_of(row, tap_lanes_nest(span));
	depth = lane ? lay(lane) : 0;
	if (!depth) {
		if (!row->open)
			drop_row(lanes, row);
		return -ENOMEM;
	}
	row->open++;
	span->place.row = row;
	span->place.lane = (unsigned int) (lane - row->lanes.items);
	span->place.depth = depth;
	return 0;
}

void tap_lanes_end(struct tap_lanes *lanes, struct tap_span *span)
{
	struct tap_row *row = span->place.row;
	struct lane *lane;
	bool *is_taken;

	if (!row)
		return;
	span->place.row = NULL;
	lane = &row->lanes.items[span->place.lane];
	is_taken = lane->is_taken.items;
	is_taken[span->place.depth - 1] = false;
	while (lane->is_taken.count && !is_taken[lane->is_taken.count - 1])
		lane->is_taken.count--;
	lane->open--;
	if (!--row->open)
		drop_row(lanes, row);
}

/* ---- What is known late: work on a GPU, and a ProxyOp ---- */

/* The most streams with lanes, so that a damaged trace cannot fill the memory. */
#define STREAMS_MAX 65536

/* The end of the last span in each lane.  A stream has few lanes, and exists for long. */
struct tap_stream_lanes {
	TAP_VEC(int64_t) end_ns;
};

static uint64_t late_row_of(const struct tap_work *work)
{
	if (tap_work_is_run(work))
		return work->run.device << 32 | (work->run.stream & UINT32_MAX);
	return UINT64_C(1) << 63 | work->proxy.id << 1 | work->proxy.is_receive;
}

static struct tap_stream_lanes *stream_of(struct tap_lanes *lanes,
					  const struct tap_span *span)
{
	const uint64_t key = late_row_of(&span->work);
	struct tap_stream_lanes *stream =
		tap_table_find(&lanes->by_stream, span->process->number, key);

	if (stream)
		return stream;
	stream = calloc(1, sizeof(*stream));
	if (stream &&
	    !tap_table_set(&lanes->by_stream, span->process->number, key, stream))
		return stream;
	free(stream);
	return NULL;
}

int tap_lanes_place(struct tap_lanes *lanes, struct tap_span *span)
{
	struct tap_stream_lanes *stream;
	size_t i;

	span->place.depth = 1;
	if (lanes->by_stream.count >= STREAMS_MAX)
		return 0;
	stream = stream_of(lanes, span);
	if (!stream)
		return -ENOMEM;
	for (i = 0; i < stream->end_ns.count && stream->end_ns.items[i] > span->begin_ns;
	     i++)
		;
	if (i == stream->end_ns.count && tap_vec_add(&stream->end_ns, 0))
		return -ENOMEM;
	stream->end_ns.items[i] = span->end_ns;
	span->place.lane = (unsigned int) i;
	return 0;
}

static void free_row(struct tap_row *row)
{
	size_t i;

	for (i = 0; i < row->lanes.count; i++)
		tap_vec_free(&row->lanes.items[i].is_taken);
	tap_vec_free(&row->lanes);
	free(row);
}

void tap_lanes_free(struct tap_lanes *lanes)
{
	struct tap_row *row, *next;
	size_t i;

	for (i = 0; i < lanes->by_thread.size; i++) {
		for (row = lanes->by_thread.slots[i].value; row; row = next) {
			next = row->next;
			free_row(row);
		}
	}
	for (row = lanes->unused; row; row = next) {
		next = row->next;
		free_row(row);
	}
	for (i = 0; i < lanes->by_stream.size; i++) {
		struct tap_stream_lanes *stream = lanes->by_stream.slots[i].value;

		if (stream)
			tap_vec_free(&stream->end_ns);
		free(stream);
	}
	tap_table_free(&lanes->by_stream);
	tap_table_free(&lanes->by_thread);
	memset(lanes, 0, sizeof(*lanes));
}
