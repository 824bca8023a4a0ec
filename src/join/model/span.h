/* SPDX-License-Identifier: MIT */
/*
 * The structures that the join makes of a raw trace, and the consumer that it gives them
 * to.
 *
 * Hides events and babeltrace2 from every output (text, JSON lines, report): each is one
 * consumer of these structures.  All of them belong to the join and live until it is
 * destroyed, but for spans, which are reference-counted.
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

/* The trace of one host, within which a process number identifies a process. */
struct tap_trace {
	unsigned int number; /* from 0 */
	char *host;	     /* "" unknown */
	int64_t pid;	     /* of a trace of a single process, else */
	uint64_t time_namespace; /* of its first process that says it; 0 unknown */
	struct tap_clock *clock; /* of the host; NULL: of all hosts of this name */
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
	TAP_STACK_START, /* the thread or the program starts in the last frame */
	TAP_STACK_DEPTH, /* the stack has more frames than the user asked for */
	TAP_STACK_LOST,	 /* the caller of the last frame is unknown */
};

struct tap_stack {
	uint64_t number; /* the process's own, from 1 */
	enum tap_stack_end end;
	struct tap_stack *next; /* of the same process, newest first */
	size_t count;
	struct tap_stack_frame {
		uint64_t library; /* number, 0 none */
		uint64_t offset;  /* return address, relative unless library is 0 */
	} frames[];		  /* innermost first */
};

struct tap_process {
	unsigned int number; /* from 0, in order of appearance */
	const struct tap_trace *trace;
	const char *host;
	int64_t pid;		    /* -1 unknown */
	int64_t pid_namespace;	    /* the pid's namespace, 0 unknown */
	int64_t rank;		    /* as the launcher says, -1 unknown */
	int64_t comm_rank;	    /* tap_process_rank(), at the end; negative: none */
	bool is_announced;	    /* the process described itself: about is filled */
	bool is_foreign;	    /* of a job that is not read: nothing is known */
	bool is_from_statedump;	    /* only a state dump has described it so far */
	bool is_reported;	    /* to the consumer */
	struct tap_fields about;    /* the process's description of itself */
	struct tap_table by_number; /* libraries */
	struct tap_library *libraries;
	struct tap_table by_stack; /* number */
	struct tap_stack *stacks;
};

/*
 * The rank that the launcher says or, at the end, the rank in the largest communicator,
 * unless the process is several ranks; -1 unknown.
 */
static inline int64_t tap_process_rank(const struct tap_process *process)
{
	if (process->rank >= 0)
		return process->rank;
	return process->comm_rank >= 0 ? process->comm_rank : -1;
}

struct tap_problem {
	const struct tap_process *process;
	int64_t time_ns;
	const char *what;
	const char *detail;
	const char *why; /* the detail without when that was; NULL: the detail says no time */
	uint64_t count;
	bool is_unobserved; /* something in the program cannot be observed */
	bool is_device_error; /* of the program's network device: `what` names the event */
	const struct tap_qp *qp; /* that the device reports to be in error, or NULL */
};

/* An environment variable that steers NCCL; name "": the process has none. */
struct tap_variable {
	const struct tap_process *process;
	int64_t time_ns;
	const char *name;
	const char *value;
	bool is_cut;	  /* the value is longer */
	bool is_withheld; /* the value, "" here, may be a secret */
};

/* What the counters of something that a process uses said at one moment. */
struct tap_sampled {
	const struct tap_process *process;
	int64_t time_ns;
	const char *source; /* "port", "thread", "proxy", "gpu", or a newer tracer's */
	const char *subject;  /* "mlx5_0/1", or "" */
	const char *state;    /* in the kernel's words, or "" */
	int64_t tid;	      /* of a thread, else -1 */
	uint64_t interval_ns; /* since the sample before, 0: there was none */
	/* The counters that differ from the sample before; all, where there was none. */
	const char *names; /* with commas between them */
	const uint64_t *values;
	const uint64_t *growth; /* in that interval */
	size_t count;
};

/* How much the counter of this name has grown; 0: it is as it was, or there is none. */
uint64_t tap_sampled_growth(const struct tap_sampled *sample, const char *name);

