/* SPDX-License-Identifier: MIT */
/*
 * The double's threads, which a tracer tells apart by how they were created.  Hides in
 * which of NCCL's two forms that is: pthread_create() with the argument itself up
 * to 2.28, std::thread from 2.29, where it lies in a state whose class is the library's.
 */
#ifndef MINI_NCCL_THREAD_H
#define MINI_NCCL_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* By what NCCL hands to the thread: each has a class of its own as a std::thread. */
enum mini_argument {
	/* The service, UDS and progress threads have one and the same argument. */
	MINI_ARGUMENT_PROXY,
	MINI_ARGUMENT_JOB,
	MINI_ARGUMENT_ROOT,
	MINI_ARGUMENT_ADAPTER,
	MINI_ARGUMENT_SOCKET,
	MINI_ARGUMENT_NONE
};

/* None while it is zero. */
struct mini_thread {
	pthread_t id;
	bool is_there;
	/* A std::thread, or NULL. */
	void *object;
};

/* 0 or -errno. */
int mini_thread_start(struct mini_thread *thread, enum mini_argument type,
		      void *(*main)(void *), void *argument);
/*
 * Right after that, in the creating thread, and only with NCCL_SET_THREAD_NAME=1: so
 * NCCL does it, and so a tracer sees it.
 */
void mini_thread_name(const struct mini_thread *thread, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Does nothing where there is none; there is none afterwards. */
void mini_thread_join(struct mini_thread *thread);
void mini_thread_detach(struct mini_thread *thread);

#endif
