/* SPDX-License-Identifier: MIT */
/*
 * What we keep for each thread of the traced program, in one small structure.
 *
 * It hides the TLS model: initial-exec, because the general one may call
 * malloc() at a thread's first use, and a malloc() of the program's may call
 * what we wrap.  All fields are zero in a new thread, but for last_comm.
 */
#ifndef TAP_COMMON_THREAD_H
#define TAP_COMMON_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"

struct tap_comm;
struct tap_nvtx_stack;
extern struct tap_comm tap_no_comm tap_hidden; /* intercept/nccl/comm.h */

/* Open ncclGroupStart() calls of one copy of a library (intercept/nccl/group.h). */
struct tap_group {
	uintptr_t copy; /* load address */
	uint32_t depth;
	uint32_t nr_comms;
	uint64_t id;
	struct tap_comm *comms;
};

/* A thread that has more open at once is taken to be in none of the others. */
#define TAP_NR_GROUPS 4

/*
 * The outermost recorded call that the thread is in, for other threads to read:
 * entry.h writes the number last and clears it first, so who finds it as it was has
 * read one call.
 */
struct tap_open {
	uint64_t call_id; /* 0: in none */
	const char *function;
	uint32_t comm_id;
	uint64_t comm_key, op_number;

	/* Of thread_state.c, under the lock of threads.c: since when this call was seen. */
	uint64_t seen_id;
	int64_t seen_ns;
	int64_t due_ns; /* it is told again when it has been open so long */
	bool is_stuck;	/* and that was said */
};

struct tap_thread {
	/*
	 * Set while the thread runs our own code or LTTng's, so that a call
	 * made there is passed on unrecorded.  Not set during a real call:
	 * what NCCL itself calls is the very thing to record.
	 */
	bool in_tracer;
	/* In a function of a CUDA driver that is recorded: what it calls is part of it. */
	bool in_cuda;
	/* The outermost call of a shared CUDA runtime, as cudart.def numbers it. */
	uint8_t runtime;
	/*
	 * CUPTI's number of the driver's function that is being recorded, 0 for none, and
	 * that of this call, once CUPTI has told it (cupti/callback.c).
	 */
	uint32_t cbid, correlation_id;
	/* Of gate.h: how many events the thread is writing, NULL until it writes one. */
	uint32_t *nr_events;
	/* The same where all places are taken, and whether that is so. */
	uint32_t nr_crowd_events;
	bool is_crowded;
	/* The recorded call that the thread is in; 0 outside of any. */
	uint64_t call_id;
	struct tap_open open;

	/*
	 * The name of the outermost call that the thread is in, NULL outside of any. Only
	 * calls that count or change something are noted, but those also while nobody
	 * records.
	 */
	const char *inside;
	/* The communicator that was used last. */
	struct tap_comm *last_comm;
	/* The one that the call frees which the thread is in, NULL for none. */
	const struct tap_comm *freeing;
	/* Groups of several copies of NCCL may be open at once; that begun last is named
	 * here too. */
	struct tap_group groups[TAP_NR_GROUPS];
	uint32_t group_depth;
	uint64_t group_id; /* 0: in no group */
	/* Hash of the identifier that was asked for last, 0 none. */
	uint64_t unique_id;

	/* The ranges of NVTX that the thread is in (intercept/nvtx/nvtx_stack.h). */
	struct tap_nvtx_stack *nvtx;
	/* Of stack.c: what of the thread's stack is known to be there, 0 and 0 at first. */
	uintptr_t stack_low, stack_high;

	/* Of threads.c: 0 until the thread is known to it. */
	int32_t tid;
	struct tap_thread *earlier, *later;
};

extern __thread struct tap_thread tap_thread tap_hidden
	__attribute__((tls_model("initial-exec")));

/* Whether no thread of the process has this id any more; errno may change. */
bool tap_thread_is_gone(int32_t tid) tap_hidden;

#endif
