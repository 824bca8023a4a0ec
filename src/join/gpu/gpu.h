/* SPDX-License-Identifier: MIT */
/*
 * The layer of the GPU: what ran there, the launch that asked for it, and the collective
 * that it is a part of.
 *
 * What ran is reported long after it was over, by a thread that has nothing to do with
 * it. Hides that its launch may be in the trace before or after it, and its parts: the
 * launches (gpu_launch.h), what waits for them (gpu_run.h), the NCCL calls around them
 * (gpu_call.h), the graphs that run them again (gpu_graph.h), what becomes a span
 * (gpu_span.h), and who has CUPTI (gpu_cupti.h).  Memory grows with what is outstanding,
 * up to a bound, and with the names of kernels and the nodes of graphs, up to another.
 */
#ifndef TAP_JOIN_GPU_GPU_H
#define TAP_JOIN_GPU_GPU_H

#include "join/model/layer.h"

extern const struct tap_layer tap_gpu_layer;

#endif
