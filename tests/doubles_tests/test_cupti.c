/* SPDX-License-Identifier: MIT */
/*
 * The CUPTI double on the driver double: the slot, callbacks, records and what becomes of
 * them, and what the environment makes of it.  Built for each release.
 */
#include "double_image.h"
#include "../lib/tap.h"

#include <cupti.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_SEEN = 4096, BUFFER = 16384, LAUNCH_KERNEL = 307 };

/* What every kernel record of these releases begins with. */
typedef CUpti_ActivityKernel8 kernel;

static struct {
	union {
		CUpti_Activity header;
		kernel kernel;
		CUpti_ActivityMemcpy5 copy;
		CUpti_ActivityMemcpyPtoP4 peer_copy;
		CUpti_ActivityMemset4 set;
		CUpti_ActivityAPI call;
		CUpti_ActivityExternalCorrelation external;
		CUpti_ActivityOverhead overhead;
		CUpti_ActivitySynchronization wait;
	} record;
} seen[MAX_SEEN];
static size_t seen_count;
static size_t completions;
static bool refuses;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void requested(uint8_t **buffer, size_t *size, size_t *maxNumRecords)
{
	*buffer = refuses ? NULL : aligned_alloc(8, BUFFER);
	*size = BUFFER;
	*maxNumRecords = 0;
}

static void completed(CUcontext context, uint32_t streamId, uint8_t *buffer, size_t size,
		      size_t validSize)
{
	CUpti_Activity *record = NULL;
	size_t length;

	(void) context;
	(void) streamId;
	(void) size;
	pthread_mutex_lock(&lock);
	completions++;
	while (cuptiActivityGetNextRecord(buffer, validSize, &record) == CUPTI_SUCCESS) {
		length = validSize - (size_t) ((uint8_t *) record - buffer);
		if (length > sizeof(seen[0]))
			length = sizeof(seen[0]);
		if (seen_count < MAX_SEEN)
			memcpy(&seen[seen_count++], record, length);
	}
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static void forget(void)
{
	pthread_mutex_lock(&lock);
	seen_count = 0;
	completions = 0;
	pthread_mutex_unlock(&lock);
}

static size_t count(int kind)
{
	size_t found = 0;
	size_t i;

	for (i = 0; i < seen_count; i++)
		found += (int) seen[i].record.header.kind == kind;
	return found;
}

/* The first of a kind; never NULL, so that a test can fail. */
static const void *record_of(int kind)
{
	static const CUpti_ActivityKernel8 none;
	size_t i;

	for (i = 0; i < seen_count; i++) {
		if ((int) seen[i].record.header.kind == kind)
			return &seen[i].record;
	}
	return &none;
}

static uint64_t monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

/* What the callbacks told last. */
static struct {
	unsigned int enters;
	unsigned int leaves;
	uint32_t correlation;
	uint64_t kept;
	int result;
	char name[64];
	unsigned int created;
	unsigned int cloned;
	uint64_t created_node;
	uint64_t cloned_node;
	uint64_t original;
} told;

static void on_call(CUpti_CallbackId cbid, const CUpti_CallbackData *data)
{
	if (cbid != LAUNCH_KERNEL && cbid != 514)
		return;
	if (data->callbackSite == CUPTI_API_ENTER) {
		told.enters++;
		told.correlation = data->correlationId;
		*data->correlationData = 77;
		snprintf(told.name, sizeof(told.name), "%s", data->functionName);
	} else {
		told.leaves++;
		told.kept = *data->correlationData;
		memcpy(&told.result, data->functionReturnValue, sizeof(told.result));
	}
}

static void callback(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
		     const void *cbdata)
{
	const CUpti_ResourceData *resource = cbdata;
	const CUpti_GraphData *graph;

	(void) userdata;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
		on_call(cbid, cbdata);
	} else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		graph = resource->resourceDescriptor;
		if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) {
			told.created++;
			cuptiGetGraphNodeId(graph->node, &told.created_node);
		} else if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) {
			told.cloned++;
			cuptiGetGraphNodeId(graph->node, &told.cloned_node);
			cuptiGetGraphNodeId(graph->originalNode, &told.original);
		}
	}
}

