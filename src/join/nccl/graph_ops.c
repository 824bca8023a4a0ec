/* SPDX-License-Identifier: MIT */
/* Keeps the places of each launch until its kernels have come. */
#include "join/nccl/graph_ops.h"

#include <errno.h>
#include <stdlib.h>

#define NEVER INT64_MIN

/* Since when a process captures, and since when it is unknown what. */
struct use {
	int64_t captured_ns, unknown_ns; /* or NEVER */
};

struct placed {
	uint64_t call_id; /* of the call that was captured */
	uint64_t place;	  /* 0: a kernel has come for it */
};

/* What one launch repeats. */
struct tap_graph_places {
	uint64_t process, call_id;
	TAP_LIST_LINK(struct tap_graph_places) link;
	size_t left, count;
	size_t next; /* item that the next kernel is likely to be of */
	struct placed items[];
};

/* ---- Processes ---- */

static struct use *use_of(struct tap_graph_ops *graphs, const struct tap_process *process)
{
	struct use *use = tap_table_find(&graphs->processes, process->number, 0);

	if (use)
		return use;
	use = malloc(sizeof(*use));
	if (!use || tap_table_set(&graphs->processes, process->number, 0, use)) {
		free(use);
		return NULL;
	}
	*use = (struct use){NEVER, NEVER};
	return use;
}

int tap_graph_ops_captured(struct tap_graph_ops *graphs,
			   const struct tap_process *process, int64_t time_ns)
{
	struct use *use = use_of(graphs, process);

	if (use && use->captured_ns == NEVER)
		use->captured_ns = time_ns;
	return use ? 0 : -ENOMEM;
}

int tap_graph_ops_unknown(struct tap_graph_ops *graphs, const struct tap_process *process,
			  int64_t time_ns)
{
	struct use *use = use_of(graphs, process);

	if (use && use->unknown_ns == NEVER)
		use->unknown_ns = time_ns;
	return use ? 0 : -ENOMEM;
}

static bool is_since(int64_t since_ns, int64_t time_ns)
{
	return since_ns != NEVER && since_ns <= time_ns;
}

bool tap_graph_ops_hide(const struct tap_graph_ops *graphs,
			const struct tap_process *process, int64_t time_ns, bool is_whole)
{
	const struct use *use = tap_table_find(&graphs->processes, process->number, 0);

	return use && (is_since(use->unknown_ns, time_ns) ||
		       (!is_whole && is_since(use->captured_ns, time_ns)));
}

/* ---- Launches ---- */

static void drop(struct tap_graph_ops *graphs, struct tap_graph_places *places)
{
	tap_table_remove(&graphs->by_call, places->process, places->call_id);
	tap_list_remove(&graphs->launches, places, link);
	graphs->held -= places->count;
	free(places);
}

static int place_one(struct tap_ranks_ops *ranks, const struct tap_graph_launch *launch,
		     const struct tap_attribution_operation *operation,
		     uint64_t *ret_place)
{
	struct tap_op_call call = {.begin_ns = launch->begin_ns,
				   .is_messages =
					   tap_kernel_ops_are_messages(operation->name)};

	tap_kernel_ops_transfer(operation->name, operation->operation, &call.transfer);
	return tap_rank_ops_repeated(ranks, operation->member,
				     tap_kernel_ops_series(operation->name),
				     tap_kernel_ops_peer(operation->name,
							 operation->operation->peer),
				     &call, ret_place);
}

static int keep(struct tap_graph_ops *graphs, struct tap_graph_places *places)
{
	struct tap_graph_places *same =
		tap_table_find(&graphs->by_call, places->process, places->call_id);

	/* In a damaged trace, two calls may have one number. */
	if (same)
		drop(graphs, same);
	if (tap_table_set(&graphs->by_call, places->process, places->call_id, places))
		return -ENOMEM;
	tap_list_append(&graphs->launches, places, link);
	graphs->held += places->count;
	while (graphs->held > graphs->held_max)
		drop(graphs, graphs->launches.first);
	return 0;
}

int tap_graph_ops_launched(struct tap_graph_ops *graphs, struct tap_ranks_ops *ranks,
			   const struct tap_graph_launch *launch)
{
	struct tap_graph_places *places;
	size_t i;
	int ret = 0;

	if (!launch->count)
		return 0;
	places = calloc(1, sizeof(*places) + launch->count * sizeof(places->items[0]));
	if (!places)
		return -ENOMEM;
	places->process = launch->process->number;
	places->call_id = launch->call_id;
	places->count = places->left = launch->count;
	for (i = 0; !ret && i < launch->count; i++) {
		places->items[i].call_id = launch->operations[i].call_id;
		ret = place_one(ranks, launch, &launch->operations[i],
				&places->items[i].place);
	}
	if (!ret)
		ret = keep(graphs, places);
	if (ret)
		free(places);
	return ret;
}

static uint64_t take(struct tap_graph_places *places, uint64_t call_id)
{
	size_t i;

	for (i = 0; i < places->count; i++) {
		const size_t at = (places->next + i) % places->count;
		const uint64_t place = places->items[at].place;

		if (places->items[at].call_id != call_id || !place)
			continue;
		places->items[at].place = 0;
		places->left--;
		places->next = at + 1;
		return place;
	}
	return 0;
}

bool tap_graph_ops_place(struct tap_graph_ops *graphs, const struct tap_process *process,
			 uint64_t launch_id, struct tap_attribution_operation *operations,
			 size_t count)
{
	struct tap_graph_places *places =
		tap_table_find(&graphs->by_call, process->number, launch_id);
	bool is_found = true;
	size_t i;

	if (!places)
		return false;
	for (i = 0; i < count; i++) {
		operations[i].place = take(places, operations[i].call_id);
		is_found &= operations[i].place != 0;
	}
	if (!places->left)
		drop(graphs, places);
	return is_found;
}

void tap_graph_ops_free(struct tap_graph_ops *graphs)
{
	size_t i;

	while (graphs->launches.first)
		drop(graphs, graphs->launches.first);
	for (i = 0; i < graphs->processes.size; i++)
		free(graphs->processes.slots[i].value);
	tap_table_free(&graphs->processes);
	tap_table_free(&graphs->by_call);
}
