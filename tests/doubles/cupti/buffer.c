/* SPDX-License-Identifier: MIT */
/*
 * Records on their way to the client: queued when they are complete, put into the
 * client's buffers by a worker thread or by who flushes, and handed over when a buffer is
 * full or flushed.
 */
#include "double.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct pending {
	struct pending *next;
	/* Not to be delivered before that time, of CLOCK_MONOTONIC. */
	int64_t due_ns;
	bool is_device;
	/* The largest of them; what ran on the device has its times at the same places.
	 */
	double_kernel record;
};

#define SAME_PLACES(type) \
	(offsetof(type, start) == offsetof(double_kernel, start) && \
	 offsetof(type, end) == offsetof(double_kernel, end) && \
	 sizeof(type) <= sizeof(double_kernel))
_Static_assert(SAME_PLACES(double_memcpy) && SAME_PLACES(CUpti_ActivityMemcpyPtoP4) &&
		       SAME_PLACES(CUpti_ActivityMemset4),
	       "times of the device");

/* What is queued, in the order of completion. */
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_changed = PTHREAD_COND_INITIALIZER;
static pthread_once_t worker_once = PTHREAD_ONCE_INIT;
static struct pending *first;
static struct pending **last = &first;

/* The client's buffer is filled, and the client called, under this. */
static pthread_mutex_t delivery_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	uint8_t *memory;
	size_t size;
	size_t used;
	size_t records;
	size_t max_records;
	/* Records that a flush of this buffer is worth telling of. */
	size_t told;
} buffer;
static unsigned long delivered;
static unsigned long device_records;

static _Atomic(CUpti_BuffersCallbackRequestFunc) requested;
static _Atomic(CUpti_BuffersCallbackCompleteFunc) completed;
static atomic_size_t dropped;
static atomic_uint flush_period_ms;

size_t double_record_size(uint32_t kind)
{
	switch (kind) {
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return sizeof(double_memcpy);
	case CUPTI_ACTIVITY_KIND_MEMSET:
		return sizeof(CUpti_ActivityMemset4);
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return sizeof(double_kernel);
	case CUPTI_ACTIVITY_KIND_DRIVER:
	case CUPTI_ACTIVITY_KIND_RUNTIME:
		return sizeof(CUpti_ActivityAPI);
	case CUPTI_ACTIVITY_KIND_CONTEXT:
		return sizeof(double_context);
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		return sizeof(double_overhead);
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		return sizeof(CUpti_ActivityMemcpyPtoP4);
	case CUPTI_ACTIVITY_KIND_STREAM:
		return sizeof(CUpti_ActivityStream);
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		return sizeof(double_synchronization);
	case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		return sizeof(CUpti_ActivityExternalCorrelation);
	default:
		return 0;
	}
}

DOUBLE_EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t *memory,
						     size_t validBufferSizeBytes,
						     CUpti_Activity **record)
{
	CUptiResult res = double_begin(__func__);
	size_t at = 0;
	uint32_t kind;

	if (res)
		return res;
	if (!memory || !record)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (*record) {
		memcpy(&kind, *record, sizeof(kind));
		at = (size_t) ((uint8_t *) *record - memory) + double_record_size(kind);
	}
	if (at + sizeof(kind) > validBufferSizeBytes)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	memcpy(&kind, memory + at, sizeof(kind));
	if (double_record_size(kind) == 0)
		return (CUptiResult) DOUBLE_NO_KIND;
	if (at + double_record_size(kind) > validBufferSizeBytes)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *) (void *) (memory + at);
	return CUPTI_SUCCESS;
}

