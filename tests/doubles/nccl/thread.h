/* SPDX-License-Identifier: MIT */
/* Names of the double's threads, set by their creator and only on request. */
#ifndef MINI_NCCL_THREAD_H
#define MINI_NCCL_THREAD_H

#include <pthread.h>

/*
 * Right after pthread_create(), in the creating thread, and only with
 * NCCL_SET_THREAD_NAME=1: so NCCL does it, and so a tracer sees it.
 */
void mini_thread_set_name(pthread_t thread, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
