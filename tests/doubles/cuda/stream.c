/* SPDX-License-Identifier: MIT */
/*
 * Streams and events of the driver double.  Each stream is a queue of tasks and a worker
 * thread that starts with the first task; an event is a place in one.  While a stream is
 * captured, what it gets goes to a graph instead; a stream that waits for an event of
 * such a stream is captured with it.
 */
#include "driver.h"

#include <stdlib.h>

struct task {
	struct task *next;
	/* NULL where it only waits. */
	struct double_work *work;
	/* Whose work this is. */
	uint64_t correlation;
	uint64_t node;
	/* Of who observes: 0 where nobody wants to know when it ran. */
	uint64_t observed;
	/* Not to begin before task number `after_number` of this stream is done. */
	struct CUstream_st *after;
	uint64_t after_number;
};

struct CUstream_st {
	struct CUstream_st *next;
	struct CUctx_st *context;
	/* Never used again, unlike an address. */
	uint64_t id;
	struct task *first;
	struct task **last;
	uint64_t queued;
	uint64_t done;
	pthread_cond_t work;
	/* Of the handle, of the worker, and of every task and event that names it. */
	unsigned int references;
	bool has_worker;
	bool is_closed;
	/* Orders itself with the NULL stream, as all but CU_STREAM_NON_BLOCKING do. */
	bool is_blocking;
	bool is_per_thread;
	pthread_t owner;
	/* Where the tasks go while it is captured. */
	struct CUgraph_st *capture;
	/* The capture began here and ends here. */
	bool is_origin;
};

struct CUevent_st {
	unsigned int flags;
	unsigned int references;
	/* Where it was recorded last; NULL before the first time. */
	struct CUstream_st *stream;
	uint64_t number;
	int64_t time_ns;
	/* The capture that it was recorded in, by its number: 0 for none. */
	uint64_t capture;
	struct CUevent_st *next;
};

struct stamp {
	struct double_work work;
	struct CUevent_st *event;
};

/* All under double_lock; a stream stays here until nothing names it any more. */
static struct CUstream_st *streams;
static struct CUevent_st *events;
static uint64_t stream_ids;

pthread_cond_t double_progress = PTHREAD_COND_INITIALIZER;

void *double_work_new(size_t size, CUgraphNodeType type, const char *name,
		      void (*run)(struct double_work *work))
{
	struct double_work *work = calloc(1, size);

	if (!work)
		return NULL;
	work->references = 1;
	work->type = type;
	work->name = name;
	work->run = run;
	return work;
}

void double_work_put(struct double_work *work)
{
	if (--work->references > 0)
		return;
	if (work->release)
		work->release(work);
	free(work);
}

static void put_stream(struct CUstream_st *stream)
{
	struct CUstream_st **place;

	if (--stream->references > 0)
		return;
	for (place = &streams; *place != stream; place = &(*place)->next)
		;
	*place = stream->next;
	pthread_cond_destroy(&stream->work);
	free(stream);
}

static struct CUstream_st *new_stream(struct CUctx_st *context, bool is_blocking)
{
	struct CUstream_st *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->context = context;
	stream->id = ++stream_ids;
	stream->last = &stream->first;
	stream->is_blocking = is_blocking;
	stream->references = 1;
	pthread_cond_init(&stream->work, NULL);
	stream->next = streams;
	streams = stream;
	return stream;
}

/*
 * Takes the handle away at once; what is queued still runs, as the real
 * cuStreamDestroy() promises, and is still waited for by the context.
 */
static void close_stream(struct CUstream_st *stream)
{
	stream->is_closed = true;
	pthread_cond_signal(&stream->work);
	put_stream(stream);
}

