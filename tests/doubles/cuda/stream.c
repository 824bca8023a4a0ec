/* SPDX-License-Identifier: MIT */
/*
 * Streams, events and graphs of the fake driver.  Each stream is a queue of tasks and a
 * worker thread that starts with the first task; an event is a place in one.  A graph is
 * the tasks that a stream got while it was captured; it can be launched once.
 */
#include "driver.h"

#include <stdlib.h>
#include <time.h>

struct task {
	struct task *next;
	void (*run)(void *data);
	void *data;
	/* Not to begin before task number `after_number` of this stream is done. */
	struct CUstream_st *after;
	uint64_t after_number;
};

struct CUstream_st {
	struct CUstream_st *next;
	struct CUctx_st *context;
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
};

struct CUgraph_st {
	struct task *first;
	struct task **last;
};

struct CUgraphExec_st {
	struct task *first;
	bool was_launched;
};

struct CUevent_st {
	unsigned int flags;
	unsigned int references;
	/* Where it was recorded last; NULL before the first time. */
	struct CUstream_st *stream;
	uint64_t number;
	int64_t time_ns;
	struct CUevent_st *next;
};

/* All under fake_lock; a stream stays here until nothing names it any more. */
static struct CUstream_st *streams;
static struct CUevent_st *events;

/* Broadcast, with fake_lock, whenever a task of any stream is done. */
static pthread_cond_t progress = PTHREAD_COND_INITIALIZER;

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

