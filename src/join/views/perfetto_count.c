/* SPDX-License-Identifier: MIT */
/* Changes in order of time, and sums of them. */
#include "join/views/perfetto_count.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "join/views/perfetto_proto.h"

/* Changes that wait for earlier ones. */
#define CHANGES_MAX 16384
/* Counters of devices, so that a damaged trace cannot fill the memory. */
#define SAMPLED_MAX 65536
/* Messages are counted for so long, and shown per second. */
#define PERIOD_NS INT64_C(100000000)
#define PERIODS_PER_SECOND 10

struct tap_counter {
	const char *name;
	enum tap_track_unit unit;
	uint64_t track; /* 0: it has no value yet */
	int64_t value;
	int64_t last_ns; /* of its latest value */
	bool is_rate;	 /* value counts in the period */
	int64_t period;	 /* since the epoch */
};

struct tap_count_process {
	const struct tap_process *process;
	struct tap_counter sent, received, posted, messages;
};

/* Of a communicator: the last collective that each rank called. */
struct tap_count_comm {
	struct tap_counter waiting;
	char name[64];
	TAP_VEC(uint64_t) last; /* by rank; UNKNOWN: none since recording began */
	uint64_t least;		/* of those that are known */
	size_t known, behind;	/* how many are known, and have called no more than that */
};

#define UNKNOWN UINT64_MAX

struct change {
	struct tap_counter *counter;
	const struct tap_process *process;
	int64_t by;
};

/* ---- Values ---- */

static int show(struct tap_counts *counts, struct tap_counter *counter,
		const struct tap_process *process, int64_t time_ns, int64_t value)
{
	int ret = 0;

	if (!counter->track)
		ret = tap_tracks_counter(counts->tracks, process, counter->name,
					 counter->unit, &counter->track);
	if (ret)
		return ret;
	/* A change that was known too late stands with the latest value, which it is in. */
	if (time_ns > counter->last_ns)
		counter->last_ns = time_ns;
	tap_packets_begin(counts->packets, TYPE_COUNTER, counter->track);
	tap_packets_value(counts->packets, counter->name, value);
	return tap_packets_end(counts->packets, counter->last_ns, NULL, NULL);
}

/* The period of a rate is over: its value stands at its beginning. */
static int end_period(struct tap_counts *counts, struct tap_counter *counter,
		      const struct tap_process *process, int64_t next)
{
	int ret = 0;

	if (counter->value)
		ret = show(counts, counter, process, counter->period * PERIOD_NS,
			   counter->value * PERIODS_PER_SECOND);
	if (!ret && counter->value && next > counter->period + 1 &&
	    counter->period < INT64_MAX / PERIOD_NS)
		ret = show(counts, counter, process, (counter->period + 1) * PERIOD_NS,
			   0);
	counter->value = 0;
	counter->period = next;
	return ret;
}

static int apply(struct tap_counts *counts, const struct change *change, int64_t time_ns)
{
	struct tap_counter *counter = change->counter;
	int ret = 0;

	if (counter->is_rate && time_ns / PERIOD_NS > counter->period)
		ret = end_period(counts, counter, change->process, time_ns / PERIOD_NS);
	if (__builtin_add_overflow(counter->value, change->by, &counter->value))
		counter->value = change->by < 0 ? INT64_MIN : INT64_MAX;
	if (ret || counter->is_rate)
		return ret;
	return show(counts, counter, change->process, time_ns, counter->value);
}

static int apply_first(struct tap_counts *counts)
{
	const struct tap_heap_item *first = tap_heap_first(&counts->changes);
	struct change *change = first->value;
	int ret = apply(counts, change, first->time_ns);

	tap_heap_pop(&counts->changes);
	free(change);
	return ret;
}

static int add_change(struct tap_counts *counts, struct tap_counter *counter,
		      const struct tap_process *process, int64_t time_ns, int64_t by)
{
	struct change *change = malloc(sizeof(*change));
	int ret = 0;

	if (!change)
		return -ENOMEM;
	*change = (struct change){.counter = counter, .process = process, .by = by};
	if (tap_heap_push(&counts->changes,
			  &(struct tap_heap_item){.time_ns = time_ns,
						  .order = counts->change_count++,
						  .value = change})) {
		free(change);
		return -ENOMEM;
	}
	while (!ret && counts->changes.count > CHANGES_MAX)
		ret = apply_first(counts);
	return ret;
}

/* ---- Messages ---- */

