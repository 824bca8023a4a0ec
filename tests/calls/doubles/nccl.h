/* SPDX-License-Identifier: MIT */
/*
 * What the libnccl.so.2 double promises the test that calls it: it keeps each
 * call's arguments in <call>_seen, touches no memory that they point to, leaves
 * DOUBLE_ERRNO in errno, and returns what the macros below make of the arguments.
 */
#ifndef TAP_TESTS_DOUBLE_NCCL_H
#define TAP_TESTS_DOUBLE_NCCL_H

#include <string.h>

#include "calls/nccl_calls.h"

#define DOUBLE_ERRNO 113

/* What calls with a result code return; -1: a number made of the arguments. */
extern int double_result;

/* Changes with every byte of the arguments. */
static inline unsigned int double_sum(const void *args, size_t size)
{
	const unsigned char *byte = args;
	unsigned int sum = 1;

	while (size--)
		sum = sum * 31 + *byte++;
	return sum;
}

/* Calls that return a string return some end of this one, or double_string unless NULL.
 */
extern const char double_text[64];
extern const char *double_string;

static inline ncclTeam_t double_team(unsigned int sum)
{
	return (ncclTeam_t){(int) sum, (int) (sum ^ 0x55555555), (int) ~sum};
}

/* clang-format off */
#define DOUBLE_RETURN_RESULT(sum) \
	((ncclResult_t) (double_result < 0 ? (sum) : (unsigned) double_result))
#define DOUBLE_RETURN_STR(sum) \
	(double_string ? double_string : double_text + (sum) % (sizeof(double_text) - 1))
#define DOUBLE_RETURN_I32(sum) ((int) (sum))
#define DOUBLE_RETURN_SKIP(sum) double_team(sum)

#endif
