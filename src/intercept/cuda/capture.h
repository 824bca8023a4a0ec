/* SPDX-License-Identifier: MIT */
/*
 * Whether a stream is being captured into a graph: the work of a captured call runs
 * later, once, several times or never.
 *
 * It hides which driver is loaded.  The tracer queries the stream for recorded calls
 * alone, as NCCL itself queries each stream; the query does not disturb a capture.
 */
#ifndef TAP_INTERCEPT_CUDA_CAPTURE_H
#define TAP_INTERCEPT_CUDA_CAPTURE_H

#include "calls/nccl_types.h"
#include "common/compiler.h"

/* Looks for the driver unless it was found: it is loaded by the first communicator. */
void tap_capture_find(void) tap_hidden;

/* 0 no, 1 yes, 2 the capture is invalid, as in CUDA and HIP; -1 unknown. */
int tap_stream_capture(cudaStream_t stream) tap_hidden;

#endif
