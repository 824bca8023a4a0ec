/* SPDX-License-Identifier: MIT */
/*
 * Opens an adapter and a GPU, and waits for a stream for some seconds, in the course of which
 * a counter of the adapter's port grows, in a file that stands for sysfs.
 *
 * usage: samples FOLDER-OF-COUNTERS [read]; with "read" it grows once somebody has read
 * it, and the wait goes on until somebody has read that
 */
#include <cuda.h>
#include <infiniband/verbs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define COUNTER "packet_seq_err"

static const char *folder;
/* Tells who has closed which file of it; -1: nobody asks. */
static int closed = -1;

static void write_counter(const char *value)
{
	char path[512], other[520];
	FILE *file;

	snprintf(path, sizeof(path), "%s/" COUNTER, folder);
	snprintf(other, sizeof(other), "%s.new", path);
	file = fopen(other, "w");
	if (!file || fprintf(file, "%s\n", value) < 0 || fclose(file) ||
	    rename(other, path))
		exit(1);
}

static void wait_until_read(void)
{
	_Alignas(struct inotify_event) char buffer[4096];
	const struct inotify_event *event;
	ssize_t size, at;

	while (closed >= 0) {
		size = read(closed, buffer, sizeof(buffer));
		for (at = 0; at < size; at += (ssize_t) (sizeof(*event) + event->len)) {
			event = (const void *) (buffer + at);
			if (event->len && strcmp(event->name, COUNTER) == 0)
				return;
		}
	}
}

static void work(void *data)
{
	(void) data;
	wait_until_read();
	sleep(2);
	write_counter("412");
	wait_until_read();
	sleep(2);
}

int main(int argc, char **argv)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = devices ? ibv_open_device(devices[0]) : NULL;
	CUcontext gpu;
	CUstream stream;

	if ((argc != 2 && argc != 3) || !context)
		return 1;
	folder = argv[1];
	if (argc == 3) {
		closed = inotify_init1(IN_CLOEXEC);
		if (inotify_add_watch(closed, folder, IN_CLOSE_NOWRITE) < 0)
			return 1;
	}
	write_counter("100");
	if (cuInit(0) || cuDevicePrimaryCtxRetain(&gpu, 0) || cuCtxSetCurrent(gpu) ||
	    cuStreamCreate(&stream, 0) || cuLaunchHostFunc(stream, work, NULL) ||
	    cuStreamSynchronize(stream))
		return 1;
	puts("ok");
	return 0;
}