/* A thread that was in a call when recording began, or has been in one for long. */
struct tap_thread_state {
	const struct tap_process *process;
	int64_t time_ns;
	int64_t tid;		     /* -1 unknown */
	const struct tap_name *name; /* of the function, NULL: only in a group */
	uint64_t call_id;	     /* of a call that was recorded, 0 none */
	uint64_t group_id;
	uint64_t comm_id;
	uint64_t comm_key;
	uint64_t op_number;
	int64_t min_ns;			 /* the least time that it has been in the call */
	const struct tap_member *member; /* NULL unknown */
};

/* The outermost call that a thread was in at the end, or the last call that returned. */
struct tap_open_call {
	const struct tap_process *process;
	const struct tap_name *name;
	int64_t tid;	      /* -1 unknown */
	uint64_t call_id;     /* 0: the call was not recorded */
	bool is_begun_before; /* its entry is not in the trace */
	int64_t begin_ns;     /* when it began, unless is_begun_before */
	int64_t end_ns;	      /* of one that returned */
	int64_t reported_ns; /* when the tracer reported it as open, if is_begun_before */
	int64_t min_ns;	     /* the least time that it was open */
	uint64_t comm_id;    /* as in tap_operation */
	uint64_t comm_key;
	uint64_t op_number;
	int64_t peer;
	const struct tap_member *member; /* NULL unknown */
	uint64_t caller_number;		 /* of the library, 0 unknown */
	const struct tap_library *caller; /* NULL unknown */
	uint64_t caller_offset;
	/*
	 * Of a wait or a poll: the last operation that it asked for, on its stream or
	 * communicator, and that nothing shows to have ended; NULL unknown
	 */
	const struct tap_open_call *waits_for;
};

enum tap_end {
	TAP_END_NOT_SEEN, /* the process ran on, or was killed */
	TAP_END_EXIT,	  /* the process called exit(), or returned from main() */
	TAP_END_REPLACED, /* it executed another program, or its pid was reused */
};

/* The state of a process at the end. */
struct tap_end_state {
	const struct tap_process *process;
	enum tap_end end;
	int64_t end_ns;			   /* not of TAP_END_NOT_SEEN */
	int64_t seen_ns;		   /* the process's last event */
	const struct tap_open_call *calls; /* by thread */
	size_t count;
	/* The last calls that returned, each of its kind; name NULL: none. */
	struct tap_open_call last; /* not a poll: a watchdog's hides where a rank stands */
	struct tap_open_call last_operation; /* that asked NCCL for work */
	struct tap_open_call poll; /* waits_for: the last operation on its communicator */
};

enum tap_span_state {
	TAP_SPAN_RUNNING, /* only in span_begun() */
	TAP_SPAN_COMPLETE,
	TAP_SPAN_OPEN,	     /* not returned when its process or the trace ended */
	TAP_SPAN_END_LOST,   /* it returned, but the trace does not say when */
	TAP_SPAN_BEGIN_LOST, /* only its exit is in the trace */
};

struct tap_nccl_connection;
struct tap_nccl_thread;
struct tap_pairs;
struct tap_thread;
struct tap_member;
struct tap_half;
struct tap_link;
struct tap_row;

/* Where a span is drawn on its row. */
struct tap_place {
	struct tap_row *row; /* for lane.c; NULL: not drawn, or no longer */
	unsigned int lane;   /* from 0 */
	unsigned int depth;  /* from 1 */
};

/* The communicator of an entry and the work that it asks for. */
struct tap_operation {
	uint64_t comm_id;    /* the process's own, from 1; 0 none */
	uint64_t comm_key;   /* equal on all ranks, 0 unknown */
	uint64_t number;     /* equal on all ranks, 0 none */
	int64_t not_counted; /* uncounted on the communicator so far, -1 unknown */
	uint64_t group_id;   /* 0 none */
	uint64_t count;	     /* of elements, where has_count */
	int64_t peer;	     /* -1 none */
	int64_t datatype;    /* -1 none */
	int64_t redop;	     /* -1 none */
	int64_t root;	     /* -1 none */
	bool has_count;
};

#define TAP_OPERATION_NONE \
	((struct tap_operation){.not_counted = -1, \
				.peer = -1, \
				.datatype = -1, \
				.redop = -1, \
				.root = -1})

