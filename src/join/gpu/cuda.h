/* SPDX-License-Identifier: MIT */
/*
 * The layer of the CUDA driver: a call that has one event becomes a span, with what is
 * known of it besides: the name of the function that it launches, what a graph repeats,
 * and the call that it was made in.
 *
 * Hides that one event stands for two.  Memory grows with the
 * functions, captures and graphs of a process, up to a bound, never with the length of
 * the trace.
 */
#ifndef TAP_JOIN_GPU_CUDA_H
#define TAP_JOIN_GPU_CUDA_H

struct tap_layer;

extern const struct tap_layer tap_cuda_layer;

#endif
