/* SPDX-License-Identifier: MIT */
/* A table and three lists; each has a reference of its own to a launch that is in it. */
#include "join/gpu/gpu_launch.h"

#include <errno.h>
#include <stdlib.h>

#include "join/base/chain.h"
#include "join/base/time.h"

/* Most launches with several runs that are kept. */
#define REPEATED_MAX 65536

/* This long after its last run, no more runs of a launch are expected. */
#define RETAIN_NS 100000000

/* A launch with the state that only this file uses. */
struct tap_gpu_pending {
	struct tap_gpu_launch
		launch; /* first: one allocation, which its last owner frees */
	uint64_t number;
	bool is_outstanding, is_retained, is_there, is_found;
	int64_t found_ns;	       /* time of the last run */
	struct tap_gpu_pending *older; /* of the same number */
	TAP_LIST_LINK(struct tap_gpu_pending) outstanding;
	TAP_LIST_LINK(struct tap_gpu_pending) retained;
	TAP_LIST_LINK(struct tap_gpu_pending) repeated;
};

static struct tap_gpu_pending *pending_of(struct tap_gpu_launch *launch)
{
	return (struct tap_gpu_pending *) launch;
}

static void get(struct tap_gpu_pending *pending)
{
	pending->launch.references++;
}

static void put(struct tap_gpu_pending *pending)
{
	tap_gpu_launch_put(&pending->launch);
}

int tap_gpu_launch_number(const struct tap_span *span, uint64_t *ret_number)
{
	/* A call that waits has the number at its exit. */
	return tap_fields_get_unsigned(span->name->is_cuda_wait ? &span->exit
								: &span->entry,
				       "correlation_id", ret_number);
}

struct tap_gpu_launch *tap_gpu_launch_make(const struct tap_span *span)
{
	struct tap_gpu_pending *pending = calloc(1, sizeof(*pending));
	struct tap_gpu_launch *launch;

	if (!pending)
		return NULL;
	launch = &pending->launch;
	launch->references = 1;
	launch->process = span->process;
	launch->name = span->name;
	launch->call_id = span->call_id;
	launch->context = tap_fields_number(&span->entry, "context");
	launch->begin_ns = span->begin_ns;
	launch->end_ns = span->end_ns;
	tap_gpu_launch_number(span, &pending->number);
	return launch;
}

bool tap_gpu_launch_is_repeated(const struct tap_gpu_launch *launch)
{
	/* A copy may run as several, a memset as several kernels. */
	return launch->name->cuda != TAP_CUDA_KERNEL;
}

/* ---- Lists ---- */

/* Inserts by begin_ns; launches come in order of their ends. */
static void add_outstanding(struct tap_gpu_launches *launches,
			    struct tap_gpu_pending *pending)
{
	struct tap_gpu_pending *before = launches->outstanding.last;

	while (before && before->launch.begin_ns > pending->launch.begin_ns)
		before = before->outstanding.before;
	tap_list_insert(&launches->outstanding, before, pending, outstanding);
	pending->is_outstanding = true;
	get(pending);
	launches->outstanding_count++;
}

static void remove_outstanding(struct tap_gpu_launches *launches,
			       struct tap_gpu_pending *pending)
{
	if (!pending->is_outstanding)
		return;
	tap_list_remove(&launches->outstanding, pending, outstanding);
	pending->is_outstanding = false;
	launches->outstanding_count--;
	put(pending);
}

static void release(struct tap_gpu_launches *launches, struct tap_gpu_pending *pending)
{
	if (!pending->is_retained)
		return;
	tap_list_remove(&launches->retained, pending, retained);
	pending->is_retained = false;
	put(pending);
}

/* Moves a launch to the end of those retained. */
static void retain(struct tap_gpu_launches *launches, struct tap_gpu_pending *pending)
{
	get(pending);
	release(launches, pending);
	tap_list_append(&launches->retained, pending, retained);
	pending->is_retained = true;
}

/* Takes a launch out of the table. */
static void forget(struct tap_gpu_launches *launches, struct tap_gpu_pending *pending)
{
	if (!pending->is_there)
		return;
	pending->is_there = false;
	tap_chain_remove(&launches->by_number, pending->launch.process->number,
			 pending->number, pending, older);
	if (tap_gpu_launch_is_repeated(&pending->launch)) {
		tap_list_remove(&launches->repeated, pending, repeated);
		launches->repeated_count--;
	}
	put(pending);
}

/* Drops a launch from the table and the lists; counts it if it had no run. */
static void give_up(struct tap_gpu_launches *launches, struct tap_context *context,
		    struct tap_gpu_pending *pending, enum tap_why why)
{
	if (!pending->is_found)
		tap_count_unmatched(context, TAP_MATCH_LAUNCH_KERNEL, why);
	pending->is_found = true;
	get(pending);
	release(launches, pending);
	remove_outstanding(launches, pending);
	forget(launches, pending);
	put(pending);
}

