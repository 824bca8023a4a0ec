/* SPDX-License-Identifier: MIT */
/*
 * The types of libibverbs, and a type for each function of verbs.def.
 *
 * It hides that verbs.h defines some functions' names as macros.
 */
#ifndef TAP_CALLS_VERBS_CALLS_H
#define TAP_CALLS_VERBS_CALLS_H

#include <infiniband/verbs.h>

#include "common/args.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#undef ibv_query_port

#define CALL(version, ret_t, absent, fn, ...) typedef ret_t (*fn##_function)(PARAMS(__VA_ARGS__));
#include "calls/verbs.def"
#undef CALL

#endif
