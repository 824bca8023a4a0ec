/* SPDX-License-Identifier: MIT */
/*
 * Whether a stream is being captured into a graph: what is called then happens later,
 * perhaps often, perhaps never.
 *
 * It hides which driver there is.  It is asked only for calls that are recorded: a
 * question of the kind that NCCL itself asks of each stream, which disturbs no capture.
 */
#ifndef TAP_INTERCEPT_CUDA_CAPTURE_H
#define TAP_INTERCEPT_CUDA_CAPTURE_H

#include "calls/nccl_types.h"
#include "common/compiler.h"

/* Looks for the driver, unless it was found: it comes with the first communicator. */
void tap_capture_find(void) tap_hidden;

/* 0 no, 1 yes, 2 the capture is invalid, as CUDA and HIP count; -1 when it cannot be
 * told. */
int tap_stream_capture(cudaStream_t stream) tap_hidden;

#endif
