/* SPDX-License-Identifier: MIT */
/*
 * What the tracer keeps for each thread of the traced program, in one small structure.
 *
 * It hides the TLS model: initial-exec, because the general one may call malloc() at a
 * thread's first use, and a malloc() of the program's may call what the tracer wraps.
 * All fields are zero in a new thread, but for last_comm.
 */
#ifndef TAP_COMMON_THREAD_H
#define TAP_COMMON_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"

struct tap_comm;
struct tap_nvtx_stack;
extern struct tap_comm tap_no_comm tap_hidden; /* intercept/nccl/comm.h */

/* The open ncclGroupStart() calls on one copy of NCCL (intercept/nccl/group.h). */
struct tap_group {
	uintptr_t copy; /* load address */
	uint32_t depth;
	uint32_t nr_comms;
	uint64_t id;
	struct tap_comm *comms;
};

/* A thread may have this many groups open at once; further ones are ignored. */
#define TAP_NR_GROUPS 4

/*
 * The outermost recorded call of the thread, for other threads to read.  entry.h writes
 * call_id last and clears it first: a reader that finds call_id unchanged has read one
 * call.
 */
struct tap_open {
	uint64_t call_id; /* 0: the thread is in none */
	const char *function;
	uint32_t comm_id;
	uint64_t comm_key, op_number;

	/*
	 * Used by thread_state.c under the lock of threads.c: since when it has seen this
	 * call.
	 */
	uint64_t seen_id;
	int64_t seen_ns;
	int64_t due_ns; /* how long it must be open to be reported again */
	bool is_stuck;	/* and that was reported */
};

/* Why a thread counts as a CCL's (enum, since an event has it). */
enum tap_thread_via {
	TAP_THREAD_ROUTINE, /* its start routine lies in the library */
	TAP_THREAD_STATE,   /* it is a std::thread, whose state's class lies there */
};

/* What the thread does, as its calls show: bits that the first such call sets. */
enum {
	TAP_THREAD_ASYNC = 1 << 0, /* waits for asynchronous events of a device */
	TAP_THREAD_SLEEP = 1 << 1, /* waits on a condition variable */
	TAP_THREAD_YIELD = 1 << 2, /* offers its processor to others */
};

/*
 * How a thread that a CCL library (NCCL, RCCL) created came to be; all zero in every
 * other thread.  intercept/ccl_threads.c fills it in before the library's code runs.
 */
struct tap_ccl_thread {
	int32_t creator;     /* its thread id */
	bool creator_is_ccl; /* a thread of this kind itself */
	enum tap_thread_via via;
	uint64_t call_id;	/* the recorded call that the creator was in, 0: none */
	uint64_t outer_call_id; /* the outermost such call */
	const char *function;	/* the name of call_id or of the outermost call, "" */
	uint64_t begin_ns;	/* before pthread_create() */
	uintptr_t routine;	/* what the library wants run, 0 unknown */
	uintptr_t argument;	/* of that */
	uintptr_t caller;	/* where pthread_create() returned to */
	uint8_t nr_arguments;	/* of the routine; 0 too while that is unknown */
	/* Only the thread itself writes these, as it runs. */
	uint8_t does;	 /* TAP_THREAD_ASYNC ... */
	bool is_asleep;	 /* in a wait on a condition variable */
	uint8_t counted; /* what --metrics counts of it (intercept/metrics.c) */
	uint64_t yields; /* how often it has offered its processor */
};

struct tap_thread {
	/*
	 * A CCL library created the thread: what a wrapper tests first that looks only at
	 * such threads.  `ccl` is valid then.
	 */
	bool is_ccl;
	struct tap_ccl_thread ccl;
	/*
	 * Set while the thread runs code of the tracer or of LTTng: a wrapped call made
	 * there is passed on unrecorded.  Not set during a real call, since what NCCL
	 * itself calls is to be recorded.
	 */
	bool in_tracer;
	/*
	 * The thread is in a recorded function of a CUDA driver; calls made there are
	 * part of it.
	 */
	bool in_cuda;
	/*
	 * The outermost call of a shared CUDA runtime library, by its number in
	 * cudart.def.
	 */
	uint8_t runtime;
	/*
	 * CUPTI's number of the driver function that is being recorded, 0 for none, and
	 * CUPTI's number of this call once CUPTI has reported it (cupti/callback.c).
	 */
	uint32_t cbid, correlation_id;
	/*
	 * The thread's word of gate.h: how many events it is writing.  NULL until it
	 * writes one.
	 */
	uint32_t *nr_events;
	/* The same for a thread that found no free word, and whether that is so. */
	uint32_t nr_crowd_events;
	bool is_crowded;
	/* The recorded call that the thread is in, 0: none; the name of NCCL's call. */
	uint64_t call_id;
	const char *function;
	/*
	 * What the latest wrapper of NCCL's that is not over has called; NULL: none.  One
	 * that only passes a call on does not set it.
	 */
	const void *real;
	struct tap_open open;

	/*
	 * The name of the outermost call that the thread is in, NULL if none.  Only calls
	 * that count or change something set it, but these also while nobody records.
	 */
	const char *inside;
	/* The communicator that the thread used last. */
	struct tap_comm *last_comm;
	/* The communicator that the thread's current call frees; NULL: none. */
	const struct tap_comm *freeing;
	/*
	 * Groups on several copies of NCCL may be open at once; group_depth and group_id
	 * are those of the one begun last.
	 */
	struct tap_group groups[TAP_NR_GROUPS];
	uint32_t group_depth;
	uint64_t group_id; /* 0: none */
	/* The hash of the identifier that the thread asked for last; 0: none. */
	uint64_t unique_id;

	/* The NVTX ranges that the thread is in (intercept/nvtx/nvtx_stack.h). */
	struct tap_nvtx_stack *nvtx;
	/*
	 * Used by stack.c: the part of the thread's stack that is known to be mapped; 0
	 * and 0 at first.
	 */
	uintptr_t stack_low, stack_high;

	/* Used by threads.c: 0 until it knows the thread. */
	int32_t tid;
	struct tap_thread *earlier, *later;
};

extern __thread struct tap_thread tap_thread tap_hidden
	__attribute__((tls_model("initial-exec")));

/* Whether the process has no thread of this id any more; errno may change. */
bool tap_thread_is_gone(int32_t tid) tap_hidden;

#endif
