/* SPDX-License-Identifier: MIT */
/*
 * The NCCL version that an address in code belongs to: a process may have several, and a
 * framework may have one linked in.
 *
 * It hides that it calls the object's ncclGetVersion(), and that it keeps the answer
 * while the object is loaded.
 */
#ifndef TAP_INTERCEPT_DL_NCCL_VERSION_H
#define TAP_INTERCEPT_DL_NCCL_VERSION_H

#include <stdint.h>

#include "common/compiler.h"

/*
 * The version, such as 22809, that the object which holds address reports; 0 when it
 * reports none.  Called often, for few addresses.
 */
uint32_t tap_nccl_version_at(const void *address) tap_hidden;

#endif
