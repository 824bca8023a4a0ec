/* SPDX-License-Identifier: MIT */
/* Both ends are found by the hash of the two addresses, that of who connected first. */
#include "join/nccl/net_caller.h"

#include <errno.h>
#include <stdlib.h>

#include "join/model/comm.h"
#include "join/model/process.h"
#include "join/nccl/thread.h"

/* NCCL creates a thread from a thread that it has created, and no deeper. */
#define DEPTH_MAX 4

/* The thread that makes the calls of a rank. */
struct thread {
	int64_t tid;
	bool is_one; /* and no other does */
};

/* ---- Sockets ---- */

static uint64_t key_of(const char *connected, const char *accepted)
{
	return connected && accepted && *connected && *accepted
		       ? tap_table_hash(connected) * UINT64_C(0x9e3779b97f4a7c15) ^
				 tap_table_hash(accepted)
		       : 0;
}

static uint64_t key_at(const struct tap_event *event, const char *connected,
		       const char *accepted)
{
	return key_of(tap_fields_get_string(&event->fields, connected),
		      tap_fields_get_string(&event->fields, accepted));
}

uint64_t tap_net_caller_key(const struct tap_event *accepted)
{
	return key_at(accepted, "peer", "local");
}

uint64_t tap_net_caller_connected_key(const struct tap_event *connected)
{
	return key_at(connected, "local", "peer");
}

/* The thread of the program in whose call NCCL has created this one; or itself. */
static int64_t programs_thread(const struct tap_net_callers *callers,
			       const struct tap_process *process, int64_t tid)
{
	const struct tap_threads *threads =
		tap_context_state(callers->context, &tap_threads_layer);
	const struct tap_nccl_thread *thread;
	unsigned int depth;

	for (depth = 0; depth < DEPTH_MAX; depth++) {
		thread = tap_threads_find(threads, process, tid);
		if (!thread)
			return tid;
		tid = thread->creator;
	}
	return -1;
}

static int take_connected(struct tap_net_callers *callers,
			  const struct tap_process *process,
			  const struct tap_event *event)
{
	const uint64_t trace = (uintptr_t) process->trace;
	const uint64_t key = tap_net_caller_connected_key(event);
	struct tap_net_caller *caller;

	if (!key || tap_fields_number(&event->fields, "error"))
		return 0;
	callers->changes++;
	caller = tap_table_find(&callers->callers, trace, key);
	if (caller) {
		/* A port is used again, maybe by another process. */
		if (caller->process != process)
			caller->process = NULL;
		caller->tid = -1;
		caller->is_again = true;
		return 0;
	}
	caller = calloc(1, sizeof(*caller));
	if (!caller || tap_table_set(&callers->callers, trace, key, caller)) {
		free(caller);
		return -ENOMEM;
	}
	caller->process = process;
	caller->tid = programs_thread(callers, process, event->tid);
	return 0;
}

const struct tap_net_caller *tap_net_caller_of(const struct tap_net_callers *callers,
					       const struct tap_process *process,
					       uint64_t key)
{
	const struct tap_net_caller *caller =
		key ? tap_table_find(&callers->callers, (uintptr_t) process->trace, key)
		    : NULL;

	return caller && caller->process ? caller : NULL;
}

/* ---- Ranks ---- */

static const struct thread *thread_of(const struct tap_net_callers *callers,
				      const struct tap_member *member)
{
	return tap_table_find(&callers->threads, member->number + UINT64_C(1), 0);
}

static int note_thread(struct tap_net_callers *callers, const struct tap_member *member,
		       int64_t tid)
{
	struct thread *thread =
		tap_table_find(&callers->threads, member->number + UINT64_C(1), 0);

	if (thread) {
		callers->changes += thread->is_one && thread->tid != tid;
		thread->is_one &= thread->tid == tid;
		return 0;
	}
	thread = malloc(sizeof(*thread));
	if (!thread ||
	    tap_table_set(&callers->threads, member->number + UINT64_C(1), 0, thread)) {
		free(thread);
		return -ENOMEM;
	}
	*thread = (struct thread){.tid = tid, .is_one = true};
	callers->changes++;
	return 0;
}

bool tap_net_caller_may_be(const struct tap_net_callers *callers,
			   const struct tap_net_caller *caller,
			   const struct tap_member *member)
{
	const struct tap_member *other;
	const struct thread *thread;
	unsigned int by_caller = 0;

	if (caller->process != member->process)
		return false;
	if (caller->tid < 0)
		return true;
	/* One that is not known may be the one. */
	for (other = tap_member_comm(member)->members; other; other = other->next) {
		if (other->process != caller->process)
			continue;
		thread = thread_of(callers, other);
		if (!thread || !thread->is_one)
			return true;
		by_caller += thread->tid == caller->tid;
	}
	return by_caller != 1 || thread_of(callers, member)->tid == caller->tid;
}

/* ---- The layer ---- */

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	return event->net == TAP_NET_CONNECT || event->net == TAP_NET_CALLER_CONNECT
		       ? take_connected(state, process, event)
		       : 0;
}

static int span_begun(void *state, struct tap_span *span, const struct tap_event *event)
{
	(void) event;
	return span->name->is_nccl && span->member && span->operation.number &&
			       !span->is_inner && !span->is_from_nvtx && span->tid >= 0
		       ? note_thread(state, span->member, span->tid)
		       : 0;
}

static void free_all(void *state)
{
	struct tap_net_callers *callers = state;
	size_t i;

	for (i = 0; i < callers->callers.size; i++)
		free(callers->callers.slots[i].value);
	for (i = 0; i < callers->threads.size; i++)
		free(callers->threads.slots[i].value);
	tap_table_free(&callers->callers);
	tap_table_free(&callers->threads);
}

const struct tap_layer tap_net_callers_layer = {
	.name = "callers",
	.size = sizeof(struct tap_net_callers),
	.events = TAP_TAKES(TAP_EVENT_NET),
	.take = take,
	.span_begun = span_begun,
	.free = free_all,
};
