/* SPDX-License-Identifier: MIT */
/* The slow path of a wrapper: what happens before the real call and after it. */
#include "intercept/entry.h"

#include <stddef.h>

#include "common/lock.h"
#include "common/thread.h"
#include "intercept/dl/libraries.h"
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/metrics.h"
#include "intercept/stack/stack.h"
#include "intercept/start.h"
#include "intercept/threads.h"
#include "intercept/trace.h"

static const int never = 0;
const int tap_counts = 1, tap_counts_alone = TAP_COUNTS_ALONE;

/*
 * Every recorded call of the process counts it; the child of a fork continues the count.
 */
static uint64_t last_call_id;

/* Several threads may do so at once, with the same values; a switch may be set again. */
void tap_entry_prepare(struct tap_entry *copy, const struct tap_entry *linked)
{
	if (__atomic_load_n(&copy->name, __ATOMIC_ACQUIRE))
		return;
	__atomic_store_n(&copy->missing, linked->missing, __ATOMIC_RELAXED);
	__atomic_store_n(&copy->row, linked->row, __ATOMIC_RELAXED);
	__atomic_store_n(&copy->pnccl, linked->pnccl, __ATOMIC_RELAXED);
	__atomic_store_n(&copy->is_counted, linked->is_counted, __ATOMIC_RELAXED);
	__atomic_store_n(&copy->entry_on, &tap_not_ready, __ATOMIC_RELAXED);
	__atomic_store_n(&copy->exit_on, &tap_not_ready, __ATOMIC_RELAXED);
	__atomic_store_n(&copy->name, linked->name, __ATOMIC_RELEASE);
}

static uint32_t epoch_now(void)
{
	return __atomic_load_n(&tap_epoch, __ATOMIC_ACQUIRE);
}

void tap_entry_set(struct tap_entry *e, void *real)
{
	__atomic_store_n(&e->library, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&e->real, real, __ATOMIC_RELEASE);
	__atomic_store_n(&e->epoch, epoch_now(), __ATOMIC_RELEASE);
}

/* ---- Which object a linked name is bound to ---- */

static struct tap_lock lock; /* guards the resolution of entries */
static struct tap_choice choices[1024];
static unsigned nr_choices;
/* The most definitions found for any name in this epoch, 0 none yet. */
static unsigned most_definitions; /* under the lock */

static void *chosen(const struct tap_entry *e, uintptr_t caller, uint32_t epoch)
{
	const struct tap_choice *c = __atomic_load_n(&e->choices, __ATOMIC_ACQUIRE);
	void *real;

	for (; c; c = c->next) {
		if (__atomic_load_n(&c->epoch, __ATOMIC_ACQUIRE) != epoch)
			continue;
		/*
		 * The second read of the epoch below detects that another thread reuses
		 * *c.
		 */
		if (caller < __atomic_load_n(&c->start, __ATOMIC_RELAXED) ||
		    caller >= __atomic_load_n(&c->end, __ATOMIC_RELAXED))
			continue;
		real = __atomic_load_n(&c->real, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&c->epoch, __ATOMIC_RELAXED) == epoch)
			return real;
	}
	return NULL;
}

/*
 * Returns a choice of an earlier epoch, which no thread reads any more, or a new one;
 * NULL when all are in use.
 */
