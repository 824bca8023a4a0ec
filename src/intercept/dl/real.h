/* SPDX-License-Identifier: MIT */
/*
 * dlsym() and dlvsym() as glibc has them, for our own questions: the names lead to the
 * stand-ins of lookup.c.
 *
 * It hides how they are found without them.
 */
#ifndef TAP_INTERCEPT_DL_REAL_H
#define TAP_INTERCEPT_DL_REAL_H

#include "common/compiler.h"

/*
 * NULL until tap_real_find() has found them, which whichever of our functions comes first
 * calls.  To be called where the caller's identity does not matter.
 */
extern void *(*tap_real_dlsym_at)(void *, const char *) tap_hidden;
extern void *(*tap_real_dlvsym_at)(void *, const char *, const char *) tap_hidden;

/* Calls no function of libc. */
void tap_real_find(void) tap_hidden;

/* dlsym() with this library as the caller; finds it first if need be. */
void *tap_real_dlsym(void *handle, const char *name) tap_hidden;

#endif
