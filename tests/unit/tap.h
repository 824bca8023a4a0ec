/* SPDX-License-Identifier: MIT */
/* The cases of a unit test: what each holds to be true, and where it is not. */
#ifndef TAP_TESTS_UNIT_TAP_H
#define TAP_TESTS_UNIT_TAP_H

#include "lib/tap.h"

/* A failed condition is told with its place; the case goes on. */
#define CHECK(condition) check(condition, #condition, __LINE__, &is_passed)

static inline void check(bool condition, const char *text, int line, bool *is_passed)
{
	if (condition)
		return;
	printf("# line %d: %s\n", line, text);
	*is_passed = false;
}

/* One case: a sentence and what holds if it is true. */
static inline void report(const char *sentence, bool (*test)(void))
{
	ok(test(), sentence);
}

#endif
