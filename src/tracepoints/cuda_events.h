/* SPDX-License-Identifier: MIT */
/*
 * What the events of the provider "cuda" have: a packed record for each row of class
 * WORK, and struct tap_call, as NCCL's calls, for the two events of each other row.
 *
 * It hides how a row becomes a record: first the common fields, then the arguments, each
 * by its kind.  The same walk makes the description for LTTng (cuda_hot_tp.c).
 */
#ifndef TAP_TRACEPOINTS_CUDA_EVENTS_H
#define TAP_TRACEPOINTS_CUDA_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "calls/cuda_calls.h"

struct tap_call;

/*
 * HIP's events are in a library of their own, built from the same files: there are many,
 * LTTng takes time for each, and most programs do not use HIP.
 */
#ifdef TAP_HIP
#define TAP_CUDA_ROWS "calls/hip.def"
#else
#define TAP_CUDA_ROWS "calls/cuda.def"
#endif
#define TAP_HIP_EVENTS_SYMBOL "tap_hip_events"
struct tap_cuda_row;
struct tap_gate;
struct tap_hip_events {
	uint32_t version; /* TAP_EVENTS_VERSION */
	/* Fills HIP's rows; their events go through the gate. */
	void (*fill)(struct tap_cuda_row *ret_rows, struct tap_gate *gate);
};

/* clang-format off */
/*
 * call_id	counted with NCCL's calls
 * parent_id	the recorded call that the thread is in, 0: none
 * context	the current context
 * per_thread	the program called the per-thread-stream variant
 * runtime	the call of the runtime library that made it (cudart.def), 0: none
 * capture	0: it was executed, 1: captured into a graph, 2: into an invalid one;
 *		-1: unknown
 * correlation_id	CUPTI's number of the call, 0: unknown
 */
#define TAP_CUDA_COMMON(M) \
	M(uint64_t, begin_ns, 10) \
	M(uint64_t, call_id, 10) \
	M(uint64_t, parent_id, 10) \
	M(uint64_t, context, 16) \
	M(int32_t, result, 10) \
	M(uint8_t, per_thread, 10) \
	M(uint8_t, runtime, 10) \
	M(int8_t, capture, 10) \
	M(uint32_t, correlation_id, 10)

/*
 * The arguments of a kernel of NCCL's, right before the launch with the same call_id.
 * The names are those of NCCL's device.h, but for these:
 *
 * version	of the NCCL that launched the kernel: func_id depends on it
 * args_bytes	size of the whole buffer
 * nr_batches	how many were read, over all channels
 * complete	0: there are more batches, or functions, than the event has
 * func_id, work_type	of the batches, each pair once
 */
#define TAP_CUDA_NCCL_ARGS_ROW(INT, SEQ) \
	INT(uint64_t, call_id, 10) \
	INT(uint64_t, comm, 16) \
	INT(uint64_t, channel_mask, 16) \
	INT(uint32_t, version, 10) \
	INT(uint32_t, args_bytes, 10) \
	INT(uint16_t, nr_batches, 10) \
	INT(uint8_t, work_storage, 10) \
	INT(uint8_t, complete, 10) \
	INT(uint8_t, nr_functions, 10) \
	SEQ(uint16_t, func_id, nr_functions, 10) \
	SEQ(uint8_t, work_type, nr_functions, 10)

#define TAP_NCCL_FUNCTIONS_MAX 16

#define TAP_CUDA_MEMBER(type, name, base) type name;
#define TAP_CUDA_NO_ARRAY(type, name, of, base)
struct tap_cuda_nccl_args {
	TAP_CUDA_NCCL_ARGS_ROW(TAP_CUDA_MEMBER, TAP_CUDA_NO_ARRAY)
} __attribute__((packed));
#define TAP_CUDA_ARG_MEMBER(t, n, k) PACK_##k(TAP_CUDA_MEMBER, n)
#define TAP_CUDA_ARG_MEMBER_NONE

struct tap_cuda_common {
	TAP_CUDA_COMMON(TAP_CUDA_MEMBER)
} __attribute__((packed));

#define TAP_CUDA_RECORD_WORK(name, ...) \
	struct name##_record { \
		struct tap_cuda_common common; \
		ARGS_WALK(TAP_CUDA_ARG_MEMBER, SEP_NONE, ##__VA_ARGS__) \
	} __attribute__((packed));
#define TAP_CUDA_RECORD_WAIT(name, ...)
#define TAP_CUDA_RECORD_SETUP(name, ...)
#define TAP_CUDA_RECORD_CAPTURE(name, ...)
#define TAP_CUDA_RECORD_CAPTURED(name, ...)
#define TAP_CUDA_RECORD_UNLOAD(name, ...)
#define CALL_ALONE(since, class, does, api, name, ...) TAP_CUDA_RECORD_##class(name, ##__VA_ARGS__)
#define CALL(since, class, does, api, name, variant, ...) TAP_CUDA_RECORD_##class(name, ##__VA_ARGS__)
#include "calls/cuda.def"
#include "calls/hip.def"
#undef CALL
#undef CALL_ALONE
/* clang-format on */

/*
 * A row's switches and events: one of class WORK has a single event, the others an entry
 * and an exit, in this order.
 */
struct tap_cuda_row {
	const int *on[2];
	void (*write)(const void *record, size_t length);
	void (*entry)(const struct tap_call *call, const void *args);
	void (*exit)(const struct tap_call *call, const void *args, CUresult result);
};

struct tap_cuda_events {
	struct tap_cuda_row *rows; /* TAP_CUDA_NR */
	/* The name of a function; "" if the driver does not tell it. */
	void (*function)(uint64_t function, const char *name, bool is_statedump);
	const int *nccl_args_on;
	void (*nccl_args)(const void *record, size_t length);
};

#endif
