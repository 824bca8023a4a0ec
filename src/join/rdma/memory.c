/* SPDX-License-Identifier: MIT */
/* A list has the regions of a process with the same key, the newest first. */
#include "join/rdma/memory.h"

#include "join/model/span.h"
#include "join/rdma/column.h"
#include "join/rdma/qp.h"

#include <errno.h>
#include <stdlib.h>

static struct tap_mr *find_region(const struct tap_memory *memory,
				  const struct tap_process *process, uint64_t rkey)
{
	return tap_table_find(&memory->by_key, process->number, rkey);
}

static void forget_region(struct tap_memory *memory, const struct tap_process *process,
			  struct tap_mr *mr)
{
	struct tap_mr *first = find_region(memory, process, mr->rkey);

	tap_table_remove(&memory->by_id, process->number, mr->id);
	if (first == mr) {
		tap_table_remove(&memory->by_key, process->number, mr->rkey);
		/* This takes the slot just freed, so it cannot fail. */
		if (mr->older)
			tap_table_set(&memory->by_key, process->number, mr->rkey,
				      mr->older);
	} else {
		while (first && first->older != mr)
			first = first->older;
		if (first)
			first->older = mr->older;
	}
	free(mr);
}

void tap_memory_freed(struct tap_memory *memory, const struct tap_process *process,
		      const struct tap_event *event)
{
	struct tap_mr *mr = tap_table_find(&memory->by_id, process->number,
					   tap_event_number(event, "mr_id"));

	if (mr)
		forget_region(memory, process, mr);
}

int tap_memory_registered(struct tap_memory *memory, const struct tap_process *process,
			  const struct tap_event *event, const struct tap_mr **added)
{
	const uint64_t id = tap_event_number(event, "mr_id");
	struct tap_mr *mr = tap_table_find(&memory->by_id, process->number, id);

	*added = NULL;
	if (mr || !id)
		return 0;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	mr->id = id;
	mr->context_id = tap_event_number(event, "context_id");
	mr->addr = tap_event_number(event, "addr");
	mr->length = tap_event_number(event, "length");
	mr->rkey = tap_event_number(event, "rkey");
	mr->older = find_region(memory, process, mr->rkey);
	if (tap_table_set(&memory->by_id, process->number, id, mr)) {
		free(mr);
		return -ENOMEM;
	}
	*added = mr;
	return tap_table_set(&memory->by_key, process->number, mr->rkey, mr);
}

static bool has_bytes(const struct tap_mr *mr, uint64_t addr, uint64_t length)
{
	return addr >= mr->addr && addr - mr->addr <= mr->length &&
	       length <= mr->length - (addr - mr->addr);
}

const struct tap_mr *tap_memory_find(const struct tap_memory *memory,
				     const struct tap_qp *qp, uint64_t rkey,
				     uint64_t addr, uint64_t length)
{
	const struct tap_mr *mr = find_region(memory, qp->process, rkey);

	while (mr && (mr->context_id != qp->context_id || !has_bytes(mr, addr, length)))
		mr = mr->older;
	return mr;
}

bool tap_memory_has(const struct tap_memory *memory, const struct tap_process *process,
		    uint64_t addr, uint64_t length)
{
	const struct tap_table_slot *slots = memory->by_id.slots;
	size_t i;

	for (i = 0; i < memory->by_id.size; i++) {
		const struct tap_mr *mr = slots[i].value;

		if (mr && slots[i].a == process->number && mr->addr == addr &&
		    mr->length == length)
			return true;
	}
	return false;
}

void tap_memory_free(struct tap_memory *memory)
{
	size_t i;

	for (i = 0; i < memory->by_id.size; i++)
		free(memory->by_id.slots[i].value);
	tap_table_free(&memory->by_id);
	tap_table_free(&memory->by_key);
}
