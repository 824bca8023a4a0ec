/* SPDX-License-Identifier: MIT */
/* A library that is made ready before whatever is preloaded, and ends after it. */
#define _GNU_SOURCE
#include "moment.h"

#define NEVER_OPEN (1 << 30)

__attribute__((constructor)) static void begin(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("close_range: %d\n", close_range(NEVER_OPEN, NEVER_OPEN, 0));
	call("constructor");
}

__attribute__((destructor)) static void end(void)
{
	call("destructor");
}
