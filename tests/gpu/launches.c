/* SPDX-License-Identifier: MIT */
/*
 * Work of all kinds without NCCL: kernels of a known duration on two streams, copies,
 * sets and functions of the host.  The log has each in order, and of some kernels what
 * the driver's own events measured around them.
 */
#include "gpu.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#define FLOATS 65536

static int host_calls;

static void on_host(void *data)
{
	(void) data;
	__atomic_fetch_add(&host_calls, 1, __ATOMIC_RELAXED);
}

static void log_kernel(const char *name, uint64_t min_ns, double measured_ms)
{
	log_line("{\"launch\":\"kernel\",\"name\":\"%s\",\"min_ns\":%llu,"
		 "\"most_ns\":%lld}",
		 name, (unsigned long long) min_ns, (long long) (measured_ms * 1e6));
}

/* The driver's events lie around the kernel, so what they say is no less than it took. */
static void measured_spin(const struct kernels *kernels, uint64_t ns, CUstream stream)
{
	CUevent before, after;
	float ms;

	CUDA(cuEventCreate(&before, CU_EVENT_DEFAULT));
	CUDA(cuEventCreate(&after, CU_EVENT_DEFAULT));
	CUDA(cuEventRecord(before, stream));
	check_cuda(launch_spin(kernels, ns, stream), "launch_spin");
	CUDA(cuEventRecord(after, stream));
	CUDA(cuStreamSynchronize(stream));
	CUDA(cuEventElapsedTime(&ms, before, after));
	log_kernel("gpu_spin", ns, (double) ms);
	CUDA(cuEventDestroy(before));
	CUDA(cuEventDestroy(after));
}

static void round_of_work(const struct kernels *kernels, const CUstream *streams,
			  const CUdeviceptr *data, float *host)
{
	measured_spin(kernels, 1000000, streams[0]);
	check_cuda(launch_add(kernels, data[0], 1, FLOATS, streams[0]), "launch_add");
	log_kernel("gpu_add", 0, 0);
	check_cuda(launch_add(kernels, data[1], 2, FLOATS, streams[1]), "launch_add");
	log_kernel("gpu_add", 0, 0);
	CUDA(cuMemcpyDtoHAsync(host, data[0], FLOATS * sizeof(float), streams[0]));
	log_line("{\"launch\":\"memcpy\",\"bytes\":%zu}", FLOATS * sizeof(float));
	CUDA(cuLaunchHostFunc(streams[0], on_host, NULL));
	log_line("{\"launch\":\"host\"}");
	CUDA(cuMemcpyDtoDAsync(data[2], data[1], FLOATS * sizeof(float), streams[1]));
	log_line("{\"launch\":\"memcpy\",\"bytes\":%zu}", FLOATS * sizeof(float));
	CUDA(cuMemsetD32Async(data[2], 0, FLOATS / 2, streams[1]));
	log_line("{\"launch\":\"memset\",\"bytes\":%zu}", FLOATS / 2 * sizeof(float));
}

int main(int argc, char **argv)
{
	struct kernels kernels;
	CUdeviceptr data[3];
	CUstream streams[2];
	CUdevice device;
	int rounds = 10;
	float *host;
	int option;
	int i;

	gpu_program = "launches";
	while ((option = getopt(argc, argv, "i:l:h")) != -1) {
		switch (option) {
		case 'i':
			rounds = (int) number_of(optarg, 1, 1000000, "number of rounds");
			break;
		case 'l':
			open_log(optarg);
			break;
		default:
			fputs("usage: launches [-i ROUNDS] [-l FOLDER]\n",
			      option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	load_cuda();
	open_device(0, &device);
	load_kernels(&kernels);
	for (i = 0; i < 2; i++)
		CUDA(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
	for (i = 0; i < 3; i++) {
		CUDA(cuMemAlloc(&data[i], FLOATS * sizeof(float)));
		CUDA(cuMemsetD8(data[i], 0, FLOATS * sizeof(float)));
	}
	CUDA(cuCtxSynchronize());
	host = malloc(FLOATS * sizeof(float));
	if (!host)
		fail("no memory");
	for (i = 0; i < rounds; i++)
		round_of_work(&kernels, streams, data, host);
	CUDA(cuCtxSynchronize());
	for (i = 0; i < FLOATS; i++)
		if (host[i] != (float) rounds)
			fail("element %d is %g, not %d", i, (double) host[i], rounds);
	if (host_calls != rounds)
		fail("%d of %d functions of the host were called", host_calls, rounds);
	free(host);
	for (i = 0; i < 3; i++)
		CUDA(cuMemFree(data[i]));
	for (i = 0; i < 2; i++)
		CUDA(cuStreamDestroy(streams[i]));
	CUDA(cuDevicePrimaryCtxRelease(device));
	printf("%d rounds, values right\n", rounds);
	return 0;
}
