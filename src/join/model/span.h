/* SPDX-License-Identifier: MIT */
/*
 * What the join makes of a raw trace, and to whom it gives it.
 *
 * Every output (text, JSON lines, report) is one consumer of these structures;
 * none of them sees events or babeltrace2.  All of them belong to the join and
 * live until it is destroyed, but for spans, which are counted.
 */
#ifndef TAP_JOIN_MODEL_SPAN_H
#define TAP_JOIN_MODEL_SPAN_H

#include "common/list.h"
#include "join/base/field.h"
#include "join/model/name.h"
#include "join/base/table.h"
#include "join/model/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One traced host's trace: within it, a process number names a process. */
struct tap_trace {
	unsigned int number; /* from 0 */
	char *host;	     /* "" when the trace does not tell */
	int64_t pid;	     /* of a trace of one process, else -1 */
};

struct tap_library {
	uint64_t number;	  /* the process's own, from 1 */
	char *path;		  /* "" unknown */
	const char *base_name;	  /* in path */
	char *build_id;		  /* hexadecimal digits, "" unknown */
	char *layer;		  /* whose calls are traced, else "" */
	uint64_t base;		  /* load address */
	struct tap_library *next; /* of the same process, newest first */
};

/* Why a call stack has no more frames. */
enum tap_stack_end {
	TAP_STACK_START, /* a thread or the program starts in the last one */
	TAP_STACK_DEPTH, /* there are more than were asked for */
	TAP_STACK_LOST,	 /* nothing tells who called the last one */
};

struct tap_stack {
	uint64_t number; /* the process's own, from 1 */
	enum tap_stack_end end;
	struct tap_stack *next; /* of the same process, newest first */
	size_t count;
	struct tap_stack_frame {
		uint64_t library; /* number, 0 none */
		uint64_t offset;  /* of the return address; where there is none, itself */
	} frames[];		  /* innermost first */
};

struct tap_process {
	unsigned int number; /* from 0, in order of appearance */
	const struct tap_trace *trace;
	const char *host;
	int64_t pid;		    /* -1 unknown */
	int64_t pid_namespace;	    /* that pid is a number in, 0 unknown */
	int64_t rank;		    /* -1 unknown */
	bool is_announced;	    /* it described itself: about is filled */
	bool is_foreign;	    /* of a job that is not looked at: nothing is known */
	bool is_from_statedump;	    /* by its state alone, until now */
	bool is_reported;	    /* to the consumer */
	struct tap_fields about;    /* what it said of itself */
	struct tap_table by_number; /* libraries */
	struct tap_library *libraries;
	struct tap_table by_stack; /* number */
	struct tap_stack *stacks;
};

struct tap_problem {
	const struct tap_process *process;
	int64_t time_ns;
	const char *what;
	const char *detail;
	uint64_t count;
	bool is_unobserved; /* what of the program cannot be seen */
};

/* A thread that was in a call when recording began, or is in one for long. */
struct tap_thread_state {
	const struct tap_process *process;
	int64_t time_ns;
	int64_t tid;		     /* -1 unknown */
	const struct tap_name *name; /* of the function, NULL: it is in a group alone */
	uint64_t call_id;	     /* of a call that was recorded, 0 none */
	uint64_t group_id;
	uint64_t comm_id;
	uint64_t comm_key;
	uint64_t op_number;
	int64_t min_ns;			 /* it was in it for so long at least */
	const struct tap_member *member; /* NULL unknown */
};

/* A call that a thread was in at the end, the outermost; or the last one that returned.
 */
struct tap_open_call {
	const struct tap_process *process;
	const struct tap_name *name;
	int64_t tid;	      /* -1 unknown */
	uint64_t call_id;     /* 0: the call was not recorded */
	bool is_begun_before; /* its entry is not in the trace */
	int64_t begin_ns;     /* else, when it began */
	int64_t end_ns;	      /* of one that returned */
	int64_t reported_ns;  /* when the tracer told that it was open, if it is begun
			       * before
			       */
	int64_t min_ns;	      /* it was open for so long at least */
	uint64_t comm_id; /* as in tap_operation */
	uint64_t comm_key;
	uint64_t op_number;
	int64_t peer;
	const struct tap_member *member; /* NULL unknown */
	/* Of a wait: the operation asked for last on its stream; NULL unknown */
	const struct tap_open_call *waits_for;
};