static void run_task(struct CUstream_st *stream, struct task *task)
{
	struct double_work *work = task->work;
	int64_t begin =
		double_log_work("begin", work, task->correlation, task->node, stream->id);
	int64_t end;

	if (work->run)
		work->run(work);
	end = double_log_work("end", work, task->correlation, task->node, stream->id);
	if (!task->observed)
		return;
	double_observe_ran(
		&(struct double_observed_work){
			.type = work->type,
			.name = work->name,
			.correlation = task->correlation,
			.node = task->node,
			.stream_id = stream->id,
			.context = stream->context->id,
			.device = (uint32_t) stream->context->device,
			.begin_ns = begin,
			.end_ns = end,
			.grid = {work->grid[0], work->grid[1], work->grid[2]},
			.block = {work->block[0], work->block[1], work->block[2]},
			.cluster = work->cluster,
			.shared = work->shared,
			.bytes = work->bytes,
			.value = work->value,
			.from_device = work->from_device,
			.to_device = work->to_device,
			.from_context = work->from.context,
			.to_context = work->to.context,
			.from_device_number = work->from.device,
			.to_device_number = work->to.device,
		},
		task->observed);
}

static void *work(void *arg)
{
	struct CUstream_st *stream = arg;
	struct task *task;

	pthread_mutex_lock(&double_lock);
	while (stream->first || !stream->is_closed) {
		task = stream->first;
		if (!task) {
			pthread_cond_wait(&stream->work, &double_lock);
			continue;
		}
		while (task->after && task->after->done < task->after_number)
			pthread_cond_wait(&double_progress, &double_lock);
		if (task->after)
			put_stream(task->after);
		if (task->work) {
			pthread_mutex_unlock(&double_lock);
			run_task(stream, task);
			pthread_mutex_lock(&double_lock);
			double_work_put(task->work);
		}
		stream->first = task->next;
		if (!stream->first)
			stream->last = &stream->first;
		free(task);
		stream->done++;
		pthread_cond_broadcast(&double_progress);
	}
	put_stream(stream);
	pthread_mutex_unlock(&double_lock);
	return NULL;
}

static CUresult start_worker(struct CUstream_st *stream)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	if (stream->has_worker)
		return CUDA_SUCCESS;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&thread, &attr, work, stream);
	pthread_attr_destroy(&attr);
	if (err)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stream->has_worker = true;
	stream->references++;
	return CUDA_SUCCESS;
}

static void queue(struct CUstream_st *stream, struct task *task)
{
	*stream->last = task;
	stream->last = &task->next;
	stream->queued++;
	pthread_cond_signal(&stream->work);
}

static CUresult append(struct CUstream_st *stream, struct double_work *work,
		       const struct double_call *call, uint64_t node,
		       struct CUstream_st *after, uint64_t after_number)
{
	struct task *task = calloc(1, sizeof(*task));
	CUresult res = task ? start_worker(stream) : CUDA_ERROR_OUT_OF_MEMORY;

	if (res != CUDA_SUCCESS) {
		free(task);
		return res;
	}
	task->work = work;
	if (work)
		work->references++;
	if (call)
		task->correlation = call->correlation;
	if (work)
		task->observed = double_observe_queued(work);
	task->node = node;
	task->after = after;
	task->after_number = after_number;
	if (after)
		after->references++;
	queue(stream, task);
	return CUDA_SUCCESS;
}

static CUresult wait_for(struct CUstream_st *stream, struct CUstream_st *other)
{
	if (other == stream || other->done == other->queued)
		return CUDA_SUCCESS;
	return append(stream, NULL, NULL, 0, other, other->queued);
}

/* The NULL stream and the blocking streams of a context take turns. */
static CUresult order_with_legacy(struct CUstream_st *stream)
{
	struct CUctx_st *context = stream->context;
	struct CUstream_st *s;
	CUresult res = CUDA_SUCCESS;

	if (!stream->is_blocking)
		return CUDA_SUCCESS;
	if (stream != context->legacy)
		return context->legacy ? wait_for(stream, context->legacy) : CUDA_SUCCESS;
	for (s = streams; s && res == CUDA_SUCCESS; s = s->next) {
		if (s->context == context && s->is_blocking)
			res = wait_for(stream, s);
	}
	return res;
}

