/* SPDX-License-Identifier: MIT */
/* Names by what a span is; a connection's by who is at its other end. */
#include "join/views/derived_place.h"

#include "join/model/work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct tap_shown_row {
	char *text;
	uint64_t open;
	struct tap_shown_row *next; /* of all */
};

/* ---- Processes ---- */

struct tap_shown_process *tap_places_process(struct tap_places *places,
					     const struct tap_process *process)
{
	if (process->number >= places->processes.count &&
	    tap_vec_resize(&places->processes, process->number + 1))
		return NULL;
	return &places->processes.items[process->number];
}

int tap_places_note_member(struct tap_places *places, const struct tap_member *member)
{
	struct tap_shown_process *process = tap_places_process(places, member->process);
	const int64_t nranks = tap_member_comm(member)->nranks;

	if (!process)
		return -ENOMEM;
	if (member->rank < 0 || nranks < process->nranks || nranks <= 0)
		return 0;
	/* One process may be several ranks, with a GPU each. */
	process->rank = nranks > process->nranks || process->rank == member->rank
				? member->rank
				: -1;
	process->nranks = nranks;
	return 0;
}

int64_t tap_places_rank(struct tap_places *places, const struct tap_process *process)
{
	const struct tap_shown_process *shown = tap_places_process(places, process);

	if (process->rank >= 0)
		return process->rank;
	return shown && shown->nranks ? shown->rank : -1;
}

const char *tap_places_who(struct tap_places *places, const struct tap_process *process)
{
	struct tap_shown_process *shown = tap_places_process(places, process);
	const uint64_t pid = (uint64_t) process->pid;
	const uint64_t host = tap_table_hash(process->host);
	const int64_t rank = tap_places_rank(places, process);
	struct tap_buffer line = {0};

	if (!shown || shown->who)
		return shown ? shown->who : NULL;
	if (rank >= 0) {
		tap_buffer_add_string(&line, "rank ");
		tap_buffer_add_signed(&line, rank);
		tap_buffer_add_string(&line, " (");
	}
	tap_buffer_add_string(&line, "pid ");
	if (process->pid < 0)
		tap_buffer_add_char(&line, '?');
	else
		tap_buffer_add_signed(&line, process->pid);
	if (tap_table_find(&places->by_pid, pid, host)) {
		tap_buffer_add_string(&line, ", process ");
		tap_buffer_add_unsigned(&line, process->number);
	}
	if (rank >= 0)
		tap_buffer_add_char(&line, ')');
	tap_buffer_add_char(&line, '\0');
	if (!line.is_short && !tap_table_set(&places->by_pid, pid, host, places))
		shown->who = strdup(line.data);
	tap_buffer_free(&line);
	return shown->who;
}

/* ---- Rows ---- */

/* What no other row of a process has, of calls, GPUs, connections and queues. */
static uint64_t row_number(const struct tap_work *work, int64_t tid)
{
	enum { CALLS, PROGRESS, GPU, CONNECTION, QUEUE };
	const uint64_t side = tap_work_is_receive(work);

	if (!work->kind)
		return (uint64_t) tid << 3 | CALLS;
	if (work->kind == TAP_WORK_PROXY_CTRL)
		return work->proxy.id << 3 | PROGRESS;
	if (tap_work_is_run(work))
		return work->run.device << 3 | GPU;
	if (tap_work_is_message(work) || tap_work_is_proxy(work))
		return (tap_work_queue_id(work) << 1 | side) << 3 | CONNECTION;
	return (tap_work_queue_id(work) << 2 | (uint64_t) tap_work_is_shared(work) << 1 |
		side) << 3 |
	       QUEUE;
}

int tap_places_note_peer(struct tap_places *places, const struct tap_process *process,
			 const struct tap_work *work, const struct tap_process *peer)
{
	/* A shared receive queue has many. */
	if (!work->kind || tap_work_is_shared(work))
		return 0;
	return tap_table_set(&places->peers, process->number, row_number(work, -1),
			     (void *) peer);
}

static void add_peer(struct tap_buffer *text, struct tap_places *places,
		     const struct tap_span *span)
{
	const struct tap_process *peer =
		tap_table_find(&places->peers, span->process->number,
			       row_number(&span->work, -1));
	const bool is_request = tap_work_is_request(&span->work);
	const int64_t rank = peer ? tap_places_rank(places, peer) : -1;

	if (!peer || (rank < 0 && peer->pid < 0)) {
		tap_work_add_row(text, &span->work);
		return;
	}
	tap_buffer_add_string(text, is_request ? "qp" : "net");
	tap_buffer_add_string(text, tap_work_is_receive(&span->work) ? " from " : " to ");
	tap_buffer_add_string(text, rank < 0 ? "pid " : "rank ");
	tap_buffer_add_signed(text, rank < 0 ? peer->pid : rank);
}

