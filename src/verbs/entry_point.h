/* SPDX-License-Identifier: MIT */
/*
 * The entry points: libibverbs' exported functions, each under its own version, and
 * whether events can be written.
 *
 * What a function means is in tap_on_<name>(), in the file that knows its object.  Each
 * tap_on_<name>() calls the real function itself, since it must forget some objects
 * before that call.
 *
 * It hides how the wrappers are generated and when the switches of the events become
 * valid.
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

/* A libibverbs function without a row, which the tracer itself calls. */
void *tap_verbs_function(const char *name, const char *version) tap_hidden;

/*
 * Begins the events of a set-up call and starts recording if need be, or if a process
 * that only counts is to be recorded now: posts and polls do not look for that.  Returns
 * NULL when no event can be written.  The guard is set either way, for tap_guard_clear().
 */
const struct tap_verbs_events *
tap_verbs_begin_emit(struct tap_guard *ret_guard) tap_hidden;

/* The switch of each hot event; all are off until LTTng is loaded. */
extern const int *tap_verbs_on[TAP_VERBS_HOT_NR] tap_hidden;

static inline bool tap_verbs_wants(enum tap_verbs_hot event)
{
	return unlikely(*__atomic_load_n(&tap_verbs_on[event], __ATOMIC_RELAXED));
}

/* The caller has checked that the event is wanted; errno is kept. */
void tap_verbs_write(enum tap_verbs_hot event, const void *record,
		     size_t length) tap_hidden;

/* Defined in statedump.c for struct tap_layer. */
void tap_verbs_write_statedump(struct tap_state_counts *counts) tap_hidden;
void tap_verbs_look(int64_t stuck_ns) tap_hidden;
/* Likewise, once a second: samples the ports. */
void tap_verbs_sample(unsigned sources) tap_hidden;
void tap_verbs_fork_prepare(void) tap_hidden;
void tap_verbs_fork_done(void) tap_hidden;

#endif
