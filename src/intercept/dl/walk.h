/* SPDX-License-Identifier: MIT */
/*
 * Walks the loaded objects so that a fork cannot come in between.
 *
 * dl_iterate_phdr() holds a lock that glibc does not set free in the child of a
 * fork: a child made at that moment by another thread would hang in its next
 * dlopen().  This hides a lock of our own, which a fork waits for.
 */
#ifndef TAP_INTERCEPT_DL_WALK_H
#define TAP_INTERCEPT_DL_WALK_H

#include <link.h>

#include "common/compiler.h"

/* As dl_iterate_phdr(); may be called in a signal handler that interrupts it. */
int tap_walk(int (*each)(struct dl_phdr_info *info, size_t size, void *data),
	     void *data) tap_hidden;

#endif
