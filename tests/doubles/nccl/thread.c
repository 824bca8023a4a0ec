/* SPDX-License-Identifier: MIT */
/* Threads in the form of the release. */
#include "thread.h"

#include "release.h"
#include "settings.h"
#include "std_thread.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static int start_std(struct mini_thread *thread, enum mini_argument type,
		     void *(*main)(void *), void *argument)
{
	thread->object = mini_std_thread_start(type, main, argument, &thread->id);
	return thread->object ? 0 : -EAGAIN;
}

int mini_thread_start(struct mini_thread *thread, enum mini_argument type,
		      void *(*main)(void *), void *argument)
{
	int err;

	*thread = (struct mini_thread){.is_there = false};
	if (mini_release() >= 22900)
		err = start_std(thread, type, main, argument);
	else
		err = -pthread_create(&thread->id, NULL, main, argument);
	thread->is_there = err == 0;
	return err;
}

void mini_thread_name(const struct mini_thread *thread, const char *format, ...)
{
	/* What the kernel takes, including the end. */
	char name[16];
	va_list args;

	if (!mini_number(SET_NCCL_SET_THREAD_NAME))
		return;
	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	pthread_setname_np(thread->id, name);
}

void mini_thread_join(struct mini_thread *thread)
{
	if (thread->object)
		mini_std_thread_join(thread->object);
	else if (thread->is_there)
		pthread_join(thread->id, NULL);
	*thread = (struct mini_thread){.is_there = false};
}

void mini_thread_detach(struct mini_thread *thread)
{
	if (thread->object)
		mini_std_thread_detach(thread->object);
	else if (thread->is_there)
		pthread_detach(thread->id);
	*thread = (struct mini_thread){.is_there = false};
}
