/* SPDX-License-Identifier: MIT */
/*
 * Opens an adapter and a GPU, and waits for a stream for some seconds, in the course of which
 * a counter of the adapter's port grows, in a file that stands for sysfs.
 *
 * usage: samples FOLDER-OF-COUNTERS
 */
#include <cuda.h>
#include <infiniband/verbs.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *folder;

static void write_counter(const char *value)
{
	char path[512], other[520];
	FILE *file;

	snprintf(path, sizeof(path), "%s/packet_seq_err", folder);
	snprintf(other, sizeof(other), "%s.new", path);
	file = fopen(other, "w");
	if (!file || fprintf(file, "%s\n", value) < 0 || fclose(file) ||
	    rename(other, path))
		exit(1);
}

static void work(void *data)
{
	(void) data;
	sleep(2);
	write_counter("412");
	sleep(2);
}

int main(int argc, char **argv)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = devices ? ibv_open_device(devices[0]) : NULL;
	CUcontext gpu;
	CUstream stream;

	if (argc != 2 || !context)
		return 1;
	folder = argv[1];
	write_counter("100");
	if (cuInit(0) || cuDevicePrimaryCtxRetain(&gpu, 0) || cuCtxSetCurrent(gpu) ||
	    cuStreamCreate(&stream, 0) || cuLaunchHostFunc(stream, work, NULL) ||
	    cuStreamSynchronize(stream))
		return 1;
	puts("ok");
	return 0;
}
