/* SPDX-License-Identifier: MIT */
/*
 * What the files of the driver double share: contexts, streams, work and the one lock.
 * The device is host memory and threads, so that programs of the driver API run
 * where there is no GPU, with the order of execution that a GPU guarantees and
 * no other: what is not synchronised is not done yet.
 */
#ifndef DOUBLE_CUDA_DRIVER_H
#define DOUBLE_CUDA_DRIVER_H

#include "double_observer.h"

#include <cuda.h>

#include <pthread.h>
#include <stdbool.h>

#define DOUBLE_EXPORT __attribute__((visibility("default")))

enum { DOUBLE_MAX_DEVICES = 64 };

struct CUctx_st {
	struct CUctx_st *next;
	CUdevice device;
	/* Never used again, unlike an address. */
	uint32_t id;
	/* The stream that stands for NULL; made at its first use. */
	struct CUstream_st *legacy;
};

/* A kernel in a module, or in a library: CUkernel is accepted where CUfunction is. */
struct CUfunc_st {
	struct CUfunc_st *next;
	const struct double_kernel *kernel;
	struct CUmod_st *module;
};

/*
 * What a stream does in its turn.  It changes no more once it is enqueued, so that a
 * graph does the same one at every launch.
 */
struct double_work {
	/* Under double_lock. */
	unsigned int references;
	/* Called on the stream's worker without the lock; NULL does nothing. */
	void (*run)(struct double_work *work);
	/* What it holds is given back, with the lock held; may be NULL. */
	void (*release)(struct double_work *work);
	CUgraphNodeType type;
	/* What the log calls it: a kernel's name, or a word. */
	const char *name;
	/* Of kernels. */
	unsigned int grid[3];
	unsigned int block[3];
	unsigned int cluster;
	unsigned int shared;
	bool is_cooperative;
	/* Of copies and sets. */
	size_t bytes;
	unsigned int value;
	bool from_device;
	bool to_device;
	/* Of copies between contexts that were named. */
	struct {
		uint32_t context;
		uint32_t device;
	} from, to;
	/* The host's function that it calls. */
	const void *function;
};

/* One call of the API, for the log; the number stands for all that comes of it. */
struct double_call {
	/* The function's name as it is exported, with _ptsz or _ptds. */
	const char *entry;
	uint64_t correlation;
	int64_t begin_ns;
	CUstream stream;
	/* Filled in when the call enqueues something. */
	uint64_t stream_id;
	uint64_t node;
	struct CUgraphNode_st *captured;
	CUgraphExec graph;
	const struct double_work *work;
	unsigned int work_count;
	/* What the log says of the work, which may be over when the call is. */
	char text[256];
};

/*
 * Guards every context, stream, event, graph and allocation.  One lock for all is
 * slow and cannot be taken in a wrong order; a double needs the latter.
 */
extern pthread_mutex_t double_lock;
/* Broadcast whenever something is done that a stream may wait for. */
extern pthread_cond_t double_progress;

/* CUDA_SUCCESS once cuInit() was called in this very process, not in a parent. */
CUresult double_require_init(void);
/* Also needs a current context, which it returns. */
CUresult double_require_context(struct CUctx_st **ret_context);
/* Whether the handle is of a live context.  Called with double_lock held. */
bool double_context_is_live(const struct CUctx_st *context);
/* DOUBLE_CUDA_VERSION, as cuDriverGetVersion() says it. */
int double_driver_version(void);

/* Writes to the file named by DOUBLE_CUDA_LOG; see README. */
int64_t double_now_ns(void);
void double_log_ask(const char *symbol, int version, cuuint64_t flags, bool is_found);
/* The beginning or end of work on the device; returns when that was. */
int64_t double_log_work(const char *what, const struct double_work *work,
			uint64_t correlation, uint64_t node, uint64_t stream_id);
void double_call_begin(struct double_call *call, const char *entry, CUstream stream);
/* Returns `res`. */
CUresult double_call_end(struct double_call *call, CUresult res);
/* Keeps what the log will say of the call's work, before that can be over. */
void double_call_note(struct double_call *call, const struct double_work *work);
/* What DOUBLE_CUDA_FAIL wants this launch to fail with, else CUDA_SUCCESS. */
CUresult double_launch_failure(void);

