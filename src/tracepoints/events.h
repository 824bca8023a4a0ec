/* SPDX-License-Identifier: MIT */
/*
 * What the two halves inside the traced program know of each other:
 * libccltap.so, which stands in the way of calls and is always there, and
 * libccltap-events.so, which holds LTTng and is opened when first needed.
 *
 * It hides LTTng from the code that wraps calls: that sees switches and
 * functions in a table, found by the one symbol "tap_events".
 */
#ifndef TAP_TRACEPOINTS_EVENTS_H
#define TAP_TRACEPOINTS_EVENTS_H

#include <stdint.h>
#include <signal.h>

#include "calls/nccl_calls.h"

/* Both files are installed together; another number means a mixed install. */
#define TAP_EVENTS_VERSION 1
#define TAP_EVENTS_SYMBOL "tap_events"

/* What every entry event says of its call besides the arguments. */
struct tap_call {
	uint64_t call_id;	  /* counted per process, from 1 */
	uint64_t parent_id;	  /* the enclosing call of this thread, 0: none */
	uint64_t caller_offset;	  /* return address less the base of its library */
	uint32_t caller_library;  /* id of a tap:library, 0: no library is there */
	uint8_t inner;		  /* made by the traced library itself */
	uint8_t pnccl;		  /* reached by its profiling name */
};

/* The two events of a row; args is its <name>_args, ret its result (or NULL). */
struct tap_call_events {
	const int *entry_on, *exit_on;
	void (*entry)(const struct tap_call *call, const void *args);
	void (*exit)(const struct tap_call *call, const void *args, const void *ret);
};

/* Who the process is; strings are never NULL. */
struct tap_process {
	int32_t pid, ppid;
	uint32_t uid;
	int32_t rank, world_size, local_rank; /* -1: the launcher did not say */
	uint64_t pid_namespace, time_namespace; /* inode numbers, 0: not known */
	const char *rank_from; /* the environment variable that told the rank */
	const char *host, *boot_id, *job_id, *executable, *command, *version;
};

struct tap_library {
	uint32_t library_id;
	uintptr_t base;
	const char *path, *build_id, *layer;
};

struct tap_events {
	uint32_t version;
	struct tap_call_events nccl[TAP_NCCL_NR];
	void (*process)(const struct tap_process *process);
	void (*library)(const struct tap_library *library);
	void (*problem)(const char *what, const char *detail, uint64_t count);
	/*
	 * LTTng's threads and locks across a fork; the mask is the caller's to
	 * keep between the first and one of the other two.
	 */
	void (*fork_before)(sigset_t *mask);
	void (*fork_parent)(sigset_t *mask);
	void (*fork_child)(sigset_t *mask);
};

#endif
