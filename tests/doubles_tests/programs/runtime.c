/* SPDX-License-Identifier: MIT */
/*
 * Launches through a runtime, in every way that it has; which runtime, and whether the
 * default stream is the thread's own, is a matter of how this is built.
 */
#include "program.h"

#include <cuda_runtime_api.h>
#include <pthread.h>

#ifndef MINI_CUDART_VERSION
#define MINI_CUDART_VERSION 13000
#endif

static long sum;
static int rounds = 1;

/* Stands for the kernel in the calls of the program; it is never run. */
static void add_stub(void)
{
}

static void host_add(void *data)
{
	__atomic_fetch_add((long *) data, 1, __ATOMIC_RELAXED);
}

static void launch_all(cudaStream_t stream)
{
	cudaLaunchConfig_t config = {{2, 1, 1}, {32, 1, 1}, 0, stream, NULL, 0};
	const void *stub = (const void *) (size_t) add_stub;
	long *place = &sum;
	long value = 1;
	void *args[] = {&place, &value};
	dim3 one = {1, 1, 1};
	dim3 many = {32, 1, 1};
#if MINI_CUDART_VERSION >= 13000
	cudaKernel_t kernel;

	must(__cudaGetKernel(&kernel, stub));
	must(__cudaLaunchKernel(kernel, one, many, args, 0, stream));
#else
	must(cudaLaunchKernel(stub, one, many, args, 0, stream));
#endif
	must(cudaLaunchKernelExC(&config, stub, args));
	must(cudaLaunchCooperativeKernel(stub, one, many, args, 0, stream));
	must(cudaLaunchHostFunc(stream, host_add, &sum));
}

static void *run(void *unused)
{
	cudaGraphExec_t exec;
	cudaStream_t stream;
	cudaGraph_t graph;
	int i;

	(void) unused;
	must(cudaSetDevice(0));
	must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	launch_all(stream);
	must(cudaStreamEndCapture(stream, &graph));
	must(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	for (i = 0; i < rounds; i++) {
		launch_all(NULL);
		must(cudaGraphLaunch(exec, stream));
	}
	must(cudaStreamSynchronize(NULL));
	must(cudaStreamSynchronize(stream));
	must(cudaGraphExecDestroy(exec));
	must(cudaGraphDestroy(graph));
	must(cudaStreamDestroy(stream));
	return NULL;
}

static void copy(void)
{
	void *memory;
	int from = 42;
	int to = 0;

	must(cudaMalloc(&memory, sizeof(from)));
	must(cudaMemcpyAsync(memory, &from, sizeof(from), cudaMemcpyHostToDevice, NULL));
	must(cudaMemcpyAsync(&to, memory, sizeof(to), cudaMemcpyDeviceToHost, NULL));
	must(cudaStreamSynchronize(NULL));
	must(to != from);
	must(cudaFree(memory));
}

/* What a program of two runtimes calls in each of them. */
#ifdef PROGRAM_LIBRARY
__attribute__((visibility("default"))) long program_run(int count);
long program_run(int count)
#else
static long program_run(int count)
#endif
{
	void **handle = __cudaRegisterFatBinary((void *) (size_t) &add_image);
	pthread_t threads[2];
	int i;

	__cudaRegisterFunction(handle, (const char *) (size_t) add_stub, NULL, "add", -1,
			       NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFatBinaryEnd(handle);
	rounds = count;
	for (i = 0; i < 2; i++)
		must(pthread_create(&threads[i], NULL, run, NULL));
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	copy();
	__cudaUnregisterFatBinary(handle);
	return sum;
}

#ifndef PROGRAM_LIBRARY
int main(int argc, char **argv)
{
	int version = 0;

	if (argc > 1)
		rounds = atoi(argv[1]);
	must(cudaRuntimeGetVersion(&version));
	program_run(rounds);
	printf("runtime %d ", version);
	/* Of each thread: four in a graph's capture, then five a round. */
	return done("all", 2 * (4 + 5 * rounds), sum);
}
#endif