static void nothing(const void *arguments, size_t size)
{
	(void) arguments;
	(void) size;
}

static const struct double_kernel kernels[] = {{.name = "_Z7nothingv", .run = nothing}};
static const struct double_image image = {DOUBLE_IMAGE_MAGIC, 1, kernels};
static CUcontext context;
static CUfunction function;

static void start(void)
{
	CUmodule module;

	cuInit(0);
	cuCtxCreate_v2(&context, 0, 1);
	cuModuleLoadData(&module, &image);
	cuModuleGetFunction(&function, module, kernels[0].name);
}

static CUresult launch(CUstream stream)
{
	return cuLaunchKernel(function, 3, 2, 1, 32, 1, 1, 16, stream, NULL, NULL);
}

static void test_slot(CUpti_SubscriberHandle *ret_handle)
{
	CUpti_SubscriberHandle second = NULL;
	uint32_t is_enabled = 7;

	ok(cuptiSubscribe(ret_handle, callback, NULL) == CUPTI_SUCCESS, "one subscribes");
	ok(cuptiSubscribe(&second, callback, NULL) ==
		   CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
	   "a second one cannot");
	ok(cuptiUnsubscribe(*ret_handle) == CUPTI_SUCCESS &&
		   cuptiUnsubscribe(*ret_handle) == CUPTI_ERROR_INVALID_PARAMETER,
	   "who has left cannot leave again");
	ok(cuptiEnableDomain(1, *ret_handle, CUPTI_CB_DOMAIN_RESOURCE) ==
		   CUPTI_ERROR_INVALID_PARAMETER,
	   "nor ask for anything");
#if DOUBLE_CUPTI_VERSION >= 13000
	char holder[64] = "";
	CUpti_SubscriberParams params = {.structSize = sizeof(params),
					 .subscriberName = "the test",
					 .oldSubscriberName = holder,
					 .oldSubscriberSize = sizeof(holder)};

	ok(cuptiSubscribe_v2(ret_handle, callback, NULL, &params) == CUPTI_SUCCESS &&
		   cuptiSubscribe_v2(&second, callback, NULL, &params) ==
			   CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED &&
		   strcmp(holder, "CUPTI for the test") == 0,
	   "who is refused is told the holder's name");
#else
	cuptiSubscribe(ret_handle, callback, NULL);
#endif
	ok(cuptiEnableCallback(1, *ret_handle, CUPTI_CB_DOMAIN_DRIVER_API,
			       LAUNCH_KERNEL) == CUPTI_SUCCESS &&
		   cuptiGetCallbackState(&is_enabled, *ret_handle,
					 CUPTI_CB_DOMAIN_DRIVER_API,
					 LAUNCH_KERNEL) == CUPTI_SUCCESS &&
		   is_enabled == 1,
	   "a callback is asked for");
	ok(cuptiEnableCallback(1, *ret_handle, CUPTI_CB_DOMAIN_DRIVER_API, 2000) ==
		   CUPTI_ERROR_INVALID_PARAMETER,
	   "but not of a function that is not");
	cuptiEnableDomain(1, *ret_handle, CUPTI_CB_DOMAIN_RESOURCE);
}

static void enable_kinds(void)
{
	cuptiActivityRegisterTimestampCallback(monotonic);
	cuptiActivityRegisterCallbacks(requested, completed);
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY2);
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET);
}

