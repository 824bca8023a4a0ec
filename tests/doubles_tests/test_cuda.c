/* SPDX-License-Identifier: MIT */
/* The driver double: what is in order, what is not, and how its functions are found. */
#include "../lib/tap.h"

#include <cuda.h>

#include <dlfcn.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t gate;

static void wait_at_gate(void *data)
{
	(void) data;
	while (sem_wait(&gate))
		;
}

static void test_before_init(void)
{
	int count;

	ok(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED,
	   "nothing works before cuInit");
	setenv("DOUBLE_CUDA_DEVICES", "3", 1);
	ok(cuInit(0) == CUDA_SUCCESS && cuDeviceGetCount(&count) == CUDA_SUCCESS &&
		   count == 3,
	   "the environment says how many devices there are");
}

static void test_contexts(void)
{
	CUcontext first;
	CUcontext second;
	CUcontext now;
	CUstream stream;
	CUdevice device;

	ok(cuStreamCreate(&stream, 0) == CUDA_ERROR_INVALID_CONTEXT,
	   "a stream needs a context");
	ok(cuDevicePrimaryCtxRetain(&first, 3) == CUDA_ERROR_INVALID_DEVICE,
	   "a device that is not there has no context");
	cuDevicePrimaryCtxRetain(&first, 1);
	cuDevicePrimaryCtxRetain(&second, 1);
	ok(first == second, "a device has one primary context");
	cuCtxSetCurrent(first);
	ok(cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == first &&
		   cuCtxGetDevice(&device) == CUDA_SUCCESS && device == 1,
	   "the current context is the one that was set, with its device");
	cuDevicePrimaryCtxRelease(1);
	ok(cuCtxSetCurrent(first) == CUDA_SUCCESS, "it lives until the last release");
	cuDevicePrimaryCtxRelease(1);
	ok(cuCtxSetCurrent(first) == CUDA_ERROR_INVALID_CONTEXT, "and not longer");
	ok(cuCtxCreate(&first, NULL, 0, 0) == CUDA_SUCCESS &&
		   cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == first,
	   "a new context is current");
}

static void test_streams(void)
{
	uint32_t host[2] = {7, 0};
	CUstream stream;
	CUdeviceptr memory;

	sem_init(&gate, 0, 0);
	cuMemAlloc(&memory, 4);
	cuMemsetD32(memory, 1, 1);
	cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
	cuLaunchHostFunc(stream, wait_at_gate, NULL);
	cuMemcpyHtoDAsync(memory, &host[0], 4, stream);
	ok(cuStreamQuery(stream) == CUDA_ERROR_NOT_READY,
	   "a call returns before its work is done");
	cuMemcpyDtoH(&host[1], memory, 4);
	ok(host[1] == 1, "the NULL stream does not wait for a non-blocking stream");
	sem_post(&gate);
	ok(cuStreamSynchronize(stream) == CUDA_SUCCESS &&
		   cuStreamQuery(stream) == CUDA_SUCCESS,
	   "a synchronised stream is ready");
	cuMemcpyDtoH(&host[1], memory, 4);
	ok(host[1] == 7, "and its work is done");
	cuLaunchHostFunc(stream, wait_at_gate, NULL);
	cuMemsetD32Async(memory, 9, 1, stream);
	ok(cuStreamDestroy(stream) == CUDA_SUCCESS &&
		   cuStreamQuery(stream) == CUDA_ERROR_INVALID_HANDLE,
	   "a destroyed stream is gone at once");
	sem_post(&gate);
	cuMemFree(memory);
	ok(true, "what it held still runs, before its memory is freed");
}

static void test_legacy_stream(void)
{
	uint32_t host = 0;
	CUstream stream;
	CUdeviceptr memory;

	cuMemAlloc(&memory, 4);
	cuStreamCreate(&stream, CU_STREAM_DEFAULT);
	cuLaunchHostFunc(stream, wait_at_gate, NULL);
	cuMemsetD32Async(memory, 5, 1, stream);
	cuMemcpyDtoHAsync(&host, memory, 4, NULL);
	ok(cuStreamQuery(NULL) == CUDA_ERROR_NOT_READY,
	   "the NULL stream waits for a blocking stream");
	cuMemsetD32Async(memory, 6, 1, stream);
	sem_post(&gate);
	cuStreamSynchronize(stream);
	ok(host == 5, "which waits for the NULL stream in turn");
	cuStreamDestroy(stream);
	cuMemFree(memory);
}

