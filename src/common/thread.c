/* SPDX-License-Identifier: MIT */
/* The one instance of what thread.h describes. */
#include "common/thread.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread struct tap_thread tap_thread = {.last_comm = &tap_no_comm};

/* The kernel is the last to see a thread. */
bool tap_thread_is_gone(int32_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) && errno == ESRCH;
}