static void test_kernel(void)
{
	const char *name = "";
	uint64_t before = monotonic();
	const kernel *record;
	CUstream stream;
	uint32_t number = 0;
	uint32_t id = 0;

	cuStreamCreate(&stream, 0);
	ok(launch(stream) == CUDA_SUCCESS && told.enters == 1 && told.leaves == 1 &&
		   strcmp(told.name, "cuLaunchKernel") == 0,
	   "a launch is told when it begins and when it ends");
	ok(told.kept == 77 && told.result == CUDA_SUCCESS,
	   "what is kept at the beginning is there at the end, and the result");
	cuStreamSynchronize(stream);
	cuptiActivityFlushAll(0);
	record = record_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	ok(count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 1 && seen_count == 1,
	   "there is one record of it");
	ok(record->correlationId == told.correlation, "with the callback's correlation");
	ok(record->start >= before && record->end >= record->start &&
		   record->end <= monotonic(),
	   "in the clock that was registered");
	cuptiGetStreamIdEx(context, stream, 0, &number);
	cuptiGetContextId(context, &id);
	ok(record->streamId == number && record->contextId == id && record->deviceId == 1,
	   "of its stream, context and device");
	ok(record->gridX == 3 && record->gridY == 2 && record->blockX == 32 &&
		   record->dynamicSharedMemory == 16 && record->graphNodeId == 0 &&
		   strcmp(record->name, "_Z7nothingv") == 0,
	   "with its name and shape");
	ok(cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, LAUNCH_KERNEL, &name) ==
			   CUPTI_SUCCESS &&
		   strcmp(name, "cuLaunchKernel") == 0,
	   "the number of a function has a name");
	cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	ok(count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 1, "and none comes again");
	cuStreamDestroy_v2(stream);
	forget();
}

static void test_copies(void)
{
	const CUpti_ActivityMemcpyPtoP4 *peer_copy;
	const CUpti_ActivityMemcpy5 *copy;
	const CUpti_ActivityMemset4 *set;
	CUcontext other;
	CUdeviceptr memory;
	CUdeviceptr there;
	char host[64] = "text";

	cuCtxCreate_v2(&other, 0, 2);
	cuMemAlloc_v2(&there, sizeof(host));
	cuCtxSetCurrent(context);
	cuMemAlloc_v2(&memory, sizeof(host));
	cuMemcpyHtoDAsync_v2(memory, host, sizeof(host), NULL);
	cuMemsetD32Async(memory, 0x01020304, 4, NULL);
	cuMemcpyPeerAsync(there, other, memory, context, 32, NULL);
	cuCtxSynchronize();
	cuptiActivityFlushAll(0);
	copy = record_of(CUPTI_ACTIVITY_KIND_MEMCPY);
	set = record_of(CUPTI_ACTIVITY_KIND_MEMSET);
	peer_copy = record_of(CUPTI_ACTIVITY_KIND_MEMCPY2);
	ok(seen_count == 3 && copy->bytes == sizeof(host) &&
		   copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD &&
		   copy->dstKind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE &&
		   copy->end >= copy->start && copy->start > 0,
	   "a copy has its size and direction");
	ok(set->bytes == 16 && set->value == 0x01020304 &&
		   set->correlationId == copy->correlationId + 1,
	   "a set its value");
	ok(peer_copy->bytes == 32 &&
		   peer_copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP &&
		   peer_copy->srcDeviceId == 1 && peer_copy->dstDeviceId == 2 &&
		   peer_copy->srcContextId != peer_copy->dstContextId,
	   "a copy between contexts both");
	forget();
}

static void test_graph(void)
{
	const kernel *record;
	CUgraphExec exec;
	CUgraph graph;
	CUstream stream;
	int i;

	cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
	cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
	launch(stream);
	launch(stream);
	cuStreamEndCapture(stream, &graph);
	ok(told.created == 2 && told.cloned == 0, "a node is told when it is made");
	cuGraphInstantiateWithFlags(&exec, graph, 0);
	ok(told.cloned == 2 && told.original == told.created_node &&
		   told.cloned_node != told.created_node,
	   "and its copy, of which");
	for (i = 0; i < 10; i++)
		cuGraphLaunch(exec, stream);
	cuStreamSynchronize(stream);
	cuptiActivityFlushAll(0);
	ok(seen_count == 20, "each replay has records of all nodes");
	record = &seen[19].record.kernel;
	ok(record->graphNodeId == told.cloned_node &&
		   record->graphId == told.cloned_node >> 32 &&
		   record->correlationId == seen[18].record.kernel.correlationId &&
		   record->correlationId != seen[17].record.kernel.correlationId,
	   "of the copies, with the correlation of the replay");
	cuGraphExecDestroy(exec);
	cuGraphDestroy(graph);
	cuStreamDestroy_v2(stream);
	forget();
}

