/* SPDX-License-Identifier: MIT */
/*
 * A profiler plugin, of version 4 or 5 of NCCL's interface as PROFILER_VERSION says, that
 * writes each call into $PROFILER_LOG/events.PID.jsonl.  PROFILER_MASK has the events
 * that it wants: all, where that is not set.  A handle is a number, unlike those of all
 * other processes, so that the parent of an event that another process launched is found.
 */
#include "profiler_event.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static FILE *file;
static atomic_uint_least32_t handles;

static void open_file(void)
{
	const char *folder = getenv("PROFILER_LOG");
	char *path;

	if (!folder || asprintf(&path, "%s/events.%d.jsonl", folder, (int) getpid()) < 0)
		abort();
	file = fopen(path, "ae");
	free(path);
	if (!file)
		abort();
	setvbuf(file, NULL, _IOLBF, BUFSIZ);
}

static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
}

/* The line is this thread's until end(). */
static void begin(const char *call)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	pthread_once(&once, open_file);
	flockfile(file);
	say("{\"call\":\"%s\",\"pid\":%d,\"tid\":%d,\"ns\":%lld", call, (int) getpid(),
	    (int) gettid(), (long long) now.tv_sec * 1000000000 + now.tv_nsec);
}

static int end(void)
{
	say("}\n");
	funlockfile(file);
	return 0;
}

static void say_handle(const char *name, const void *handle)
{
	say(",\"%s\":%" PRIu64, name, (uint64_t) (uintptr_t) handle);
}

static void *new_handle(void)
{
	uint64_t number = atomic_fetch_add(&handles, 1) + 1;

	return (void *) (uintptr_t) ((uint64_t) getpid() << 32 | number);
}

static int init(void **context, int *mask, const char *name, uint64_t hash, int nnodes,
		int nranks, int rank)
{
	const char *wanted = getenv("PROFILER_MASK");

	*context = new_handle();
	*mask = wanted ? (int) strtol(wanted, NULL, 0) : (1 << KINDS) - 1;
	begin("init");
	say_handle("context", *context);
	say(",\"comm_hash\":\"0x%016" PRIx64 "\",\"name\":\"%s\",\"nnodes\":%d,"
	    "\"nranks\":%d,\"rank\":%d,\"version\":%d",
	    hash, name ? name : "", nnodes, nranks, rank, PROFILER_VERSION);
	return end();
}

#if PROFILER_VERSION == 5
static int init_in_order(void **context, uint64_t hash, int *mask, const char *name,
			 int nnodes, int nranks, int rank, void (*log)(void))
{
	(void) log;
	return init(context, mask, name, hash, nnodes, nranks, rank);
}

static void say_call(const struct event *event)
{
	switch (event->type) {
	case GROUP_API:
		say(",\"captured\":%d,\"depth\":%d", event->groupApi.graphCaptured,
		    event->groupApi.groupDepth);
		break;
	case COLL_API:
		say(",\"func\":\"%s\",\"count\":%zu,\"datatype\":\"%s\",\"root\":%d,"
		    "\"stream\":\"%p\",\"captured\":%d",
		    event->collApi.func, event->collApi.count, event->collApi.datatype,
		    event->collApi.root, event->collApi.stream,
		    event->collApi.graphCaptured);
		break;
	case P2P_API:
		say(",\"func\":\"%s\",\"count\":%zu,\"datatype\":\"%s\","
		    "\"stream\":\"%p\",\"captured\":%d",
		    event->p2pApi.func, event->p2pApi.count, event->p2pApi.datatype,
		    event->p2pApi.stream, event->p2pApi.graphCaptured);
		break;
	case KERNEL_LAUNCH:
		say(",\"stream\":\"%p\"", event->kernelLaunch.stream);
		break;
	}
}
#else
static int init_in_order(void **context, int *mask, const char *name, uint64_t hash,
			 int nnodes, int nranks, int rank, void (*log)(void))
{
	(void) log;
	return init(context, mask, name, hash, nnodes, nranks, rank);
}

