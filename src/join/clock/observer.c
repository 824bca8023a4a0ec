/* SPDX-License-Identifier: MIT */
/*
 * What all ranks do together waits in a table under its communicator and number, as the
 * latest begin and the earliest end of each host, until the oldest have to make room.
 */
#include "join/clock/observer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/list.h"
#include "join/clock/estimate.h"
#include "join/model/link.h"

/* Pairs of a cause and an effect that are kept, in all. */
#define PAIRS_MAX (1 << 18)

/* Hosts of one meeting; those beyond are left out. */
#define MEETING_HOSTS 16

/* Numbers of meetings that are no collectives. */
#define INIT_NUMBER 0

/* A host's part in what all ranks do together. */
struct part {
	unsigned int host;
	int64_t begin_ns, end_ns; /* the latest begin, the earliest end */
};

struct meeting {
	uint64_t comm_key, number;
	struct part parts[MEETING_HOSTS];
	size_t count;
	TAP_LIST_LINK(struct meeting) all;
};

struct tap_clock_observer {
	const struct tap_context *context;
	struct tap_clock_estimate *estimate;
	struct tap_table made_by; /* a communicator, by (process, the call that made it) */
	struct tap_table by_key;
	TAP_LIST(struct meeting) all;
	size_t held;
};

struct tap_clock_observer *tap_clock_observer_create(void)
{
	struct tap_clock_observer *observer = calloc(1, sizeof(*observer));

	if (!observer)
		return NULL;
	observer->estimate = tap_clock_estimate_create(PAIRS_MAX);
	if (observer->estimate)
		return observer;
	free(observer);
	return NULL;
}

static void drop_meeting(struct tap_clock_observer *observer, struct meeting *meeting)
{
	tap_table_remove(&observer->by_key, meeting->comm_key, meeting->number);
	tap_list_remove(&observer->all, meeting, all);
	observer->held--;
	free(meeting);
}

void tap_clock_observer_destroy(struct tap_clock_observer *observer)
{
	if (!observer)
		return;
	while (observer->all.first)
		drop_meeting(observer, observer->all.first);
	tap_table_free(&observer->by_key);
	tap_table_free(&observer->made_by);
	tap_clock_estimate_destroy(observer->estimate);
	free(observer);
}

void tap_clock_observer_begin(struct tap_clock_observer *observer,
			      const struct tap_context *context)
{
	observer->context = context;
}

/* The time that the host's own clock showed. */
static int64_t own_time(const struct tap_clock *clock, int64_t time_ns)
{
	return tap_clock_invert(clock, time_ns);
}

static int note(struct tap_clock_observer *observer, const struct tap_process *cause,
		int64_t cause_ns, const struct tap_process *effect, int64_t effect_ns)
{
	const struct tap_clock *from = cause->trace->clock, *to = effect->trace->clock;

	return from && to ? tap_clock_estimate_add(observer->estimate, from->number,
						   own_time(from, cause_ns), to->number,
						   own_time(to, effect_ns), true)
			  : 0;
}

static int take_link(void *data, const struct tap_link *link)
{
	struct tap_clock_observer *observer = data;

	/* An inferred link may be wrong, and one wrong pair contradicts all others. */
	if (link->known == TAP_KNOWN_INFERRED)
		return 0;
	if (link->kind == TAP_LINK_SEND_RECEIVE || link->kind == TAP_LINK_CTS_MESSAGE ||
	    link->kind == TAP_LINK_SOCKET_MESSAGE)
		return note(observer, link->ends[0].process, link->begin_ns,
			    link->ends[1].process, link->end_ns);
	return 0;
}

/* ---- What all ranks do together ---- */

static int add_part(struct tap_clock_observer *observer, const struct part *begun,
		    const struct part *ended, int64_t tolerance_ns)
{
	return tap_clock_estimate_add(observer->estimate, begun->host, begun->begin_ns,
				      ended->host, ended->end_ns + tolerance_ns, false);
}

/* No rank is through before the last one has come. */
static int settle(struct tap_clock_observer *observer, struct meeting *meeting)
{
	/* Both times of kernels are as wrong as CUPTI's clock is known. */
	const int64_t tolerance_ns =
		meeting->number == INIT_NUMBER
			? 0
			: 2 * (int64_t) observer->context->gpu_times.residual_max_ns;
	size_t i, k;
	int ret = 0;

	for (i = 0; i < meeting->count; i++)
		for (k = 0; !ret && k < meeting->count; k++)
			if (i != k)
				ret = add_part(observer, &meeting->parts[i],
					       &meeting->parts[k], tolerance_ns);
	drop_meeting(observer, meeting);
	return ret;
}

