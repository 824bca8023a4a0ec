/* SPDX-License-Identifier: MIT */
/*
 * Decides which calls count.  A call in a group counts if NCCL launched the group, which
 * is known when ncclGroupEnd returns; calls are held until then.
 *
 * Where a call's return or the end of its group is lost, the rank's next call decides: it
 * records how many calls and groups before it did not count.  If the call in doubt
 * recorded the same number, that call counted.  Otherwise it is unknown, and the call is
 * not linked.
 */
#include "join/ranks/operations.h"

#include "join/model/layer.h"
#include "join/model/vendor.h"
#include "join/ranks/slot.h"

#include <errno.h>
#include <stdlib.h>

/* Of ncclGroupEnd's enumeration group_outcome. */
enum { GROUP_INNER, GROUP_LAUNCHED, GROUP_DROPPED, GROUP_SIMULATED };

static struct tap_queue *find_group(struct tap_links *links, const struct tap_span *span,
				    bool is_made)
{
	uint64_t a = span->process->number, b = (uint64_t) span->tid;
	struct tap_queue *group;

	/*
	 * A thread has one open group; without thread ids each group has a key of its
	 * own.
	 */
	if (span->tid < 0)
		b = span->operation.group_id | UINT64_C(1) << 63;
	group = tap_table_find(&links->groups, a, b);
	if (group || !is_made)
		return group;
	group = tap_queue_make(links, TAP_QUEUE_GROUP);
	if (!group)
		return NULL;
	group->a = a;
	group->b = b;
	group->group_id = span->operation.group_id;
	if (!tap_table_set(&links->groups, a, b, group))
		return group;
	tap_queue_empty(links, group);
	return NULL;
}

static int doubt(struct tap_links *links, struct tap_held *held)
{
	struct tap_member *member = held->member;

	if (!member->unsure) {
		member->unsure = tap_queue_make(links, TAP_QUEUE_UNSURE);
		if (!member->unsure) {
			tap_held_forget(links, held);
			return -ENOMEM;
		}
		member->unsure->member = member;
	}
	tap_queue_append(member->unsure, held);
	return 0;
}

static int doubt_all(struct tap_links *links, struct tap_held *held)
{
	struct tap_held *next;
	int ret = 0;

	for (; held && !ret; held = next) {
		next = held->next;
		ret = doubt(links, held);
	}
	tap_held_forget_all(links, held);
	return ret;
}

static void give_up_all(struct tap_links *links, struct tap_held *held)
{
	struct tap_held *next;

	for (; held; held = next) {
		next = held->next;
		links->context->loss.unsure_operations++;
		tap_held_forget(links, held);
	}
}

/* Resolves the calls in doubt by the rank's next call on the communicator. */
static int resolve(struct tap_links *links, struct tap_member *member,
		   const struct tap_span *span)
{
	const struct tap_operation *operation = &span->operation;
	struct tap_held *held, *next;
	int ret = 0;

	if (!member->unsure)
		return 0;
	for (held = tap_queue_empty(links, member->unsure); held && !ret; held = next) {
		next = held->next;
		/* The group of both may still fail. */
		if (span->call_id < held->call_id ||
		    (held->group_id && held->group_id == operation->group_id)) {
			ret = doubt(links, held);
		} else if ((held->is_sure && !held->group_id) ||
			   (held->not_counted >= 0 &&
			    held->not_counted == operation->not_counted)) {
			ret = tap_slots_file(links, held);
		} else {
			links->context->loss.unsure_operations++;
			tap_held_forget(links, held);
		}
	}
	tap_held_forget_all(links, held);
	return ret;
}

/* The outcome of ncclGroupEnd; -1 where the trace does not have it. */
static int64_t group_outcome(const struct tap_span *span)
{
	int64_t outcome;

	if (span->state == TAP_SPAN_OPEN)
		return GROUP_INNER;
	return tap_fields_get_signed(&span->exit, "group_outcome", &outcome) ? -1
									     : outcome;
}

/* Files the calls of a launched group, in order: calls after one in doubt wait too. */
static int launch(struct tap_links *links, struct tap_held *held)
{
	struct tap_held *next;
	int ret = 0;

	for (; held && !ret; held = next) {
		next = held->next;
		held->group_id = 0;
		ret = held->is_sure && !held->member->unsure
			      ? tap_slots_file(links, held)
			      : doubt(links, held);
	}
	tap_held_forget_all(links, held);
	return ret;
}

static int end_group(struct tap_links *links, const struct tap_span *span)
{
	struct tap_queue *group = find_group(links, span, false);
	int64_t outcome = group_outcome(span);

	if (!group)
		return 0;
	if (group->group_id != span->operation.group_id)
		outcome = -1;
	else if (span->state == TAP_SPAN_OPEN)
		group->is_open = true;
	switch (outcome) {
	case GROUP_INNER:
		return 0;
	case GROUP_LAUNCHED:
		return launch(links, tap_queue_empty(links, group));
	case GROUP_DROPPED:
	case GROUP_SIMULATED:
		tap_held_forget_all(links, tap_queue_empty(links, group));
		return 0;
	default:
		return doubt_all(links, tap_queue_empty(links, group));
	}
}

enum { COUNTS, MAY_COUNT, COUNTS_NOT };

