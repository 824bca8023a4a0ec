/* SPDX-License-Identifier: MIT */
/*
 * Walks the loaded objects so that no fork happens meanwhile.
 *
 * dl_iterate_phdr() holds a lock that glibc does not release in the child of a fork: a
 * child that another thread creates at that moment would hang in its next dlopen().  This
 * module hides a lock of the tracer's own, which a fork waits for.
 */
#ifndef TAP_INTERCEPT_DL_WALK_H
#define TAP_INTERCEPT_DL_WALK_H

#include <link.h>

#include "common/compiler.h"

/* As dl_iterate_phdr(); may be called in a signal handler that interrupts tap_walk(). */
int tap_walk(int (*each)(struct dl_phdr_info *info, size_t size, void *data),
	     void *data) tap_hidden;

#endif
