/* SPDX-License-Identifier: MIT */
/*
 * What the fake libnccl.so.2 promises the test that calls it: it keeps each
 * call's arguments in <call>_seen, touches no memory that they point to, leaves
 * FAKE_ERRNO in errno, and returns what the macros below make of the arguments.
 */
#ifndef TAP_TESTS_FAKE_NCCL_H
#define TAP_TESTS_FAKE_NCCL_H

#include <string.h>

#include "calls/nccl_calls.h"

#define FAKE_ERRNO 113

/* What calls with a result code return; -1: a number made of the arguments. */
extern int fake_result;

/* Changes with every byte of the arguments. */
static inline unsigned int fake_sum(const void *args, size_t size)
{
	const unsigned char *byte = args;
	unsigned int sum = 1;

	while (size--)
		sum = sum * 31 + *byte++;
	return sum;
}

/* Calls that return a string return some end of this one, or fake_string unless NULL. */
extern const char fake_text[64];
extern const char *fake_string;

static inline ncclTeam_t fake_team(unsigned int sum)
{
	return (ncclTeam_t){(int) sum, (int) (sum ^ 0x55555555), (int) ~sum};
}

/* clang-format off */
#define FAKE_RETURN_RESULT(sum) \
	((ncclResult_t) (fake_result < 0 ? (sum) : (unsigned) fake_result))
#define FAKE_RETURN_STR(sum) \
	(fake_string ? fake_string : fake_text + (sum) % (sizeof(fake_text) - 1))
#define FAKE_RETURN_I32(sum) ((int) (sum))
#define FAKE_RETURN_SKIP(sum) fake_team(sum)

#endif
