/* SPDX-License-Identifier: MIT */
/*
 * The interface of the tracer's two libraries: libccltap.so, which wraps calls and is
 * always loaded, and libccltap-events.so, which contains LTTng and is loaded when first
 * needed.
 *
 * It hides LTTng from the code that wraps calls: that code sees a table of switches and
 * functions, found by the symbol "tap_events".
 */
#ifndef TAP_TRACEPOINTS_EVENTS_H
#define TAP_TRACEPOINTS_EVENTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "calls/nccl_calls.h"
#include "common/gate.h"
#include "common/thread.h"
#include "tracepoints/cuda_events.h"
#include "tracepoints/gpu_events.h"
#include "tracepoints/net_events.h"
#include "tracepoints/verbs_events.h"

/* Both files are installed together; different numbers mean a mixed installation. */
#define TAP_EVENTS_VERSION 19
#define TAP_EVENTS_SYMBOL "tap_events"

/* How a group ended, and what it contained. */
enum tap_group_outcome {
	TAP_GROUP_INNER, /* the group goes on: this end is within it */
	TAP_GROUP_LAUNCHED,
	TAP_GROUP_DROPPED,   /* the group failed: its operations do not count */
	TAP_GROUP_SIMULATED, /* its operations do not count either */
};

#define TAP_GROUP_COMMS_MAX 32

struct tap_group_end {
	enum tap_group_outcome outcome;
	uint32_t nr_comms; /* with operations in the group, also those not listed */
	uint32_t nr_listed;
	uint32_t comm_id[TAP_GROUP_COMMS_MAX];
	uint64_t first_op[TAP_GROUP_COMMS_MAX]; /* number of the first collective, 0:
						 * none */
	uint64_t collectives[TAP_GROUP_COMMS_MAX];
	uint64_t p2p[TAP_GROUP_COMMS_MAX];
};

/* The fields of every entry event besides the arguments. */
struct tap_call {
	uint64_t call_id;	 /* counted per process, from 1 */
	uint64_t parent_id;	 /* the enclosing call of this thread, 0: none */
	const char *parent;	 /* tap_thread.function there */
	const void *parent_real; /* tap_thread.real there */
	/*
	 * Return address less the base of its library; where a function of that has
	 * jumped to this one, the function's.
	 */
	uint64_t caller_offset;
	uint32_t caller_library; /* id of a tap:library, 0: in no library */
	uint8_t inner;		 /* the traced library made the call itself */
	uint8_t pnccl;		 /* called by its profiling name */
	uint8_t looked_up;	 /* called through a pointer from dlsym() */
	uint8_t per_thread;	 /* CUDA: the per-thread-stream variant */
	uint8_t runtime;	 /* CUDA: the runtime's call that made this one */
	uint32_t correlation_id; /* CUDA: CUPTI's number of a call that waited */
	uint32_t library;	 /* id of the tap:library that was called, 0: unknown */
	uint32_t stack_id;	 /* id of a tap:stack, 0: none is recorded */

	/*
	 * For calls on a communicator: its number in this process, its key on all ranks.
	 */
	uint32_t comm_id;
	uint64_t comm_key;
	/* For operations and calls that open or end a group; else 0. */
	uint64_t op_number;
	uint32_t not_counted; /* calls and groups on the communicator so far */
	uint64_t group_id;
	uint8_t group_depth;
	int8_t capture;			   /* tap_stream_capture() */
	const struct tap_group_end *group; /* on the exit of a call that ends a group */
};

enum tap_comm_origin {
	TAP_COMM_UNKNOWN,
	TAP_COMM_INIT,
	TAP_COMM_INIT_ALL,
	TAP_COMM_SPLIT,
	TAP_COMM_SHRINK,
	TAP_COMM_GROW,
};

enum tap_comm_phase {
	TAP_COMM_INITIALISING,
	TAP_COMM_READY,
	TAP_COMM_FINALIZING,
	TAP_COMM_REVOKED,
	TAP_COMM_SUSPENDED,
	TAP_COMM_DESTROYED,
	TAP_COMM_ABORTED,
	TAP_COMM_GONE, /* its creation failed, or another one has its address */
};

/* A communicator; unknown numbers are -1, an unknown key or id is 0. */
struct tap_comm_state {
	uint32_t comm_id;
	uintptr_t comm;
	uint64_t comm_key, alias_key;
	uint32_t library_id;
	uint64_t call_id; /* the call that changed it */
	enum tap_comm_origin origin;
	uint32_t parent_comm_id;
	uint32_t ordinal;
	int32_t color, split_key;
	enum tap_comm_phase phase;
	int32_t async_error;
	int32_t nranks, rank, device;
	uint64_t collectives;
	const struct tap_nccl_config *config;
};

/*
 * What a thread is in: its outermost recorded call; else, with call_id 0, a call that
 * counts or changes something; else no call, but a group.
 */