static struct CUstream_st *per_thread_stream(struct CUctx_st *context)
{
	struct CUstream_st *s;

	for (s = streams; s; s = s->next) {
		if (s->is_per_thread && !s->is_closed && s->context == context &&
		    pthread_equal(s->owner, pthread_self()))
			return s;
	}
	s = new_stream(context, true);
	if (s) {
		s->is_per_thread = true;
		s->owner = pthread_self();
	}
	return s;
}

/* Called with double_lock held. */
static CUresult find_stream(struct CUctx_st *current, CUstream handle,
			    struct CUstream_st **ret_stream)
{
	struct CUstream_st *s;

	if (handle == NULL || handle == CU_STREAM_LEGACY) {
		if (!current->legacy)
			current->legacy = new_stream(current, true);
		*ret_stream = current->legacy;
		return current->legacy ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (handle == CU_STREAM_PER_THREAD) {
		*ret_stream = per_thread_stream(current);
		return *ret_stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	}
	for (s = streams; s; s = s->next) {
		if (s == handle && !s->is_closed) {
			*ret_stream = s;
			return CUDA_SUCCESS;
		}
	}
	return CUDA_ERROR_INVALID_HANDLE;
}

/* On success double_lock is held, and the caller gives it back. */
static CUresult lock_stream(CUstream handle, struct CUstream_st **ret_stream)
{
	struct CUctx_st *context;
	CUresult res = double_require_context(&context);

	if (res != CUDA_SUCCESS)
		return res;
	pthread_mutex_lock(&double_lock);
	res = find_stream(context, handle, ret_stream);
	if (res != CUDA_SUCCESS)
		pthread_mutex_unlock(&double_lock);
	return res;
}

/* DOUBLE_CUDA_QUEUE: how much a stream holds before a call has to wait; 0 is no limit. */
static uint64_t queue_limit(void)
{
	const char *text = getenv("DOUBLE_CUDA_QUEUE");

	return text ? strtoull(text, NULL, 10) : 0;
}

static void wait_for_room(struct CUstream_st *stream)
{
	uint64_t limit = queue_limit();

	stream->references++;
	while (limit && stream->queued - stream->done >= limit)
		pthread_cond_wait(&double_progress, &double_lock);
	put_stream(stream);
}

static CUresult capture(struct double_call *call, struct CUstream_st *stream,
			struct double_work *work)
{
	struct CUgraphNode_st *node;

	work->references++;
	node = double_graph_add(stream->capture, work);
	if (!node) {
		work->references--;
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	call->node = node->id;
	call->captured = node;
	return CUDA_SUCCESS;
}

/* Called with double_lock held, which it may give up for a while. */
static CUresult enqueue(struct double_call *call, struct CUstream_st *stream,
			struct double_work *work)
{
	CUresult res;

	call->stream_id = stream->id;
	double_call_note(call, work);
	if (stream->capture)
		return capture(call, stream, work);
	wait_for_room(stream);
	res = order_with_legacy(stream);
	return res == CUDA_SUCCESS ? append(stream, work, call, 0, NULL, 0) : res;
}

CUresult double_stream_enqueue(struct double_call *call, CUstream handle,
			       struct double_work *work)
{
	struct CUstream_st *stream;
	CUresult res = lock_stream(handle, &stream);

