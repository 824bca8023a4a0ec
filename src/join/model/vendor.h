/* SPDX-License-Identifier: MIT */
/*
 * NCCL's results, and names of the values of NCCL's and CUDA's enumerations, where an
 * event has a number alone.
 *
 * Hides the vendors' numbers.  Each function returns NULL for a number that it does not
 * know.
 */
#ifndef TAP_JOIN_MODEL_VENDOR_H
#define TAP_JOIN_MODEL_VENDOR_H

#include <stdint.h>

#include "calls/nccl_enums.h"

/* Of ncclResult_t: TAP_RESULT_ncclRemoteError ... */
/* clang-format off */
#define TAP_NCCL_VALUE(name, number) TAP_RESULT_##name = (number),
#define TAP_NCCL_ENUM(type, values) enum tap_nccl_result { values };
TAP_NCCL_RESULTS
#undef TAP_NCCL_ENUM
#undef TAP_NCCL_VALUE
/* clang-format on */

/* "ncclInvalidArgument", "ncclFloat32", "ncclSum" */
const char *tap_nccl_result_name(int64_t result);
const char *tap_nccl_datatype_name(int64_t datatype);
const char *tap_nccl_redop_name(int64_t redop);

/* "CUDA_ERROR_ILLEGAL_ADDRESS" */
const char *tap_cuda_result_name(int64_t result);

#endif