struct tap_thread_state {
	int32_t tid;
	uint64_t group_id;
	uint32_t group_depth;
	uint64_t call_id;
	const char *function;	      /* "": in no call */
	uint32_t comm_id;	      /* of the recorded call, else the last one used */
	uint64_t comm_key, op_number; /* of the recorded call, else 0 */
	uint64_t min_ns;	      /* the call has been open for at least this long */
};

/* A thread that a CCL created, and where its routine and pthread_create()'s caller lie. */
struct tap_ccl_thread_event {
	int32_t tid;
	const struct tap_ccl_thread *ccl;
	uint32_t routine_library, caller_library; /* ids of tap:library, 0: in none */
	uint64_t routine_offset, caller_offset;
};

/* The two events of a row; args is its <name>_args, ret its result (or NULL). */
struct tap_call_events {
	const int *entry_on, *exit_on;
	void (*entry)(const struct tap_call *call, const void *args);
	void (*exit)(const struct tap_call *call, const void *args, const void *ret);
};

/*
 * The values that NCCL gives NVTX for some calls: X(how it is recorded, name), in the
 * order of the bits in `given`.  Values are sign-extended.
 */
#define TAP_NVTX_VALUES(X) \
	X(HEX, comm_hash) \
	X(HEX, parent_hash) \
	X(U64, bytes) \
	X(I32, root) \
	X(REDOP, op) \
	X(I32, peer) \
	X(I32, nranks) \
	X(I32, rank) \
	X(I32, device) \
	X(I32, ndev) \
	X(I32, color) \
	X(I32, key) \
	X(I32, excludeRanksCount) \
	X(I32, ctx) \
	X(I32, npeers)
#define TAP_NVTX_NUMBER(how, name) TAP_NVTX_##name,
enum { TAP_NVTX_VALUES(TAP_NVTX_NUMBER) TAP_NVTX_NR };
#undef TAP_NVTX_NUMBER

struct tap_nvtx_values {
	uint32_t given; /* a bit for each value */
	uint64_t of[TAP_NVTX_NR];
};

/* A call that NCCL announced to NVTX and that no wrapper saw. */
struct tap_nvtx_call {
	uint64_t call_id, parent_id; /* as in tap_call */
	uint32_t library;	     /* the library of that NCCL */
	uint8_t inner;
	const char *function;
};

/* What the program itself gave NVTX. */
struct tap_nvtx_range {
	uint64_t call_id;   /* counted with the calls */
	uint64_t parent_id; /* the enclosing range or call of this thread, 0: none */
	enum { TAP_NVTX_THREAD, TAP_NVTX_PROCESS, TAP_NVTX_MARK } kind;
	const char *domain, *name; /* "" if it has none */
	uint32_t given;		   /* a bit for each field that follows */
	uint32_t category, color;
	int64_t value;
	uint64_t unsigned_value;
	double real_value;
};
enum {
	TAP_NVTX_HAS_CATEGORY = 1 << 0,
	TAP_NVTX_HAS_COLOR = 1 << 1,
	TAP_NVTX_HAS_SIGNED = 1 << 2,
	TAP_NVTX_HAS_UNSIGNED = 1 << 3,
	TAP_NVTX_HAS_REAL = 1 << 4,
};

/* The identity of the process; strings are never NULL. */
struct tap_process {
	int32_t pid, ppid;
	uint32_t uid;
	int32_t rank, world_size, local_rank;	/* -1: the launcher does not say */
	uint64_t pid_namespace, time_namespace; /* inode numbers, 0: unknown */
	const char *rank_from; /* the environment variable that gave the rank */
	const char *host, *boot_id, *job_id, *executable, *command, *version;
	const char *nvtx_injection; /* the library that NVTX is told to load, "" none */
};

/* An environment variable that steers NCCL; name "": there are none. */
struct tap_variable {
	const char *name, *value;
	uint8_t is_cut;	     /* the value is longer */
	uint8_t is_withheld; /* the value, "" here, may be a secret */
};

struct tap_library {
	uint32_t library_id;
	uintptr_t base;
	const char *path, *build_id, *layer;
};

#define TAP_STACK_DEPTH_MAX 64

/* Why a stack ends. */
enum tap_stack_end {
	TAP_STACK_START, /* the last frame is the start of a thread or of the program */
	TAP_STACK_DEPTH, /* the stack has more frames than wanted */
	TAP_STACK_LOST,	 /* no unwind table has the caller of the last frame */
};

/* A call stack, innermost frame first. */
struct tap_stack {
	uint32_t stack_id;
	enum tap_stack_end end;
	uint8_t frame_pointers; /* how many frames were found by frame pointers */
	uint32_t nr_frames;
	const uint16_t *libraries; /* ids of tap:library, 0: in no library */
	const uint64_t *offsets;   /* return addresses less the base of their library */
};

/* What the counters of something say that the process uses: at most once a second. */
struct tap_sample {
	const char *source;  /* "port", "thread" or "gpu" */
	const char *subject; /* the port ("mlx5_0/1"), the GPU's address, or "" */
	const char *state;   /* of the port or thread, in the kernel's words, or "" */
	int32_t tid;	     /* of a thread, 0 else */
	uint64_t interval_ns; /* since the sample before; 0: there was none */
	const char *names;   /* of the counters, with commas between them */
	uint32_t nr;
	const uint64_t *values;
	const uint64_t *growth; /* in that interval; all 0 without one */
};

