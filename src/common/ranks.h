/* SPDX-License-Identifier: MIT */
/*
 * A list of ranks, such as "0,8-15": in a large job recording a few may be enough.
 *
 * It hides the syntax of the list.
 */
#ifndef TAP_COMMON_RANKS_H
#define TAP_COMMON_RANKS_H

#include <stdint.h>

#include "common/compiler.h"

/* Returns whether the list has the rank, 1 or 0; -EINVAL if the text is no list. */
int tap_ranks_have(const char *list, int32_t rank) tap_hidden;

#endif
