/* SPDX-License-Identifier: MIT */
/* The slow path of a wrapper: what happens before the real call and after it. */
#include "intercept/entry.h"

#include <errno.h>
#include <stddef.h>

#include "common/thread.h"
#include "intercept/libraries.h"
#include "intercept/start.h"

const int tap_not_ready = 1;
static const int never = 0;

uint32_t tap_epoch = 1;
/* Counted by every recorded call of the process; a fork goes on with it. */
static uint64_t last_call_id;

int tap_guard_set(void)
{
	tap_thread.in_tracer = true;
	return errno;
}

void tap_guard_clear(int saved_errno)
{
	tap_thread.in_tracer = false;
	errno = saved_errno;
}

void tap_entry_set(struct tap_entry *e, void *real)
{
	e->library = 0;
	__atomic_store_n(&e->real, real, __ATOMIC_RELEASE);
	__atomic_store_n(&e->epoch, tap_epoch, __ATOMIC_RELEASE);
}

/*
 * What dlsym() handed out stays as it is while its library is loaded: only the
 * program can say which copy it means, by asking again.
 */
void tap_entry_resolve(struct tap_entry *e, const void *caller)
{
	void *real = e->real;

	if (__atomic_load_n(&e->epoch, __ATOMIC_ACQUIRE) == tap_epoch)
		return;
	if (e->linked)
		real = tap_library_definition(e->name, caller);
	else if (real != e->missing && !tap_library_loaded(real))
		real = NULL;
	tap_entry_set(e, real ? real : e->missing);
}

static void set_switches(struct tap_entry *e, const int *entry_on, const int *exit_on)
{
	__atomic_store_n(&e->exit_on, exit_on, __ATOMIC_RELEASE);
	__atomic_store_n(&e->entry_on, entry_on, __ATOMIC_RELEASE);
}

/* Returns whether events may be written. */
static bool make_ready(struct tap_entry *e, const void *caller)
{
	const struct tap_call_events *events;

	tap_entry_resolve(e, caller);
	if (likely(e->entry_on != &tap_not_ready))
		return tap_events_table;
	switch (tap_start()) {
	case TAP_STARTED:
		events = &tap_events_table->nccl[e->row];
		set_switches(e, events->entry_on, events->exit_on);
		return true;
	case TAP_FAILED:
		set_switches(e, &never, &never);
		break;
	case TAP_STARTING:
		break;
	}
	return false;
}

static void fill_call(struct tap_call *call, struct tap_entry *e, const void *caller)
{
	tap_announce();
	if (!e->library) {
		if (e->real == e->missing)
			tap_problem("missing", e->name, 1);
		else
			e->library = tap_library_traced(e->real, "nccl");
	}
	call->call_id = __atomic_add_fetch(&last_call_id, 1, __ATOMIC_RELAXED);
	call->parent_id = tap_thread.call_id;
	call->caller_library = tap_library_of(caller, &call->caller_offset);
	call->inner = tap_library_calls_itself(call->caller_library, call->parent_id);
	call->pnccl = e->pnccl;
}

bool tap_call_enter(struct tap_call *ret_call, struct tap_entry *e, const void *caller)
{
	const bool inside = tap_thread.in_tracer;
	const int saved = errno;
	bool records = false;

	tap_thread.in_tracer = true;
	if (inside) {
		tap_entry_resolve(e, caller);
	} else if (make_ready(e, caller) && (*e->entry_on || *e->exit_on)) {
		fill_call(ret_call, e, caller);
		tap_thread.call_id = ret_call->call_id;
		records = true;
	}
	tap_thread.in_tracer = inside;
	errno = saved;
	return records;
}

void tap_call_leave(const struct tap_call *call)
{
	tap_thread.call_id = call->parent_id;
}
