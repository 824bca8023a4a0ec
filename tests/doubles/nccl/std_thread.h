/* SPDX-License-Identifier: MIT */
/*
 * Threads in the form that NCCL has used since 2.29.  Hides C++: what a std::thread is
 * started with is made by templates and libstdc++, and no C could make it the same.
 */
#ifndef MINI_NCCL_STD_THREAD_H
#define MINI_NCCL_STD_THREAD_H

#include "thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NULL where there can be no more threads.  Either of the others takes the object. */
void *mini_std_thread_start(enum mini_argument type, void *(*main)(void *),
			    void *argument, pthread_t *ret_id);
void mini_std_thread_join(void *object);
void mini_std_thread_detach(void *object);

#ifdef __cplusplus
}
#endif

#endif