int tap_gpu_launches_add(struct tap_gpu_launches *launches, struct tap_context *context,
			 struct tap_gpu_launch *launch, bool is_pending)
{
	struct tap_gpu_pending *pending = pending_of(launch);

	if (tap_chain_push(&launches->by_number, launch->process->number, pending->number,
			   pending, older))
		return -ENOMEM;
	get(pending);
	pending->is_there = true;
	if (tap_gpu_launch_is_repeated(launch)) {
		tap_list_append(&launches->repeated, pending, repeated);
		launches->repeated_count++;
	}
	if (is_pending)
		add_outstanding(launches, pending);
	if (launches->repeated_count > REPEATED_MAX)
		give_up(launches, context, launches->repeated.first, TAP_WHY_GIVEN_UP);
	while (launches->outstanding_count > context->bounds.open_calls)
		give_up(launches, context, launches->outstanding.first, TAP_WHY_GIVEN_UP);
	return 0;
}

/* ---- Runs ---- */

bool tap_gpu_launch_is_possible(const struct tap_gpu_launch *launch, int64_t reported_ns)
{
	return launch->begin_ns <= reported_ns;
}

struct tap_gpu_launch *tap_gpu_launches_find(const struct tap_gpu_launches *launches,
					     const struct tap_gpu_wanted *wanted,
					     bool *ret_is_ambiguous)
{
	struct tap_gpu_pending *pending, *found = NULL, *early = NULL;

	*ret_is_ambiguous = false;
	pending = tap_table_find(&launches->by_number, wanted->process->number,
				 wanted->number);
	for (; pending; pending = pending->older) {
		if (!tap_gpu_launch_is_possible(&pending->launch, wanted->reported_ns))
			continue;
		if (pending->launch.begin_ns > wanted->begin_ns) {
			early = pending;
			continue;
		}
		if (found && !pending->is_found)
			*ret_is_ambiguous = true;
		if (!found)
			found = pending;
	}
	if (!found)
		found = early;
	return found ? &found->launch : NULL;
}

void tap_gpu_launches_found(struct tap_gpu_launches *launches,
			    struct tap_gpu_launch *launch, int64_t now_ns)
{
	struct tap_gpu_pending *pending = pending_of(launch);

	pending->is_found = true;
	pending->found_ns = now_ns;
	if (tap_gpu_launch_is_repeated(launch))
		retain(launches, pending);
	else
		forget(launches, pending);
}

void tap_gpu_launches_emitted(struct tap_gpu_launches *launches,
			      struct tap_gpu_launch *launch)
{
	if (!tap_gpu_launch_is_repeated(launch))
		remove_outstanding(launches, pending_of(launch));
}

/* ---- Time ---- */

void tap_gpu_launches_advance(struct tap_gpu_launches *launches, int64_t now_ns)
{
	struct tap_gpu_pending *pending;

	while ((pending = launches->retained.first) &&
	       tap_since_ns(now_ns, pending->found_ns) > RETAIN_NS) {
		get(pending);
		release(launches, pending);
		remove_outstanding(launches, pending);
		put(pending);
	}
}

void tap_gpu_launches_finish(struct tap_gpu_launches *launches,
			     struct tap_context *context, struct tap_gpu_cupti *cupti)
{
	struct tap_gpu_pending *pending;
	enum tap_why why;

	while ((pending = launches->outstanding.first)) {
		if (!pending->is_found) {
			why = tap_gpu_cupti_why_nothing(cupti, pending->launch.process);
			if (why)
				tap_count_unmatched(context, TAP_MATCH_LAUNCH_KERNEL,
						    why);
			else
				context->matches[TAP_MATCH_LAUNCH_KERNEL].outstanding++;
			pending->is_found = true;
		}
		give_up(launches, context, pending, TAP_WHY_NONE);
	}
}

int64_t tap_gpu_launches_horizon(const struct tap_gpu_launches *launches)
{
	const struct tap_gpu_pending *oldest = launches->outstanding.first;

	return oldest ? oldest->launch.begin_ns : INT64_MAX;
}

void tap_gpu_launches_free(struct tap_gpu_launches *launches, struct tap_context *context)
{
	struct tap_gpu_pending *pending, *older;
	size_t i;

	while (launches->outstanding.first)
		give_up(launches, context, launches->outstanding.first, TAP_WHY_NONE);
	while (launches->retained.first)
		release(launches, launches->retained.first);
	for (i = 0; i < launches->by_number.size; i++) {
		for (pending = launches->by_number.slots[i].value; pending;
		     pending = older) {
			older = pending->older;
			put(pending);
		}
	}
	tap_table_free(&launches->by_number);
}
