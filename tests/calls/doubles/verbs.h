/* SPDX-License-Identifier: MIT */
/*
 * What the fake libibverbs.so.1 promises the test that calls it: it keeps each call's
 * arguments in <call>_seen, touches no memory that they point to, leaves FAKE_ERRNO in
 * errno, and succeeds or fails as it is told.
 */
#ifndef TAP_TESTS_FAKE_VERBS_H
#define TAP_TESTS_FAKE_VERBS_H

#include <string.h>

#include "calls/verbs_calls.h"

#define FAKE_ERRNO 113
#define FAKE_FAILURE 22

/* What comes next fails. */
extern int fake_fails;

/*
 * What a call that makes something gives: all have their context first, and a context has
 * its device there.
 */
union fake_object {
	void *first;
	char room[1024];
};
extern struct ibv_device fake_device;
extern union fake_object fake_context;

/* clang-format off */
#define CALL(version, ret_t, absent, fn, ...) \
	struct fn##_args { \
		MEMBERS(__VA_ARGS__) \
	}; \
	extern struct fn##_args fn##_seen; \
	extern union fake_object fn##_object;
#include "calls/verbs.def"
#undef CALL
/* clang-format on */

#define FAKE_IS_POINTER(type) (__builtin_classify_type((type) 0) == 5)

#endif