static void *work(void *arg)
{
	struct CUstream_st *stream = arg;
	struct task *task;

	pthread_mutex_lock(&fake_lock);
	while (stream->first || !stream->is_closed) {
		task = stream->first;
		if (!task) {
			pthread_cond_wait(&stream->work, &fake_lock);
			continue;
		}
		while (task->after && task->after->done < task->after_number)
			pthread_cond_wait(&progress, &fake_lock);
		if (task->after)
			put_stream(task->after);
		if (task->run) {
			pthread_mutex_unlock(&fake_lock);
			task->run(task->data);
			pthread_mutex_lock(&fake_lock);
		}
		stream->first = task->next;
		if (!stream->first)
			stream->last = &stream->first;
		free(task);
		stream->done++;
		pthread_cond_broadcast(&progress);
	}
	put_stream(stream);
	pthread_mutex_unlock(&fake_lock);
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

static CUresult append(struct CUstream_st *stream, void (*run)(void *), void *data,
		       struct CUstream_st *after, uint64_t after_number)
{
	struct task *task = calloc(1, sizeof(*task));
	CUresult res = task ? start_worker(stream) : CUDA_ERROR_OUT_OF_MEMORY;

	if (res != CUDA_SUCCESS) {
		free(task);
		return res;
	}
	task->run = run;
	task->data = data;
	task->after = after;
	task->after_number = after_number;
	if (after)
		after->references++;
	if (stream->capture) {
		*stream->capture->last = task;
		stream->capture->last = &task->next;
	} else {
		queue(stream, task);
	}
	return CUDA_SUCCESS;
}

static CUresult wait_for(struct CUstream_st *stream, struct CUstream_st *other)
{
	if (other == stream || other->done == other->queued)
		return CUDA_SUCCESS;
	return append(stream, NULL, NULL, other, other->queued);
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

/* Called with fake_lock held. */
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

/* On success fake_lock is held, and the caller gives it back. */
static CUresult lock_stream(CUstream handle, struct CUstream_st **ret_stream)
{
	struct CUctx_st *context;
	CUresult res = fake_require_context(&context);

	if (res != CUDA_SUCCESS)
		return res;
	pthread_mutex_lock(&fake_lock);
	res = find_stream(context, handle, ret_stream);
	if (res != CUDA_SUCCESS)
		pthread_mutex_unlock(&fake_lock);
	return res;
}

CUresult fake_stream_enqueue(CUstream handle, void (*run)(void *data), void *data)
{
	struct CUstream_st *stream;
	CUresult res = lock_stream(handle, &stream);

	if (res != CUDA_SUCCESS)
		return res;
	res = order_with_legacy(stream);
	if (res == CUDA_SUCCESS)
		res = append(stream, run, data, NULL, 0);
	pthread_mutex_unlock(&fake_lock);
	return res;
}

static void wait_done(struct CUstream_st *stream, uint64_t number)
{
	stream->references++;
	while (stream->done < number)
		pthread_cond_wait(&progress, &fake_lock);
	put_stream(stream);
}

void fake_context_drain(struct CUctx_st *context)
{
	struct CUstream_st *s;

	pthread_mutex_lock(&fake_lock);
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
	pthread_mutex_unlock(&fake_lock);
}

void fake_context_close_streams(struct CUctx_st *context)
{
	struct CUstream_st *s;
	struct CUstream_st *next;

	pthread_mutex_lock(&fake_lock);
	for (s = streams; s; s = next) {
		next = s->next;
		if (s->context == context && !s->is_closed)
			close_stream(s);
	}
	pthread_mutex_unlock(&fake_lock);
}

FAKE_EXPORT CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
	struct CUctx_st *context;
	CUresult res = fake_require_context(&context);

	if (res != CUDA_SUCCESS)
		return res;
	if (!phStream || (Flags & ~(unsigned int) CU_STREAM_NON_BLOCKING))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&fake_lock);
	*phStream = new_stream(context, !(Flags & CU_STREAM_NON_BLOCKING));
	pthread_mutex_unlock(&fake_lock);
	return *phStream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

FAKE_EXPORT CUresult cuStreamDestroy_v2(CUstream hStream)
{
	struct CUstream_st *stream;
	CUresult res;

	if (!hStream || hStream == CU_STREAM_LEGACY || hStream == CU_STREAM_PER_THREAD)
		return CUDA_ERROR_INVALID_HANDLE;
	res = lock_stream(hStream, &stream);
	if (res != CUDA_SUCCESS)
		return res;
	close_stream(stream);
	pthread_mutex_unlock(&fake_lock);
	return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuStreamDestroy(CUstream hStream)
{
	return cuStreamDestroy_v2(hStream);
}

FAKE_EXPORT CUresult cuStreamSynchronize(CUstream hStream)
{
	struct CUstream_st *stream;
	CUresult res = lock_stream(hStream, &stream);

	if (res != CUDA_SUCCESS)
		return res;
	/* What the NULL stream waits for has to be queued in it first. */
	if (stream->capture)
		res = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	else if (stream == stream->context->legacy)
		res = order_with_legacy(stream);
	wait_done(stream, stream->queued);
	pthread_mutex_unlock(&fake_lock);
	return res;
}

FAKE_EXPORT CUresult cuStreamQuery(CUstream hStream)
{
	struct CUstream_st *stream;
	CUresult res = lock_stream(hStream, &stream);

	if (res != CUDA_SUCCESS)
		return res;
	if (stream->done < stream->queued)
		res = CUDA_ERROR_NOT_READY;
	pthread_mutex_unlock(&fake_lock);
	return res;
}

FAKE_EXPORT CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
	struct CUstream_st *stream;
	CUresult res = lock_stream(hStream, &stream);

	if (res != CUDA_SUCCESS)
		return res;
	if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		res = CUDA_ERROR_INVALID_VALUE;
	else if (stream->capture || stream == stream->context->legacy)
		res = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	else
		stream->capture = calloc(1, sizeof(*stream->capture));
	if (res == CUDA_SUCCESS && !stream->capture)
		res = CUDA_ERROR_OUT_OF_MEMORY;
	if (res == CUDA_SUCCESS)
		stream->capture->last = &stream->capture->first;
	pthread_mutex_unlock(&fake_lock);
	return res;
}

FAKE_EXPORT CUresult cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
	struct CUstream_st *stream;
	CUresult res = lock_stream(hStream, &stream);

	if (res != CUDA_SUCCESS)
		return res;
	if (!phGraph || !stream->capture) {
		res = CUDA_ERROR_INVALID_VALUE;
	} else {
		*phGraph = stream->capture;
		stream->capture = NULL;
	}
	pthread_mutex_unlock(&fake_lock);
	return res;
}

FAKE_EXPORT CUresult cuStreamIsCapturing(CUstream hStream,
					 CUstreamCaptureStatus *captureStatus)
{
	struct CUstream_st *stream;
	CUresult res = lock_stream(hStream, &stream);

	if (res != CUDA_SUCCESS)
		return res;
	if (!captureStatus)
		res = CUDA_ERROR_INVALID_VALUE;
	else
		*captureStatus = stream->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE
						 : CU_STREAM_CAPTURE_STATUS_NONE;
	pthread_mutex_unlock(&fake_lock);
	return res;
}