static void say_call(const struct event *event)
{
	(void) event;
}
#endif

static void say_task(const struct event *event)
{
	if (event->type == COLL)
		say(",\"seq\":%" PRIu64 ",\"func\":\"%s\",\"send\":\"%p\","
		    "\"recv\":\"%p\",\"count\":%zu,\"root\":%d,\"datatype\":\"%s\","
		    "\"channels\":%d,\"warps\":%d,\"algo\":\"%s\",\"proto\":\"%s\"",
		    event->coll.seqNumber, event->coll.func, event->coll.sendBuff,
		    event->coll.recvBuff, event->coll.count, event->coll.root,
		    event->coll.datatype, event->coll.nChannels, event->coll.nWarps,
		    event->coll.algo, event->coll.proto);
	if (event->type == P2P)
		say(",\"func\":\"%s\",\"buff\":\"%p\",\"count\":%zu,\"datatype\":\"%s\","
		    "\"peer\":%d,\"channels\":%d",
		    event->p2p.func, event->p2p.buff, event->p2p.count,
		    event->p2p.datatype, event->p2p.peer, event->p2p.nChannels);
#if PROFILER_VERSION == 5
	if (event->type == COLL)
		say_handle("group", event->coll.parentGroup);
	if (event->type == P2P)
		say_handle("group", event->p2p.parentGroup);
#endif
}

static void say_proxy(const struct event *event)
{
	if (event->type == PROXY_OP)
		say(",\"of_pid\":%d,\"channel\":%d,\"peer\":%d,\"steps\":%d,"
		    "\"chunk\":%d,\"is_send\":%d",
		    (int) event->proxyOp.pid, event->proxyOp.channelId,
		    event->proxyOp.peer, event->proxyOp.nSteps, event->proxyOp.chunkSize,
		    event->proxyOp.isSend);
	if (event->type == PROXY_STEP)
		say(",\"step\":%d", event->proxyStep.step);
	if (event->type == KERNEL_CH)
		say(",\"channel\":%d,\"timer\":%" PRIu64, event->kernelCh.channelId,
		    event->kernelCh.pTimer);
}

static const char *name_of(uint64_t type)
{
	static const char *const names[KINDS] = {
		"Group",     "Coll",	  "P2p",      "ProxyOp",
		"ProxyStep", "ProxyCtrl", "KernelCh", "NetPlugin",
		"GroupApi",  "CollApi",	  "P2pApi",   "KernelLaunch",
	};
	int bit = 0;

	while (bit < KINDS && type >> bit != 1)
		bit++;
	return bit < KINDS ? names[bit] : "unknown";
}

static int start_event(void *context, void **handle, struct event *event)
{
	*handle = new_handle();
	begin("start");
	say(",\"type\":\"%s\",\"rank\":%d", name_of(event->type), event->rank);
	say_handle("context", context);
	say_handle("handle", *handle);
	say_handle("parent", event->parentObj);
	say_call(event);
	say_task(event);
	say_proxy(event);
	return end();
}

static int stop_event(void *handle)
{
	begin("stop");
	say_handle("handle", handle);
	return end();
}

static int record_event_state(void *handle, int state, union argument *argument)
{
	begin("record");
	say_handle("handle", handle);
	say(",\"state\":%d,\"argument\":%" PRIu64, state,
	    argument ? argument->pTimer : 0);
	return end();
}

static int finalize(void *context)
{
	begin("finalize");
	say_handle("context", context);
	return end();
}

#define JOIN(a, b) a##b
#define TABLE(version) JOIN(ncclProfiler_v, version)

__attribute__((visibility("default"))) const struct {
	const char *name;
	__typeof__(init_in_order) *init;
	__typeof__(start_event) *start;
	__typeof__(stop_event) *stop;
	__typeof__(record_event_state) *record;
	__typeof__(finalize) *finalize;
} TABLE(PROFILER_VERSION) = {
	"log", init_in_order, start_event, stop_event, record_event_state, finalize,
};
