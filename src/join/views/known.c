/* SPDX-License-Identifier: MIT */
/* A table of ids, and a ring that says which came first. */
#include "join/views/known.h"

#include <errno.h>
#include <stdlib.h>

/* About 20 MB. */
#define KNOWN_MAX 262144

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

/* Two requests could have one id, once in 2^64 pairs. */
struct tap_known_id tap_known_span(const struct tap_process *process,
				   const struct tap_work *work, uint64_t call_id)
{
	struct tap_known_id id = {.process = process->number, .number = call_id};
	const bool is_shared = tap_work_is_request(work) && work->request.srq_id;

	if (work->kind == TAP_WORK_NONE)
		return id;
	id.process |= (uint64_t) work->kind << 32;
	if (tap_work_is_run(work))
		id.number = work->run.number;
	else if (tap_work_is_proxy(work))
		id.number = work->proxy.number;
	else if (tap_work_is_message(work))
		id.number = mix(mix(0, work->message.net_id), work->message.number);
	else
		id.number = mix(mix(mix(is_shared, tap_work_queue_id(work)),
				    is_shared ? 0 : work->request.generation),
				work->request.seq);
	return id;
}

struct tap_known_id tap_known_group(const struct tap_process *process, uint64_t group_id)
{
	return (struct tap_known_id){.process = process->number | UINT64_C(1) << 63,
				     .number = group_id};
}

static uintptr_t find(const struct tap_known_spans *known, struct tap_known_id id)
{
	return (uintptr_t) tap_table_find(&known->by_id, id.process, id.number);
}

bool tap_known_is(const struct tap_known_spans *known, struct tap_known_id id,
		  enum tap_known_of_span what)
{
	return find(known, id) & what;
}

int tap_known_add(struct tap_known_spans *known, struct tap_known_id id,
		  enum tap_known_of_span what)
{
	const uintptr_t before = find(known, id);
	struct tap_known_id *slot;

	if (before) {
		tap_table_replace(&known->by_id, id.process, id.number,
				  (void *) (before | what));
		return 0;
	}
	if (!known->ring)
		known->ring = malloc(KNOWN_MAX * sizeof(*known->ring));
	if (!known->ring)
		return -ENOMEM;
	slot = &known->ring[known->next % KNOWN_MAX];
	if (known->next++ >= KNOWN_MAX)
		tap_table_remove(&known->by_id, slot->process, slot->number);
	*slot = id;
	return tap_table_set(&known->by_id, id.process, id.number,
			     (void *) (uintptr_t) what);
}

void tap_known_free(struct tap_known_spans *known)
{
	tap_table_free(&known->by_id);
	free(known->ring);
}