/* Takes what is in the graph: it is instantiated once. */
FAKE_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
						 unsigned long long flags)
{
	if (!phGraphExec || !hGraph)
		return CUDA_ERROR_INVALID_VALUE;
	if (flags || !hGraph->last)
		return CUDA_ERROR_NOT_SUPPORTED;
	*phGraphExec = calloc(1, sizeof(**phGraphExec));
	if (!*phGraphExec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	(*phGraphExec)->first = hGraph->first;
	hGraph->first = NULL;
	hGraph->last = NULL;
	return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)
{
	struct CUstream_st *stream;
	struct task *task;
	CUresult res = lock_stream(hStream, &stream);

	if (res != CUDA_SUCCESS)
		return res;
	if (!hGraphExec)
		res = CUDA_ERROR_INVALID_VALUE;
	else if (hGraphExec->was_launched || stream->capture)
		res = CUDA_ERROR_NOT_SUPPORTED;
	else
		res = start_worker(stream);
	while (res == CUDA_SUCCESS && hGraphExec->first) {
		task = hGraphExec->first;
		hGraphExec->first = task->next;
		task->next = NULL;
		queue(stream, task);
	}
	if (res == CUDA_SUCCESS)
		hGraphExec->was_launched = true;
	pthread_mutex_unlock(&fake_lock);
	return res;
}

static void drop_tasks(struct task *task)
{
	struct task *next;

	for (; task; task = next) {
		next = task->next;
		free(task);
	}
}

/* What was not launched is lost, with whatever it needed. */
FAKE_EXPORT CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)
{
	if (!hGraphExec)
		return CUDA_ERROR_INVALID_VALUE;
	drop_tasks(hGraphExec->first);
	free(hGraphExec);
	return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuGraphDestroy(CUgraph hGraph)
{
	if (!hGraph)
		return CUDA_ERROR_INVALID_VALUE;
	drop_tasks(hGraph->first);
	free(hGraph);
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

/* Called with fake_lock held. */
static bool event_is_live(const struct CUevent_st *event)
{
	const struct CUevent_st *e;

	for (e = events; e; e = e->next) {
		if (e == event)
			return true;
	}
	return false;
}

FAKE_EXPORT CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
	struct CUctx_st *context;
	struct CUevent_st *event;
	CUresult res = fake_require_context(&context);

	if (res != CUDA_SUCCESS)
		return res;
	if (!phEvent || (Flags & ~3u))
		return CUDA_ERROR_INVALID_VALUE;
	event = calloc(1, sizeof(*event));
	if (!event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	event->flags = Flags;
	event->references = 1;
	pthread_mutex_lock(&fake_lock);
	event->next = events;
	events = event;
	pthread_mutex_unlock(&fake_lock);
	*phEvent = event;
	return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuEventDestroy_v2(CUevent hEvent)
{
	struct CUevent_st **place;
	CUresult res = CUDA_ERROR_INVALID_HANDLE;

	pthread_mutex_lock(&fake_lock);
	for (place = &events; *place; place = &(*place)->next) {
		if (*place != hEvent)
			continue;
		*place = hEvent->next;
		put_event(hEvent);
		res = CUDA_SUCCESS;
		break;
	}
	pthread_mutex_unlock(&fake_lock);
	return res;
}

FAKE_EXPORT CUresult cuEventDestroy(CUevent hEvent)
{
	return cuEventDestroy_v2(hEvent);
}

static void stamp(void *data)
{
	struct CUevent_st *event = data;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_mutex_lock(&fake_lock);
	event->time_ns = (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
	put_event(event);
	pthread_mutex_unlock(&fake_lock);
}

FAKE_EXPORT CUresult cuEventRecord(CUevent hEvent, CUstream hStream)
{
	struct CUstream_st *stream;
	CUresult res = lock_stream(hStream, &stream);

	if (res != CUDA_SUCCESS)
		return res;
	if (!event_is_live(hEvent)) {
		pthread_mutex_unlock(&fake_lock);
		return CUDA_ERROR_INVALID_HANDLE;
	}
	res = order_with_legacy(stream);
	if (res == CUDA_SUCCESS)
		res = append(stream, stamp, hEvent, NULL, 0);
	if (res == CUDA_SUCCESS) {
		hEvent->references++;
		stream->references++;
		if (hEvent->stream)
			put_stream(hEvent->stream);
		hEvent->stream = stream;
		hEvent->number = stream->queued;
	}
	pthread_mutex_unlock(&fake_lock);
	return res;
}

FAKE_EXPORT CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent,
				       unsigned int Flags)
{
	struct CUstream_st *stream;
	CUresult res;

	if (Flags != 0)
		return CUDA_ERROR_INVALID_VALUE;
	res = lock_stream(hStream, &stream);
	if (res != CUDA_SUCCESS)
		return res;
	if (!event_is_live(hEvent))
		res = CUDA_ERROR_INVALID_HANDLE;
	else if (hEvent->stream && hEvent->stream->done < hEvent->number)
		res = append(stream, NULL, NULL, hEvent->stream, hEvent->number);
	pthread_mutex_unlock(&fake_lock);
	return res;
}

static CUresult event_state(CUevent event, bool wait)
{
	CUresult res = CUDA_SUCCESS;

	pthread_mutex_lock(&fake_lock);
	if (!event_is_live(event))
		res = CUDA_ERROR_INVALID_HANDLE;
	else if (event->stream && wait)
		wait_done(event->stream, event->number);
	else if (event->stream && event->stream->done < event->number)
		res = CUDA_ERROR_NOT_READY;
	pthread_mutex_unlock(&fake_lock);
	return res;
}

FAKE_EXPORT CUresult cuEventSynchronize(CUevent hEvent)
{
	return event_state(hEvent, true);
}

FAKE_EXPORT CUresult cuEventQuery(CUevent hEvent)
{
	return event_state(hEvent, false);
}

FAKE_EXPORT CUresult cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart,
					   CUevent hEnd)
{
	CUresult res = event_state(hStart, false);

	if (res == CUDA_SUCCESS)
		res = event_state(hEnd, false);
	if (res != CUDA_SUCCESS)
		return res;
	if (!pMilliseconds)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&fake_lock);
	if (!hStart->stream || !hEnd->stream ||
	    (hStart->flags | hEnd->flags) & CU_EVENT_DISABLE_TIMING)
		res = CUDA_ERROR_INVALID_HANDLE;
	else
		*pMilliseconds = (float) (hEnd->time_ns - hStart->time_ns) / 1e6f;
	pthread_mutex_unlock(&fake_lock);
	return res;
}

FAKE_EXPORT CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart,
					CUevent hEnd)
{
	return cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd);
}

