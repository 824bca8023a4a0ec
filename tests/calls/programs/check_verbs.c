/* SPDX-License-Identifier: MIT */
/*
 * Compiled, never run: libibverbs' header says the same as our rows.  A row whose
 * signature differs is a conflicting declaration at the row.
 */
#include <infiniband/verbs.h>

#include "calls/verbs_calls.h"

/* clang-format off */
#define CALL(version, ret_t, absent, fn, ...) ret_t fn(PARAMS(__VA_ARGS__));
#include "calls/verbs.def"
