/* SPDX-License-Identifier: MIT */
/*
 * The GPU layer: links each run (a kernel, copy or memset that ran on the GPU) to its
 * launch and to the collective that it is a part of.
 *
 * CUPTI reports a run long after its end, on an unrelated thread.  Hides that the trace
 * may have the launch before or after the run, and the parts of the layer: launches
 * (gpu_launch.h), waiting runs (gpu_run.h), enclosing NCCL calls (gpu_call.h), graphs
 * that repeat launches (gpu_graph.h), spans of runs (gpu_span.h), and the owner of CUPTI
 * (gpu_cupti.h).  Memory grows with what is outstanding, up to a bound, and with the
 * names of kernels and the nodes of graphs, up to another.
 */
#ifndef TAP_JOIN_GPU_GPU_H
#define TAP_JOIN_GPU_GPU_H

#include "join/model/layer.h"

extern const struct tap_layer tap_gpu_layer;

#endif
