/* SPDX-License-Identifier: MIT */
/*
 * The stream of a call of the CUDA driver, or of HIP, for all readers of spans.
 *
 * Hides the names of the call's arguments, and that a stream may have several names.
 */
#ifndef TAP_JOIN_MODEL_STREAM_H
#define TAP_JOIN_MODEL_STREAM_H

#include "join/model/span.h"

/* Streams that are no object: the driver's own numbers for them. */
#define TAP_STREAM_LEGACY 1
#define TAP_STREAM_PER_THREAD 2

/* Whether a call was captured into a graph, as the tracer reports. */
enum { TAP_CAPTURE_REPORTED_NOT = -1, TAP_CAPTURE_NONE, TAP_CAPTURE_ACTIVE };
int64_t tap_cuda_capture(const struct tap_span *span);

/*
 * Gets the call's stream, as one number where it has several names.  Returns whether
 * there is one.
 */
bool tap_cuda_stream(const struct tap_span *span, uint64_t *ret);
/* "legacy", "per-thread" or its address. */
void tap_cuda_add_stream(struct tap_buffer *buffer, uint64_t stream);
/* How many bytes it copies; -1 unknown. */
int64_t tap_cuda_bytes(const struct tap_span *span);
/* Whether the call was captured into a graph instead of executed. */
bool tap_cuda_is_captured(const struct tap_span *span);

#endif