/* Of work that ran on a GPU: the times that led to it. */
struct tap_run {
	bool has_launch; /* launch_ns and queue_ns are known */
	bool has_call;	 /* call_ns and to_launch_ns are known: NCCL launched it */
	bool is_nccl;
	int64_t launch_ns;	     /* how long the launch lasted */
	int64_t queue_ns;	     /* from its beginning to that of the work */
	int64_t call_ns;	     /* how long the call lasted; -1: it did not return */
	int64_t to_launch_ns;	     /* from its beginning to the launch */
	const struct tap_name *call; /* its collective, NULL unknown */
};

struct tap_span {
	enum tap_span_state state;
	const struct tap_process *process;
	const struct tap_name *name;
	int64_t tid;	    /* -1 unknown */
	uint64_t call_id;   /* counted per process */
	uint64_t parent_id; /* call_id of the enclosing call, 0 none */
	int64_t begin_ns;   /* since the Unix epoch; not for BEGIN_LOST */
	int64_t end_ns;	    /* only for COMPLETE and BEGIN_LOST */
	unsigned int depth; /* number of known enclosing calls */
	bool is_inner;	    /* called by the traced library itself */
	bool is_from_nvtx;  /* NVTX reported it, no wrapper saw it */
	bool is_range;	    /* a range of the program, no call */
	bool is_enclosed;   /* another call of the thread was open around it */
	bool is_late;	    /* order.c no longer waits for it */
	bool is_end_bound;  /* a work request was over by end_ns, at an unknown time */
	uint64_t caller_number;		  /* of the library, 0 unknown */
	const struct tap_library *caller; /* NULL unknown */
	uint64_t caller_offset;
	uint64_t stack_id;	       /* 0 none */
	const struct tap_stack *stack; /* NULL unknown */
	struct tap_operation operation;
	struct tap_work work;
	struct tap_run gpu;
	struct tap_member *member; /* of its communicator (comm.h), NULL none */
	struct tap_fields entry;   /* arguments */
	struct tap_fields exit;	   /* result and values that the call returned */
	const struct tap_field *result; /* in exit, once is_result_known */
	bool is_result_known;
	struct tap_place place;	   /* set by lane.c, where the consumer uses it */
	unsigned char filter;	   /* set by filtered.c, where filters are given */

	/* For pair.c only. */
	unsigned int references;
	struct tap_pairs *pairs;   /* its owner */
	struct tap_thread *thread; /* not NULL: the call ends before those around it */
	TAP_LIST_LINK(struct tap_span) nest; /* open calls of a thread, inner ones last */
	TAP_LIST_LINK(struct tap_span) open; /* of all processes; or unused */
};

/* A stream with losses. */
struct tap_stream_loss {
	char *name;
	uint64_t discarded_events;
	uint64_t discarded_packets;
	struct tap_stream_loss *next;
};

/* Counts of what is missing from the trace, or could not be used. */
struct tap_loss {
	uint64_t discarded_events;
	uint64_t discarded_packets;
	uint64_t discarded_unknown; /* occasions with an unknown number of events */
	uint64_t lost_exits;
	uint64_t lost_entries;
	uint64_t evicted_calls; /* open calls given up: too many at once */
	uint64_t malformed_events;
	uint64_t ignored_fields;  /* of a type that a list cannot hold */
	uint64_t damaged_streams; /* whose rest could not be read */
	uint64_t removed_chunks;  /* the oldest, to keep the recording small */
	uint64_t unrecorded;	  /* processes of the program, as the recorder knows */
	uint64_t relay_gaps;	  /* times that a relay daemon was gone, and came back */
	/*
	 * Processes in another time namespace than the first of their trace: one trace
	 * cannot hold two clocks.
	 */
	uint64_t mixed_clocks;
	/*
	 * Operations: called by one rank only, absent between others of their rank,
	 * claimed by several calls, called as different functions on different ranks.
	 */
	uint64_t unmatched_operations;
	uint64_t missing_operations;
	uint64_t not_recorded_operations; /* absent, and the tracer was not recording */
	uint64_t ambiguous_operations;
	uint64_t mismatched_operations;
	uint64_t unsure_operations; /* whether they count is unknown */
	/*
	 * Missing in the program, not in the trace: operations that ranks in the trace
	 * had not called at its end; and those of them that are unmatched, too.
	 */
	uint64_t incomplete_operations;
	uint64_t incomplete_alone;
	/*
	 * Work on a GPU that CUPTI had no room for, reported without times, or reported
	 * with something that the reader does not know.
	 */
	uint64_t gpu_dropped;
	uint64_t gpu_zero_times;
	uint64_t gpu_unknown;
	/* A flight recorder has overwritten older events, on purpose. */
	bool is_window;
	char *first_damage; /* the damage of the first damaged stream, or NULL */
	struct tap_stream_loss *streams;
};

