/* SPDX-License-Identifier: MIT */
/*
 * Launches through the driver API, which it is linked with: by name, from a table of its
 * own that it filled by cuGetProcAddress, from a host function on the driver's thread,
 * as a graph of a capture, or not launches but copies.
 */
#include "program.h"

#include <cuda.h>

static long sum;
static CUfunction function;
static CUstream stream;
static CUcontext context;

static void *params(long *value)
{
	static long *place = &sum;
	static void *both[2];

	both[0] = &place;
	both[1] = value;
	return both;
}

/* Each entry once a round. */
static int by_name(int rounds)
{
	long value = 1;
	CUlaunchConfig config = {2, 1, 1, 32, 1, 1, 0, NULL, NULL, 0};
	int i;

	config.hStream = stream;
	for (i = 0; i < rounds; i++) {
		must(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream,
				    params(&value), NULL));
		must(cuLaunchKernelEx(&config, function, params(&value), NULL));
		must(cuLaunchCooperativeKernel(function, 3, 1, 1, 32, 1, 1, 0, stream,
					       params(&value)));
	}
	return 3 * rounds;
}

static int by_table(int rounds)
{
	CUresult (*launch[2])(CUfunction, unsigned int, unsigned int, unsigned int,
			      unsigned int, unsigned int, unsigned int, unsigned int,
			      CUstream, void **, void **);
	CUresult (*ask)(const char *, void **, int, cuuint64_t,
			CUdriverProcAddressQueryResult *);
	CUdriverProcAddressQueryResult status;
	long value = 1;
	int i;

	must(cuGetProcAddress("cuGetProcAddress", (void **) &ask, 12000, 0, &status));
	must(ask("cuLaunchKernel", (void **) &launch[0], 12000, 0, NULL));
	must(ask("cuLaunchKernel", (void **) &launch[1], 12000,
		 CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
	for (i = 0; i < rounds; i++)
		must(launch[i % 2](function, 1, 1, 1, 32, 1, 1, 0, NULL, params(&value),
				   NULL));
	return rounds;
}

struct nested {
	CUstream stream;
	int rounds;
};

static void launch_from_host(void *data)
{
	const struct nested *nested = data;
	long value = 1;
	int i;

	must(cuCtxSetCurrent(context));
	for (i = 0; i < nested->rounds; i++)
		must(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nested->stream,
				    params(&value), NULL));
}

static int from_host(int rounds)
{
	struct nested nested = {.rounds = rounds};

	must(cuStreamCreate(&nested.stream, CU_STREAM_NON_BLOCKING));
	must(cuLaunchHostFunc(stream, launch_from_host, &nested));
	must(cuStreamSynchronize(stream));
	must(cuStreamSynchronize(nested.stream));
	must(cuStreamDestroy(nested.stream));
	return rounds + 1;
}

/* Two kernels in a graph of a capture, one of them by a node of its own. */
static int as_graph(int rounds)
{
	CUDA_KERNEL_NODE_PARAMS node = {.gridDimX = 1,
					.gridDimY = 1,
					.gridDimZ = 1,
					.blockDimX = 32,
					.blockDimY = 1,
					.blockDimZ = 1};
	CUgraphNode added;
	long value = 1;
	CUgraphExec exec;
	CUgraph graph;
	int i;

	must(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	must(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, params(&value),
			    NULL));
	must(cuStreamEndCapture(stream, &graph));
	node.func = function;
	node.kernelParams = params(&value);
	must(cuGraphAddKernelNode(&added, graph, NULL, 0, &node));
	must(cuGraphInstantiate(&exec, graph, 0));
	for (i = 0; i < rounds; i++)
		must(cuGraphLaunch(exec, stream));
	must(cuStreamSynchronize(stream));
	must(cuGraphExecDestroy(exec));
	must(cuGraphDestroy(graph));
	return rounds;
}

static int copies(int rounds)
{
	long value = 1;
	CUdeviceptr memory[2];
	CUevent event;
	long result;
	int i;

	must(cuMemAlloc(&memory[0], sizeof(value)));
	must(cuMemAlloc(&memory[1], sizeof(value)));
	must(cuEventCreate(&event, 0));
	for (i = 0; i < rounds; i++) {
		must(cuMemsetD8Async(memory[1], 0, sizeof(value), stream));
		must(cuMemcpyHtoDAsync(memory[0], &value, sizeof(value), stream));
		must(cuMemcpyDtoDAsync(memory[1], memory[0], sizeof(value), stream));
		must(cuMemcpyDtoHAsync(&result, memory[1], sizeof(value), stream));
		must(cuEventRecord(event, stream));
		must(cuEventSynchronize(event));
		sum += result;
	}
	must(cuEventDestroy(event));
	must(cuMemFree(memory[0]));
	must(cuMemFree(memory[1]));
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int rounds);
	} ways[] = {{"name", by_name},
		    {"table", by_table},
		    {"host", from_host},
		    {"graph", as_graph},
		    {"copies", copies}};
	CUmodule module;
	size_t i;
	int count;

	must(cuInit(0));
	must(cuCtxCreate(&context, NULL, 0, 0));
	must(cuModuleLoadData(&module, &add_image));
	must(cuModuleGetFunction(&function, module, "add"));
	must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (i = 0; argc == 3 && i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(argv[1], ways[i].name) != 0)
			continue;
		count = ways[i].run(atoi(argv[2]));
		must(cuCtxSynchronize());
		return done(argv[1], count, sum);
	}
	fprintf(stderr, "usage: driver name|table|host|graph|copies ROUNDS\n");
	return 2;
}
