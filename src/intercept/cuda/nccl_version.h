/* SPDX-License-Identifier: MIT */
/*
 * Which NCCL a piece of code belongs to: there may be several in a process, and a
 * framework may have one inside.
 *
 * It hides that the object is asked, and that what it said is kept for as long as it is
 * loaded.
 */
#ifndef TAP_INTERCEPT_CUDA_NCCL_VERSION_H
#define TAP_INTERCEPT_CUDA_NCCL_VERSION_H

#include <stdint.h>

#include "common/compiler.h"

/*
 * The version, as 22809, that the object says of itself which holds address; 0 when it
 * does not.  Asked often, of few places.
 */
uint32_t tap_nccl_version_at(const void *address) tap_hidden;

#endif