static void test_events(void)
{
	CUstream first;
	CUstream second;
	CUevent event;
	CUevent later;
	CUdeviceptr memory;
	uint32_t host = 0;
	float ms = -1;

	cuMemAlloc(&memory, 4);
	cuStreamCreate(&first, CU_STREAM_NON_BLOCKING);
	cuStreamCreate(&second, CU_STREAM_NON_BLOCKING);
	cuEventCreate(&event, 0);
	cuEventCreate(&later, 0);
	ok(cuEventQuery(event) == CUDA_SUCCESS,
	   "an event that was not recorded is ready");
	ok(cuEventElapsedTime(&ms, event, later) == CUDA_ERROR_INVALID_HANDLE,
	   "but has no time");
	cuLaunchHostFunc(first, wait_at_gate, NULL);
	cuMemsetD32Async(memory, 3, 1, first);
	cuEventRecord(event, first);
	cuStreamWaitEvent(second, event, 0);
	cuMemcpyDtoHAsync(&host, memory, 4, second);
	cuEventRecord(later, second);
	ok(cuEventQuery(event) == CUDA_ERROR_NOT_READY, "an event waits for its stream");
	ok(cuEventElapsedTime(&ms, event, later) == CUDA_ERROR_NOT_READY,
	   "and its time with it");
	sem_post(&gate);
	cuEventSynchronize(later);
	ok(host == 3, "a stream that waits for an event comes after it");
	ok(cuEventElapsedTime(&ms, event, later) == CUDA_SUCCESS && ms >= 0,
	   "the later event has the later time");
	cuEventDestroy(event);
	ok(cuEventRecord(event, first) == CUDA_ERROR_INVALID_HANDLE,
	   "a destroyed event cannot be recorded");
	cuEventDestroy(later);
	cuStreamDestroy(first);
	cuStreamDestroy(second);
	cuMemFree(memory);
}

static void test_graphs(void)
{
	CUstreamCaptureStatus status[3];
	uint32_t host[2] = {1, 0};
	CUstream stream;
	CUdeviceptr memory;
	CUgraph graph;
	CUgraphExec exec;

	cuMemAlloc(&memory, 4);
	cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
	cuStreamIsCapturing(stream, &status[0]);
	cuMemcpyHtoD(memory, &host[0], 4);
	cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
	cuStreamIsCapturing(stream, &status[1]);
	cuMemsetD32Async(memory, 2, 1, stream);
	ok(cuStreamSynchronize(stream) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
	   "a stream that is captured cannot be waited for");
	ok(cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS &&
		   cuStreamEndCapture(stream, &graph) == CUDA_ERROR_INVALID_VALUE,
	   "a capture ends once");
	cuStreamIsCapturing(stream, &status[2]);
	ok(status[0] == CU_STREAM_CAPTURE_STATUS_NONE &&
		   status[1] == CU_STREAM_CAPTURE_STATUS_ACTIVE &&
		   status[2] == CU_STREAM_CAPTURE_STATUS_NONE,
	   "a stream says whether it is captured");
	cuGraphInstantiateWithFlags(&exec, graph, 0);
	cuStreamSynchronize(stream);
	cuMemcpyDtoH(&host[1], memory, 4);
	ok(host[1] == 1, "what was captured is not done");
	ok(cuGraphLaunch(exec, stream) == CUDA_SUCCESS &&
		   cuStreamSynchronize(stream) == CUDA_SUCCESS,
	   "a graph is launched");
	cuMemcpyDtoH(&host[1], memory, 4);
	ok(host[1] == 2, "then it is");
	cuMemcpyHtoD(memory, &host[0], 4);
	cuGraphDestroy(graph);
	cuGraphLaunch(exec, stream);
	cuGraphLaunch(exec, stream);
	cuGraphExecDestroy(exec);
	cuStreamSynchronize(stream);
	cuMemcpyDtoH(&host[1], memory, 4);
	ok(host[1] == 2, "and again and again, even when the graph is gone");
	cuStreamDestroy(stream);
	cuMemFree(memory);
}

