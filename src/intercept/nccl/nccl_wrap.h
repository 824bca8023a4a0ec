/* SPDX-License-Identifier: MIT */
/*
 * Turns a row of nccl.def into wrappers: the whole hot path of a call.
 *
 * A wrapper that does not record consists of two loads, two tests and a jump to the real
 * function, or the code of its hook (hooks.h).  The recording code is a cold function of
 * its own, so that the wrapper saves no registers for it.
 *
 * While --metrics counts calls the switches are set, and a wrapper finds by their value
 * that it only has to count: the path of a call that is neither recorded nor counted has no
 * test for it.  Where nothing is recorded yet, one switch is what the supervisor sets when
 * that is to change, so that costs no test either.
 */
#ifndef TAP_INTERCEPT_NCCL_NCCL_WRAP_H
#define TAP_INTERCEPT_NCCL_NCCL_WRAP_H

#include "common/args.h"
#include "common/compiler.h"
#include "intercept/entry.h"
#include "intercept/guard.h"
#include "intercept/metrics.h"
#include "intercept/nccl/hooks.h"
#include "intercept/trace.h"
#include "intercept/wrap.h"

/* clang-format off */

/* A call's result when no loaded library defines the function. */
#define TAP_ABSENT_RESULT(ret_t) ((ret_t) 3) /* ncclInternalError */
#define TAP_ABSENT_STR(ret_t) "no NCCL library is loaded"
#define TAP_ABSENT_I32(ret_t) ((ret_t) 0)
#define TAP_ABSENT_U32(ret_t) ((ret_t) 0)
#define TAP_ABSENT_U64(ret_t) ((ret_t) 0)
#define TAP_ABSENT_PTR(ret_t) ((ret_t) 0)
#define TAP_ABSENT_SKIP(ret_t) ((ret_t) {0})

/* 0: the call is neither recorded nor counted. */
#define TAP_SWITCHES(e) (*TAP_READ((e).entry_on) | *TAP_READ((e).exit_on))

/* Of what TAP_SWITCHES(e) was: the call is counted and not recorded. */
#define TAP_ONLY_COUNTS(e) \
	likely(tap_on == TAP_COUNTS_ALONE || \
	       (TAP_READ((e).entry_on) == &tap_counts && \
		!(*TAP_READ((e).counted_entry_on) | *TAP_READ((e).counted_exit_on))))

/* TAP_IS_COUNTED_<what TAP_COUNTED_H says>, and so on. */
#define TAP_BY_COUNT(m, hook) ARGS_CAT(m, TAP_COUNTED_##hook)
#define TAP_IS_COUNTED_NONE false
#define TAP_IS_COUNTED_OTHER true
#define TAP_IS_COUNTED_OP true

/* In a wrapper, once one of its switches is set. */
#define TAP_COUNT_NONE(fn, e, is_linked, ...)
#define TAP_COUNT_OTHER(fn, e, is_linked, ...) \
	if (TAP_ONLY_COUNTS(e)) \
		return fn##_counted(TAP_REAL_FOR_CALLER(fn, e, is_linked) TAP_MORE(__VA_ARGS__));
#define TAP_COUNT_OP(fn, e, is_linked, ...) \
	if (TAP_ONLY_COUNTS(e)) \
		return e##_counting(NAMES(__VA_ARGS__));

/*
 * An operation that is counted.  It has the arguments of the wrapper, which therefore jumps
 * here: to pass seven of them on takes as long as to count.  Apart, so that a wrapper that
 * does not count saves no registers for it.
 */
