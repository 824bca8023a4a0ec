/* SPDX-License-Identifier: MIT */
/*
 * For the portable form, which may find no C++ library: threads of releases from 2.29 on
 * cannot be made then, and a communicator of these is refused.
 */
#include "../nccl/std_thread.h"

#include <stddef.h>

void *mini_std_thread_start(enum mini_argument type, void *(*main)(void *), void *argument,
			    pthread_t *ret_id)
{
	(void) type, (void) main, (void) argument, (void) ret_id;
	return NULL;
}

void mini_std_thread_join(void *object)
{
	(void) object;
}

void mini_std_thread_detach(void *object)
{
	(void) object;
}
