/* SPDX-License-Identifier: MIT */
/*
 * One event of a raw trace as the reader's layers take it.
 *
 * Hides how a trace is stored, and how its events and fields are named there.
 */
#ifndef TAP_JOIN_MODEL_EVENT_H
#define TAP_JOIN_MODEL_EVENT_H

#include "join/model/span.h"

enum tap_event_kind {
	TAP_EVENT_OTHER, /* ignored */
	TAP_EVENT_ENTRY,
	TAP_EVENT_EXIT,
	TAP_EVENT_MARK, /* entry and exit at once */
	TAP_EVENT_PROCESS,
	TAP_EVENT_LIBRARY,
	TAP_EVENT_ENVIRONMENT,
	TAP_EVENT_PROBLEM,
	TAP_EVENT_COMM,
	TAP_EVENT_STACK,
	TAP_EVENT_OPEN_CALL,
	TAP_EVENT_PROCESS_END,
	TAP_EVENT_SAMPLE,
	TAP_EVENT_CCL_THREAD,
	TAP_EVENT_CCL_THREAD_DOES,
	TAP_EVENT_CCL_THREAD_SLEEP,
	TAP_EVENT_CCL_THREAD_WAKE,
	TAP_EVENT_CCL_THREAD_END,
	/*
	 * State dumps, which the tracer writes repeatedly: what is known already stays.
	 */
	TAP_EVENT_STATEDUMP_PROCESS,
	TAP_EVENT_STATEDUMP_LIBRARY,
	TAP_EVENT_STATEDUMP_ENVIRONMENT,
	TAP_EVENT_STATEDUMP_COMM,
	TAP_EVENT_STATEDUMP_THREAD,
	TAP_EVENT_STATEDUMP_CCL_THREAD,
	TAP_EVENT_STATEDUMP_STACK,
	TAP_EVENT_STATEDUMP_END,
	TAP_EVENT_VERBS, /* any event of the layer of verbs, state dumps included */
	TAP_EVENT_WORK,	 /* a call of the CUDA driver with one event, after the call */
	TAP_EVENT_NCCL_ARGS, /* NCCL's arguments for the kernel of the next launch */
	TAP_EVENT_FUNCTION,  /* the name of a kernel function; in state dumps, too */
	TAP_EVENT_GPU,	     /* of work that ran on a GPU: tap_gpu_event */
	TAP_EVENT_NET,	     /* of sockets: tap_net_event */
	TAP_EVENT_KINDS,
};

/* The events of the layer of the GPU. */
enum tap_gpu_event {
	TAP_GPU_KERNEL,
	TAP_GPU_MEMCPY,
	TAP_GPU_MEMCPY_P2P,
	TAP_GPU_MEMSET,
	TAP_GPU_GRAPH_NODE,
	TAP_GPU_NAME,
	TAP_GPU_OWNER,
	TAP_GPU_CLOCK,
	TAP_GPU_LOST,
	TAP_GPU_NONE, /* ignored */
};

/* The events of the layer of sockets. */
enum tap_net_event {
	TAP_NET_CONNECT,
	TAP_NET_ACCEPT,
	TAP_NET_CALLER_CONNECT,
	TAP_NET_CLOSE,
	TAP_NET_STATEDUMP,
	TAP_NET_HANDSHAKE,
	TAP_NET_STREAM_END,
	TAP_NET_UNDECODED,
	TAP_NET_SERVICE_REQUEST,
	TAP_NET_SERVICE_RESPONSE,
	TAP_NET_SEND,
	TAP_NET_RECV,
	TAP_NET_NONE, /* ignored */
};

/* One event. */
struct tap_event {
	enum tap_event_kind kind;
	struct tap_trace *trace;
	const struct tap_name *name; /* of an entry or exit */
	enum tap_verbs_event verbs;
	enum tap_gpu_event gpu;
	enum tap_net_event net;
	int64_t time_ns;
	int64_t begin_ns;      /* of a call with one event, after the call; 0 unknown */
	int64_t end_ns;	       /* of work that ran on a GPU; 0 unknown */
	uint64_t name_number;  /* of a kernel's name; 0 none */
	int64_t pid;	       /* -1 unknown */
	int64_t tid;	       /* -1 unknown */
	int64_t pid_namespace; /* the pid's namespace, as an inode; 0 unknown */
	bool has_call_id;
	bool has_result;
	int64_t result; /* of a call with one event */
	bool is_inner;
	bool is_from_nvtx; /* NVTX reported it */
	bool is_range;	   /* a range of the program, no call */
	uint64_t call_id;
	uint64_t parent_id;
	uint64_t caller_number;
	uint64_t caller_offset;
	uint64_t stack_id;
	struct tap_operation operation;
	struct tap_fields fields; /* all others; the join may take their memory */
};

/* The event of this name, which begins with "gpu:". */
enum tap_gpu_event tap_gpu_event(const char *name);
/* The event of this name, which begins with "net:", or tap:statedump_socket. */
enum tap_net_event tap_net_event(const char *name);

#endif