/*
 * The events of the provider "tap" (tap_tp.h) that libccltap.so writes, one a
 * line: X(name, the parameters, the arguments).  Each is a member of struct tap_events.
 */
#define TAP_EVENTS_OF_PROCESS(X) \
	X(process, (const struct tap_process *process), (process)) \
	X(environment, (const struct tap_variable *variable), (variable)) \
	X(library, (const struct tap_library *library), (library)) \
	X(problem, (const char *what, const char *detail, uint64_t count), \
	  (what, detail, count)) \
	X(comm, (const struct tap_comm_state *comm), (comm)) \
	X(stack, (const struct tap_stack *stack), (stack)) \
	X(process_end, (void), (getpid())) \
	X(open_call, (const struct tap_thread_state *thread), (thread)) \
	X(ccl_thread, (const struct tap_ccl_thread_event *thread), (thread)) \
	X(ccl_thread_does, (const struct tap_thread *thread), (thread)) \
	X(ccl_thread_sleep, (const struct tap_thread *thread), (thread)) \
	X(ccl_thread_wake, (const struct tap_thread *thread), (thread)) \
	X(ccl_thread_end, (const struct tap_thread *thread), (thread)) \
	X(sample, (const struct tap_sample *sample), (sample)) \
	X(statedump_process, (const struct tap_process *process), (process)) \
	X(statedump_environment, (const struct tap_variable *variable), (variable)) \
	X(statedump_library, (const struct tap_library *library), (library)) \
	X(statedump_comm, (const struct tap_comm_state *comm), (comm)) \
	X(statedump_thread, (const struct tap_thread_state *thread), (thread)) \
	X(statedump_ccl_thread, (const struct tap_ccl_thread_event *thread), (thread)) \
	X(statedump_stack, (const struct tap_stack *stack), (stack)) \
	/* all_threads: every thread that is in a recorded call was written. */ \
	X(statedump_end, \
	  (uint32_t libraries, uint32_t comms, uint32_t threads, uint32_t stacks, \
	   bool all_threads), \
	  (libraries, comms, threads, stacks, all_threads))

struct tap_events {
	uint32_t version;
	/*
	 * Called once, before any event: sets the gate that events go through, and keeps
	 * LTTng's data in this library until the end.  Without this, LTTng's destructors
	 * would free the data as the program exits, while threads still use it.
	 */
	void (*prepare)(struct tap_gate *gate);
	struct tap_call_events nccl[TAP_NCCL_NR];
	/* NVTX: the switches of the events, and the events. */
	const int *nvtx_call_on[2], *nvtx_range_on[3];
	void (*nvtx_entry)(const struct tap_nvtx_call *call,
			   const struct tap_nvtx_values *values);
	void (*nvtx_exit)(const struct tap_nvtx_call *call,
			  const struct tap_nvtx_values *values);
	void (*range_entry)(const struct tap_nvtx_range *range);
	void (*range_exit)(uint64_t call_id);
	void (*mark)(const struct tap_nvtx_range *mark);
	struct tap_verbs_events verbs;
	struct tap_cuda_events cuda;
	struct tap_gpu_events gpu;
	struct tap_net_events net;
#define TAP_EVENT_POINTER(name, params, args) void(*name) params;
	TAP_EVENTS_OF_PROCESS(TAP_EVENT_POINTER)
#undef TAP_EVENT_POINTER
	const int *open_call_on; /* whether that event is wanted */
	const int *sample_on;	 /* likewise */
	/*
	 * The state dump: LTTng calls `write` in a thread of its own whenever a session
	 * starts or a user asks for a state dump.  set_statedump() returns false if LTTng
	 * will not call.
	 */
	bool (*set_statedump)(void (*write)(void));
	/*
	 * For LTTng's threads and locks across a fork; the caller keeps the mask between
	 * fork_before() and one of the other two.
	 */
	void (*fork_before)(sigset_t *mask);
	void (*fork_parent)(sigset_t *mask);
	void (*fork_child)(sigset_t *mask);
	/*
	 * For the descriptors of LTTng: close_from() calls close for every number from
	 * first on that is not LTTng's; close_one() calls it for fd unless fd is LTTng's,
	 * and then does not return 0.
	 */
	int (*close_from)(int first, int (*close)(int fd));
	int (*close_one)(int fd, int (*close)(int fd));
	/*
	 * Of the same list: a number is added and removed under LTTng's lock, which
	 * nests, and LTTng aborts if it is, or is not, in the list, or if it is not below
	 * fd_numbers.  fd_add() returns it, or less than 0.
	 */
	void (*fd_lock)(void);
	void (*fd_unlock)(void);
	int (*fd_add)(int fd);
	void (*fd_remove)(int fd);
	int fd_numbers;
};

#endif