static void add_one(void *data)
{
	(*(int *) data)++;
}

static void test_forked_capture(void)
{
	CUstream streams[2];
	CUevent events[2];
	CUgraphExec exec;
	CUgraph graph;
	int count = 0;
	int other = 0;
	size_t nodes;
	int i;

	for (i = 0; i < 2; i++) {
		cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING);
		cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING);
	}
	cuStreamBeginCapture(streams[0], CU_STREAM_CAPTURE_MODE_GLOBAL);
	cuLaunchHostFunc(streams[0], add_one, &count);
	cuEventRecord(events[0], streams[0]);
	cuStreamWaitEvent(streams[1], events[0], 0);
	cuLaunchHostFunc(streams[1], add_one, &other);
	cuEventRecord(events[1], streams[1]);
	cuStreamWaitEvent(streams[0], events[1], 0);
	ok(cuEventQuery(events[0]) == CUDA_ERROR_CAPTURED_EVENT,
	   "an event of a capture says nothing");
	ok(cuStreamEndCapture(streams[1], &graph) == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
	   "a capture does not end in a stream that joined it");
	cuStreamEndCapture(streams[0], &graph);
	cuGraphGetNodes(graph, NULL, &nodes);
	ok(nodes == 2, "what a joined stream got is in the graph");
	cuGraphInstantiate(&exec, graph, 0);
	for (i = 0; i < 1000; i++)
		cuGraphLaunch(exec, streams[0]);
	cuStreamSynchronize(streams[0]);
	ok(count == 1000 && other == 1000, "a thousand launches do it a thousand times");
	cuGraphExecDestroy(exec);
	cuGraphDestroy(graph);
	for (i = 0; i < 2; i++) {
		cuStreamDestroy(streams[i]);
		cuEventDestroy(events[i]);
	}
}

static void test_built_graph(void)
{
	CUDA_MEMSET_NODE_PARAMS set = {.value = 0x62,
				       .elementSize = 1,
				       .width = 4,
				       .height = 1};
	CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
			      .dstMemoryType = CU_MEMORYTYPE_HOST,
			      .WidthInBytes = 4,
			      .Height = 1,
			      .Depth = 1};
	CUDA_HOST_NODE_PARAMS call = {add_one, NULL};
	CUgraphNodeType type;
	CUgraphNode nodes[3];
	CUdeviceptr memory;
	CUgraphExec exec;
	CUgraph graph;
	char host[5] = "";
	int count = 0;

	cuMemAlloc(&memory, 4);
	set.dst = memory;
	copy.srcDevice = memory;
	copy.dstHost = host;
	call.userData = &count;
	cuGraphCreate(&graph, 0);
	cuGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &set, NULL);
	cuGraphAddMemcpyNode(&nodes[1], graph, &nodes[0], 1, &copy, NULL);
	cuGraphAddHostNode(&nodes[2], graph, &nodes[1], 1, &call);
	ok(cuGraphNodeGetType(nodes[1], &type) == CUDA_SUCCESS &&
		   type == CU_GRAPH_NODE_TYPE_MEMCPY,
	   "a node says what it is");
	cuGraphInstantiate(&exec, graph, 0);
	cuGraphLaunch(exec, NULL);
	cuStreamSynchronize(NULL);
	ok(strcmp(host, "bbbb") == 0 && count == 1, "a graph can be built by hand");
	cuGraphExecDestroy(exec);
	cuGraphDestroy(graph);
	cuMemFree(memory);
}

