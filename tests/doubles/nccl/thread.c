/* SPDX-License-Identifier: MIT */
/* The one way to name a thread. */
#include "thread.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void mini_thread_set_name(pthread_t thread, const char *format, ...)
{
	const char *wanted = getenv("NCCL_SET_THREAD_NAME");
	/* What the kernel takes, including the end. */
	char name[16];
	va_list args;

	if (!wanted || atoi(wanted) != 1)
		return;
	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	pthread_setname_np(thread, name);
}
