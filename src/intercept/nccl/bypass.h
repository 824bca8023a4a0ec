/* SPDX-License-Identifier: MIT */
/*
 * Says which libraries call NCCL past us.
 *
 * The linker binds a name inside a library that was opened with RTLD_DEEPBIND, or in a
 * namespace of dlmopen()'s, to the nearest definition: no preloaded library can stand in
 * its way.  It hides how that is found out: the slots of a library's own calls lead
 * somewhere, and a namespace lists its objects.
 */
#ifndef TAP_INTERCEPT_NCCL_BYPASS_H
#define TAP_INTERCEPT_NCCL_BYPASS_H

#include <stdbool.h>

#include "common/compiler.h"

/*
 * Writes a tap:problem for each such library: all of them, or those that it was not
 * written for yet.  A name that was never called may not be bound yet; then nothing
 * tells.
 */
void tap_unseen_tell(bool all) tap_hidden;

#endif
