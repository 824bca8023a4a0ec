/* SPDX-License-Identifier: MIT */
/* Defines what thread.h declares. */
#include "common/thread.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread struct tap_thread tap_thread = {.last_comm = &tap_no_comm};

/* Asks the kernel, for which a thread ends last. */
bool tap_thread_is_gone(int32_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) && errno == ESRCH;
}