/* Whether, as far as is known, no event is missing. */
bool tap_loss_is_none(const struct tap_loss *loss);

/*
 * Any function may be NULL. Each returns 0 or -errno, which ends the reading.  The join
 * reports a process before anything else about it, and again if the process describes
 * itself later.
 */
struct tap_consumer {
	int (*process)(void *data, const struct tap_process *process);
	int (*library)(void *data, const struct tap_process *process,
		       const struct tap_library *library);
	/* Again when it has another value, and when a state dump repeats it. */
	int (*variable)(void *data, const struct tap_variable *variable);
	int (*problem)(void *data, const struct tap_problem *problem);
	int (*sample)(void *data, const struct tap_sampled *sample);
	/* At each report of the thread's state. */
	int (*thread)(void *data, const struct tap_thread_state *thread);
	/* A thread of NCCL's own, once, when it ends or the trace does: nccl_thread.h. */
	int (*nccl_thread)(void *data, const struct tap_nccl_thread *thread);
	/* Each end of a connection of NCCL's, once, at the end: nccl_connection.h. */
	int (*connection)(void *data, const struct tap_nccl_connection *connection);
	/* Each time that something new is known of the member: comm.h. */
	int (*communicator)(void *data, const struct tap_member *member);
	/* A consumer keeps the span by tap_span_get(); its state then changes. */
	int (*span_begun)(void *data, struct tap_span *span);
	/* Every span once; one without a known beginning was not in span_begun(). */
	int (*span_ended)(void *data, struct tap_span *span);
	/* After the link's spans have ended, but for a call that launches: link.h. */
	int (*link)(void *data, const struct tap_link *link);
	/*
	 * An operation that some ranks have not called, or that ranks called as different
	 * functions; with two ranks or more it becomes a link, too.
	 */
	int (*defect)(void *data, const struct tap_link *link);
	/* A message whose other end is on a host that is not read: link.h. */
	int (*half)(void *data, const struct tap_half *half);
	/* Each process once, after all spans and links. */
	int (*end_state)(void *data, const struct tap_end_state *end_state);
	int (*finish)(void *data, const struct tap_loss *loss);
	/* It wants what bounds the clocks of hosts: layers that only views need are idle. */
	bool is_of_clocks;
};

/* Keeps a span; tap_span_put() in pair.h gives it back. */
struct tap_span *tap_span_get(struct tap_span *span);

/* The name of a state in every output. */
const char *tap_span_state_name(enum tap_span_state state);

/* Whether the duration is known. */
bool tap_span_has_duration(const struct tap_span *span);
/* The duration of a complete span, or its upper bound; negative in a damaged trace. */
int64_t tap_span_duration(const struct tap_span *span);

/* How many bytes an operation moves; -1 unknown. */
int64_t tap_operation_bytes(const struct tap_operation *operation);

/* "collective", "send" or "recv": what a call of this name asks for. */
const char *tap_operation_kind(const struct tap_name *name);

/*
 * "all.7", the seventh collective of its communicator, or "0>1.7", the seventh message of
 * rank 0 to rank 1: the same on all ranks, and different for all other operations.  Adds
 * nothing where the number is unknown; an unknown rank is -1.
 */
struct tap_buffer;
void tap_operation_add_key(struct tap_buffer *buffer, const struct tap_name *name,
			   int64_t rank, int64_t peer, uint64_t number);

/* The call's result, or the status of a work request's completion; or NULL. */
const struct tap_field *tap_span_find_result(const struct tap_span *span);
static inline const struct tap_field *tap_span_result(const struct tap_span *span)
{
	return span->is_result_known ? span->result : tap_span_find_result(span);
}

/*
 * Whether a result says that the call failed.  A call that does not block returns
 * ncclInProgress, which is not a failure.
 */
bool tap_span_is_failure(const struct tap_field *result);

#endif
