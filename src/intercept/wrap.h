/* SPDX-License-Identifier: MIT */
/*
 * Turns a row into wrappers: the whole hot path of a call.
 *
 * A wrapper that records nothing is two loads and tests and a jump to the real
 * function; what records stands in a cold function of its own, so that the
 * other saves no registers for it.
 *
 * The exported names carry a version that is not their default one, in the
 * first version that the library defines.  The dynamic linker binds references
 * to such a name as to any other, but dlsym() passes over it: so a program that
 * asks whether it has NCCL is told the truth (doc/decisions/0002).
 */
#ifndef TAP_INTERCEPT_WRAP_H
#define TAP_INTERCEPT_WRAP_H

#include "common/args.h"
#include "common/compiler.h"
#include "intercept/entry.h"

#define TAP_VERSION_NODE "CCLTAP_0"

/* clang-format off */

/* What a call answers when the program has no library that could. */
#define TAP_ABSENT_RESULT(ret_t) ((ret_t) 3) /* ncclInternalError */
#define TAP_ABSENT_STR(ret_t) "no NCCL library is loaded"
#define TAP_ABSENT_I32(ret_t) ((ret_t) 0)
#define TAP_ABSENT_U32(ret_t) ((ret_t) 0)
#define TAP_ABSENT_U64(ret_t) ((ret_t) 0)
#define TAP_ABSENT_PTR(ret_t) ((ret_t) 0)
#define TAP_ABSENT_SKIP(ret_t) ((ret_t) {0})

#define TAP_READ(field) __atomic_load_n(&(field), __ATOMIC_ACQUIRE)
#define TAP_RECORDS(e) unlikely(*TAP_READ((e).entry_on) | *TAP_READ((e).exit_on))

#define TAP_ENTRY(fn, sym, is_pnccl, is_linked) { \
	.entry_on = &tap_not_ready, .exit_on = &tap_not_ready, .name = #sym, \
	.missing = (void *) fn##_missing, .row = TAP_##fn, \
	.pnccl = is_pnccl, .linked = is_linked \
}

/* One way into one name: its entry, and the function that the program calls. */
#define TAP_WAY(linkage, way, fn, sym, is_pnccl, is_linked, ret_t, ...) \
	static struct tap_entry sym##_##way = TAP_ENTRY(fn, sym, is_pnccl, is_linked); \
	linkage ret_t tap_##way##_##sym(PARAMS(__VA_ARGS__)); \
	linkage ret_t tap_##way##_##sym(PARAMS(__VA_ARGS__)) \
	{ \
		if (TAP_RECORDS(sym##_##way)) \
			return fn##_traced(&sym##_##way, \
				__builtin_return_address(0) TAP_MORE(__VA_ARGS__)); \
		return ((fn##_function) sym##_##way.real)(NAMES(__VA_ARGS__)); \
	}

#define TAP_MORE(...) ARGS_WALK(TAP_MORE_ARG, SEP_NONE, ##__VA_ARGS__)
#define TAP_MORE_ARG(t, n, k) , n
#define TAP_MORE_ARG_NONE
#define TAP_MORE_PARAMS(...) ARGS_WALK(TAP_MORE_PARAM, SEP_NONE, ##__VA_ARGS__)
#define TAP_MORE_PARAM(t, n, k) , t n
#define TAP_MORE_PARAM_NONE

#define TAP_EXPORT(sym) \
	__asm__(".symver tap_linked_" #sym ", " #sym "@" TAP_VERSION_NODE);

/*
 * Our own names start with tap_, since a vendor's parameter may have any other.
 * begin declares what the result is kept in, keep keeps it, at is its address,
 * and end returns it: empty for a call without result.
 */
#define TAP_WRAP(begin, keep, at, end, absent, ret_t, fn, ...) \
	typedef ret_t (*fn##_function)(PARAMS(__VA_ARGS__)); \
	static ret_t fn##_missing(PARAMS(__VA_ARGS__)) \
	{ \
		const struct fn##_args unused tap_maybe_unused = { NAMES(__VA_ARGS__) }; \
		absent; \
	} \
	tap_cold static ret_t fn##_traced(struct tap_entry *tap_e, \
		const void *tap_caller TAP_MORE_PARAMS(__VA_ARGS__)) \
	{ \
		const struct fn##_args tap_args = { NAMES(__VA_ARGS__) }; \
		const struct tap_call_events *tap_row; \
		struct tap_guard tap_guard; \
		struct tap_call tap_call; \
		fn##_function tap_real; \
		begin; \
		tap_real = (fn##_function) tap_call_enter(&tap_call, tap_e, tap_caller); \
		if (!tap_call.call_id) \
			return tap_real(NAMES(__VA_ARGS__)); \
		tap_row = &tap_events_table->nccl[TAP_##fn]; \
		tap_guard = tap_guard_set(); \
		tap_row->entry(&tap_call, &tap_args); \
		tap_guard_clear(tap_guard); \
		keep tap_real(NAMES(__VA_ARGS__)); \
		tap_guard = tap_guard_set(); \
		tap_row->exit(&tap_call, &tap_args, at); \
		tap_call_leave(&tap_call); \
		tap_guard_clear(tap_guard); \
		end; \
	} \
	TAP_WAY(tap_exported, linked, fn, fn, 0, 1, ret_t, ##__VA_ARGS__) \
	TAP_WAY(tap_exported, linked, fn, p##fn, 1, 1, ret_t, ##__VA_ARGS__) \
	TAP_WAY(static, looked_up, fn, fn, 0, 0, ret_t, ##__VA_ARGS__) \
	TAP_WAY(static, looked_up, fn, p##fn, 1, 0, ret_t, ##__VA_ARGS__) \
	TAP_EXPORT(fn) \
	TAP_EXPORT(p##fn)

#define TAP_WRAP_CALL(since, class, ret_kind, ret_t, fn, ...) \
	TAP_WRAP(ret_t tap_result, tap_result =, &tap_result, return tap_result, \
		 return TAP_ABSENT_##ret_kind(ret_t), ret_t, fn, ##__VA_ARGS__)
#define TAP_WRAP_VOID(since, class, fn, ...) \
	TAP_WRAP((void) 0, (void) 0;, NULL, return, return, void, fn, ##__VA_ARGS__)

#endif
