/* SPDX-License-Identifier: MIT */
/*
 * What a process that reads traces reports to its parent, in shared memory, so that the
 * parent knows what was being read when that process dies: babeltrace2 fails assertions
 * or hangs on some damaged traces.
 */
#ifndef TAP_TOOLS_WATCH_H
#define TAP_TOOLS_WATCH_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define TAP_WATCH_TRACES 65536
#define TAP_WATCH_STOPS 64

enum tap_stage {
	TAP_STAGE_OWN,	/* outside of babeltrace2's sources */
	TAP_STAGE_OPEN, /* a trace is opened */
	TAP_STAGE_READ, /* messages of one of its streams are made */
};

/* A trace that babeltrace2 does not open. */
struct tap_refusal {
	bool is_refused;
	char cause[256];
};

/* A stream that can be read only up to a number of batches of messages. */
struct tap_stop {
	const char *trace; /* the parent's; the child only compares */
	uint64_t port;	   /* of the trace */
	uint64_t batches;
	char shown[PATH_MAX]; /* the trace, for messages */
	char name[256];	      /* of the stream, as the child finds it */
};

struct tap_watch {
	_Atomic enum tap_stage stage;
	_Atomic uint64_t steps; /* grows with each stage */
	unsigned int trace;	/* number of the trace in this stage */
	uint64_t port;
	uint64_t batches; /* including the one being made */
	uint64_t size;	  /* bytes of the trace that is being opened */
	/* Bytes of the streams that have begun, and how many of them are read. */
	_Atomic uint64_t all_bytes, read_bytes;
	/* The child found traces that cannot be opened, and exited because of that. */
	bool has_refused;
	unsigned int stop_count;
	struct tap_stop stops[TAP_WATCH_STOPS];
	struct tap_refusal refusals[TAP_WATCH_TRACES];
};

static inline void tap_watch_enter(struct tap_watch *watch, enum tap_stage stage)
{
	atomic_store_explicit(&watch->steps,
			      atomic_load_explicit(&watch->steps, memory_order_relaxed) +
				      1,
			      memory_order_relaxed);
	atomic_store_explicit(&watch->stage, stage, memory_order_release);
}

#endif
