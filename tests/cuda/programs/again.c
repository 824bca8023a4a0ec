/* SPDX-License-Identifier: MIT */
/*
 * The driver of inside.c is opened, used and closed: again TIMES, each time where nothing
 * was before.  What was looked up is gone with it, and is looked up anew.  Or it comes
 * and goes with a library that is linked to it, PLUGIN.
 *
 * usage: again TIMES [PLUGIN]
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

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

/* Nothing that can be called lies where a library was. */
static void fill(void)
{
	int i;

	for (i = 0; i < 64; i++)
		if (mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
		    MAP_FAILED)
			exit(1);
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;
	int (*launch)(void) = NULL;
	void *library;
	int i;

	for (i = 0; i < times; i++) {
		library = dlopen(argc > 2 ? argv[2] : "libcuda.so.1",
				 RTLD_NOW | RTLD_LOCAL);
		if (!library)
			return 1;
		*(void **) &launch = dlsym(library, "plugin_launch");
		if (launch)
			printf("again: %d\n", launch());
		else
			use(library);
		dlclose(library);
		fill();
		printf("%s\n",
		       dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) ? "stays" : "gone");
	}
	return 0;
}
