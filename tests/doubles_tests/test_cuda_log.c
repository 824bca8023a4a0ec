/* SPDX-License-Identifier: MIT */
/*
 * What the driver double says it did, and what the environment makes it do: launches that
 * fail or wait, a library that is injected, an export table that is not there.
 */
#include "double_image.h"
#include "../lib/tap.h"

#include <cuda.h>

#include <dlfcn.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char log_path[] = "test_cuda_log.XXXXXX";
static sem_t gate;
static long sum;

static void add_kernel(const void *arguments, size_t size)
{
	struct {
		char small;
		int number;
		long large;
	} args;

	if (size == sizeof(args)) {
		memcpy(&args, arguments, size);
		sum += args.small + args.number + args.large;
	}
}

static void wait_kernel(const void *arguments, size_t size)
{
	(void) arguments;
	(void) size;
	while (sem_wait(&gate))
		;
}

static const size_t sizes[] = {1, 4, 8};
static const struct double_kernel kernels[] = {
	{.name = "add",
	 .run = add_kernel,
	 .parameter_sizes = sizes,
	 .parameter_count = 3},
	{.name = "wait", .run = wait_kernel},
};
static const struct double_image image = {DOUBLE_IMAGE_MAGIC, 2, kernels};

/* How many lines of the log have all the words. */
static int lines_with(const char *word, const char *second, const char *third)
{
	FILE *file = fopen(log_path, "r");
	char line[1024];
	int count = 0;

	while (file && fgets(line, sizeof(line), file))
		count += strncmp(line, word, strlen(word)) == 0 && strstr(line, second) &&
			 strstr(line, third);
	if (file)
		fclose(file);
	return count;
}

static void test_launches(void)
{
	char small = 1;
	int number = 20;
	long large = 300;
	void *params[] = {&small, &number, &large};
	struct {
		char small;
		int number;
		long large;
	} buffer = {.small = 2, .number = 0, .large = 4000};
	size_t size = sizeof(buffer);
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer,
			 CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
	CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
				     .value.clusterDim = {4, 1, 1}};
	CUlaunchConfig config = {8, 1, 1, 64, 1, 1, 0, NULL, &cluster, 1};
	const char *name = "";
	CUfunction function;
	CUlibrary library;
	CUkernel kernel = NULL;
	CUmodule module;
	size_t offset;

	cuModuleLoadData(&module, &image);
	cuModuleGetFunction(&function, module, "add");
	ok(cuFuncGetName(&name, function) == CUDA_SUCCESS && strcmp(name, "add") == 0,
	   "a function has a name");
	ok(cuFuncGetParamInfo(function, 2, &offset, &size) == CUDA_SUCCESS &&
		   offset == 8 && size == 8 &&
		   cuFuncGetParamInfo(function, 3, &offset, NULL) ==
			   CUDA_ERROR_INVALID_VALUE,
	   "and parameters");
	size = sizeof(buffer);
	cuLaunchKernel(function, 3, 2, 1, 32, 1, 1, 0, NULL, params, NULL);
	cuStreamSynchronize(NULL);
	ok(sum == 321, "a kernel gets its parameters");
	cuLaunchKernelEx(&config, function, NULL, extra);
	cuStreamSynchronize(NULL);
	ok(sum == 4323, "or a buffer");
	ok(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra) ==
		   CUDA_ERROR_INVALID_VALUE,
	   "but not both");
	ok(cuLibraryLoadData(&library, &image, NULL, NULL, 0, NULL, NULL, 0) ==
			   CUDA_SUCCESS &&
		   cuLibraryGetKernel(&kernel, library, "add") == CUDA_SUCCESS &&
		   cuKernelGetName(&name, kernel) == CUDA_SUCCESS &&
		   strcmp(name, "add") == 0 &&
		   cuKernelGetFunction(&function, kernel) == CUDA_SUCCESS &&
		   (void *) function != (void *) kernel,
	   "a library has kernels, of which functions are made");
	cuLaunchCooperativeKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params);
	cuLaunchKernel((CUfunction) kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
	cuStreamSynchronize(NULL);
	ok(sum == 4323 + 2 * 321, "both are launched");
	ok(lines_with("call", "entry=cuLaunchKernel ",
		      "name=add grid=3x2x1 block=32x1x1") == 1 &&
		   lines_with("call", "entry=cuLaunchKernelEx ", "cluster=4") == 1 &&
		   lines_with("call", "entry=cuLaunchCooperativeKernel ",
			      "cooperative=1") == 1,
	   "the log has the launches, by entry");
	ok(lines_with("begin", "name=add", "kind=kernel") == 4 &&
		   lines_with("end", "name=add", "kind=kernel") == 4,
	   "and when they ran");
	cuLibraryUnload(library);
	cuModuleUnload(module);
}

