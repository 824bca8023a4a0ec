/* SPDX-License-Identifier: MIT */
/*
 * What the rows of nccl.def declare: for each call struct <call>_args, its arguments as
 * an event reads them, and TAP_<call>, its number in a table of TAP_NCCL_NR rows.
 *
 * It hides how a row is read.  A row whose kinds do not fit its types does not compile.
 */
#ifndef TAP_CALLS_NCCL_CALLS_H
#define TAP_CALLS_NCCL_CALLS_H

#include "calls/kinds.h"
#include "calls/nccl_types.h"
#include "common/args.h"

/* clang-format off */
#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) \
	struct fn##_args { MEMBERS(__VA_ARGS__) }; \
	ARGS_WALK(ARG_FITS, SEP_NONE, ##__VA_ARGS__) \
	_Static_assert(RET_FITS_##ret_kind(ret_t), \
		       "kind " #ret_kind " does not fit the result of " #fn);
#define CALL_VOID(since, class, fn, ...) \
	struct fn##_args { MEMBERS(__VA_ARGS__) }; \
	ARGS_WALK(ARG_FITS, SEP_NONE, ##__VA_ARGS__)
#include "calls/nccl.def"
#undef CALL
#undef CALL_VOID

#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) TAP_##fn,
#define CALL_VOID(since, class, fn, ...) TAP_##fn,
enum tap_nccl_call {
#include "calls/nccl.def"
	TAP_NCCL_NR
};
#undef CALL
#undef CALL_VOID

#endif
