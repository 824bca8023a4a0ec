/* SPDX-License-Identifier: MIT */
/*
 * How the double reports what went wrong: NCCL's result codes for its callers,
 * 0 or -errno between its own files, and the text of the last warning.
 */
#ifndef MINI_NCCL_RESULT_H
#define MINI_NCCL_RESULT_H

#include <nccl.h>

/* Keeps the text for ncclGetLastError() and returns `result`. */
ncclResult_t mini_fail(ncclResult_t result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What NCCL returns for a failure below its API: `err` is 0 or -errno. */
ncclResult_t mini_result(int err);

/* The text of the last warning of the process; valid until the thread's next call. */
const char *mini_last_error(void);

#endif