static void test_variants(void)
{
	CUresult (*variant)(CUfunction, unsigned int, unsigned int, unsigned int,
			    unsigned int, unsigned int, unsigned int, unsigned int,
			    CUstream, void **, void **);
	CUresult (*wait)(CUstream);
	CUfunction function;
	CUmodule module;

	cuModuleLoadData(&module, &image);
	cuModuleGetFunction(&function, module, "wait");
	cuGetProcAddress("cuLaunchKernel", (void **) &variant, 13000, 2, NULL);
	cuGetProcAddress("cuStreamSynchronize", (void **) &wait, 13000, 2, NULL);
	variant(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	ok(cuStreamQuery(CU_STREAM_PER_THREAD) == CUDA_ERROR_NOT_READY,
	   "a twin's default stream is the thread's own");
	sem_post(&gate);
	wait(NULL);
	ok(lines_with("call", "entry=cuLaunchKernel_ptsz", "stream=0x2") == 1,
	   "the log names the twin");
	cuModuleUnload(module);
}

static void test_graph(void)
{
	CUgraphExec exec;
	CUstream stream;
	CUdeviceptr memory;
	CUgraph graph;
	int i;

	cuMemAlloc(&memory, 8);
	cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
	cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
	cuMemsetD32Async(memory, 1, 2, stream);
	cuMemsetD8Async(memory, 2, 2, stream);
	cuStreamEndCapture(stream, &graph);
	cuGraphInstantiate(&exec, graph, 0);
	for (i = 0; i < 5; i++)
		cuGraphLaunch(exec, stream);
	cuStreamSynchronize(stream);
	ok(lines_with("call", "entry=cuGraphLaunch ", "works=2") == 5 &&
		   lines_with("end", "kind=memset", "bytes=8") == 5 &&
		   lines_with("end", "kind=memset", "bytes=2") == 5 &&
		   lines_with("end", "kind=memset", "node=0 ") == 0,
	   "every launch of a graph has its nodes in the log");
	cuGraphExecDestroy(exec);
	cuGraphDestroy(graph);
	cuStreamDestroy(stream);
	cuMemFree(memory);
}

static void test_copies(void)
{
	char from[8] = "abcdefg";
	char to[8] = "";
	CUdeviceptr dsts[] = {(uintptr_t) to, (uintptr_t) to + 4};
	CUdeviceptr srcs[] = {(uintptr_t) from + 4, (uintptr_t) from};
	size_t lengths[] = {4, 4};
	CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
			      .srcHost = from,
			      .srcPitch = 4,
			      .dstMemoryType = CU_MEMORYTYPE_HOST,
			      .dstHost = to,
			      .dstPitch = 2,
			      .WidthInBytes = 2,
			      .Height = 2};

	cuMemcpyBatchAsync(dsts, srcs, lengths, 2, NULL, NULL, 0, NULL);
	cuStreamSynchronize(NULL);
	ok(memcmp(to, "efg\0abcd", 8) == 0 &&
		   lines_with("call", "entry=cuMemcpyBatchAsync_v2 ", "works=2") == 1,
	   "a batch copies all its parts");
	cuMemcpy2DAsync_v2(&copy, NULL);
	cuStreamSynchronize(NULL);
	ok(memcmp(to, "abefab", 6) == 0, "a rectangle is copied by its rows");
}

static void pass(void *data)
{
	(void) data;
}

static void open_gate(void *data)
{
	(void) data;
	usleep(20000);
	sem_post(&gate);
}

/* The limits are of the environment, so that both are met in one order of launches. */
static void test_limits(void)
{
	CUfunction function;
	CUstream streams[2];
	CUmodule module;

	cuModuleLoadData(&module, &image);
	cuModuleGetFunction(&function, module, "wait");
	cuStreamCreate(&streams[0], CU_STREAM_NON_BLOCKING);
	cuStreamCreate(&streams[1], CU_STREAM_NON_BLOCKING);
	setenv("DOUBLE_CUDA_QUEUE", "1", 1);
	cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, streams[0], NULL, NULL);
	cuLaunchHostFunc(streams[1], open_gate, NULL);
	/* Returns only because the gate is opened meanwhile. */
	cuLaunchHostFunc(streams[0], pass, NULL);
	ok(lines_with("end", "name=wait", "kind=kernel") == 2,
	   "a launch waits while its stream is full");
	unsetenv("DOUBLE_CUDA_QUEUE");
	cuStreamSynchronize(streams[0]);
	cuStreamDestroy(streams[0]);
	cuStreamDestroy(streams[1]);
	cuModuleUnload(module);
}

int main(void)
{
	CUuuid id = {{0}};
	const void *table;
	CUcontext context;

	if (mkstemp(log_path) < 0)
		return 1;
	setenv("DOUBLE_CUDA_LOG", log_path, 1);
	setenv("DOUBLE_CUDA_FAIL", "1:719", 1);
	sem_init(&gate, 0, 0);
	cuInit(0);
	cuCtxCreate(&context, NULL, 0, 0);
	ok(cuLaunchHostFunc(NULL, pass, NULL) == CUDA_ERROR_LAUNCH_FAILED &&
		   cuLaunchHostFunc(NULL, pass, NULL) == CUDA_SUCCESS,
	   "the launch that is to fail does, and no other");
	cuStreamSynchronize(NULL);
	ok(lines_with("call", "entry=cuLaunchHostFunc ", "result=719") == 1 &&
		   lines_with("begin", "kind=host", "") == 1,
	   "and the log has it");
	ok(cuGetExportTable(&table, &id) == CUDA_ERROR_NOT_FOUND,
	   "there is no export table");
	test_launches();
	test_variants();
	test_graph();
	test_copies();
	test_limits();
	unlink(log_path);
	return tap_done();
}
