/* SPDX-License-Identifier: MIT */
/*
 * Makes LTTng's macros fit for a traced program.  To be included before any header of
 * LTTng's.
 *
 * It hides how: the code that the macros generate in a provider prints an error and ends
 * the program when a probe cannot be registered, for example without memory.  With this
 * header such a provider stays unregistered: its events are not recorded, and the program
 * runs on.
 */
#ifndef TAP_TRACEPOINTS_GUEST_H
#define TAP_TRACEPOINTS_GUEST_H

#define NDEBUG
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define abort() ((void) 0)
#define fprintf(...) ((void) 0)

#endif
