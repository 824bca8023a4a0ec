/* SPDX-License-Identifier: MIT */
/*
 * The driver of inside.c is opened, used and closed: again TIMES.  What was looked up is
 * gone with it, and is looked up anew.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef CUresult (*launch_function)(CUfunction, unsigned int, unsigned int, unsigned int,
				    unsigned int, unsigned int, unsigned int,
				    unsigned int, CUstream, void **, void **);

static void use(void *library)
{
	CUresult (*ask)(const char *, void **, int, cuuint64_t,
			CUdriverProcAddressQueryResult *) = NULL;
	launch_function launch[2] = {NULL, NULL};
	int i, result = 0;
	const int *calls;

	*(void **) &ask = dlsym(library, "cuGetProcAddress_v2");
	*(void **) &launch[0] = dlsym(library, "cuLaunchKernel");
	calls = dlsym(library, "inside_calls");
	if (!ask || !launch[0] || !calls ||
	    ask("cuLaunchKernel", (void **) &launch[1], 12000, 0, NULL))
		exit(1);
	for (i = 0; i < 4; i++)
		result |=
			(int) launch[i % 2](NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	printf("again: %d, %d calls\n", result, *calls);
}

int main(int argc, char **argv)
{
	int times = argc == 2 ? atoi(argv[1]) : 1;
	void *library;
	int i;

	for (i = 0; i < times; i++) {
		library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
		if (!library)
			return 1;
		use(library);
		dlclose(library);
		printf("%s\n",
		       dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) ? "stays" : "gone");
	}
	return 0;
}
