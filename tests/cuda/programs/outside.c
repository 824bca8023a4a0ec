/* SPDX-License-Identifier: MIT */
/* A program on the driver of inside.c: outside TIMES. */
#include <cuda.h>

#include <stdio.h>
#include <stdlib.h>

extern int inside_calls;

int main(int argc, char **argv)
{
	int times = argc == 2 ? atoi(argv[1]) : 1;
	CUresult (*launch)(CUfunction, unsigned int, unsigned int, unsigned int,
			   unsigned int, unsigned int, unsigned int, unsigned int,
			   CUstream, void **, void **) = NULL;
	int i, result = 0;

	for (i = 0; i < times; i++)
		result |=
			(int) cuLaunchKernel(NULL, 2, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	result |= (int) cuGetProcAddress("cuLaunchKernel", (void **) &launch, 12000, 0,
					 NULL);
	for (i = 0; i < times; i++)
		result |= (int) launch(NULL, 2, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	printf("outside: %d, %d calls\n", result, inside_calls);
	return 0;
}
