/* SPDX-License-Identifier: MIT */
/*
 * Whether an address lies in NCCL (or RCCL), for pthread_create(), which any program may
 * call often.
 *
 * It hides a small cache of objects, read without a lock, and that unloading an object
 * empties it.
 */
#ifndef TAP_INTERCEPT_DL_NCCL_AT_H
#define TAP_INTERCEPT_DL_NCCL_AT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "intercept/dl/libraries.h"

/*
 * The object that holds address, with start 0 if none does.  Sets the guard itself when
 * it has to walk the loaded objects.
 */
struct tap_library_range tap_nccl_at(uintptr_t address) tap_hidden;

#endif