static struct tap_choice *take_choice(struct tap_entry *e, uint32_t epoch,
				      bool *ret_is_new)
{
	struct tap_choice *c = __atomic_load_n(&e->choices, __ATOMIC_ACQUIRE);
	unsigned i;

	*ret_is_new = false;
	for (; c; c = c->next) {
		uint32_t old = __atomic_load_n(&c->epoch, __ATOMIC_ACQUIRE);

		if (old && old != epoch &&
		    __atomic_compare_exchange_n(&c->epoch, &old, 0, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return c;
	}
	if (__atomic_load_n(&nr_choices, __ATOMIC_RELAXED) >= ARRAY_SIZE(choices))
		return NULL;
	i = __atomic_fetch_add(&nr_choices, 1, __ATOMIC_RELAXED);
	*ret_is_new = true;
	return i < ARRAY_SIZE(choices) ? &choices[i] : NULL;
}

/* Without a free choice, every call from that object is looked up. */
static void choose(struct tap_entry *e, const struct tap_definition *d, uint32_t epoch)
{
	struct tap_choice *c;
	bool is_new;

	if (!d->caller_end)
		return;
	tap_library_watch((const void *) d->caller_start);
	tap_library_watch(d->function);
	c = take_choice(e, epoch, &is_new);
	if (!c)
		return;
	/* A reader that sees one of these sees that the epoch was cleared, too. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&c->start, d->caller_start, __ATOMIC_RELAXED);
	__atomic_store_n(&c->end, d->caller_end, __ATOMIC_RELAXED);
	__atomic_store_n(&c->real, d->function, __ATOMIC_RELAXED);
	__atomic_store_n(&c->epoch, epoch, __ATOMIC_RELEASE);
	if (!is_new)
		return;
	c->next = __atomic_load_n(&e->choices, __ATOMIC_ACQUIRE);
	while (!__atomic_compare_exchange_n(&e->choices, &c->next, c, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
}

static void expire(struct tap_entry *e)
{
	__atomic_store_n(&e->entry_on, &tap_not_ready, __ATOMIC_RELEASE);
	__atomic_store_n(&e->exit_on, &tap_not_ready, __ATOMIC_RELEASE);
}

/* A copy that is not ready has no switches. */
static void expire_ready(struct tap_entry *e)
{
	if (__atomic_load_n(&e->name, __ATOMIC_ACQUIRE))
		expire(e);
}

/* Under the lock. */
static void expire_all(void)
{
	most_definitions = 0;
	__atomic_fetch_add(&tap_epoch, 1, __ATOMIC_SEQ_CST);
	tap_entries_each(expire_ready);
}

/*
 * When the caller decides, a thread that read the switches before may still be in a
 * wrapper and use real.  So real stays as it is for that thread, and no other uses it.
 */
static void settle(struct tap_entry *e, void *real, bool by_caller)
{
	__atomic_store_n(&e->by_caller, by_caller, __ATOMIC_RELAXED);
	if (!by_caller || !__atomic_load_n(&e->real, __ATOMIC_RELAXED))
		tap_entry_set(e, real);
	__atomic_store_n(&e->epoch, epoch_now(), __ATOMIC_RELEASE);
	if (by_caller)
		expire(e);
}

/*
 * Stores what was looked up in an epoch.  Returns false when another epoch has begun
 * since: a library was loaded or unloaded during the lookup.
 */
static bool decide(struct tap_entry *e, const struct tap_definition *d, uint32_t *epoch)
{
	bool is_current;

	if (!tap_lock_take(&lock))
		return true;
	is_current = epoch_now() == *epoch;
	if (is_current && d->nr > most_definitions) {
		/* A library was loaded: callers of all other names may be bound to it. */
		if (d->nr > 1)
			expire_all();
		most_definitions = d->nr;
		*epoch = epoch_now();
	}
	if (is_current)
		settle(e, d->function, d->nr > 1);
	tap_lock_drop(&lock);
	return is_current;
}

tap_cold static void *look_up(struct tap_entry *e, const void *caller)
{
	struct tap_definition d;
	uint32_t epoch;
	int tries;

	for (tries = 0; tries < 10; tries++) {
		epoch = epoch_now();
		d = tap_library_definition(e->name, caller);
		if (!d.function)
			d.function = e->missing;
		if (decide(e, &d, &epoch))
			break;
	}
	if (d.function != e->missing)
		choose(e, &d, epoch);
	return d.function;
}

/* Sets the guard itself, since calls that are not recorded come here without one. */
static void *resolve_linked(struct tap_entry *e, const void *caller)
{
	const uint32_t epoch = epoch_now();
	void *real = chosen(e, (uintptr_t) caller, epoch);
	struct tap_guard guard;

	if (likely(real))
		return real;
	guard = tap_guard_set();
	real = look_up(e, caller);
	tap_guard_clear(guard);
	return real;
}

/*
 * A looked-up binding keeps its real function while the library is loaded: only the
 * program can choose another copy, by another dlsym().
 */
void *tap_entry_resolve(struct tap_entry *e, const void *caller)
{
	void *real;

	if (e->linked)
		return resolve_linked(e, caller);
	/* Writers store real before the epoch, so it is read after the epoch. */
	if (__atomic_load_n(&e->epoch, __ATOMIC_ACQUIRE) == epoch_now())
		return __atomic_load_n(&e->real, __ATOMIC_ACQUIRE);
	real = __atomic_load_n(&e->real, __ATOMIC_ACQUIRE);
	if (real != e->missing && !tap_library_loaded(real))
		real = e->missing;
	tap_entry_set(e, real);
	return real;
}

static void set_switches(struct tap_entry *e, const int *entry_on, const int *exit_on)
{
	__atomic_store_n(&e->exit_on, exit_on, __ATOMIC_RELEASE);
	__atomic_store_n(&e->entry_on, entry_on, __ATOMIC_RELEASE);
}

/*
 * If a library was loaded or unloaded meanwhile, the next call resolves the entry again.
 */
static void point_switches(struct tap_entry *e, const int *entry_on, const int *exit_on,
			   enum tap_metrics_state counting)
{
	if (counting == TAP_METRICS_MAKING || !tap_lock_take(&lock))
		return;
	if (!e->by_caller && __atomic_load_n(&e->epoch, __ATOMIC_RELAXED) ==
				     __atomic_load_n(&tap_epoch, __ATOMIC_SEQ_CST)) {
		if (counting == TAP_METRICS_ON && e->is_counted) {
			__atomic_store_n(&e->counted_entry_on, entry_on,
					 __ATOMIC_RELAXED);
			__atomic_store_n(&e->counted_exit_on, exit_on, __ATOMIC_RELAXED);
			if (entry_on == &never)
				entry_on = &tap_counts_alone;
			else
				entry_on = exit_on = &tap_counts;
		}
		set_switches(e, entry_on, exit_on);
	}
	tap_lock_drop(&lock);
}

/* Returns whether events may be written. */
static bool make_ready(struct tap_entry *e, struct tap_guard *guard)
{
	const int *entry_on = __atomic_load_n(&e->entry_on, __ATOMIC_ACQUIRE);
	const bool is_alone = entry_on == &tap_counts_alone || entry_on == &never;
	const struct tap_call_events *events;
	enum tap_metrics_state counting;

	/* Else another thread pointed them there while LTTng was being loaded. */
	if (is_alone && !tap_has_started()) {
		tap_start_if_wished();
		return false;
	}
	if (entry_on == &tap_counts)
		return *__atomic_load_n(&e->counted_entry_on, __ATOMIC_RELAXED) ||
		       *__atomic_load_n(&e->counted_exit_on, __ATOMIC_RELAXED);
	if (likely(entry_on != &tap_not_ready && !is_alone))
		return *entry_on || *__atomic_load_n(&e->exit_on, __ATOMIC_ACQUIRE);
	counting = tap_metrics_begin();
	switch (tap_start(guard)) {
	case TAP_STARTED:
		events = &tap_events_table->nccl[e->row];
		point_switches(e, events->entry_on, events->exit_on, counting);
		return *events->entry_on || *events->exit_on;
	case TAP_FAILED:
		point_switches(e, &never, tap_metrics_wish(), counting);
		tap_start_if_wished();
		break;
	case TAP_STARTING:
		break;
	}
	return false;
}

tap_cold static void meet_library(void)
{
	TAP_LAYERS_CALL(library_met);
}

/* The library that the call leads into: cached, unless the caller decides. */
static uint32_t library_of(struct tap_entry *e, void *real)
{
	uint32_t library;

	if (real == e->missing) {
		tap_problem("missing", e->name, 1);
		return 0;
	}
	if (__atomic_load_n(&e->by_caller, __ATOMIC_RELAXED))
		return tap_library_traced(real, "nccl");
	library = __atomic_load_n(&e->library, __ATOMIC_RELAXED);
	if (unlikely(!library)) {
		library = tap_library_traced(real, "nccl");
		__atomic_store_n(&e->library, library, __ATOMIC_RELAXED);
		meet_library();
	}
	return library;
}

uint64_t tap_call_number(void)
{
	return __atomic_add_fetch(&last_call_id, 1, __ATOMIC_RELAXED);
}

static void fill_call(struct tap_call *call, struct tap_entry *e, void *real,
		      const void *caller)
{
	tap_announce();
	call->call_id = tap_call_number();
	call->parent_id = tap_thread.call_id;
	call->parent = tap_thread.function;
	call->caller_library = tap_library_of(caller, &call->caller_offset);
	call->inner = tap_library_calls_itself(call->caller_library, call->parent_id);
	call->pnccl = e->pnccl;
	call->looked_up = !e->linked;
	call->library = library_of(e, real);
	call->stack_id = 0;
	if (unlikely(tap_stack_depth) && !call->inner)
		call->stack_id = tap_stack_of(caller);
	call->comm_id = 0;
	call->comm_key = 0;
	call->op_number = 0;
}

/* Where the linker puts this library's first bytes, and what is behind its code. */
extern const char __ehdr_start[] tap_hidden, _DYNAMIC[] tap_hidden;

/*
 * A function that ends with a call of another one may jump there: then the return address
 * is that of a wrapper, which has called the first one, and the caller is what the
 * wrapper has called.  NVIDIA's ncclBcast for aarch64 calls ncclBroadcast so (2.28.9).
 */
static const void *caller_behind(const void *caller)
{
	const uintptr_t own = (uintptr_t) __ehdr_start;

	return unlikely((uintptr_t) caller - own < (uintptr_t) _DYNAMIC - own) &&
			       tap_thread.real
		       ? tap_thread.real
		       : caller;
}

void *tap_call_enter(struct tap_call *ret_call, struct tap_guard *ret_guard,
		     struct tap_entry *e, const void *caller)
{
	void *real;

	caller = caller_behind(caller);
	*ret_guard = tap_guard_set();
	real = tap_entry_resolve(e, caller);
	ret_call->parent_real = tap_thread.real;
	tap_thread.real = real;
	ret_call->call_id = 0;
	if (!ret_guard->was_inside && make_ready(e, ret_guard)) {
		if (unlikely(!tap_thread.tid))
			tap_thread_know();
		fill_call(ret_call, e, real, caller);
		tap_thread.call_id = ret_call->call_id;
		tap_thread.function = e->name + e->pnccl;
		return real;
	}
	tap_guard_clear(*ret_guard);
	return real;
}

void tap_call_leave(const struct tap_call *call)
{
	tap_call_hide(call->call_id);
	tap_thread.call_id = call->parent_id;
	tap_thread.function = call->parent;
	tap_thread.real = call->parent_real;
}

/* ---- The layer ---- */

/*
 * Sends the next call of every entry through the slow path.  Works without the lock too
 * if that stays taken: no call may reach an unloaded function.
 */
static void expire_entries(void)
{
	const bool is_locked = tap_lock_take(&lock);

	expire_all();
	if (is_locked)
		tap_lock_drop(&lock);
}

/* Under the lock, so that no thread points a switch to what it decided before. */
static void reconsider(void)
{
	const bool is_locked = tap_lock_take(&lock);

	tap_entries_each(expire_ready);
	if (is_locked)
		tap_lock_drop(&lock);
}

/* The child has no counters yet: its next call makes them. */
static void fork_child(void)
{
	if (tap_metrics_page)
		tap_entries_each(expire_ready);
}

const struct tap_layer tap_layer_entry = {
	.fork_child = fork_child,
	.reconsider = reconsider,
	.expire = expire_entries,
	.lock = &lock,
};
