/* SPDX-License-Identifier: MIT */
/*
 * What common/safe_read.c promises, without asking the kernel first: one byte too much
 * that is read is a fault.
 */
#ifndef TAP_TESTS_UNASKED_READ_H
#define TAP_TESTS_UNASKED_READ_H

#include <stddef.h>
#include <string.h>

#include "common/safe_read.h"

void *tap_safe_read(void *ret_copy, const void *from, size_t size)
{
	return from ? memcpy(ret_copy, from, size) : NULL;
}

char *tap_safe_read_string(char *ret_copy, size_t size, const char *from)
{
	size_t used;

	for (used = 0; from && used < size - 1 && from[used]; used++)
		ret_copy[used] = from[used];
	ret_copy[used] = '\0';
	return ret_copy;
}

#endif
