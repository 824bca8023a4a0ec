/* SPDX-License-Identifier: MIT */
/*
 * Launches as a compiler of kernels does it: the driver is opened, and each function is
 * looked up in it by the name under which it is exported.
 */
#include "program.h"

#include <cuda.h>
#include <dlfcn.h>

static void *library;

static void *find(const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "%s is not there\n", name);
		exit(1);
	}
	return found;
}

int main(int argc, char **argv)
{
	CUresult (*init)(unsigned int);
	CUresult (*create)(CUcontext *, unsigned int, CUdevice);
	CUresult (*load)(CUmodule *, const void *);
	CUresult (*get)(CUfunction *, CUmodule, const char *);
	CUresult (*launch)(const CUlaunchConfig *, CUfunction, void **, void **);
	CUresult (*synchronize)(void);
	CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
				     .value.clusterDim = {2, 1, 1}};
	CUlaunchConfig config = {4, 1, 1, 128, 1, 1, 0, NULL, &cluster, 1};
	long sum = 0;
	struct add_arguments args = {&sum, 1};
	size_t size = sizeof(args);
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &args,
			 CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
	int rounds = argc == 2 ? atoi(argv[1]) : 1;
	CUfunction function;
	CUcontext context;
	CUmodule module;
	int i;

	library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **) &init = find("cuInit");
	*(void **) &create = find("cuCtxCreate_v2");
	*(void **) &load = find("cuModuleLoadData");
	*(void **) &get = find("cuModuleGetFunction");
	*(void **) &launch = find("cuLaunchKernelEx");
	*(void **) &synchronize = find("cuCtxSynchronize");
	must(init(0));
	must(create(&context, 0, 0));
	must(load(&module, &add_image));
	must(get(&function, module, "add"));
	for (i = 0; i < rounds; i++)
		must(launch(&config, function, NULL, extra));
	must(synchronize());
	return done("handle", rounds, sum);
}
