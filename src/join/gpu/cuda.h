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

#include "join/gpu/cuda_graph.h"
#include "join/model/layer.h"

/* Streams that are no object: the driver's own numbers for them. */
#define TAP_STREAM_LEGACY 1
#define TAP_STREAM_PER_THREAD 2

struct tap_cuda {
	struct tap_context *context; /* first: layer.h */

	const struct tap_event *event; /* that is being taken */
	struct tap_table functions;    /* names by (process, address) */
	struct tap_table arguments;    /* of the next launch, by (process, thread) */
	struct tap_graphs graphs;
};

/* Each returns 0 or -errno. */

/* A call that has one event. */
int tap_cuda_work(struct tap_cuda *cuda, struct tap_process *process,
		  struct tap_event *event);
/* What NCCL tells the kernel that its thread launches next. */
int tap_cuda_nccl_args(struct tap_cuda *cuda, const struct tap_process *process,
		       struct tap_event *event);
/* The name of a function, from now on. */
int tap_cuda_function(struct tap_cuda *cuda, const struct tap_process *process,
		      const struct tap_event *event);
/* A span of this layer has begun: more fields; or ended. */
int tap_cuda_begun(struct tap_cuda *cuda, struct tap_span *span);
int tap_cuda_ended(struct tap_cuda *cuda, const struct tap_span *span);

/* The stream that the call is about, with one number for each that has several names. */
bool tap_cuda_stream(const struct tap_span *span, uint64_t *ret);
/* "legacy", "per-thread" or its address. */
void tap_cuda_add_stream(struct tap_buffer *buffer, uint64_t stream);
/* How many bytes it copies; -1 unknown. */
int64_t tap_cuda_bytes(const struct tap_span *span);
/* Whether it was put into a graph, and not done. */
bool tap_cuda_is_captured(const struct tap_span *span);

void tap_cuda_free(struct tap_cuda *cuda);

#endif