static void test_values(void)
{
	CUstreamBatchMemOpParams ops[2];
	CUstream first;
	CUstream second;
	CUdeviceptr memory;
	uint32_t host = 0;

	cuMemAlloc(&memory, 8);
	cuMemsetD32(memory, 0, 2);
	cuStreamCreate(&first, CU_STREAM_NON_BLOCKING);
	cuStreamCreate(&second, CU_STREAM_NON_BLOCKING);
	cuStreamWaitValue32(first, memory, 3, CU_STREAM_WAIT_VALUE_GEQ);
	cuStreamWriteValue32(first, memory + 4, 9, 0);
	ok(cuStreamQuery(first) == CUDA_ERROR_NOT_READY, "a stream waits for a value");
	memset(ops, 0, sizeof(ops));
	ops[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
	ops[0].writeValue.address = memory;
	ops[0].writeValue.value = 4;
	ops[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
	ops[1].waitValue.address = memory + 4;
	ops[1].waitValue.value = 9;
	ops[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
	cuStreamBatchMemOp(second, 2, ops, 0);
	cuStreamSynchronize(second);
	cuMemcpyDtoH(&host, memory + 4, 4);
	ok(host == 9, "that another stream writes, and the other way about");
	ok(cuStreamWriteValue32(first, memory + 2, 1, 0) == CUDA_ERROR_INVALID_VALUE,
	   "a value lies where a word can");
	cuStreamDestroy(first);
	cuStreamDestroy(second);
	cuMemFree(memory);
}

static void test_memory(void)
{
	CUdeviceptr memory;
	char host[8] = "";

	cuMemAlloc(&memory, 8);
	ok(cuMemcpyHtoD(memory, host, 9) == CUDA_ERROR_INVALID_VALUE &&
		   cuMemcpyHtoD(memory + 4, host, 4) == CUDA_SUCCESS,
	   "a copy stays inside its allocation");
	ok(cuMemcpyDtoD(memory, (CUdeviceptr) (uintptr_t) host, 8) ==
		   CUDA_ERROR_INVALID_VALUE,
	   "host memory is no device memory");
	cuMemsetD8(memory, 0x61, 8);
	cuMemcpyDtoH(host, memory, 8);
	ok(memcmp(host, "aaaaaaaa", 8) == 0, "memory is set to the byte that was given");
	ok(cuMemFree(memory + 1) == CUDA_ERROR_INVALID_VALUE &&
		   cuMemFree(memory) == CUDA_SUCCESS &&
		   cuMemFree(memory) == CUDA_ERROR_INVALID_VALUE,
	   "only what was allocated can be freed, and once");
}

static void *ask(const char *name, int version, cuuint64_t flags, CUresult *ret_result,
		 CUdriverProcAddressQueryResult *ret_status)
{
	void *found = &found;

	*ret_result = cuGetProcAddress(name, &found, version, flags, ret_status);
	return found;
}

static void test_entry_points(void)
{
	CUdriverProcAddressQueryResult status;
	CUresult res;
	void *legacy;
	void *own;

	legacy = ask("cuMemcpyHtoDAsync", 13000, 0, &res, &status);
	ok(res == CUDA_SUCCESS && status == CU_GET_PROC_ADDRESS_SUCCESS &&
		   legacy == dlsym(RTLD_DEFAULT, "cuMemcpyHtoDAsync_v2"),
	   "a bare name finds the newest version");
	own = ask("cuMemcpyHtoDAsync", 13000,
		  CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &res, &status);
	ok(own == dlsym(RTLD_DEFAULT, "cuMemcpyHtoDAsync_v2_ptsz") && own != legacy,
	   "and another function where NULL is the thread's own stream");
	ok(ask("cuMemcpyHtoDAsync", 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &res,
	       &status) == legacy,
	   "asking for the legacy stream is asking for the default");
	ok(ask("cuGetProcAddress", 11030, 0, &res, NULL) ==
			   dlsym(RTLD_DEFAULT, "cuGetProcAddress") &&
		   ask("cuGetProcAddress", 12000, 0, &res, NULL) ==
			   dlsym(RTLD_DEFAULT, "cuGetProcAddress_v2"),
	   "the version decides which form of itself it hands out");
	ok(!ask("cuMemcpyHtoDAsync", 2000, 0, &res, &status) &&
		   res == CUDA_ERROR_NOT_FOUND &&
		   status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT,
	   "what came later is not found for an older version");
	ok(!ask("", 0, 0, &res, NULL) && res == CUDA_ERROR_NOT_FOUND,
	   "an empty name is not found, and the status may be left out");
	ok(!ask("cuMemcpyHtoDAsync_v2", 13000, 0, &res, &status) &&
		   status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
	   "a name with its version is not found");
	ok(ask("cuLaunchKernel", 4000, 0, &res, NULL) &&
		   !ask("cuLaunchKernel", 4000, 2, &res, NULL) &&
		   ask("cuLaunchKernel", 7000, 2, &res, NULL),
	   "what is older than the threads' own streams has a younger twin");
	ok(ask("cuMemcpyBatchAsync", 12080, 0, &res, NULL) !=
			   ask("cuMemcpyBatchAsync", 13000, 0, &res, NULL) &&
		   ask("cuStreamGetCaptureInfo", 10010, 0, &res, NULL) !=
			   ask("cuStreamGetCaptureInfo", 12030, 0, &res, NULL),
	   "a version with other parameters is another function");
	setenv("DOUBLE_CUDA_VERSION", "11080", 1);
	ok(!ask("cuGetProcAddress", 10000, 0, &res, NULL) &&
		   ask("cuGetProcAddress", 12000, 0, &res, NULL) ==
			   dlsym(RTLD_DEFAULT, "cuGetProcAddress") &&
		   !ask("cuLibraryLoadData", 13000, 0, &res, &status) &&
		   status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
	   "an older driver knows less");
	unsetenv("DOUBLE_CUDA_VERSION");
	ask("cuInit", 13000, 8, &res, &status);
	ok(res == CUDA_ERROR_INVALID_VALUE, "unknown flags are refused");
}

/*
 * Not with the thread sanitizer: GCC 12's does not see to its allocator's locks around a
 * fork, so that the child of a program with threads now and then waits for one for ever.
 */
#ifdef __SANITIZE_THREAD__
#define HAS_FORK 0
#elif defined(__has_feature)
#define HAS_FORK !__has_feature(thread_sanitizer)
#else
#define HAS_FORK 1
#endif

static void test_fork(void)
{
	int status = 0;
	int count;
	pid_t pid = fork();

	if (pid == 0)
		_exit(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
	waitpid(pid, &status, 0);
	ok(status == 0, "a child of fork cannot use its parent's driver");
}

/* Elements of each width, an odd number of them, and nothing beside them. */
static void test_fills(void)
{
	enum { COUNT = 333 };
	unsigned char bytes[4 * COUNT + 8];
	bool is_right = true;
	CUdeviceptr memory;
	size_t width;
	size_t i;

	cuMemAlloc(&memory, sizeof(bytes));
	for (width = 1; width <= 4; width *= 2) {
		cuMemsetD8(memory, 0xee, sizeof(bytes));
		if (width == 1)
			cuMemsetD8(memory + 4, 0x12, COUNT);
		else if (width == 2)
			cuMemsetD16Async(memory + 4, 0x3412, COUNT, NULL);
		else
			cuMemsetD32(memory + 4, 0x78563412, COUNT);
		cuMemcpyDtoH(bytes, memory, sizeof(bytes));
		for (i = 0; i < sizeof(bytes); i++) {
			bool is_inside = i >= 4 && i < 4 + width * COUNT;

			is_right &= bytes[i] ==
				    (is_inside ? 0x12 + 0x22 * ((i - 4) % width) : 0xee);
		}
	}
	ok(is_right, "memory is filled with elements of each width, as many as was said");
	cuMemFree(memory);
}

int main(void)
{
	CUcontext context;

	test_before_init();
	test_contexts();
	test_streams();
	test_legacy_stream();
	test_events();
	test_graphs();
	test_forked_capture();
	test_built_graph();
	test_values();
	test_memory();
	test_fills();
	test_entry_points();
	if (HAS_FORK)
		test_fork();
	cuCtxGetCurrent(&context);
	ok(cuCtxDestroy(context) == CUDA_SUCCESS, "a context can be destroyed");
	return tap_done();
}
