/* SPDX-License-Identifier: MIT */
/*
 * Compares names where no function may be called: the program may ask for a symbol before
 * libc is relocated, and strcmp() is itself a symbol that the loader chooses at run time.
 *
 * It hides the loop that replaces strcmp().
 */
#ifndef TAP_COMMON_NAMES_H
#define TAP_COMMON_NAMES_H

#include <stdbool.h>

static inline bool tap_same_name(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

#endif