static void complete_buffer(void)
{
	CUpti_BuffersCallbackCompleteFunc function = atomic_load(&completed);
	uint64_t begin = double_time();

	double_log("complete records=%zu bytes=%zu size=%zu", buffer.records, buffer.used,
		   buffer.size);
	function(NULL, 0, buffer.memory, buffer.size, buffer.used);
	buffer.memory = NULL;
	if (buffer.told && double_is_enabled(CUPTI_ACTIVITY_KIND_OVERHEAD))
		double_queue_record(
			&(double_overhead){
				.kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
				.overheadKind =
					CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH,
				.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
				.objectId = {(uint32_t) getpid(), (uint32_t) gettid(), 0},
				.start = begin,
				.end = double_time(),
			},
			false);
}

static void request_buffer(void)
{
	CUpti_BuffersCallbackRequestFunc function = atomic_load(&requested);

	memset(&buffer, 0, sizeof(buffer));
	if (!function)
		return;
	function(&buffer.memory, &buffer.size, &buffer.max_records);
	double_log("request size=%zu records=%zu%s", buffer.size, buffer.max_records,
		   buffer.memory ? "" : " refused=1");
}

static bool has_room(size_t size)
{
	return buffer.memory && buffer.used + size <= buffer.size &&
	       (!buffer.max_records || buffer.records < buffer.max_records);
}

/* Called with delivery_lock held. */
static bool make_room(size_t size)
{
	if (has_room(size))
		return true;
	if (buffer.memory)
		complete_buffer();
	request_buffer();
	return has_room(size);
}

static void fix_times(struct pending *pending, int64_t offset)
{
	unsigned long every = double_settings()->zero;
	double_kernel *record = &pending->record;

	if (every && ++device_records % every == 0) {
		double_log("zero kind=%d start=%llu", (int) record->kind,
			   (unsigned long long) record->start);
		record->start = 0;
		record->end = 0;
	} else {
		record->start += (uint64_t) offset;
		record->end += (uint64_t) offset;
	}
	if (record->kind == CUPTI_ACTIVITY_KIND_KERNEL ||
	    record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
		record->completed = record->end;
}

/* Called with delivery_lock held. */
static void put(struct pending *pending, int64_t offset)
{
	unsigned long every = double_settings()->drop;
	size_t size = double_record_size(pending->record.kind);
	const char *why = NULL;

	if (every && pending->is_device && ++delivered % every == 0)
		why = "asked";
	else if (!make_room(size))
		why = "buffer";
	if (why) {
		atomic_fetch_add(&dropped, 1);
		double_log("drop kind=%d why=%s", (int) pending->record.kind, why);
		return;
	}
	if (pending->is_device)
		fix_times(pending, offset);
	memcpy(buffer.memory + buffer.used, &pending->record, size);
	buffer.used += size;
	buffer.records++;
	buffer.told += pending->record.kind != CUPTI_ACTIVITY_KIND_OVERHEAD;
}

/* What is due, in one go; all of it where that is forced. */
static struct pending *take_due(bool is_forced)
{
	struct pending *taken;
	struct pending **place;
	int64_t now = double_monotonic();

	pthread_mutex_lock(&queue_lock);
	for (place = &first; *place && (is_forced || (*place)->due_ns <= now);
	     place = &(*place)->next)
		;
	taken = place == &first ? NULL : first;
	if (taken) {
		first = *place;
		*place = NULL;
		if (!first)
			last = &first;
	}
	pthread_mutex_unlock(&queue_lock);
	return taken;
}

static void deliver(bool is_forced, bool is_flush)
{
	struct pending *pending;
	struct pending *next;
	int64_t offset;

	pthread_mutex_lock(&delivery_lock);
	pending = take_due(is_forced);
	offset = pending ? double_time_offset() : 0;
	for (; pending; pending = next) {
		next = pending->next;
		put(pending, offset);
		free(pending);
	}
	if (is_flush && buffer.memory && (buffer.records || is_forced))
		complete_buffer();
	pthread_mutex_unlock(&delivery_lock);
}

/* When the first record is due, once there is one. */
static int64_t wait_for_record(void)
{
	int64_t due;

	pthread_mutex_lock(&queue_lock);
	while (!first)
		pthread_cond_wait(&queue_changed, &queue_lock);
	due = first->due_ns;
	pthread_mutex_unlock(&queue_lock);
	return due;
}

static void *work(void *unused)
{
	int64_t wait_ns;

	(void) unused;
	for (;;) {
		wait_ns = wait_for_record() - double_monotonic();
		if (wait_ns < 0)
			wait_ns = (int64_t) flush_period_ms * 1000000;
		if (wait_ns > 0)
			nanosleep(&(struct timespec){wait_ns / 1000000000,
						     wait_ns % 1000000000},
				  NULL);
		deliver(false, false);
	}
	return NULL;
}

static void start_worker(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_create(&thread, &attributes, work, NULL);
	pthread_attr_destroy(&attributes);
}

void double_queue_record(const void *record, bool is_device)
{
	CUpti_ActivityKind kind = ((const CUpti_Activity *) record)->kind;
	struct pending *pending;

	/* To nobody: nothing is lost. */
	if (!atomic_load(&requested))
		return;
	pending = calloc(1, sizeof(*pending));
	if (!pending) {
		atomic_fetch_add(&dropped, 1);
		return;
	}
	pthread_once(&worker_once, start_worker);
	memcpy(&pending->record, record, double_record_size(kind));
	pending->is_device = is_device;
	pending->due_ns = double_monotonic() + double_settings()->delay_ns;
	pthread_mutex_lock(&queue_lock);
	*last = pending;
	last = &pending->next;
	pthread_cond_signal(&queue_changed);
	pthread_mutex_unlock(&queue_lock);
}

void double_prepare_buffer(void)
{
	if (!atomic_load(&requested) ||
	    (!double_is_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) &&
	     !double_is_enabled(CUPTI_ACTIVITY_KIND_KERNEL)))
		return;
	if (pthread_mutex_trylock(&delivery_lock))
		return;
	if (!buffer.memory)
		request_buffer();
	pthread_mutex_unlock(&delivery_lock);
}

