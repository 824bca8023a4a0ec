/* SPDX-License-Identifier: MIT */
/*
 * glibc's dlsym() and dlvsym(), for the tracer's own lookups: the names themselves lead
 * to the replacements of lookup.c.
 *
 * It hides how the two are found without dlsym().
 */
#ifndef TAP_INTERCEPT_DL_REAL_H
#define TAP_INTERCEPT_DL_REAL_H

#include "common/compiler.h"

/*
 * NULL until tap_real_find() has found them; the first function of the tracer that needs
 * them calls it.  For lookups that do not depend on the caller.
 */
extern void *(*tap_real_dlsym_at)(void *, const char *) tap_hidden;
extern void *(*tap_real_dlvsym_at)(void *, const char *, const char *) tap_hidden;

/* Calls no function of libc. */
void tap_real_find(void) tap_hidden;

/* dlsym() with this library as the caller; finds it first if need be. */
void *tap_real_dlsym(void *handle, const char *name) tap_hidden;

#endif