	if (res == CUDA_SUCCESS)
		res = enqueue(call, stream, work);
	else
		pthread_mutex_lock(&double_lock);
	double_work_put(work);
	pthread_mutex_unlock(&double_lock);
	double_observe_node(call->captured);
	call->captured = NULL;
	return res;
}

CUresult double_stream_enqueue_graph(struct double_call *call, CUstream handle,
				     const struct CUgraph_st *graph)
{
	struct CUgraphNode_st *node;
	struct CUstream_st *stream;
	CUresult res = lock_stream(handle, &stream);

	if (res != CUDA_SUCCESS)
		return res;
	call->stream_id = stream->id;
	if (stream->capture) {
		res = CUDA_ERROR_NOT_SUPPORTED;
	} else {
		wait_for_room(stream);
		res = order_with_legacy(stream);
	}
	for (node = graph->first; node && res == CUDA_SUCCESS; node = node->next) {
		res = append(stream, node->work, call, node->id, NULL, 0);
		call->work_count++;
	}
	pthread_mutex_unlock(&double_lock);
	return res;
}

static void wait_done(struct CUstream_st *stream, uint64_t number)
{
	stream->references++;
	while (stream->done < number)
		pthread_cond_wait(&double_progress, &double_lock);
	put_stream(stream);
}

void double_context_drain(struct CUctx_st *context)
{
	struct CUstream_st *s;

	pthread_mutex_lock(&double_lock);
	s = streams;
	while (s) {
		if (s->context == context && s->done < s->queued) {
			wait_done(s, s->queued);
			/* The list may have changed meanwhile. */
			s = streams;
			continue;
		}
		s = s->next;
	}
	pthread_mutex_unlock(&double_lock);
}

void double_context_close_streams(struct CUctx_st *context)
{
	struct CUstream_st *s;
	struct CUstream_st *next;

	pthread_mutex_lock(&double_lock);
	for (s = streams; s; s = next) {
		next = s->next;
		if (s->context == context && !s->is_closed)
			close_stream(s);
	}
	pthread_mutex_unlock(&double_lock);
}

static CUresult create_stream(CUstream *phStream, unsigned int flags)
{
	struct CUctx_st *context;
	CUresult res = double_require_context(&context);

	if (res != CUDA_SUCCESS)
		return res;
	if (!phStream || (flags & ~(unsigned int) CU_STREAM_NON_BLOCKING))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&double_lock);
	*phStream = new_stream(context, !(flags & CU_STREAM_NON_BLOCKING));
	pthread_mutex_unlock(&double_lock);
	if (!*phStream)
		return CUDA_ERROR_OUT_OF_MEMORY;
	double_observe_changed(DOUBLE_STREAM_CREATED,
			       &(struct double_observed_thing){.context = context,
							       .stream = *phStream});
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
	return create_stream(phStream, Flags);
}

/* There is but one priority. */
DOUBLE_EXPORT CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags,
						  int priority)
{
	(void) priority;
	return create_stream(phStream, flags);
}

