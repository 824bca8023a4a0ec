/* SPDX-License-Identifier: MIT */
/* Two tables whose entries are in the order of their last use. */
#include "join/gpu/gpu_graph.h"

#include <errno.h>
#include <stdlib.h>

struct tap_gpu_entry {
	uint64_t a, b;
	uint64_t call_id;	       /* of a node: that made its root */
	struct tap_gpu_launch *launch; /* of a captured call; NULL: not recorded yet */
	TAP_LIST_LINK(struct tap_gpu_entry) used;
};

static struct tap_gpu_entry *use(struct tap_gpu_list *list, uint64_t a, uint64_t b)
{
	struct tap_gpu_entry *entry = tap_table_find(&list->by_id, a, b);

	if (entry && entry != list->used.last) {
		tap_list_remove(&list->used, entry, used);
		tap_list_append(&list->used, entry, used);
	}
	return entry;
}

static void drop(struct tap_gpu_list *list, struct tap_gpu_entry *entry)
{
	tap_table_remove(&list->by_id, entry->a, entry->b);
	tap_list_remove(&list->used, entry, used);
	if (entry->launch)
		tap_gpu_launch_put(entry->launch);
	free(entry);
}

/* Finds or makes the entry.  NULL when memory is short. */
static struct tap_gpu_entry *make(struct tap_gpu_list *list, uint64_t a, uint64_t b)
{
	struct tap_gpu_entry *entry = use(list, a, b);

	if (entry)
		return entry;
	if (list->by_id.count >= TAP_GPU_NODES_MAX)
		drop(list, list->used.first);
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->a = a;
	entry->b = b;
	if (tap_table_set(&list->by_id, a, b, entry)) {
		free(entry);
		return NULL;
	}
	tap_list_append(&list->used, entry, used);
	return entry;
}

int tap_gpu_graphs_node(struct tap_gpu_graphs *graphs, const struct tap_process *process,
			uint64_t node, uint64_t call_id, uint64_t original)
{
	const struct tap_gpu_entry *from =
		original ? use(&graphs->nodes, process->number, original) : NULL;
	/* The call that makes a copy says nothing of what the node does. */
	const uint64_t root = original ? (from ? from->call_id : 0) : call_id;
	struct tap_gpu_entry *entry = make(&graphs->nodes, process->number, node);

	if (!entry)
		return -ENOMEM;
	entry->call_id = root;
	return !call_id || original || make(&graphs->captured, process->number, call_id)
		       ? 0
		       : -ENOMEM;
}

bool tap_gpu_graphs_have(const struct tap_gpu_graphs *graphs,
			 const struct tap_process *process, uint64_t call_id)
{
	return tap_table_find(&graphs->captured.by_id, process->number, call_id);
}

int tap_gpu_graphs_captured(struct tap_gpu_graphs *graphs, struct tap_gpu_launch *launch)
{
	struct tap_gpu_entry *entry =
		make(&graphs->captured, launch->process->number, launch->call_id);

	if (!entry)
		return -ENOMEM;
	if (entry->launch)
		tap_gpu_launch_put(entry->launch);
	entry->launch = launch;
	launch->references++;
	return 0;
}

struct tap_gpu_launch *tap_gpu_graphs_find(struct tap_gpu_graphs *graphs,
					   const struct tap_process *process,
					   uint64_t node)
{
	const struct tap_gpu_entry *entry = use(&graphs->nodes, process->number, node);

	if (!entry || !entry->call_id)
		return NULL;
	entry = use(&graphs->captured, process->number, entry->call_id);
	return entry ? entry->launch : NULL;
}

void tap_gpu_graphs_free(struct tap_gpu_graphs *graphs)
{
	while (graphs->nodes.used.first)
		drop(&graphs->nodes, graphs->nodes.used.first);
	while (graphs->captured.used.first)
		drop(&graphs->captured, graphs->captured.used.first);
	tap_table_free(&graphs->nodes.by_id);
	tap_table_free(&graphs->captured.by_id);
}