static void test_calls(void)
{
	const CUpti_ActivityExternalCorrelation *external;
	const CUpti_ActivityAPI *call;
	uint64_t last = 0;

	ok(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2,
						 &last) == CUPTI_ERROR_QUEUE_EMPTY,
	   "nothing is taken off an empty stack");
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER);
	cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2,
					       4711);
	launch(NULL);
	ok(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2,
						 &last) == CUPTI_SUCCESS &&
		   last == 4711,
	   "what was put on it comes off");
	cuptiActivityDisable(CUPTI_ACTIVITY_KIND_DRIVER);
	cuStreamSynchronize(NULL);
	cuptiActivityFlushAll(0);
	external = record_of(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
	call = record_of(CUPTI_ACTIVITY_KIND_DRIVER);
	ok(count(CUPTI_ACTIVITY_KIND_DRIVER) == 1 && call->cbid == LAUNCH_KERNEL &&
		   call->threadId == (uint32_t) gettid() &&
		   call->correlationId == told.correlation && call->returnValue == 0,
	   "a call has a record");
	ok(external->externalId == 4711 && external->correlationId == call->correlationId,
	   "and before it the thread's own number");
	ok(count(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) == 1, "a wait has one");
	forget();
#if DOUBLE_CUPTI_VERSION >= 12050
	cuptiActivityEnableDriverApi(LAUNCH_KERNEL, 1);
	launch(NULL);
	cuStreamSynchronize(NULL);
	cuptiActivityFlushAll(0);
	ok(count(CUPTI_ACTIVITY_KIND_DRIVER) == 1, "calls of one function have");
	cuptiActivityEnableDriverApi(LAUNCH_KERNEL, 0);
	forget();
#endif
	cuptiActivityDisable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
	cuptiActivityDisable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
}

static size_t lost(void)
{
	size_t dropped = 0;

	cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
	return dropped;
}

static void test_buffers(void)
{
	int i;

	for (i = 0; i < 1000; i++)
		launch(NULL);
	cuStreamSynchronize(NULL);
	cuptiActivityFlushAll(0);
	ok(seen_count == 1000 && completions > 10, "many records take many buffers");
	forget();
	cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	refuses = true;
	for (i = 0; i < 10; i++)
		launch(NULL);
	cuStreamSynchronize(NULL);
	cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	refuses = false;
	ok(seen_count == 0 && lost() == 10 && lost() == 0,
	   "without a buffer they are dropped, and counted once");
	cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	launch(NULL);
	cuStreamSynchronize(NULL);
	cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	ok(seen_count == 0 && lost() == 0, "a kind that is not wanted has no records");
	cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	forget();
}

static size_t others;

static void completed_other(CUcontext of, uint32_t streamId, uint8_t *buffer, size_t size,
			    size_t validSize)
{
	(void) of;
	(void) streamId;
	(void) size;
	others += validSize != 0;
	free(buffer);
}

static void test_owners(CUpti_SubscriberHandle handle)
{
	cuptiActivityRegisterCallbacks(requested, completed_other);
	launch(NULL);
	cuStreamSynchronize(NULL);
	cuptiActivityFlushAll(0);
	ok(others == 1 && seen_count == 0, "who registers last has the records");
	cuptiActivityRegisterCallbacks(requested, completed);
	ok(cuptiFinalize() == CUPTI_SUCCESS, "all can be ended");
	launch(NULL);
	cuStreamSynchronize(NULL);
	cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	ok(count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 0 &&
		   cuptiUnsubscribe(handle) == CUPTI_ERROR_INVALID_PARAMETER,
	   "then there is nothing more");
}

