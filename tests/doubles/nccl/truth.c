/* SPDX-License-Identifier: MIT */
/* One file per process, opened with its first message, written line by line. */
#include "truth.h"

#include "comm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ULL

static pthread_once_t once = PTHREAD_ONCE_INIT;
static FILE *file;

uint64_t mini_truth_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * NS_PER_S + (uint64_t) now.tv_nsec;
}

static void open_file(void)
{
	const char *folder = getenv("MININCCL_TRUTH");
	char *path;

	if (!folder || asprintf(&path, "%s/truth.%d.jsonl", folder, (int) getpid()) < 0)
		return;
	file = fopen(path, "we");
	free(path);
	/* So that a process that is killed leaves what it knew. */
	if (file)
		setvbuf(file, NULL, _IOLBF, BUFSIZ);
}

void mini_truth_write(struct mini_flow *flow, const struct mini_message *message,
		      size_t size, uint64_t wanted_ns, const struct mini_way *way)
{
	const struct ncclComm *comm = flow->comm;
	uint64_t ordinal = flow->ordinal++;
	int i;

	pthread_once(&once, open_file);
	if (!file)
		return;
	/* Several communicators write at once. */
	flockfile(file);
	fprintf(file,
		"{\"pid\":%d,\"comm\":\"%p\",\"comm_hash\":\"0x%016" PRIx64
		"\",\"rank\":%d,\"op\":%" PRIu64 ",\"name\":\"%s\",\"channel\":%d,"
		"\"index\":%d,\"step\":%d,\"message\":%" PRIu64
		",\"direction\":\"%s\",\"peer\":%d,\"bytes\":%zu,\"wr_id\":%" PRIu64
		",\"qps\":[",
		(int) getpid(), (const void *) comm, comm->hash, comm->rank,
		message->op->ordinal, message->op->name, flow->channel, flow->index,
		message->step, ordinal, flow->is_send ? "send" : "recv", flow->peer, size,
		way->wr_id);
	for (i = 0; i < way->qp_count; i++)
		fprintf(file, "%s%u", i ? "," : "", way->qp_nums[i]);
	fprintf(file,
		"],\"wanted_ns\":%" PRIu64 ",\"posted_ns\":%" PRIu64
		",\"done_ns\":%" PRIu64 "}\n",
		wanted_ns, way->posted_ns, way->done_ns);
	funlockfile(file);
}