#define TAP_COUNTING_NONE(hook, fn, e, ret_t, ...)
#define TAP_COUNTING_OTHER(hook, fn, e, ret_t, ...)
#define TAP_COUNTING_OP(hook, fn, e, ret_t, ...) \
	tap_apart static ret_t e##_counting(PARAMS(__VA_ARGS__)) \
	{ \
		const struct fn##_args tap_args = { NAMES(__VA_ARGS__) }; \
		struct tap_metrics_slot *const tap_slot = \
			tap_operation_count_begin(#fn, tap_args.comm, TAP_##fn); \
		const uint64_t tap_bytes = TAP_BYTES(__VA_ARGS__); \
		ret_t tap_result; \
		if (unlikely(!tap_slot)) \
			return fn##_counted(TAP_REAL(fn, e) TAP_MORE(__VA_ARGS__)); \
		tap_result = TAP_REAL(fn, e)(NAMES(__VA_ARGS__)); \
		tap_metrics_count_end(tap_slot, unlikely(tap_result) && \
				      !tap_call_counts((int) tap_result), tap_bytes); \
		TAP_AFTER_##hook \
		return tap_result; \
	}

/*
 * Before and after the real call.  Its end counts only in the page in which its begin did:
 * another thread, or a child that was made inside the call, may have made one meanwhile.
 */
#define TAP_COUNT_BEGIN_NONE(fn)
#define TAP_COUNT_BEGIN_OTHER(fn) tap_count = tap_metrics_begin_shared(TAP_##fn, false);
#define TAP_COUNT_BEGIN_OP(fn) \
	tap_count = tap_metrics_call_begins(tap_thread.last_comm->counts, TAP_##fn);
#define TAP_COUNT_END_NONE(fn, ...)
#define TAP_COUNT_END_OTHER(fn, ...) \
	tap_metrics_end_shared(&tap_count, TAP_##fn, !tap_call_counts((int) tap_result), 0);
#define TAP_COUNT_END_OP(fn, ...) \
	tap_metrics_call_ends(&tap_count, TAP_##fn, !tap_call_counts((int) tap_result), \
			      TAP_BYTES(__VA_ARGS__));

/* What a call moves, as it says it: its count times the size of its type. */
#define TAP_BYTES(...) \
	((0 ARGS_WALK(TAP_COUNT_OF, SEP_NONE, ##__VA_ARGS__)) * \
	 tap_metrics_type_bytes((unsigned) (0 ARGS_WALK(TAP_TYPE_OF, SEP_NONE, ##__VA_ARGS__))))
/* Kinds are many, and only two of them have a macro here: one that has none gives 0. */
#define TAP_IS_COUNT_COUNT ~, 1
#define TAP_IS_TYPE_DATATYPE ~, 1
#define TAP_IS(...) TAP_SECOND(__VA_ARGS__, 0, ~)
#define TAP_SECOND(a, b, ...) b
#define TAP_ADD_IF(is, n) TAP_ADD_IF_(is, n)
#define TAP_ADD_IF_(is, n) TAP_ADD_##is(n)
#define TAP_ADD_0(n)
#define TAP_ADD_1(n) + (uint64_t) (n)
#define TAP_COUNT_OF(t, n, k) TAP_ADD_IF(TAP_IS(TAP_IS_COUNT_##k), n)
#define TAP_COUNT_OF_NONE
#define TAP_TYPE_OF(t, n, k) TAP_ADD_IF(TAP_IS(TAP_IS_TYPE_##k), n)
#define TAP_TYPE_OF_NONE

/* Those of copies are empty until one is bound (lookup.c). */
#define TAP_ENTRY_0(hook, fn, sym, is_pnccl)
#define TAP_ENTRY_1(hook, fn, sym, is_pnccl) = { \
	.entry_on = &tap_not_ready, .exit_on = &tap_not_ready, .name = #sym, \
	.missing = (void *) fn##_missing, .row = TAP_##fn, \
	.pnccl = is_pnccl, .linked = true, \
	.is_counted = TAP_BY_COUNT(TAP_IS_COUNTED_, hook) \
}

/* One binding of one name: its entry, and the function that the program calls. */
#define TAP_BINDING(linkage, binding, hook, fn, sym, is_pnccl, is_linked, ret_t, ...) \
	static struct tap_entry sym##_##binding TAP_ENTRY_##is_linked(hook, fn, sym, is_pnccl); \
	TAP_BY_COUNT(TAP_COUNTING_, hook)(hook, fn, sym##_##binding, ret_t, ##__VA_ARGS__) \
	linkage ret_t tap_##binding##_##sym(PARAMS(__VA_ARGS__)); \
	linkage ret_t tap_##binding##_##sym(PARAMS(__VA_ARGS__)) \
	{ \
		const int tap_on = TAP_SWITCHES(sym##_##binding); \
		if (unlikely(tap_on)) { \
			TAP_BY_COUNT(TAP_COUNT_, hook)(fn, sym##_##binding, is_linked, \
						       ##__VA_ARGS__) \
			return fn##_traced(&sym##_##binding, \
				__builtin_return_address(0) TAP_MORE(__VA_ARGS__)); \
		} \
		TAP_PASS_##hook(fn, sym##_##binding, is_linked, ##__VA_ARGS__) \
	}

/*
 * The real function.  A call on a communicator reaches the library that made it, so only
 * other calls depend on the caller.
 */
#define TAP_REAL(fn, e) ((fn##_function) TAP_READ((e).real))
#define TAP_REAL_FOR_CALLER(fn, e, is_linked) \
	((fn##_function) ((is_linked) ? tap_entry_resolve(&(e), __builtin_return_address(0)) \
				      : TAP_READ((e).real)))

/*
 * The tracer's names begin with tap_, since a vendor's parameter may have any other name.
 * A void function has no hook, since hooks use the result.
 */
#define TAP_FUNCTIONS(ret_t, fn, absent, ...) \
	typedef ret_t (*fn##_function)(PARAMS(__VA_ARGS__)); \
	static ret_t fn##_missing(PARAMS(__VA_ARGS__)) \
	{ \
		const struct fn##_args unused tap_maybe_unused = { NAMES(__VA_ARGS__) }; \
		absent; \
	}

#define TAP_SHOW(fn) \
	tap_call_show(tap_call.call_id, #fn, tap_call.comm_id, tap_call.comm_key, \
		      tap_call.op_number);

#define TAP_BINDINGS(hook, ret_t, fn, ...) \
	TAP_BINDING(tap_exported, linked, hook, fn, fn, 0, 1, ret_t, ##__VA_ARGS__) \
	TAP_BINDING(tap_exported, linked, hook, fn, p##fn, 1, 1, ret_t, ##__VA_ARGS__) \
	TAP_COPY(copy1, hook, ret_t, fn, ##__VA_ARGS__) \
	TAP_COPY(copy2, hook, ret_t, fn, ##__VA_ARGS__) \
	TAP_COPY(copy3, hook, ret_t, fn, ##__VA_ARGS__) \
	TAP_COPY(copy4, hook, ret_t, fn, ##__VA_ARGS__) \
	TAP_EXPORT(fn) \
	TAP_EXPORT(p##fn)

/* There are TAP_NR_COPIES of these. */
#define TAP_COPY(binding, hook, ret_t, fn, ...) \
	TAP_BINDING(static, binding, hook, fn, fn, 0, 0, ret_t, ##__VA_ARGS__) \
	TAP_BINDING(static, binding, hook, fn, p##fn, 1, 0, ret_t, ##__VA_ARGS__)

#define TAP_WRAP_CALL(since, class, hook, ret_kind, ret_t, fn, ...) \
	TAP_FUNCTIONS(ret_t, fn, return TAP_ABSENT_##ret_kind(ret_t), ##__VA_ARGS__) \
	tap_apart static ret_t fn##_passed(fn##_function tap_real \
		TAP_MORE_PARAMS(__VA_ARGS__)) \
	{ \
		const struct fn##_args tap_args tap_maybe_unused = { NAMES(__VA_ARGS__) }; \
		const uint64_t tap_call_id tap_maybe_unused = 0; \
		TAP_LOCALS_##hook \
		ret_t tap_result; \
		if (!TAP_BEFORE_##hook(#fn)) \
			return tap_real(NAMES(__VA_ARGS__)); \
		tap_result = tap_real(NAMES(__VA_ARGS__)); \
		TAP_AFTER_##hook \
		return tap_result; \
	} \
	tap_maybe_unused tap_apart static ret_t fn##_counted(fn##_function tap_real \
		TAP_MORE_PARAMS(__VA_ARGS__)) \
	{ \
		const struct fn##_args tap_args tap_maybe_unused = { NAMES(__VA_ARGS__) }; \
		struct tap_metrics_call tap_count tap_maybe_unused; \
		const uint64_t tap_call_id tap_maybe_unused = 0; \
		TAP_LOCALS_##hook \
		ret_t tap_result; \
		if (!TAP_BEFORE_##hook(#fn)) \
			return tap_real(NAMES(__VA_ARGS__)); \
		TAP_BY_COUNT(TAP_COUNT_BEGIN_, hook)(fn) \
		tap_result = tap_real(NAMES(__VA_ARGS__)); \
		TAP_BY_COUNT(TAP_COUNT_END_, hook)(fn, ##__VA_ARGS__) \
		TAP_AFTER_##hook \
		return tap_result; \
	} \
	tap_cold static ret_t fn##_traced(struct tap_entry *tap_e, \
		const void *tap_caller TAP_MORE_PARAMS(__VA_ARGS__)) \
	{ \
		const struct fn##_args tap_args = { NAMES(__VA_ARGS__) }; \
		struct tap_metrics_call tap_count tap_maybe_unused = {0}; \
		const struct tap_metrics_page *tap_page tap_maybe_unused = NULL; \
		const struct tap_call_events *tap_row; \
		uint64_t tap_call_id tap_maybe_unused; \
		struct tap_guard tap_guard; \
		struct tap_call tap_call; \
		fn##_function tap_real; \
		bool tap_is_meant; \
		TAP_LOCALS_##hook \
		ret_t tap_result; \
		tap_real = (fn##_function) tap_call_enter(&tap_call, &tap_guard, tap_e, \
							  tap_caller); \
		tap_call_id = tap_call.call_id; \
		if (!tap_call.call_id) { \
			tap_result = TAP_BY_COUNT(TAP_IS_COUNTED_, hook) && tap_metrics_page \
				? fn##_counted(tap_real TAP_MORE(__VA_ARGS__)) \
				: fn##_passed(tap_real TAP_MORE(__VA_ARGS__)); \
			tap_thread.real = tap_call.parent_real; \
			return tap_result; \
		} \
		tap_is_meant = TAP_BEFORE_##hook(#fn); \
		TAP_DESCRIBE_##hook \
		TAP_SHOW(fn) \
		tap_row = &tap_events_table->nccl[TAP_##fn]; \
		tap_row->entry(&tap_call, &tap_args); \
		tap_guard_clear(tap_guard); \
		if (unlikely(tap_metrics_page) && tap_is_meant) { \
			tap_page = tap_metrics_page; \
			TAP_BY_COUNT(TAP_COUNT_BEGIN_, hook)(fn) \
		} \
		tap_result = tap_real(NAMES(__VA_ARGS__)); \
		tap_guard = tap_guard_set(); \
		if (tap_is_meant) { \
			if (unlikely(tap_page) && tap_page == tap_metrics_page) { \
				TAP_BY_COUNT(TAP_COUNT_END_, hook)(fn, ##__VA_ARGS__) \
			} \
			TAP_AFTER_##hook \
		} \
		TAP_FINISH_##hook \
		tap_row->exit(&tap_call, &tap_args, &tap_result); \
		tap_call_leave(&tap_call); \
		tap_guard_clear(tap_guard); \
		return tap_result; \
	} \
	TAP_BINDINGS(hook, ret_t, fn, ##__VA_ARGS__)

#define TAP_WRAP_VOID(since, class, fn, ...) \
	TAP_FUNCTIONS(void, fn, return, ##__VA_ARGS__) \
	tap_cold static void fn##_traced(struct tap_entry *tap_e, \
		const void *tap_caller TAP_MORE_PARAMS(__VA_ARGS__)) \
	{ \
		const struct fn##_args tap_args = { NAMES(__VA_ARGS__) }; \
		const struct tap_call_events *tap_row; \
		struct tap_guard tap_guard; \
		struct tap_call tap_call; \
		fn##_function tap_real; \
		tap_real = (fn##_function) tap_call_enter(&tap_call, &tap_guard, tap_e, \
							  tap_caller); \
		if (!tap_call.call_id) { \
			tap_real(NAMES(__VA_ARGS__)); \
			tap_thread.real = tap_call.parent_real; \
			return; \
		} \
		TAP_SHOW(fn) \
		tap_row = &tap_events_table->nccl[TAP_##fn]; \
		tap_row->entry(&tap_call, &tap_args); \
		tap_guard_clear(tap_guard); \
		tap_real(NAMES(__VA_ARGS__)); \
		tap_guard = tap_guard_set(); \
		tap_row->exit(&tap_call, &tap_args, NULL); \
		tap_call_leave(&tap_call); \
		tap_guard_clear(tap_guard); \
	} \
	TAP_BINDINGS(PLAIN, void, fn, ##__VA_ARGS__)

#endif
