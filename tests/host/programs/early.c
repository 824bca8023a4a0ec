/* SPDX-License-Identifier: MIT */
/* A library that is made ready before whatever is preloaded, and ends after it. */
#include "moment.h"

__attribute__((constructor)) static void begin(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	call("constructor");
}

__attribute__((destructor)) static void end(void)
{
	call("destructor");
}
