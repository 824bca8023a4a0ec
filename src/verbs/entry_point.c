/* SPDX-License-Identifier: MIT */
/*
 * The wrappers of the set-up functions, generated from the rows, and what dlsym()
 * returns.
 */
#include "verbs/entry_point.h"

#include <errno.h>
#include <string.h>

#include "common/names.h"
#include "common/thread.h"

#define SONAME "libibverbs.so"

struct entry {
	struct tap_resolved at;
	void *wrapper;
};

static const int never;
const int *tap_verbs_on[TAP_VERBS_HOT_NR] = {
	[0 ... TAP_VERBS_HOT_NR - 1] = &never,
};

/* clang-format off */
#define CALL(version, ret_t, absent, fn, ...) \
	tap_exported ret_t tap_verbs_##fn(PARAMS(__VA_ARGS__)); \
	static struct entry entry_##fn = {{SONAME, #fn, version, NULL, 0}, \
					  (void *) tap_verbs_##fn}; \
	tap_exported ret_t tap_verbs_##fn(PARAMS(__VA_ARGS__)) \
	{ \
		fn##_function real = (fn##_function) tap_resolve(&entry_##fn.at); \
		if (unlikely(!real)) { \
			errno = ENOSYS; \
			return absent; \
		} \
		if (tap_thread.in_tracer) \
			return real(NAMES(__VA_ARGS__)); \
		return tap_on_##fn(real, NAMES(__VA_ARGS__)); \
	} \
	__asm__(".symver tap_verbs_" #fn ", " #fn "@" version);
#include "calls/verbs.def"
#undef CALL

#define CALL(version, ret_t, absent, fn, ...) &entry_##fn,
static struct entry *const entries[] = {
#include "calls/verbs.def"
};
#undef CALL
/* clang-format on */

void *tap_verbs_function(const char *name, const char *version)
{
	return tap_resolve_version(SONAME, name, version);
}

/* ---- What dlsym() returns ---- */

/* The queues that these functions make bypass every table. */
static const char *const direct[] = {
	"mlx5dv_init_obj",
	"mlx5dv_devx_obj_create",
	"efadv_create_driver_qp",
	"doca_verbs_qp_create",
};
static int nr_reported_direct[ARRAY_SIZE(direct)];

static void emit_direct(unsigned i)
{
	const struct tap_verbs_events *events;
	struct tap_guard guard;

	if (__atomic_exchange_n(&nr_reported_direct[i], 1, __ATOMIC_RELAXED))
		return;
	events = tap_verbs_begin_emit(&guard);
	if (events)
		events->unobserved(
			0, direct[i],
			"looked up: what it makes is worked without libibverbs");
	tap_guard_clear(guard);
}

/* The tracer stands in for a name only in the version of its row. */
static void *stand_in(const char *name, void *found)
{
	unsigned i;

	if (tap_thread.in_tracer)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(entries); i++)
		if (tap_same_name(entries[i]->at.name, name) &&
		    (found == entries[i]->wrapper ||
		     found == tap_resolve(&entries[i]->at)))
			return entries[i]->wrapper;
	for (i = 0; i < ARRAY_SIZE(direct); i++)
		if (tap_same_name(direct[i], name))
			emit_direct(i);
	return NULL;
}

/* ---- Events ---- */

/* Once LTTng has started. */
static void point_switches(void)
{
	unsigned i;

	for (i = 0; i < TAP_VERBS_HOT_NR; i++)
		__atomic_store_n(&tap_verbs_on[i], tap_events_table->verbs.on[i],
				 __ATOMIC_RELEASE);
}

static void reconsider(void)
{
	if (tap_has_started())
		point_switches();
}

const struct tap_verbs_events *tap_verbs_begin_emit(struct tap_guard *ret_guard)
{
	*ret_guard = tap_guard_set();
	if (ret_guard->was_inside)
		return NULL;
	if (tap_start(ret_guard) != TAP_STARTED) {
		tap_start_if_wished();
		return NULL;
	}
	if (unlikely(tap_verbs_on[0] == &never))
		point_switches();
	if (*tap_verbs_on[0] || *tap_events_table->open_call_on)
		tap_announce();
	return &tap_events_table->verbs;
}

void tap_verbs_write(enum tap_verbs_hot event, const void *record, size_t length)
{
	const struct tap_guard guard = tap_guard_set();

	tap_announce();
	tap_events_table->verbs.write[event](record, length);
	tap_guard_clear(guard);
}

static const char *const prefixes[] = {"ibv_", "mlx5dv_", "efadv_", "doca_verbs_", NULL};

const struct tap_layer tap_layer_verbs = {
	.stand_in = stand_in,
	.prefixes = prefixes,
	.reconsider = reconsider,
	.write_statedump = tap_verbs_write_statedump,
	.look = tap_verbs_look,
	.sample = tap_verbs_sample,
	.fork_prepare = tap_verbs_fork_prepare,
	.fork_parent = tap_verbs_fork_done,
	.fork_child = tap_verbs_fork_done,
};