enum tap_end {
	TAP_END_NOT_SEEN, /* it ran on, or was killed */
	TAP_END_EXIT,	  /* it has called exit(), or returned from main() */
	TAP_END_REPLACED, /* by another under its number: it executed that, or was over */
};

/* Where a process stood at the end. */
struct tap_end_state {
	const struct tap_process *process;
	enum tap_end end;
	int64_t end_ns;			   /* unless it was not seen */
	int64_t seen_ns;		   /* the process's last event */
	const struct tap_open_call *calls; /* by thread */
	size_t count;
	struct tap_open_call last; /* that has returned; name NULL: none */
};

enum tap_span_state {
	TAP_SPAN_RUNNING, /* seen by span_begun only */
	TAP_SPAN_COMPLETE,
	TAP_SPAN_OPEN,	     /* not returned when its process or the trace ended */
	TAP_SPAN_END_LOST,   /* it returned, but the trace does not say when */
	TAP_SPAN_BEGIN_LOST, /* only its return is in the trace */
};

struct tap_pairs;
struct tap_thread;
struct tap_member;
struct tap_link;
struct tap_row;

/* Where a span is drawn on its row. */
struct tap_place {
	struct tap_row *row; /* of lane.c alone; NULL: it is not there, or no longer */
	unsigned int lane;   /* from 0 */
	unsigned int depth;  /* from 1 */
};

/* What an entry tells of its communicator and of the work it asks for. */
struct tap_operation {
	uint64_t comm_id;    /* the process's own, from 1; 0 none */
	uint64_t comm_key;   /* alike on all ranks, 0 unknown */
	uint64_t number;     /* alike on all ranks, 0 none */
	int64_t not_counted; /* calls and groups on it until then, -1 unknown */
	uint64_t group_id;   /* 0 none */
	uint64_t count;	     /* of elements, where has_count */
	int64_t peer;	     /* -1 none */
	int64_t datatype;    /* -1 none */
	bool has_count;
};

/* Of something that ran on a GPU: the times that led to it. */
struct tap_run {
	bool has_launch; /* and the next two */
	bool has_call;	 /* and the two after: the call of NCCL that launched it */
	bool is_nccl;
	int64_t launch_ns;	     /* the launch itself */
	int64_t queue_ns;	     /* from its beginning */
	int64_t call_ns;	     /* -1: it did not return */
	int64_t to_launch_ns;	     /* from its beginning */
	const struct tap_name *call; /* the collective that it is of, NULL unknown */
};

struct tap_span {
	enum tap_span_state state;
	const struct tap_process *process;
	const struct tap_name *name;
	int64_t tid;		/* -1 unknown */
	uint64_t call_id;	/* counted per process */
	uint64_t parent_id;	/* call_id of the enclosing call, 0 none */
	int64_t begin_ns;	/* since the Unix epoch; not for BEGIN_LOST */
	int64_t end_ns;		/* only for COMPLETE and BEGIN_LOST */
	unsigned int depth;	/* enclosing calls that are known */
	bool is_inner;		/* called by the traced library itself */
	bool is_from_nvtx;	/* known by NVTX, no wrapper saw it */
	bool is_range;		/* the program's own: no call */
	bool is_enclosed;	/* by another call of the thread that was open */
	bool is_late;		/* no longer awaited by the order of beginnings */
	bool is_end_bound;	/* a work request was over by end_ns, nobody knows when */
	uint64_t caller_number; /* of the library, 0 unknown */
	const struct tap_library *caller; /* NULL unknown */
	uint64_t caller_offset;
	uint64_t stack_id;	       /* 0 none */
	const struct tap_stack *stack; /* NULL unknown */
	struct tap_operation operation;
	struct tap_work work;
	struct tap_run gpu;
	struct tap_member *member; /* of its communicator, NULL none: comm.h */
	struct tap_fields entry;   /* arguments */
	struct tap_fields exit;	   /* result and what the call gave back */
	struct tap_place place;	   /* of lane.c, for the consumer that asks for it */

	/* Of pair.c alone. */
	unsigned int references;
	struct tap_pairs *pairs;   /* whose it is */
	struct tap_thread *thread; /* also: a call that ends before those around it */
	TAP_LIST_LINK(struct tap_span) nest; /* open calls of a thread, inner ones last */
	TAP_LIST_LINK(struct tap_span) open; /* of all processes; or unused spans */
};

/* One stream that lost something. */
struct tap_stream_loss {
	char *name;
	uint64_t discarded_events;
	uint64_t discarded_packets;
	struct tap_stream_loss *next;
};

