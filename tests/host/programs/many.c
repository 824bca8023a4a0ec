/* SPDX-License-Identifier: MIT */
/*
 * Very many of a kind, one after the other, and what the process has in the end.
 *
 * usage: many processes|threads|communicators NUMBER
 */
#include <cuda.h>
#include <dirent.h>
#include <nccl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int nr_failed;

static void call(void)
{
	int version;

	nr_failed += ncclGetVersion(&version) != ncclSuccess;
}

static void make_process(void)
{
	int status = -1;
	const pid_t child = fork();

	if (!child) {
		call();
		_exit(nr_failed);
	}
	if (waitpid(child, &status, 0) != child || status)
		nr_failed++;
}

static void *call_in_thread(void *unused)
{
	call();
	return unused;
}

static void make_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, call_in_thread, NULL) ||
	    pthread_join(thread, NULL))
		nr_failed++;
}

static void make_communicator(void)
{
	ncclComm_t comm;
	int nr, device = 0;

	nr_failed += ncclCommInitAll(&comm, 1, &device) != ncclSuccess;
	nr_failed += ncclCommCount(comm, &nr) != ncclSuccess || nr != 1;
	nr_failed += ncclCommDestroy(comm) != ncclSuccess;
}

/* In KiB. */
static long memory(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long size, resident = 0;

	if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2)
		resident = 0;
	if (file)
		fclose(file);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static int descriptors_now(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int nr = 0;

	while (folder && readdir(folder))
		nr++;
	if (folder)
		closedir(folder);
	return nr;
}

/* A thread that is not the program's may have one open for a moment. */
static int descriptors(void)
{
	int least = descriptors_now(), i, nr;

	for (i = 0; i < 20; i++) {
		usleep(10000);
		nr = descriptors_now();
		if (nr < least)
			least = nr;
	}
	return least;
}

int main(int argc, char **argv)
{
	int nr = argc == 3 ? atoi(argv[2]) : 0, fds = 0, i;
	void (*make)(void);
	CUcontext context;
	long before = 0;

	if (nr < 10) {
		fprintf(stderr, "usage: many processes|threads|communicators NUMBER\n");
		return 2;
	}
	make = !strcmp(argv[1], "processes") ? make_process
	       : !strcmp(argv[1], "threads") ? make_thread
					     : make_communicator;
	if (make == make_communicator &&
	    (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) ||
	     cuCtxSetCurrent(context)))
		return 1;
	call();
	for (i = 0; i < nr; i++) {
		/* What is made once is made by then. */
		if (i == nr / 5) {
			before = memory();
			fds = descriptors();
		}
		make();
	}
	printf("failed %d\n", nr_failed);
	fprintf(stderr, "grown %ld KiB, %d descriptors\n", memory() - before,
		descriptors() - fds);
	return nr_failed != 0;
}
