/* SPDX-License-Identifier: MIT */
/*
 * dlsym() and dlvsym(), as the program calls them.
 *
 * A program reaches a library that it opens at run time through these two functions, so
 * the tracer replaces them.  It hides how: glibc identifies the caller by the return
 * address, on which the meaning of RTLD_NEXT and RTLD_DEFAULT depends.  The replacement
 * is therefore a few instructions (dlsym.S) that call tap_lookup() and otherwise jump to
 * the real function, which still sees the program as its caller.
 */
#ifndef TAP_INTERCEPT_LOOKUP_H
#define TAP_INTERCEPT_LOOKUP_H

#include "common/compiler.h"

/*
 * Called by the stubs; version is NULL for dlsym().  Returns the program's result, or
 * NULL when the stub shall call the real function.
 */
void *tap_lookup(void *handle, const char *name, const char *version,
		 const void *caller) tap_hidden;

#endif
