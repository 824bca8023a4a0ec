/* SPDX-License-Identifier: MIT */
/* The last warning of the process and the translation of errno. */
#include "result.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under lock; one for the process, as NCCL's. */
static char last_error[256];

ncclResult_t mini_fail(ncclResult_t result, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	pthread_mutex_lock(&lock);
	vsnprintf(last_error, sizeof(last_error), format, args);
	pthread_mutex_unlock(&lock);
	va_end(args);
	return result;
}

ncclResult_t mini_result(int err)
{
	switch (err) {
	case 0:
		return ncclSuccess;
	case -ECONNRESET:
	case -ECONNREFUSED:
	case -EPIPE:
		return mini_fail(ncclRemoteError, "connection closed by remote peer");
	case -ECANCELED:
		/* What NCCL's sockets return once the communicator is aborted. */
		return mini_fail(ncclInternalError, "operation aborted");
	case -EPROTO:
		return mini_fail(ncclInternalError, "an answer to nothing that was asked");
	default:
		return mini_fail(ncclSystemError, "system call failed: %s",
				 strerror(-err));
	}
}

const char *mini_last_error(void)
{
	static __thread char copy[sizeof(last_error)];

	pthread_mutex_lock(&lock);
	memcpy(copy, last_error, sizeof(copy));
	pthread_mutex_unlock(&lock);
	return copy;
}