/* In a process of its own, with an environment of its own; the answer is that of `test`.
 */
static bool alone(const char *variable, const char *value, bool (*test)(void))
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		setenv(variable, value, 1);
		_exit(test() ? 0 : 1);
	}
	waitpid(child, &status, 0);
	return status == 0;
}

static bool is_refused(void)
{
	CUpti_SubscriberHandle handle;
	CUptiResult res;
#if DOUBLE_CUPTI_VERSION >= 13000
	char holder[64] = "";
	CUpti_SubscriberParams params = {.structSize = sizeof(params),
					 .oldSubscriberName = holder,
					 .oldSubscriberSize = sizeof(holder)};

	res = cuptiSubscribe_v2(&handle, callback, NULL, &params);
	if (strcmp(holder, "Nsight Systems") != 0)
		return false;
#else
	res = cuptiSubscribe(&handle, callback, NULL);
#endif
	return res == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

static bool fails_second_time(void)
{
	uint32_t version;

	return cuptiGetVersion(&version) == CUPTI_SUCCESS &&
	       cuptiGetVersion(&version) == CUPTI_ERROR_NOT_SUPPORTED &&
	       cuptiGetVersion(&version) == CUPTI_SUCCESS &&
	       cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER) ==
		       CUPTI_ERROR_INVALID_KIND &&
	       cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER) ==
		       CUPTI_ERROR_INVALID_KIND;
}

static void launch_ten(void)
{
	int i;

	start();
	enable_kinds();
	for (i = 0; i < 10; i++)
		launch(NULL);
	cuCtxSynchronize();
	cuptiActivityFlushAll(0);
}

static bool has_zeros(void)
{
	size_t zeros = 0;
	size_t i;

	launch_ten();
	for (i = 0; i < seen_count; i++)
		zeros += seen[i].record.kernel.start == 0 &&
			 seen[i].record.kernel.end == 0;
	return seen_count == 10 && zeros == 2;
}

static bool has_drops(void)
{
	launch_ten();
	return seen_count == 7 && lost() == 3;
}

static bool is_late(void)
{
	launch_ten();
	if (seen_count != 0)
		return false;
	cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	return seen_count == 10;
}

static bool is_too_new(void)
{
	return cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ==
	       CUPTI_ERROR_NOT_INITIALIZED;
}

static void test_environment(void)
{
	ok(alone("DOUBLE_CUPTI_BUSY", "Nsight Systems", is_refused), "the slot is taken");
	ok(alone("DOUBLE_CUPTI_FAIL", "cuptiGetVersion:27:2,cuptiActivityEnable:21",
		 fails_second_time),
	   "a function fails");
	ok(alone("DOUBLE_CUPTI_ZERO", "5", has_zeros), "records have no times");
	ok(alone("DOUBLE_CUPTI_DROP", "3", has_drops), "records are dropped");
	ok(alone("DOUBLE_CUPTI_DELAY_MS", "60000", is_late),
	   "records are late, but for who insists");
	ok(alone("DOUBLE_CUDA_VERSION", "11000", is_too_new) ==
		   (DOUBLE_CUPTI_VERSION >= 12000),
	   "an older driver is none for a newer release");
}

int main(void)
{
	CUpti_SubscriberHandle handle;
	uint64_t now = 0;

	test_environment();
	cuptiGetTimestamp(&now);
	ok(now / 1000000000 - (uint64_t) time(NULL) + 1 < 3,
	   "its clock is that of the day");
	test_slot(&handle);
	enable_kinds();
	start();
	test_kernel();
	test_copies();
	test_graph();
	test_calls();
	test_buffers();
	test_owners(handle);
	return tap_done();
}
