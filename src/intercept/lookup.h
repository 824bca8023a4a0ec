/* SPDX-License-Identifier: MIT */
/*
 * dlsym() and dlvsym(), as the program calls them and as we do.
 *
 * A library that is opened at run time is reached through these two, so they
 * are stood in for.  What it hides: glibc tells by the return address who asks,
 * and gives RTLD_NEXT and RTLD_DEFAULT their meaning by it; so the stand-in
 * is a few instructions (dlsym.S) that ask tap_lookup() and otherwise jump to
 * the real function, which then still sees its caller.
 */
#ifndef TAP_INTERCEPT_LOOKUP_H
#define TAP_INTERCEPT_LOOKUP_H

#include <dlfcn.h>

#include "common/compiler.h"

/*
 * The real functions; set before the first use by whichever of our functions
 * comes first.  To be called where the caller's identity does not matter.
 */
extern void *(*tap_real_dlsym_at)(void *, const char *) tap_hidden;
extern void *(*tap_real_dlvsym_at)(void *, const char *, const char *) tap_hidden;

/* dlsym() as glibc has it, with this library as the caller. */
void *tap_real_dlsym(void *handle, const char *name) tap_hidden;

/*
 * Called by the stubs; version is NULL for dlsym().  Returns what the program
 * is to get, or NULL when the real function is to answer.
 */
void *tap_lookup(void *handle, const char *name, const char *version,
		 const void *caller) tap_hidden;

#endif
