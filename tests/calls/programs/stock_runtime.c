/* SPDX-License-Identifier: MIT */
/* A program of a stock CUDA runtime: it prints what that answers. */
#include <cuda_runtime_api.h>

#include <stdio.h>

int main(void)
{
	int count = -1, version = -1;

	printf("%d\n", (int) cudaGetDeviceCount(&count));
	printf("%d\n", (int) cudaStreamSynchronize(NULL));
	printf("%d\n", (int) cudaRuntimeGetVersion(&version));
	printf("%d %d\n", count, version);
	return 0;
}