FAKE_EXPORT CUresult cuStreamSynchronize_ptsz(CUstream hStream)
{
	return cuStreamSynchronize(fake_per_thread(hStream));
}

FAKE_EXPORT CUresult cuStreamQuery_ptsz(CUstream hStream)
{
	return cuStreamQuery(fake_per_thread(hStream));
}

FAKE_EXPORT CUresult cuStreamWaitEvent_ptsz(CUstream hStream, CUevent hEvent,
					    unsigned int Flags)
{
	return cuStreamWaitEvent(fake_per_thread(hStream), hEvent, Flags);
}

FAKE_EXPORT CUresult cuEventRecord_ptsz(CUevent hEvent, CUstream hStream)
{
	return cuEventRecord(hEvent, fake_per_thread(hStream));
}

FAKE_EXPORT CUresult cuStreamBeginCapture_v2_ptsz(CUstream hStream,
						  CUstreamCaptureMode mode)
{
	return cuStreamBeginCapture_v2(fake_per_thread(hStream), mode);
}

FAKE_EXPORT CUresult cuStreamEndCapture_ptsz(CUstream hStream, CUgraph *phGraph)
{
	return cuStreamEndCapture(fake_per_thread(hStream), phGraph);
}

FAKE_EXPORT CUresult cuStreamIsCapturing_ptsz(CUstream hStream,
					      CUstreamCaptureStatus *captureStatus)
{
	return cuStreamIsCapturing(fake_per_thread(hStream), captureStatus);
}

FAKE_EXPORT CUresult cuGraphLaunch_ptsz(CUgraphExec hGraphExec, CUstream hStream)
{
	return cuGraphLaunch(hGraphExec, fake_per_thread(hStream));
}