static CUresult destroy_stream(CUstream hStream)
{
	struct CUstream_st *stream;
	CUresult res;

	if (!hStream || hStream == CU_STREAM_LEGACY || hStream == CU_STREAM_PER_THREAD)
		return CUDA_ERROR_INVALID_HANDLE;
	double_observe_changed(
		DOUBLE_STREAM_DESTROYED,
		&(struct double_observed_thing){.context = double_current_context(),
						.stream = hStream});
	res = lock_stream(hStream, &stream);
	if (res != CUDA_SUCCESS)
		return res;
	close_stream(stream);
	pthread_mutex_unlock(&double_lock);
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuStreamDestroy_v2(CUstream hStream)
{
	return destroy_stream(hStream);
}

DOUBLE_EXPORT CUresult cuStreamDestroy(CUstream hStream)
{
	return destroy_stream(hStream);
}

CUresult double_stream_wait(CUstream handle)
{
	struct CUstream_st *stream;
	CUresult res = lock_stream(handle, &stream);

	if (res != CUDA_SUCCESS)
		return res;
	/* What the NULL stream waits for has to be queued in it first. */
	if (stream->capture)
		res = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	else if (stream == stream->context->legacy)
		res = order_with_legacy(stream);
	if (res == CUDA_SUCCESS)
		wait_done(stream, stream->queued);
	pthread_mutex_unlock(&double_lock);
	return res;
}

static CUresult synchronize(const char *entry, CUstream stream)
{
	struct double_call call;

	double_call_begin(&call, entry, stream);
	return double_call_end(&call, double_stream_wait(stream));
}

DOUBLE_EXPORT CUresult cuStreamSynchronize(CUstream hStream)
{
	return synchronize(__func__, hStream);
}

DOUBLE_EXPORT CUresult cuStreamSynchronize_ptsz(CUstream hStream)
{
	return synchronize(__func__, double_per_thread(hStream));
}

static CUresult query(CUstream handle)
{
	struct CUstream_st *stream;
	CUresult res = lock_stream(handle, &stream);

	if (res != CUDA_SUCCESS)
		return res;
	if (stream->done < stream->queued)
		res = CUDA_ERROR_NOT_READY;
	pthread_mutex_unlock(&double_lock);
	return res;
}

DOUBLE_EXPORT CUresult cuStreamQuery(CUstream hStream)
{
	return query(hStream);
}

DOUBLE_EXPORT CUresult cuStreamQuery_ptsz(CUstream hStream)
{
	return query(double_per_thread(hStream));
}

uint64_t double_stream_number(struct CUctx_st *context, CUstream handle)
{
	struct CUstream_st *stream;
	uint64_t id = 0;

	pthread_mutex_lock(&double_lock);
	if (double_context_is_live(context) &&
	    find_stream(context, handle, &stream) == CUDA_SUCCESS)
		id = stream->id;
	pthread_mutex_unlock(&double_lock);
	return id;
}

static CUresult get_id(const char *entry, unsigned long long *streamId, CUstream handle)
{
	struct CUstream_st *stream;
	CUresult res = lock_stream(handle, &stream);

	(void) entry;
	if (res != CUDA_SUCCESS)
		return res;
	if (streamId)
		*streamId = stream->id;
	pthread_mutex_unlock(&double_lock);
	return streamId ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DOUBLE_STREAM_ENTRY(cuStreamGetId, get_id,
		    (CUstream hStream, unsigned long long *streamId), streamId)

static CUresult begin_capture(const char *entry, CUstreamCaptureMode mode,
			      CUstream handle)
{
	struct double_observed_thing created = {.context = double_current_context()};
	struct CUstream_st *stream;
	struct double_call call;
	CUresult res;

	double_call_begin(&call, entry, handle);
	res = lock_stream(handle, &stream);
	if (res != CUDA_SUCCESS)
		return double_call_end(&call, res);
	call.stream_id = stream->id;
	if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		res = CUDA_ERROR_INVALID_VALUE;
	else if (stream->capture || stream == stream->context->legacy)
		res = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	else
		stream->capture = double_graph_new();
	if (res == CUDA_SUCCESS && !stream->capture)
		res = CUDA_ERROR_OUT_OF_MEMORY;
	if (res == CUDA_SUCCESS)
		stream->is_origin = true;
	created.graph = res == CUDA_SUCCESS ? stream->capture : NULL;
	pthread_mutex_unlock(&double_lock);
	if (created.graph)
		double_observe_changed(DOUBLE_GRAPH_CREATED, &created);
	return double_call_end(&call, res);
}

DOUBLE_STREAM_ENTRY(cuStreamBeginCapture_v2, begin_capture,
		    (CUstream hStream, CUstreamCaptureMode mode), mode)
/* The first release of it had no mode. */
DOUBLE_STREAM_ENTRY(cuStreamBeginCapture, begin_capture, (CUstream hStream),
		    CU_STREAM_CAPTURE_MODE_GLOBAL)

static CUresult end_capture(const char *entry, CUgraph *phGraph, CUstream handle)
{
	struct CUstream_st *stream;
	struct CUstream_st *s;
	struct double_call call;
	CUresult res;

	double_call_begin(&call, entry, handle);
	res = lock_stream(handle, &stream);
	if (res != CUDA_SUCCESS)
		return double_call_end(&call, res);
	call.stream_id = stream->id;
	if (!phGraph || !stream->capture) {
		res = CUDA_ERROR_INVALID_VALUE;
	} else if (!stream->is_origin) {
		res = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	} else {
		*phGraph = stream->capture;
		for (s = streams; s; s = s->next) {
			if (s->capture == *phGraph)
				s->capture = NULL;
		}
		stream->is_origin = false;
	}
	pthread_mutex_unlock(&double_lock);
	return double_call_end(&call, res);
}

DOUBLE_STREAM_ENTRY(cuStreamEndCapture, end_capture, (CUstream hStream, CUgraph *phGraph),
		    phGraph)

/* Any of the places may be NULL but the first. */
static CUresult capture_info(const char *entry, CUstreamCaptureStatus *ret_status,
			     cuuint64_t *ret_id, CUgraph *ret_graph,
			     const CUgraphNode **ret_nodes, size_t *ret_count,
			     CUstream handle)
{
	struct CUgraph_st *graph;
	struct CUstream_st *stream;
	CUresult res = lock_stream(handle, &stream);

	(void) entry;
	if (res != CUDA_SUCCESS)
		return res;
	graph = stream->capture;
	if (ret_status)
		*ret_status = graph ? CU_STREAM_CAPTURE_STATUS_ACTIVE
				    : CU_STREAM_CAPTURE_STATUS_NONE;
	if (graph && ret_id)
		*ret_id = graph->id;
	if (graph && ret_graph)
		*ret_graph = graph;
	if (graph && ret_nodes)
		*ret_nodes = graph->newest ? &graph->newest : NULL;
	if (graph && ret_count)
		*ret_count = graph->newest != NULL;
	pthread_mutex_unlock(&double_lock);
	return ret_status ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DOUBLE_STREAM_ENTRY(cuStreamIsCapturing, capture_info,
		    (CUstream hStream, CUstreamCaptureStatus *captureStatus),
		    captureStatus, NULL, NULL, NULL, NULL)
DOUBLE_STREAM_ENTRY(cuStreamGetCaptureInfo, capture_info,
		    (CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
		     cuuint64_t *id_out),
		    captureStatus_out, id_out, NULL, NULL, NULL)
DOUBLE_STREAM_ENTRY(cuStreamGetCaptureInfo_v2, capture_info,
		    (CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
		     cuuint64_t *id_out, CUgraph *graph_out,
		     const CUgraphNode **dependencies_out, size_t *numDependencies_out),
		    captureStatus_out, id_out, graph_out, dependencies_out,
		    numDependencies_out)

static CUresult capture_info_edges(const char *entry, CUstreamCaptureStatus *ret_status,
				   cuuint64_t *ret_id, CUgraph *ret_graph,
				   const CUgraphNode **ret_nodes,
				   const CUgraphEdgeData **ret_edges, size_t *ret_count,
				   CUstream handle)
{
	if (ret_edges)
		*ret_edges = NULL;
	return capture_info(entry, ret_status, ret_id, ret_graph, ret_nodes, ret_count,
			    handle);
}

DOUBLE_STREAM_ENTRY(cuStreamGetCaptureInfo_v3, capture_info_edges,
		    (CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
		     cuuint64_t *id_out, CUgraph *graph_out,
		     const CUgraphNode **dependencies_out,
		     const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out),
		    captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
		    numDependencies_out)

/* Nothing is refused during a capture, so that the mode is only kept. */
DOUBLE_EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	static __thread CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
	CUstreamCaptureMode before = current;

	if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	current = *mode;
	*mode = before;
	return CUDA_SUCCESS;
}

static void put_event(struct CUevent_st *event)
{
	if (--event->references > 0)
		return;
	if (event->stream)
		put_stream(event->stream);
	free(event);
}

/* Called with double_lock held. */
static bool event_is_live(const struct CUevent_st *event)
{
	const struct CUevent_st *e;

	for (e = events; e; e = e->next) {
		if (e == event)
			return true;
	}
	return false;
}

DOUBLE_EXPORT CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
	struct CUctx_st *context;
	struct CUevent_st *event;
	CUresult res = double_require_context(&context);

	if (res != CUDA_SUCCESS)
		return res;
	if (!phEvent || (Flags & ~3u))
		return CUDA_ERROR_INVALID_VALUE;
	event = calloc(1, sizeof(*event));
	if (!event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	event->flags = Flags;
	event->references = 1;
	pthread_mutex_lock(&double_lock);
	event->next = events;
	events = event;
	pthread_mutex_unlock(&double_lock);
	*phEvent = event;
	return CUDA_SUCCESS;
}

static CUresult destroy_event(CUevent event)
{
	struct CUevent_st **place;
	CUresult res = CUDA_ERROR_INVALID_HANDLE;

	pthread_mutex_lock(&double_lock);
	for (place = &events; *place; place = &(*place)->next) {
		if (*place != event)
			continue;
		*place = event->next;
		put_event(event);
		res = CUDA_SUCCESS;
		break;
	}
	pthread_mutex_unlock(&double_lock);
	return res;
}

DOUBLE_EXPORT CUresult cuEventDestroy_v2(CUevent hEvent)
{
	return destroy_event(hEvent);
}

DOUBLE_EXPORT CUresult cuEventDestroy(CUevent hEvent)
{
	return destroy_event(hEvent);
}

static void run_stamp(struct double_work *work)
{
	struct CUevent_st *event = ((struct stamp *) work)->event;
	int64_t now = double_now_ns();

	pthread_mutex_lock(&double_lock);
	event->time_ns = now;
	pthread_mutex_unlock(&double_lock);
}

static void release_stamp(struct double_work *work)
{
	put_event(((struct stamp *) work)->event);
}

/* Called with double_lock held. */
static CUresult record_in(struct double_call *call, CUevent event,
			  struct CUstream_st *stream)
{
	struct stamp *stamp;
	CUresult res;

	if (!event_is_live(event))
		return CUDA_ERROR_INVALID_HANDLE;
	/* Such an event is no node: it only ties streams of the capture together. */
	if (stream->capture) {
		call->stream_id = stream->id;
		event->capture = stream->capture->id;
		return CUDA_SUCCESS;
	}
	stamp = double_work_new(sizeof(*stamp), CU_GRAPH_NODE_TYPE_EVENT_RECORD, "record",
				run_stamp);
	if (!stamp)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stamp->event = event;
	event->references++;
	stamp->work.release = release_stamp;
	res = enqueue(call, stream, &stamp->work);
	if (res == CUDA_SUCCESS) {
		stream->references++;
		if (event->stream)
			put_stream(event->stream);
		event->stream = stream;
		event->number = stream->queued;
		event->capture = 0;
	}
	double_work_put(&stamp->work);
	return res;
}

static CUresult record(const char *entry, CUevent event, CUstream handle)
{
	struct CUstream_st *stream;
	struct double_call call;
	CUresult res;

	double_call_begin(&call, entry, handle);
	res = lock_stream(handle, &stream);
	if (res == CUDA_SUCCESS) {
		res = record_in(&call, event, stream);
		pthread_mutex_unlock(&double_lock);
	}
	return double_call_end(&call, res);
}

DOUBLE_STREAM_ENTRY(cuEventRecord, record, (CUevent hEvent, CUstream hStream), hEvent)

static CUresult record_flags(const char *entry, CUevent event, unsigned int flags,
			     CUstream stream)
{
	return flags ? CUDA_ERROR_NOT_SUPPORTED : record(entry, event, stream);
}

DOUBLE_STREAM_ENTRY(cuEventRecordWithFlags, record_flags,
		    (CUevent hEvent, CUstream hStream, unsigned int flags), hEvent, flags)

/* The stream whose capture has this number; NULL if it is over.  With double_lock held.
 */
static struct CUstream_st *captured_stream(uint64_t capture)
{
	struct CUstream_st *s;

	for (s = streams; s; s = s->next) {
		if (s->capture && s->capture->id == capture)
			return s;
	}
	return NULL;
}

static CUresult wait_in(CUevent event, struct CUstream_st *stream)
{
	struct CUstream_st *other;

	if (!event_is_live(event))
		return CUDA_ERROR_INVALID_HANDLE;
	other = event->capture ? captured_stream(event->capture) : NULL;
	if (other) {
		if (stream->capture && stream->capture != other->capture)
			return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
		stream->capture = other->capture;
		return CUDA_SUCCESS;
	}
	/* A node for what is outside the capture would wait at every launch. */
	if (stream->capture)
		return event->stream ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
				     : CUDA_SUCCESS;
	if (event->stream && event->stream->done < event->number)
		return append(stream, NULL, NULL, 0, event->stream, event->number);
	return CUDA_SUCCESS;
}

static CUresult wait_event(const char *entry, CUevent event, unsigned int flags,
			   CUstream handle)
{
	struct CUstream_st *stream;
	struct double_call call;
	CUresult res;

	double_call_begin(&call, entry, handle);
	if (flags != 0)
		return double_call_end(&call, CUDA_ERROR_INVALID_VALUE);
	res = lock_stream(handle, &stream);
	if (res == CUDA_SUCCESS) {
		call.stream_id = stream->id;
		res = wait_in(event, stream);
		pthread_mutex_unlock(&double_lock);
	}
	return double_call_end(&call, res);
}

DOUBLE_STREAM_ENTRY(cuStreamWaitEvent, wait_event,
		    (CUstream hStream, CUevent hEvent, unsigned int Flags), hEvent, Flags)

static CUresult event_state(CUevent event, bool wait)
{
	CUresult res = CUDA_SUCCESS;

	pthread_mutex_lock(&double_lock);
	if (!event_is_live(event))
		res = CUDA_ERROR_INVALID_HANDLE;
	else if (event->capture)
		res = CUDA_ERROR_CAPTURED_EVENT;
	else if (event->stream && wait)
		wait_done(event->stream, event->number);
	else if (event->stream && event->stream->done < event->number)
		res = CUDA_ERROR_NOT_READY;
	pthread_mutex_unlock(&double_lock);
	return res;
}

DOUBLE_EXPORT CUresult cuEventSynchronize(CUevent hEvent)
{
	struct double_call call;

	double_call_begin(&call, __func__, NULL);
	return double_call_end(&call, event_state(hEvent, true));
}

DOUBLE_EXPORT CUresult cuEventQuery(CUevent hEvent)
{
	return event_state(hEvent, false);
}

static CUresult elapsed(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
	CUresult res = event_state(hStart, false);

	if (res == CUDA_SUCCESS)
		res = event_state(hEnd, false);
	if (res != CUDA_SUCCESS)
		return res;
	if (!pMilliseconds)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&double_lock);
	if (!hStart->stream || !hEnd->stream ||
	    (hStart->flags | hEnd->flags) & CU_EVENT_DISABLE_TIMING)
		res = CUDA_ERROR_INVALID_HANDLE;
	else
		*pMilliseconds = (float) (hEnd->time_ns - hStart->time_ns) / 1e6f;
	pthread_mutex_unlock(&double_lock);
	return res;
}

DOUBLE_EXPORT CUresult cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart,
					     CUevent hEnd)
{
	return elapsed(pMilliseconds, hStart, hEnd);
}

DOUBLE_EXPORT CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart,
					  CUevent hEnd)
{
	return elapsed(pMilliseconds, hStart, hEnd);
}