static struct meeting *meeting_of(struct tap_clock_observer *observer, uint64_t comm_key,
				  uint64_t number)
{
	struct meeting *meeting = tap_table_find(&observer->by_key, comm_key, number);

	if (meeting)
		return meeting;
	meeting = calloc(1, sizeof(*meeting));
	if (!meeting || tap_table_set(&observer->by_key, comm_key, number, meeting)) {
		free(meeting);
		return NULL;
	}
	meeting->comm_key = comm_key;
	meeting->number = number;
	tap_list_append(&observer->all, meeting, all);
	observer->held++;
	return meeting;
}

/* Takes the part of one rank in the meeting of this number. */
static int meet(struct tap_clock_observer *observer, const struct tap_span *span,
		uint64_t comm_key, uint64_t number)
{
	const struct tap_clock *clock = span->process->trace->clock;
	struct part part = {.host = clock->number,
			    .begin_ns = own_time(clock, span->begin_ns),
			    .end_ns = own_time(clock, span->end_ns)};
	struct meeting *meeting = meeting_of(observer, comm_key, number);
	struct part *found;
	size_t i;

	if (!meeting)
		return -ENOMEM;
	for (i = 0; i < meeting->count && meeting->parts[i].host != part.host; i++)
		;
	found = &meeting->parts[i];
	if (i < meeting->count) {
		if (part.begin_ns > found->begin_ns)
			found->begin_ns = part.begin_ns;
		if (part.end_ns < found->end_ns)
			found->end_ns = part.end_ns;
	} else if (i < MEETING_HOSTS) {
		*found = part;
		meeting->count++;
	}
	return observer->held > observer->context->bounds.held_operations
		       ? settle(observer, observer->all.first)
		       : 0;
}

/* Whether no rank has its result before all ranks have come. */
static bool needs_all(const struct tap_name *name)
{
	static const char *const names[] = {"ncclAllReduce", "ncclAllGather",
					    "ncclReduceScatter", "ncclAllToAll",
					    "ncclAlltoAll"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name->name, names[i]))
			return true;
	return false;
}

/* Whether the call has made a communicator with all other ranks when it returns. */
static bool is_init(const struct tap_span *span)
{
	return !span->operation.group_id && !span->is_inner &&
	       (!strcmp(span->name->name, "ncclCommInitRank") ||
		!strcmp(span->name->name, "ncclCommInitRankConfig"));
}

/* Remembers which communicator a call makes; the call itself does not say. */
static int take_member(void *data, const struct tap_member *member)
{
	struct tap_clock_observer *observer = data;
	const uint64_t call_id = tap_fields_number(&member->about, "call_id");

	return call_id ? tap_table_set(&observer->made_by, member->process->number,
				       call_id, (void *) (uintptr_t) member)
		       : 0;
}

/* The key of the communicator that a call has made, 0 unknown. */
static uint64_t take_made(struct tap_clock_observer *observer,
			  const struct tap_span *span)
{
	const struct tap_member *member =
		tap_table_remove(&observer->made_by, span->process->number,
				 span->call_id);

	return member ? tap_member_comm(member)->key : 0;
}

static int end_span(void *data, struct tap_span *span)
{
	struct tap_clock_observer *observer = data;
	const struct tap_field *result;
	uint64_t key = span->operation.comm_key;

	if (span->state != TAP_SPAN_COMPLETE || !span->process->trace->clock)
		return 0;
	if (span->work.kind == TAP_WORK_GPU)
		/* A graph repeats a call under one number. */
		return key && span->operation.number && span->gpu.has_call &&
				       span->gpu.call && needs_all(span->gpu.call)
			       ? meet(observer, span, key, span->operation.number)
			       : 0;
	if (!is_init(span))
		return 0;
	result = tap_span_result(span);
	key = take_made(observer, span);
	return key && result && !result->value.u
		       ? meet(observer, span, key, INIT_NUMBER)
		       : 0;
}

static int finish(void *data, const struct tap_loss *loss)
{
	struct tap_clock_observer *observer = data;
	int ret = 0;

	(void) loss;
	while (!ret && observer->all.first)
		ret = settle(observer, observer->all.first);
	return ret;
}

const struct tap_consumer tap_clock_consumer = {
	.communicator = take_member,
	.span_ended = end_span,
	.link = take_link,
	.finish = finish,
	.is_of_clocks = true,
};

int tap_clock_observer_see(struct tap_clock_observer *observer,
			   const struct tap_clock *clock, int64_t host_ns)
{
	return tap_clock_estimate_see(observer->estimate, clock->number, host_ns);
}

int tap_clock_observer_solve(struct tap_clock_observer *observer,
			     struct tap_clocks *clocks)
{
	return tap_clock_estimate_solve(observer->estimate, clocks);
}
