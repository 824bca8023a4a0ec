/* SPDX-License-Identifier: MIT */
/* Registers with the kernel once; a child of a fork inherits the registration. */
#include "common/barrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_there;

__attribute__((constructor)) static void prepare(void)
{
	is_there =
		!syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

bool tap_barrier_is_there(void)
{
	return is_there;
}

bool tap_barrier(void)
{
	return is_there &&
	       !syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}
