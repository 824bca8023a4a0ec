/* SPDX-License-Identifier: MIT */
/* TAP for the tests of the doubles, which share nothing with the rest of the tree. */
#ifndef DOUBLES_TAP_H
#define DOUBLES_TAP_H

#include <stdbool.h>
#include <stdio.h>

static int tap_number;
static int tap_failed;

static inline void ok(bool is_right, const char *sentence)
{
	tap_number++;
	tap_failed += !is_right;
	printf("%sok %d - %s\n", is_right ? "" : "not ", tap_number, sentence);
	fflush(stdout);
}

static inline int tap_done(void)
{
	printf("1..%d\n", tap_number);
	return tap_failed != 0;
}

#endif
