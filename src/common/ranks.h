/* SPDX-License-Identifier: MIT */
/*
 * A list of ranks, such as "0,8-15": of a large job a few may be enough.
 *
 * It hides how such a list is written.
 */
#ifndef TAP_COMMON_RANKS_H
#define TAP_COMMON_RANKS_H

#include <stdint.h>

#include "common/compiler.h"

/* 1 or 0: whether the list has the rank; -EINVAL when it is none. */
int tap_ranks_have(const char *list, int32_t rank) tap_hidden;

#endif
