/* SPDX-License-Identifier: MIT */
/*
 * A rank of two that sums up at an even pace, and writes down when; then one stays away,
 * and the other goes on alone and hangs.  For what is reckoned from its counters.
 *
 * usage: RANK=0|1 paced FOLDER MORE MS
 *
 * Both call ncclAllReduce every MS milliseconds, as often as a number in FOLDER/sums
 * says, which may come late.  After that rank 0 calls it MORE times, and, once
 * FOLDER/hang is there, makes a communicator that rank 1 does not join.  Each adds a line
 * "NANOSECONDS CALLS" to FOLDER/log.RANK for each call: of CLOCK_REALTIME, and how many
 * there were by then.  It ends when it is killed; its number is in FOLDER/pid.RANK.
 */
#include <cuda.h>
#include <nccl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COUNT 1024

#define CHECK(call) \
	do { \
		if ((call) != 0) { \
			fprintf(stderr, "paced: %s failed\n", #call); \
			exit(1); \
		} \
	} while (0)

static char folder[256];
static int rank;

static const char *in_folder(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void await(const char *name)
{
	const struct timespec tick = {.tv_nsec = 10000000};

	while (access(in_folder(name), F_OK) < 0)
		nanosleep(&tick, NULL);
}

static void share_id(ncclUniqueId *id)
{
	char new[512];
	FILE *file;

	if (rank) {
		await("id");
		file = fopen(in_folder("id"), "r");
		CHECK(!file || fread(id, sizeof(*id), 1, file) != 1);
	} else {
		CHECK(ncclGetUniqueId(id));
		snprintf(new, sizeof(new), "%s/id.new", folder);
		file = fopen(new, "w");
		CHECK(!file || fwrite(id, sizeof(*id), 1, file) != 1);
		CHECK(rename(new, in_folder("id")));
	}
	CHECK(fclose(file));
}

static void write_number(void)
{
	char name[32];
	FILE *file;

	snprintf(name, sizeof(name), "pid.%d", rank);
	file = fopen(in_folder(name), "w");
	CHECK(!file || fprintf(file, "%d\n", getpid()) < 0);
	CHECK(fclose(file));
}

static void note(FILE *log, int calls)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	fprintf(log, "%lld %d\n", (long long) now.tv_sec * 1000000000 + now.tv_nsec,
		calls);
	fflush(log);
}

/* -1: nobody has said yet. */
static int find_sums(void)
{
	FILE *file = fopen(in_folder("sums"), "r");
	int sums = -1;

	if (file) {
		CHECK(fscanf(file, "%d", &sums) != 1);
		fclose(file);
	}
	return sums;
}

int main(int argc, char **argv)
{
	const int more = argc == 4 ? atoi(argv[2]) : 0;
	const long ms = argc == 4 ? atol(argv[3]) : 0;
	CUdeviceptr from, to;
	struct timespec due;
	CUcontext context;
	ncclUniqueId id;
	CUdevice device;
	CUstream stream;
	ncclComm_t comm;
	char name[32];
	FILE *log;

	if (argc != 4 || !getenv("RANK"))
		return 2;
	snprintf(folder, sizeof(folder), "%s", argv[1]);
	rank = atoi(getenv("RANK"));
	write_number();
	snprintf(name, sizeof(name), "log.%d", rank);
	log = fopen(in_folder(name), "w");
	CHECK(!log);
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, rank));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAlloc(&from, COUNT * sizeof(float)));
	CHECK(cuMemAlloc(&to, COUNT * sizeof(float)));
	share_id(&id);
	CHECK(ncclCommInitRank(&comm, 2, id, rank));
	clock_gettime(CLOCK_MONOTONIC, &due);
	for (int i = 0, sums = -1; sums < 0 || i < sums + (rank ? 0 : more); i++) {
		if (sums < 0)
			sums = find_sums();
		CHECK(ncclAllReduce((void *) from, (void *) to, COUNT, ncclFloat, ncclSum,
				    comm, stream));
		note(log, i + 1);
		/* What one calls alone never runs. */
		if (sums < 0 || i < sums)
			CHECK(cuStreamSynchronize(stream));
		due.tv_nsec += ms * 1000000;
		due.tv_sec += due.tv_nsec / 1000000000;
		due.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
	}
	if (!rank) {
		await("hang");
		CHECK(ncclGetUniqueId(&id));
		CHECK(ncclCommInitRank(&comm, 2, id, rank));
	}
	for (;;)
		pause();
}
