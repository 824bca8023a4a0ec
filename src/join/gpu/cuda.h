/* SPDX-License-Identifier: MIT */
/*
 * The CUDA driver layer: turns a call that has one event into a span, and adds the name
 * of the launched function, what a graph repeats, and the enclosing call.
 *
 * Hides that one event stands for an entry and an exit.  Memory grows with the functions,
 * captures and graphs of a process, up to a bound, never with the length of the trace.
 */
#ifndef TAP_JOIN_GPU_CUDA_H
#define TAP_JOIN_GPU_CUDA_H

struct tap_layer;

extern const struct tap_layer tap_cuda_layer;

#endif
