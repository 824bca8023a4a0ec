/* SPDX-License-Identifier: MIT */
/*
 * Compares names where nothing may be called.
 *
 * Who asks for a symbol may ask before libc was relocated, and strcmp() is a
 * symbol too: one chosen at run time.
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
