/* SPDX-License-Identifier: MIT */
/* Closing a file descriptor that may be closed already; -1 stands for one that is. */
#ifndef TAP_TOOLS_DESCRIPTOR_H
#define TAP_TOOLS_DESCRIPTOR_H

#include <unistd.h>

static inline void tap_descriptor_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

#endif
