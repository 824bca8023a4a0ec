/* SPDX-License-Identifier: MIT */
/*
 * Calls HIP in each way that the double has, linked, or with an argument looked up in
 * it: by name (name), by name and version (version) or by HIP itself (proc).
 */
#include "../../doubles/hip/hip.h"

#include <dlfcn.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM ((hipStream_t) (uintptr_t) 0x5000)

static const struct double_hip_kernel add = {"add"}, scale = {"scale"};
static const char *way = "linked";
static void *library;

/* A name that ends so is the other's, for the thread's own stream. */
static void *ask(const char *name)
{
	static const char end[] = "_spt";
	const size_t length = strlen(name) - strlen(end);
	const int is_variant = !strcmp(name + length, end);
	char bare[64];
	void *found;

	snprintf(bare, sizeof(bare), "%.*s", (int) (is_variant ? length : strlen(name)),
		 name);
	if (hipGetProcAddress(bare, &found, 602,
			      is_variant ? HIP_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
					 : HIP_GET_PROC_ADDRESS_DEFAULT,
			      NULL))
		return NULL;
	return found;
}

static void *reach(void *linked, const char *name, const char *version)
{
	void *found = linked;

	if (!strcmp(way, "name"))
		found = dlsym(library, name);
	else if (!strcmp(way, "version"))
		found = dlvsym(library, name, version);
	else if (!strcmp(way, "proc"))
		found = ask(name);
	if (!found) {
		fprintf(stderr, "%s is not there\n", name);
		exit(1);
	}
	return found;
}

/* clang-format off */
#define HIP(version, fn) ((__typeof__(&fn)) reach((void *) fn, #fn, "hip_" #version))
/* clang-format on */

static int nr_failed;

static void must(int result)
{
	nr_failed += result != 0;
}

static void do_nothing(void *data)
{
	*(int *) data += 1;
}

static void launch(int i)
{
	const dim3 grid = {(uint32_t) i + 1, 2, 3}, block = {32, 4, 1};
	const hipLaunchConfig_t config = {grid, block, 64, STREAM, NULL, 0};
	hipFunction_t function;

	must(HIP(4.2, hipLaunchKernel)(&add, grid, block, NULL, 16, STREAM));
	must(HIP(5.2, hipLaunchKernel_spt)(&scale, grid, block, NULL, 0, NULL));
	must(HIP(4.2, hipExtLaunchKernel)(&add, grid, block, NULL, 0, STREAM, NULL, NULL,
					  0));
	must(HIP(4.2, hipLaunchCooperativeKernel)(&add, grid, block, NULL, 0, STREAM));
	must(HIP(6.5, hipLaunchKernelExC)(&config, &scale, NULL));
	must(hipModuleGetFunction(&function, NULL, "of_a_module"));
	must(HIP(4.2, hipModuleLaunchKernel)(function, 5, 6, 7, 8, 9, 1, 0, STREAM, NULL,
					     NULL));
	must(HIP(4.2, hipModuleUnload)(NULL));
	must(hipModuleGetFunction(&function, NULL, "of_another"));
	must(HIP(4.2, hipExtModuleLaunchKernel)(function, 64, 2, 1, 32, 1, 1, 0, STREAM,
						NULL, NULL, NULL, NULL, 0));
	must(HIP(4.2, hipModuleUnload)(NULL));
}

static void move(void)
{
	char from[16] = "what is copied", to[16];
	int called = 0;

	must(HIP(4.2, hipMemcpyAsync)(to, from, sizeof(to), 0, STREAM));
	must(HIP(5.2, hipMemcpyAsync_spt)(to, from, sizeof(to), 1, NULL));
	must(HIP(4.2, hipMemcpy)(to, from, sizeof(to), 3));
	must(memcmp(from, to, sizeof(to)));
	must(HIP(4.2, hipMemsetAsync)(to, 7, sizeof(to), STREAM));
	must(to[15] != 7);
	must(HIP(5.3, hipLaunchHostFunc)(STREAM, do_nothing, &called));
	must(called != 1);
	must(HIP(4.2, hipEventRecord)(NULL, STREAM));
	must(HIP(4.2, hipStreamSynchronize)(STREAM));
	must(HIP(5.2, hipStreamSynchronize_spt)(NULL));
	must(HIP(4.2, hipDeviceSynchronize)());
}

static void repeat(void)
{
	hipGraph_t graph;
	hipGraphExec_t exec;

	must(HIP(4.3, hipStreamBeginCapture)(STREAM, 0));
	must(HIP(4.2, hipLaunchKernel)(&add, (dim3){9, 1, 1}, (dim3){1, 1, 1}, NULL, 0,
				       STREAM));
	must(HIP(4.3, hipStreamEndCapture)(STREAM, &graph));
	must(HIP(4.3, hipGraphInstantiate)(&exec, graph, NULL, NULL, 0));
	must(HIP(4.3, hipGraphLaunch)(exec, STREAM));
}

int main(int argc, char **argv)
{
	int i;

	if (argc > 1)
		way = argv[1];
	library = dlopen("libamdhip64.so.6", RTLD_NOW);
	for (i = 0; i < 10; i++) {
		launch(i);
		move();
		repeat();
		must((int) ncclAllReduce(NULL, NULL, 1, ncclFloat, ncclSum, NULL,
					 (cudaStream_t) STREAM));
	}
	/* The kernel is missing: the answer is HIP's. */
	printf("%d failed, %d\n", nr_failed,
	       HIP(4.2, hipLaunchKernel)(NULL, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0,
					 NULL));
	return 0;
}
