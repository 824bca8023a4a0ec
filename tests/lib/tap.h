/* SPDX-License-Identifier: MIT */
/* TAP for test programs: a sentence after another, and at the end how many there were. */
#ifndef TAP_TESTS_TAP_H
#define TAP_TESTS_TAP_H

#include <stdbool.h>
#include <stdio.h>

static unsigned int tap_number, tap_failed;

/* Written at once: what a crash leaves unsaid is where it happened. */
static inline void ok(bool is_right, const char *sentence)
{
	tap_number++;
	tap_failed += !is_right;
	printf("%sok %u - %s\n", is_right ? "" : "not ", tap_number, sentence);
	fflush(stdout);
}

/* The plan; returns the exit status of the test. */
static inline int tap_done(void)
{
	printf("1..%u\n", tap_number);
	return tap_failed != 0;
}

#endif
