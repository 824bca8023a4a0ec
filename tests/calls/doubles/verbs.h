/* SPDX-License-Identifier: MIT */
/*
 * What the libibverbs.so.1 double promises the test that calls it: it keeps each call's
 * arguments in <call>_seen, touches no memory that they point to, leaves DOUBLE_ERRNO in
 * errno, and succeeds or fails as it is told.
 */
#ifndef TAP_TESTS_DOUBLE_VERBS_H
#define TAP_TESTS_DOUBLE_VERBS_H

#include <string.h>

#include "calls/verbs_calls.h"

#define DOUBLE_ERRNO 113
#define DOUBLE_FAILURE 22

/* What comes next fails. */
extern int double_fails;

/*
 * What a call that makes something gives: all have their context first, and a context has
 * its device there.
 */
union double_object {
	void *first;
	char room[1024];
};
extern struct ibv_device double_device;
extern union double_object double_context;

/* clang-format off */
#define CALL(version, ret_t, absent, fn, ...) \
	struct fn##_args { \
		MEMBERS(__VA_ARGS__) \
	}; \
	extern struct fn##_args fn##_seen; \
	extern union double_object fn##_object;
#include "calls/verbs.def"
#undef CALL
/* clang-format on */

#define DOUBLE_IS_POINTER(type) (__builtin_classify_type((type) 0) == 5)

#endif