/*
 * What is told to who observes, if anybody does; none with double_lock held but
 * double_observe_queued().
 */
bool double_is_observed(void);
/* The number of the call that begins: the next, or that of the runtime's around it. */
uint64_t double_observe_number(void);
void double_observe_enter(const struct double_call *call);
void double_observe_leave(const struct double_call *call, CUresult res);
uint64_t double_observe_queued(const struct double_work *work);
void double_observe_ran(const struct double_observed_work *ran, uint64_t answer);
void double_observe_changed(enum double_observed_what what,
			    const struct double_observed_thing *thing);
void double_observe_node(struct CUgraphNode_st *node);
const void *double_observer_table(const CUuuid *id);
/* The current context of the thread, which need not be live. */
struct CUctx_st *double_current_context(void);
/* The number of a stream; 0 where it is none. */
uint64_t double_stream_number(struct CUctx_st *context, CUstream handle);
uint32_t double_exec_number(CUgraphExec exec);

/* Zeroed, with one reference; `size` is that of what begins with it.  NULL without
 * memory. */
void *double_work_new(size_t size, CUgraphNodeType type, const char *name,
		      void (*run)(struct double_work *work));
/* Called with double_lock held. */
void double_work_put(struct double_work *work);

/*
 * Puts work at the end of a stream, or into the graph that the stream is captured for;
 * takes any of the special handles.  Takes the caller's reference, in any case.
 */
CUresult double_stream_enqueue(struct double_call *call, CUstream handle,
			       struct double_work *work);
CUresult double_stream_wait(CUstream handle);
/* Waits until all work of the context that was enqueued so far is done. */
void double_context_drain(struct CUctx_st *context);
/* Lets go of the streams of a context that has been drained. */
void double_context_close_streams(struct CUctx_st *context);

struct CUgraphNode_st {
	struct CUgraphNode_st *next;
	struct double_work *work;
	struct CUgraph_st *graph;
	uint64_t id;
};

/* The nodes are in an order in which they can run; dependencies are not kept. */
struct CUgraph_st {
	struct CUgraphNode_st *first;
	struct CUgraphNode_st **last;
	struct CUgraphNode_st *newest;
	uint64_t id;
	size_t count;
};

/* All with double_lock held. */
struct CUgraph_st *double_graph_new(void);
/* Takes the caller's reference if it succeeds. */
struct CUgraphNode_st *double_graph_add(struct CUgraph_st *graph,
					struct double_work *work);
void double_graph_free(struct CUgraph_st *graph);
/* All nodes, one after the other; a stream that is captured refuses. */
CUresult double_stream_enqueue_graph(struct double_call *call, CUstream handle,
				     const struct CUgraph_st *graph);

/* Whether an address is of mapped memory, and which mapping.  With double_lock held. */
bool double_virtual_find(CUdeviceptr address, CUdeviceptr *ret_base, size_t *ret_size);

/* Work, made of the arguments of the calls that add nodes and of those that do it now. */
CUresult double_kernel_work(CUfunction function, const unsigned int grid[3],
			    const unsigned int block[3], void **parameters, void **extra,
			    struct double_work **ret_work);
CUresult double_copy_work(const CUDA_MEMCPY3D *copy, struct double_work **ret_work);
CUresult double_fill_work(const CUDA_MEMSET_NODE_PARAMS *fill,
			  struct double_work **ret_work);
CUresult double_host_work(CUhostFn fn, void *data, struct double_work **ret_work);

/* NULL means the thread's own stream in the _ptsz and _ptds forms. */
static inline CUstream double_per_thread(CUstream stream)
{
	return stream ? stream : CU_STREAM_PER_THREAD;
}

/* A function and its twin, which differ in what NULL means; body(name, arguments). */
#define DOUBLE_STREAM_ENTRY(name, body, parameters, ...) \
	DOUBLE_EXPORT CUresult name parameters \
	{ \
		return body(__func__, __VA_ARGS__, hStream); \
	} \
	DOUBLE_EXPORT CUresult name##_ptsz parameters \
	{ \
		return body(__func__, __VA_ARGS__, double_per_thread(hStream)); \
	}

#endif
