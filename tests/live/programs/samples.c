/* SPDX-License-Identifier: MIT */
/*
 * Opens an adapter and a GPU, and waits for a stream for some seconds, in the course of which
 * a counter of the adapter's port grows, in a file that stands for sysfs.
 *
 * usage: samples FOLDER-OF-COUNTERS [read|close]; with "read" it grows once somebody has
 * read it, and the wait goes on until somebody has read that.  With "close" it waits for
 * nothing but that somebody opens the counter, closes all descriptors, opens others under
 * the same numbers, makes FOLDER/replaced, and says what became of them when FOLDER/end is
 * there.
 */
#include <cuda.h>
#include <infiniband/verbs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#define COUNTER "packet_seq_err"

#define PAIRS 64

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

/* That somebody does to the counter what the watch is for. */
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

static void make_file(const char *name)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file || fclose(file))
		exit(1);
}

static void wait_for_file(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	while (access(path, F_OK))
		usleep(10000);
}

static void replace_all(void)
{
	static int pairs[PAIRS][2];
	int damaged = 0, i;
	char c;

	usleep(200000); /* until it is read */
	close_range(3, ~0U, 0);
	for (i = 0; i < PAIRS; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]))
			exit(1);
	make_file("replaced");
	wait_for_file("end");
	for (i = 0; i < 2 * PAIRS; i++)
		damaged += write(pairs[i / 2][i % 2], "x", 1) != 1;
	/* For whoever still reads from one of them. */
	usleep(200000);
	for (i = 0; i < 2 * PAIRS; i++)
		if (recv(pairs[i / 2][i % 2], &c, 1, MSG_DONTWAIT) != 1 || c != 'x' ||
		    recv(pairs[i / 2][i % 2], &c, 1, MSG_DONTWAIT) != -1)
			damaged++;
	printf("damaged: %d\n", damaged);
	exit(0);
}

int main(int argc, char **argv)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = devices ? ibv_open_device(devices[0]) : NULL;
	int is_closing;
	CUcontext gpu;
	CUstream stream;

	if ((argc != 2 && argc != 3) || !context)
		return 1;
	folder = argv[1];
	is_closing = argc == 3 && !strcmp(argv[2], "close");
	if (argc == 3) {
		closed = inotify_init1(IN_CLOEXEC);
		if (inotify_add_watch(closed, folder,
				      is_closing ? IN_OPEN : IN_CLOSE_NOWRITE) < 0)
			return 1;
	}
	if (!is_closing)
		write_counter("100");
	if (cuInit(0) || cuDevicePrimaryCtxRetain(&gpu, 0) || cuCtxSetCurrent(gpu) ||
	    cuStreamCreate(&stream, 0))
		return 1;
	if (is_closing) {
		wait_until_read();
		replace_all();
	}
	if (cuLaunchHostFunc(stream, work, NULL) ||
	    cuStreamSynchronize(stream))
		return 1;
	puts("ok");
	return 0;
}