/* What is missing from the trace, or could not be used. */
struct tap_loss {
	uint64_t discarded_events;
	uint64_t discarded_packets;
	uint64_t discarded_unknown; /* times that the trace does not tell how many */
	uint64_t lost_exits;
	uint64_t lost_entries;
	uint64_t evicted_calls; /* open calls given up: too many at once */
	uint64_t malformed_events;
	uint64_t ignored_fields;  /* of a type that no list can hold */
	uint64_t damaged_streams; /* whose rest could not be read */
	uint64_t removed_chunks;  /* the oldest, to keep the recording small */
	/* Operations: called by one rank only, absent between others of their rank,
	 * claimed by several calls, of different functions on different ranks. */
	uint64_t unmatched_operations;
	uint64_t missing_operations;
	uint64_t not_recorded_operations; /* absent, and the tracer was not recording */
	uint64_t ambiguous_operations;
	uint64_t mismatched_operations;
	uint64_t unsure_operations; /* nothing tells whether they count */
	/* What the program lacks, and not the trace: operations to which ranks that are
	 * in the trace had not come at its end; and those of them that are unmatched,
	 * too. */
	uint64_t incomplete_operations;
	uint64_t incomplete_alone;
	/* Of what ran on a GPU: CUPTI had no room, did not tell when, told of what is
	 * not known here. */
	uint64_t gpu_dropped;
	uint64_t gpu_zero_times;
	uint64_t gpu_unknown;
	/* A flight recorder has overwritten what is older: so it was meant to be. */
	bool is_window;
	char *first_damage; /* what was wrong with the first, or NULL */
	struct tap_stream_loss *streams;
};

/*
 * Any function may be NULL.  Each returns 0 or -errno, which ends the reading.
 * A process is told before anything else of it, and again if it describes
 * itself later.
 */
struct tap_consumer {
	int (*process)(void *data, const struct tap_process *process);
	int (*library)(void *data, const struct tap_process *process,
		       const struct tap_library *library);
	int (*problem)(void *data, const struct tap_problem *problem);
	/* Again each time that the state is told. */
	int (*thread)(void *data, const struct tap_thread_state *thread);
	/* Each time that something new is known of it: comm.h. */
	int (*communicator)(void *data, const struct tap_member *member);
	/* Takes tap_span_get() to keep the span; its state then changes. */
	int (*span_begun)(void *data, struct tap_span *span);
	/* Every span once; a span without beginning was not given before. */
	int (*span_ended)(void *data, struct tap_span *span);
	/* After its spans have ended, but for a call that launches: link.h. */
	int (*link)(void *data, const struct tap_link *link);
	/* An operation for which ranks are missing, or of which they called different
	 * functions; if two or more are there, it becomes a link, too. */
	int (*defect)(void *data, const struct tap_link *link);
	/* Each process once, after all spans and links. */
	int (*end_state)(void *data, const struct tap_end_state *end_state);
	int (*finish)(void *data, const struct tap_loss *loss);
};

/* Keeps a span; tap_span_put() in pair.h gives it back. */
struct tap_span *tap_span_get(struct tap_span *span);

/* How a state is called in every output. */
const char *tap_span_state_name(enum tap_span_state state);

/* Whether it is known how long it lasted. */
bool tap_span_has_duration(const struct tap_span *span);
/* How long a complete one lasted, or at most; negative in a damaged trace. */
int64_t tap_span_duration(const struct tap_span *span);

/* How many bytes an operation moves; -1 unknown. */
int64_t tap_operation_bytes(const struct tap_operation *operation);

/* "collective", "send" or "recv": what a call of this name asks for. */
const char *tap_operation_kind(const struct tap_name *name);

/*
 * "all.7", the seventh collective of its communicator, or "0>1.7", the seventh message of
 * rank 0 to rank 1: on all ranks the same, and of no other operation.  Nothing where that
 * is not known; a rank that is not known is -1.
 */
struct tap_buffer;
void tap_operation_add_key(struct tap_buffer *buffer, const struct tap_name *name,
			   int64_t rank, int64_t peer, uint64_t number);

/* The call's result, or the status that a work request completed with; or NULL. */
const struct tap_field *tap_span_result(const struct tap_span *span);

/*
 * Whether a result says that the call failed.  A call that does not block
 * answers ncclInProgress: that is no failure.
 */
bool tap_span_is_failure(const struct tap_field *result);

#endif
