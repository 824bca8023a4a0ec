/* SPDX-License-Identifier: MIT */
/*
 * The layer of the CUDA driver: a call that has one event becomes a span, with what is
 * known of it besides: the name of the function that it launches, what a graph repeats,
 * and the call that it was made in.
 *
 * Hides the names of arguments, and that one event stands for two.  Memory grows with the
 * functions, captures and graphs of a process, up to a bound, never with the length of
 * the trace.
 */
#ifndef TAP_JOIN_GPU_CUDA_H
#define TAP_JOIN_GPU_CUDA_H

#include "join/model/layer.h"

/* Streams that are no object: the driver's own numbers for them. */
#define TAP_STREAM_LEGACY 1
#define TAP_STREAM_PER_THREAD 2

extern const struct tap_layer tap_cuda_layer;

/* The stream that the call is about, with one number for each that has several names. */
bool tap_cuda_stream(const struct tap_span *span, uint64_t *ret);
/* "legacy", "per-thread" or its address. */
void tap_cuda_add_stream(struct tap_buffer *buffer, uint64_t stream);
/* How many bytes it copies; -1 unknown. */
int64_t tap_cuda_bytes(const struct tap_span *span);
/* Whether it was put into a graph, and not done. */
bool tap_cuda_is_captured(const struct tap_span *span);

#endif
