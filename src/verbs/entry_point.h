/* SPDX-License-Identifier: MIT */
/*
 * The way in: libibverbs' exported functions, each under its own version, and whether
 * events can be written.
 *
 * What a function means stands as tap_on_<name>() in the files that know its object; each
 * calls the real one itself, since some things must be forgotten before.
 */
#ifndef TAP_VERBS_ENTRY_POINT_H
#define TAP_VERBS_ENTRY_POINT_H

#include "calls/verbs_calls.h"
#include "intercept/resolve.h"

/* clang-format off */
#define CALL(version, ret_t, absent, fn, ...) \
	ret_t tap_on_##fn(fn##_function real, PARAMS(__VA_ARGS__)) tap_hidden;
#include "calls/verbs.def"
#undef CALL
/* clang-format on */

/* A function that has no row: asked for when a device is opened. */
void *tap_verbs_function(const char *name, const char *version) tap_hidden;

/*
 * Around what is told of a set-up call: starts recording if need be.  NULL when nothing
 * can be told.  The guard is set either way, for tap_guard_clear().
 */
const struct tap_verbs_events *
tap_verbs_begin_emit(struct tap_guard *ret_guard) tap_hidden;

/* Whether a hot event is wanted: nobody's until LTTng is there. */
extern const int *tap_verbs_on[TAP_VERBS_HOT_NR] tap_hidden;

static inline bool tap_verbs_wants(enum tap_verbs_hot event)
{
	return unlikely(*__atomic_load_n(&tap_verbs_on[event], __ATOMIC_RELAXED));
}

/* Of a hot event that is wanted; errno is kept. */
void tap_verbs_write(enum tap_verbs_hot event, const void *record,
		     size_t length) tap_hidden;

/* Of state.c, as struct tap_layer has them. */
void tap_verbs_write_statedump(struct tap_state_counts *counts) tap_hidden;
void tap_verbs_look(int64_t stuck_ns) tap_hidden;
void tap_verbs_fork_prepare(void) tap_hidden;
void tap_verbs_fork_done(void) tap_hidden;

#endif
