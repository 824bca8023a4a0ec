/* SPDX-License-Identifier: MIT */
/*
 * Writes over its own counters, as a program with a stray pointer may.
 *
 * usage: spoils FOLDER; calls ncclAllReduce three times, spoils its counters when
 * FOLDER/spoil is there, makes FOLDER/spoilt, and ends when FOLDER/go is there.
 */
#include <cuda.h>
#include <nccl.h>

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HEAD 120 /* up to the names of the functions: what a reader believes first */

static void *find_counters(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	void *start, *found = NULL;
	char line[512];

	if (!maps)
		return NULL;
	while (!found && fgets(line, sizeof(line), maps))
		if (strstr(line, "memfd:ccltap-metrics") &&
		    sscanf(line, "%p-", &start) == 1)
			found = start;
	fclose(maps);
	return found;
}

static void wait_for(const char *folder, const char *name)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	while (access(path, F_OK))
		nanosleep(&pause, NULL);
}

static int make(const char *folder, const char *name)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	return file ? fclose(file) : -1;
}

int main(int argc, char **argv)
{
	CUcontext context;
	CUdeviceptr memory;
	ncclUniqueId id;
	ncclComm_t comm;
	void *counters;
	int i;

	if (argc != 2 || cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) ||
	    cuCtxSetCurrent(context) || cuMemAlloc(&memory, 4096) ||
	    ncclGetUniqueId(&id) || ncclCommInitRank(&comm, 1, id, 0))
		return 1;
	for (i = 0; i < 3; i++)
		if (ncclAllReduce((void *) memory, (void *) memory, 4, ncclInt32, ncclSum,
				  comm, NULL))
			return 1;
	counters = find_counters();
	if (!counters)
		return 1;
	wait_for(argv[1], "spoil");
	memset(counters, 0xff, HEAD);
	if (make(argv[1], "spoilt"))
		return 1;
	wait_for(argv[1], "go");
	return 0;
}
