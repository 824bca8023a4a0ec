/* SPDX-License-Identifier: MIT */
/*
 * Names of the values of NCCL's and CUDA's enumerations, where an event has a number
 * alone.
 *
 * Hides the vendors' numbers.  Each function returns NULL for a number that it does not
 * know.
 */
#ifndef TAP_JOIN_MODEL_VENDOR_H
#define TAP_JOIN_MODEL_VENDOR_H

#include <stdint.h>

/* "ncclInvalidArgument", "ncclFloat32", "ncclSum" */
const char *tap_nccl_result_name(int64_t result);
const char *tap_nccl_datatype_name(int64_t datatype);
const char *tap_nccl_redop_name(int64_t redop);

/* "CUDA_ERROR_ILLEGAL_ADDRESS" */
const char *tap_cuda_result_name(int64_t result);

#endif