static struct tap_count_process *process_of(struct tap_counts *counts,
					    const struct tap_process *process)
{
	struct tap_count_process *made;

	if (process->number >= counts->processes.count &&
	    tap_vec_resize(&counts->processes, (size_t) process->number + 1))
		return NULL;
	if (counts->processes.items[process->number])
		return counts->processes.items[process->number];
	made = calloc(1, sizeof(*made));
	if (!made)
		return NULL;
	*made = (struct tap_count_process){
		.process = process,
		.sent = {.name = "bytes in flight: messages sent",
			 .unit = TAP_TRACK_BYTES},
		.received = {.name = "bytes in flight: messages received",
			     .unit = TAP_TRACK_BYTES},
		.posted = {.name = "bytes in flight: requests posted",
			   .unit = TAP_TRACK_BYTES},
		.messages = {.name = "messages sent per second",
			     .unit = TAP_TRACK_PER_SECOND,
			     .is_rate = true},
	};
	counts->processes.items[process->number] = made;
	return made;
}

static struct tap_counter *in_flight(struct tap_count_process *process,
				     const struct tap_work *work)
{
	switch (work->kind) {
	case TAP_WORK_NET_SEND:
		return &process->sent;
	case TAP_WORK_NET_RECEIVE:
		return &process->received;
	case TAP_WORK_SEND:
		return &process->posted;
	default:
		return NULL;
	}
}

static uint64_t bytes_of(const struct tap_span *span)
{
	const uint64_t bytes = tap_fields_number(&span->exit, "bytes");

	return bytes ? bytes : tap_fields_number(&span->entry, "bytes");
}

int tap_counts_ended(struct tap_counts *counts, const struct tap_span *span)
{
	struct tap_count_process *process;
	struct tap_counter *counter;
	const uint64_t bytes = span->work.kind ? bytes_of(span) : 0;
	int ret = 0;

	if (!span->work.kind || span->state == TAP_SPAN_BEGIN_LOST)
		return 0;
	process = process_of(counts, span->process);
	if (!process)
		return -ENOMEM;
	counter = in_flight(process, &span->work);
	if (!counter)
		return 0;
	if (bytes && bytes <= INT64_MAX) {
		ret = add_change(counts, counter, span->process, span->begin_ns,
				 (int64_t) bytes);
		if (!ret && span->state == TAP_SPAN_COMPLETE)
			ret = add_change(counts, counter, span->process, span->end_ns,
					 -(int64_t) bytes);
	}
	if (!ret && counter == &process->sent && span->state == TAP_SPAN_COMPLETE)
		ret = add_change(counts, &process->messages, span->process, span->end_ns,
				 1);
	return ret;
}

/* ---- Ranks that wait ---- */

static struct tap_count_comm *make_comm(const struct tap_member *member)
{
	struct tap_comm *comm = tap_member_comm(member);
	struct tap_count_comm *made = calloc(1, sizeof(*made));
	struct tap_buffer name = {0};
	size_t i;

	if (!made || tap_vec_resize(&made->last, (size_t) comm->nranks)) {
		free(made);
		return NULL;
	}
	/* Who has called nothing of a communicator that the trace saw being made, is at 0. */
	for (i = 0; !member->is_made && i < made->last.count; i++)
		made->last.items[i] = UNKNOWN;
	made->known = made->behind = member->is_made ? made->last.count : 0;
	tap_buffer_add_string(&name, "waiting ranks of ");
	tap_view_add_key(&name, comm->key);
	snprintf(made->name, sizeof(made->name), "%.*s", (int) name.used,
		 name.data ? name.data : "");
	tap_buffer_free(&name);
	made->waiting.name = made->name;
	made->waiting.unit = TAP_TRACK_RANKS;
	return made;
}

/* More ranks would cost too much to look through. */
#define RANKS_MAX 65536

static struct tap_count_comm *comm_of(struct tap_counts *counts,
				      const struct tap_member *member)
{
	const unsigned int number = tap_member_comm(member)->number;

	if (number >= counts->comms.count &&
	    tap_vec_resize(&counts->comms, (size_t) number + 1))
		return NULL;
	if (!counts->comms.items[number])
		counts->comms.items[number] = make_comm(member);
	return counts->comms.items[number];
}

static void find_least(struct tap_count_comm *comm)
{
	size_t i;

	comm->least = UNKNOWN;
	comm->behind = 0;
	for (i = 0; i < comm->last.count; i++) {
		if (comm->last.items[i] < comm->least) {
			comm->least = comm->last.items[i];
			comm->behind = 0;
		}
		comm->behind += comm->last.items[i] == comm->least &&
				comm->least != UNKNOWN;
	}
}

/* A rank has called this collective. */
static void advance(struct tap_count_comm *comm, size_t rank, uint64_t number)
{
	uint64_t *last = &comm->last.items[rank];
	const bool was_known = *last != UNKNOWN;
	const bool was_behind = was_known && *last == comm->least;

	if (was_known && *last >= number)
		return;
	*last = number;
	comm->known += !was_known;
	if (!was_known || (was_behind && !--comm->behind))
		find_least(comm);
}

static bool is_collective(const struct tap_span *span)
{
	return !span->work.kind && span->name->kind == TAP_NAME_COLLECTIVE &&
	       span->operation.number && span->member && span->member->rank >= 0;
}

/*
 * How many ranks have called a collective that another one has not: with filters, nobody
 * knows what the others did.
 */