void double_discard(void)
{
	struct pending *pending;
	struct pending *next;
	unsigned long lost = 0;

	pthread_mutex_lock(&delivery_lock);
	for (pending = take_due(true); pending; pending = next) {
		next = pending->next;
		free(pending);
		lost++;
	}
	if (buffer.memory)
		complete_buffer();
	pthread_mutex_unlock(&delivery_lock);
	double_log("discard records=%lu", lost);
}

DOUBLE_EXPORT CUptiResult
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
			       CUpti_BuffersCallbackCompleteFunc funcBufferCompleted)
{
	CUptiResult res = double_begin(__func__);

	if (res)
		return res;
	if (!funcBufferRequested || !funcBufferCompleted)
		return CUPTI_ERROR_INVALID_PARAMETER;
	atomic_store(&completed, funcBufferCompleted);
	atomic_store(&requested, funcBufferRequested);
	double_log("register");
	return CUPTI_SUCCESS;
}

DOUBLE_EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	CUptiResult res = double_begin_with_driver(__func__);

	if (res)
		return res;
	if (!atomic_load(&requested))
		return CUPTI_ERROR_INVALID_OPERATION;
	deliver(flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED, true);
	return CUPTI_SUCCESS;
}

DOUBLE_EXPORT CUptiResult cuptiActivityFlushPeriod(uint32_t time)
{
	CUptiResult res = double_begin_with_driver(__func__);

	if (res)
		return res;
	flush_period_ms = time;
	return CUPTI_SUCCESS;
}

DOUBLE_EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context,
							    uint32_t streamId,
							    size_t *count)
{
#if DOUBLE_CUPTI_VERSION < 12000
	CUptiResult res = double_begin_with_driver(__func__);
#else
	CUptiResult res = double_begin(__func__);
#endif

	(void) context;
	(void) streamId;
	if (res)
		return res;
	if (!count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*count = atomic_exchange(&dropped, 0);
	return CUPTI_SUCCESS;
}

DOUBLE_EXPORT CUptiResult cuptiGetLastError(void)
{
	return double_begin(__func__);
}