static int does_count(const struct tap_span *span)
{
	const struct tap_field *result;

	if (span->state != TAP_SPAN_COMPLETE)
		return MAY_COUNT;
	result = tap_span_result(span);
	if (!result ||
	    (result->kind != TAP_FIELD_UNSIGNED && result->kind != TAP_FIELD_SIGNED))
		return MAY_COUNT;
	return result->value.u && result->value.u != TAP_RESULT_ncclInProgress
		       ? COUNTS_NOT
		       : COUNTS;
}

static int hold(struct tap_links *links, const struct tap_span *span)
{
	int counts = does_count(span);
	struct tap_held *held = links->free_held;
	struct tap_queue *group = NULL;

	if (counts == COUNTS_NOT)
		return 0;
	if (span->operation.group_id) {
		group = find_group(links, span, true);
		if (!group)
			return -ENOMEM;
	}
	if (held)
		links->free_held = held->next;
	else
		held = malloc(sizeof(*held));
	if (!held)
		return -ENOMEM;
	links->held++;
	held->member = span->member;
	held->sequence = NULL;
	held->name = span->name;
	held->call_id = span->call_id;
	held->number = span->operation.number;
	held->peer = span->operation.peer;
	held->group_id = span->operation.group_id;
	held->not_counted = span->operation.not_counted;
	held->facts = tap_call_facts_of(span);
	held->is_open = span->state == TAP_SPAN_OPEN;
	held->is_weak = false;
	held->is_sure = counts == COUNTS;
	if (group) {
		group->is_open |= held->is_open;
		tap_queue_append(group, held);
		return 0;
	}
	return counts == COUNTS ? tap_slots_file(links, held) : doubt(links, held);
}

static int evict(struct tap_links *links, struct tap_queue *queue)
{
	const struct tap_held *held;

	if (queue->kind == TAP_QUEUE_SLOT)
		return tap_slot_emit(links, queue);
	if (queue->kind == TAP_QUEUE_GROUP)
		return doubt_all(links, tap_queue_empty(links, queue));
	if (queue->kind == TAP_QUEUE_UNSURE) {
		give_up_all(links, tap_queue_empty(links, queue));
		return 0;
	}
	for (held = queue->first; held; held = held->next)
		tap_slot_count_unmatched(links, tap_member_comm(held->member));
	tap_held_forget_all(links, tap_queue_empty(links, queue));
	return 0;
}

static int span_ended(void *state, struct tap_span *span)
{
	struct tap_links *links = state;
	bool is_operation = span->operation.number && span->member;
	struct tap_queue *group;
	int ret = 0;

	if (span->is_inner || span->is_from_nvtx)
		return 0;
	if (links->changes != links->context->comms.changes)
		ret = tap_slots_settle(links);
	if (!ret && span->name->kind == TAP_NAME_GROUP_END)
		return end_group(links, span);
	if (ret || (!is_operation && span->name->kind != TAP_NAME_GROUP_START))
		return ret;
	/* The thread is in another group, so the end of this one is lost. */
	group = find_group(links, span, false);
	if (group && group->group_id != span->operation.group_id)
		ret = evict(links, group);
	if (!ret && is_operation)
		ret = resolve(links, span->member, span);
	if (!ret && is_operation)
		ret = hold(links, span);
	while (!ret && links->held > links->context->bounds.held_operations)
		ret = evict(links, links->queues.first);
	return ret;
}

/* Files calls that hang, so that links show which ranks have come. */
static int file_open(struct tap_links *links, struct tap_queue *queue)
{
	struct tap_held *held, *next;
	bool all = queue->kind == TAP_QUEUE_GROUP && queue->is_open;
	int ret = 0;

	for (held = tap_queue_empty(links, queue); held && !ret; held = next) {
		next = held->next;
		if (all || held->is_open || (held->is_sure && !held->group_id)) {
			held->is_weak = all || held->is_open;
			ret = tap_slots_file(links, held);
		} else {
			links->context->loss.unsure_operations++;
			tap_held_forget(links, held);
		}
	}
	tap_held_forget_all(links, held);
	return ret;
}

static int finish(void *state)
{
	struct tap_links *links = state;
	struct tap_queue *queue, *after;
	int ret;

	ret = tap_slots_settle(links);
	links->is_settling = true;
	for (queue = links->queues.first; queue && !ret; queue = after) {
		after = queue->all.after;
		if (queue->kind == TAP_QUEUE_GROUP || queue->kind == TAP_QUEUE_UNSURE)
			ret = file_open(links, queue);
	}
	links->is_settling = false;
	links->is_finishing = true;
	while (!ret && links->queues.first)
		ret = evict(links, links->queues.first);
	return ret;
}

static void free_all(void *state)
{
	struct tap_links *links = state;
	struct tap_queue *queue;
	struct tap_held *held;

	while (links->queues.first)
		tap_held_forget_all(links, tap_queue_empty(links, links->queues.first));
	while ((queue = tap_list_take_first(&links->unused, all)))
		free(queue);
	while ((held = links->free_held)) {
		links->free_held = held->next;
		free(held);
	}
	tap_slots_free(links);
	free(links->ends);
	tap_table_free(&links->groups);
}

const struct tap_layer tap_operations_layer = {
	.name = "operations",
	.size = sizeof(struct tap_links),
	.is_of_views = true,
	.span_ended = span_ended,
	.finish = finish,
	.free = free_all,
};