static void add_row(struct tap_buffer *text, struct tap_places *places,
		    const struct tap_span *span)
{
	const struct tap_work *work = &span->work;

	if (work->kind && !tap_work_is_run(work) && work->kind != TAP_WORK_PROXY_CTRL) {
		add_peer(text, places, span);
	} else if (tap_work_is_run(work)) {
		tap_work_add_row(text, work);
	} else {
		tap_buffer_add_string(text, work->kind ? "progress " : "calls ");
		if (work->kind)
			tap_buffer_add_unsigned(text, work->proxy.id);
		else if (span->tid < 0)
			tap_buffer_add_char(text, '?');
		else
			tap_buffer_add_signed(text, span->tid);
	}
	tap_buffer_add_char(text, '\0');
}

/* The row with this text, made when new. */
static struct tap_shown_row *row_of_text(struct tap_places *places, uint64_t process,
					 const char *text)
{
	const uint64_t hash = tap_table_hash(text);
	struct tap_shown_row *row = tap_table_find(&places->by_text, process, hash);

	if (row)
		return row;
	row = calloc(1, sizeof(*row));
	if (!row)
		return NULL;
	row->text = strdup(text);
	if (!row->text || tap_table_set(&places->by_text, process, hash, row)) {
		free(row->text);
		free(row);
		return NULL;
	}
	row->next = places->rows;
	places->rows = row;
	return row;
}

struct tap_shown_row *tap_places_row(struct tap_places *places,
				     const struct tap_span *span)
{
	const uint64_t process = span->process->number;
	const uint64_t number = row_number(&span->work, span->tid);
	struct tap_shown_row *row = tap_table_find(&places->by_queue, process, number);
	struct tap_buffer text = {0};

	if (row)
		return row;
	add_row(&text, places, span);
	if (!text.is_short)
		row = row_of_text(places, process, text.data);
	tap_buffer_free(&text);
	if (row && tap_table_set(&places->by_queue, process, number, row))
		return NULL;
	return row;
}

const char *tap_shown_row_text(const struct tap_shown_row *row)
{
	return row->text;
}

void tap_shown_row_count(struct tap_shown_row *row, int change)
{
	if (change > 0)
		row->open++;
	else if (row->open)
		row->open--;
}

/* Of 1, 2, 3 to 4, 5 to 8, ... and of more than 64. */
unsigned int tap_shown_row_shade(const struct tap_shown_row *row)
{
	enum { FIRST = 101, STEPS = 8 };
	unsigned int step = 0;

	if (!row->open)
		return 0;
	while (step < STEPS - 1 && row->open > UINT64_C(1) << step)
		step++;
	return FIRST + step;
}

/* ---- Lanes ---- */

void tap_places_add_lane(struct tap_buffer *lane, const struct tap_span *span)
{
	static const char *const layers[][2] = {{"nccl", "calls"},
						{"cuda", "launches"},
						{"hip", "launches"},
						{"nvtx", "ranges"}};
	const struct tap_work *work = &span->work;
	const char *word = span->name->layer;
	size_t i;

	for (i = 0; i < sizeof(layers) / sizeof(layers[0]); i++)
		if (!strcmp(word, layers[i][0]))
			word = layers[i][1];
	if (tap_work_is_run(work)) {
		tap_buffer_add_string(lane, "stream ");
		tap_buffer_add_unsigned(lane, work->run.stream);
	} else if (!work->kind || work->kind == TAP_WORK_PROXY_CTRL) {
		tap_buffer_add_string(lane, word);
	} else {
		/* Several connections and queue pairs share a row, which says what they
		 * are. */
		if (tap_work_is_proxy(work))
			tap_buffer_add_string(lane, "ProxyOps ");
		tap_buffer_add_unsigned(lane, tap_work_queue_id(work));
		tap_buffer_add_string(lane,
				      tap_work_is_receive(work) ? " receive" : " send");
	}
	tap_buffer_add_char(lane, ' ');
	tap_buffer_add_unsigned(lane, span->place.lane);
}

void tap_places_free(struct tap_places *places)
{
	struct tap_shown_row *row;
	size_t i;

	for (i = 0; i < places->processes.count; i++)
		free(places->processes.items[i].who);
	tap_vec_free(&places->processes);
	while ((row = places->rows)) {
		places->rows = row->next;
		free(row->text);
		free(row);
	}
	tap_table_free(&places->by_pid);
	tap_table_free(&places->peers);
	tap_table_free(&places->by_queue);
	tap_table_free(&places->by_text);
}