int tap_counts_begun(struct tap_counts *counts, const struct tap_span *span)
{
	struct tap_count_comm *comm;
	int64_t nranks;

	if (!is_collective(span) || counts->packets->view->filters)
		return 0;
	nranks = tap_member_comm(span->member)->nranks;
	if (span->member->rank >= nranks || nranks > RANKS_MAX)
		return 0;
	comm = comm_of(counts, span->member);
	if (!comm)
		return -ENOMEM;
	if (span->member->rank >= (int64_t) comm->last.count)
		return 0;
	advance(comm, (size_t) span->member->rank, span->operation.number);
	return show(counts, &comm->waiting, NULL, span->begin_ns,
		    (int64_t) (comm->known - comm->behind));
}

/* ---- Counters of devices and threads ---- */

static bool ends_with(const char *name, const char *end)
{
	const size_t length = strlen(name), of_end = strlen(end);

	return length >= of_end && !strcmp(name + length - of_end, end);
}

/* "port mlx5_0/1: port_xmit_data", "thread 12: run_ns" */
static void add_sampled_name(struct tap_buffer *text, const struct tap_sampled *sample,
			     const char *name, size_t length)
{
	tap_buffer_add_string(text, sample->source);
	if (*sample->subject) {
		tap_buffer_add_char(text, ' ');
		tap_buffer_add_string(text, sample->subject);
	}
	if (sample->tid >= 0) {
		tap_buffer_add_char(text, ' ');
		tap_buffer_add_signed(text, sample->tid);
	}
	tap_buffer_add_string(text, ": ");
	tap_buffer_add(text, name, length);
	tap_buffer_add_char(text, '\0');
}

static struct tap_counter *sampled_counter(struct tap_counts *counts,
					   const struct tap_process *process,
					   const char *name)
{
	const uint64_t hash = tap_table_hash(name);
	struct tap_counter *counter =
		tap_table_find(&counts->samples, process->number, hash);
	char *copy;

	if (counter)
		return counter;
	counter = calloc(1, sizeof(*counter));
	copy = strdup(name);
	if (!counter || !copy ||
	    tap_table_set(&counts->samples, process->number, hash, counter)) {
		free(copy);
		free(counter);
		return NULL;
	}
	counter->name = copy;
	counter->unit = ends_with(name, "_ns")	    ? TAP_TRACK_NS
			: ends_with(name, "_bytes") ? TAP_TRACK_BYTES
						    : TAP_TRACK_PLAIN;
	return counter;
}

static int show_sampled(struct tap_counts *counts, const struct tap_sampled *sample,
			const char *name, uint64_t value)
{
	struct tap_counter *counter;

	if (counts->samples.count >= SAMPLED_MAX)
		return 0;
	counter = sampled_counter(counts, sample->process, name);
	if (!counter)
		return -ENOMEM;
	return show(counts, counter, sample->process, sample->time_ns,
		    value > INT64_MAX ? INT64_MAX : (int64_t) value);
}

int tap_counts_sample(struct tap_counts *counts, const struct tap_sampled *sample)
{
	const char *name = sample->names;
	struct tap_buffer text = {0};
	size_t i, length;
	int ret = 0;

	for (i = 0; !ret && i < sample->count; i++) {
		length = strcspn(name, ",");
		text.used = 0;
		add_sampled_name(&text, sample, name, length);
		ret = text.is_short ? -ENOMEM
				    : show_sampled(counts, sample, text.data,
						   sample->values[i]);
		name += length + (name[length] == ',');
	}
	tap_buffer_free(&text);
	return ret;
}

/* ---- The end ---- */

int tap_counts_finish(struct tap_counts *counts)
{
	struct tap_count_process *process;
	int ret = 0;
	size_t i;

	while (!ret && counts->changes.count)
		ret = apply_first(counts);
	for (i = 0; !ret && i < counts->processes.count; i++) {
		process = counts->processes.items[i];
		if (process)
			ret = end_period(counts, &process->messages, process->process,
					 INT64_MAX);
	}
	return ret;
}

void tap_counts_free(struct tap_counts *counts)
{
	struct tap_counter *counter;
	size_t i;

	for (i = 0; i < counts->changes.count; i++)
		free(counts->changes.items[i].value);
	tap_heap_free(&counts->changes);
	for (i = 0; i < counts->processes.count; i++)
		free(counts->processes.items[i]);
	tap_vec_free(&counts->processes);
	for (i = 0; i < counts->comms.count; i++) {
		if (counts->comms.items[i])
			tap_vec_free(&counts->comms.items[i]->last);
		free(counts->comms.items[i]);
	}
	tap_vec_free(&counts->comms);
	for (i = 0; i < counts->samples.size; i++) {
		counter = counts->samples.slots[i].value;
		if (!counter)
			continue;
		free((char *) counter->name);
		free(counter);
	}
	tap_table_free(&counts->samples);
}
