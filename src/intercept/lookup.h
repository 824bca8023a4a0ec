/* SPDX-License-Identifier: MIT */
/*
 * dlsym() and dlvsym(), as the program calls them.
 *
 * A library that is opened at run time is reached through these two, so they
 * are stood in for.  What it hides: glibc tells by the return address who asks,
 * and gives RTLD_NEXT and RTLD_DEFAULT their meaning by it; so the stand-in
 * is a few instructions (dlsym.S) that ask tap_lookup() and otherwise jump to
 * the real function, which then still sees its caller.
 */
#ifndef TAP_INTERCEPT_LOOKUP_H
#define TAP_INTERCEPT_LOOKUP_H

#include "common/compiler.h"

/*
 * Called by the stubs; version is NULL for dlsym().  Returns what the program
 * is to get, or NULL when the real function is to answer.
 */
void *tap_lookup(void *handle, const char *name, const char *version,
		 const void *caller) tap_hidden;

#endif
